"""The frame counter prints, byte for byte, the lines that the contract promises."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize("mode", ["skip", "hit", "miss"])
def test_the_frame_counter_prints_the_expected_lines(
    mode: str, run_python: Run
) -> None:
    done = run_python(HERE / "seed_program.py", mode)
    expected = HERE.parent / "golden" / f"seed_{mode}.txt"
    assert done.stdout.encode() == expected.read_bytes()
    assert done.stderr == ""
