"""Instructions that a process executes, as valgrind's callgrind counts them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]

# The threads of numpy's OpenBLAS spin while they wait, and callgrind counts them.
ENVIRONMENT = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}


def require_valgrind() -> None:
    """Ends the program where there is none."""
    if not shutil.which(CALLGRIND[0]):
        sys.exit("this needs valgrind: install it")


def count(command: list[str], name: str) -> int:
    """Instructions of the whole command. `name`: what a message calls it."""
    done = subprocess.run(
        [*CALLGRIND, *command],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stdout}{done.stderr}")
    return counted(done.stderr)


def counted(told: str) -> int:
    """The number in what callgrind wrote."""
    return int(told.partition("Collected :")[2].split()[0])
