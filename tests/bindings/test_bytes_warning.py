"""No guard compares str with bytes through CPython, which warns of it under -b."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import guardtree as gt

HERE = Path(__file__).parent
PACKAGE = Path(gt.__file__).absolute().parent.parent

# Guards on which Python's own look-up compares, and so may warn: their text in Python
# does the same.
ASKS_PYTHON = ("item(", "set_contains(", "set_lacks(")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "GUARDTREE_TEST_CHECKS": "10000",
             "PYTHONHASHSEED": "0"},
        timeout=300,
        check=False,
    )


def lines_with(*options: str) -> list[str]:
    done = run(*options, str(HERE / "bytes_program.py"))
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Warning" not in done.stderr, done.stderr[-4000:]
    return done.stdout.splitlines()


def test_verdicts_are_the_same_with_warnings_as_errors() -> None:
    plain, strict = lines_with(), lines_with("-bb")
    assert len(plain) == len(strict) > 2000
    differing = [told for told, before in zip(strict, plain) if told != before]
    for told in differing:
        assert told.startswith(ASKS_PYTHON), told
        assert told.endswith(" warned"), told


def test_verdicts_are_the_same_where_python_only_warns() -> None:
    assert lines_with("-b") == lines_with()


# Files whose own constants CPython compiles without a warning.
FILES = ["bindings/test_check.py", "bindings/test_relations.py", "dsl/test_text.py"]


def test_the_suites_pass_with_warnings_as_errors() -> None:
    files = [str(HERE.parent / each) for each in FILES]
    options = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-x"]
    done = run("-bb", "-m", "pytest", *options, *files)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
