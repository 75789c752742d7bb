"""Instructions between the marks of a program, as Callgrind counts them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SKIPS = [
    pytest.mark.skipif(
        sys.version_info[:2] != (3, 11) and "GUARDTREE_GROWTH" not in os.environ,
        reason="counted on 3.11; GUARDTREE_GROWTH=1 counts here too",
    ),
    pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind"),
    pytest.mark.skipif(
        "LD_PRELOAD" in os.environ, reason="valgrind runs no sanitizers"
    ),
]


def needs_valgrind(test: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a test that counts."""
    for skip in SKIPS:
        test = skip(test)
    return test


def counts(folder: Path, program: str, names: list[str]) -> list[int]:
    """Runs a program, which calls `os.getloadavg` before and after each part that is
    to be counted."""
    command = ["valgrind", "--tool=callgrind", "--dump-before=getloadavg"]
    command += ["--dump-line=no", f"--callgrind-out-file={folder}/out"]
    done = subprocess.run(
        [*command, sys.executable, program, *names],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONHASHSEED="0"),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = []
    for part in sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:])):
        summary = re.search(r"^summary: (\d+)", part.read_text(), re.MULTILINE)
        assert summary, part
        found.append(int(summary[1]))
    return found[1::2]
