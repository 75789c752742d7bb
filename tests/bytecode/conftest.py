"""Fixtures of the bytecode tests; they run with the sources alone (see alone.py)."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import alone  # noqa: F401  puts guardtree.bytecode within reach
import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture
def run_alone() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run_alone(source, *options)`: a fresh interpreter, which sees these modules.

    The source begins with `import alone`. A status other than `status` (None: any)
    fails with what the child wrote.
    """

    def run(
        source: str, *options: str, status: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        parts = [str(HERE), os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [sys.executable, *options, "-c", textwrap.dedent(source)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, parts))},
            timeout=120,
            check=False,
        )
        if status is not None:
            assert done.returncode == status, (
                f"status {done.returncode}\n{done.stdout}\n{done.stderr[-4000:]}"
            )
        return done

    return run
