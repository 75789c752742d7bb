"""Long commands tell on a terminal how far they are, and nothing in a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import guardtree as gt
import pytest

PARENT = str(Path(gt.__file__).absolute().parent.parent)
QUICK_DEMO = ("guardtree", "demo", "--repeat", "2", "--files", "3")


def on_terminal(*words: str, columns: int = 0, **settings: str) -> str:
    """What `python -m ...` writes to stderr when that is a terminal."""
    ours, theirs = pty.openpty()
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    inherited = os.environ.get("PYTHONPATH")
    paths = [PARENT, *([inherited] if inherited else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **settings}
    child = subprocess.Popen(
        [sys.executable, "-m", *words],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    written = b""
    try:
        while got := os.read(ours, 4096):
            written += got
    except OSError:  # EIO: the other end is closed
        pass
    os.close(ours)
    child.wait(timeout=60)
    return written.decode()


def test_the_demo_counts_its_rounds_and_clears_the_line() -> None:
    lines = on_terminal(*QUICK_DEMO).split("\r")
    told = [line.strip() for line in lines if line.strip()]
    assert told[0] == "guardtree demo: first runs"
    stages = ["an empty hook", "by the hook"]
    if gt.features()["guards_calls_by"] == "entry":
        stages.append("by function")
    for stage in stages:
        for number in (1, 2):
            assert any(f"{stage}, round {number} of 2" in line for line in told)
    assert any("the JIT specialises" in line for line in told)
    assert "\n" not in "".join(lines)
    assert lines[-1] == "" and not lines[-2].strip()


def test_a_shorter_line_leaves_nothing_of_the_longer_one() -> None:
    lines = on_terminal(*QUICK_DEMO).split("\r")[1:]
    for before, after in zip(lines, lines[1:-1], strict=False):
        assert len(after) >= len(before.rstrip())


def test_a_line_never_wraps() -> None:
    lines = on_terminal(*QUICK_DEMO, columns=30).split("\r")
    assert max(map(len, lines)) == 29


def test_the_benchmarks_count_batches_and_rounds() -> None:
    told = on_terminal("guardtree", "bench", "--smoke")
    assert "guardtree bench: building trees, round 2 of 2" in told
    assert "guardtree bench: calls under the hook, batch 1 of 1" in told


def test_building_the_plugin_tells_what_runs(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    compiler = tmp_path / "cxx"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    told = on_terminal(
        *("guardtree.torch", "build"),
        columns=200,
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        CXX=str(compiler),
    )
    said = f"{compiler} compiles the plugin for torch {torch.__version__}"
    assert told.split("\r")[1] == f"guardtree.torch: {said}"
