"""examples/: each program runs and prints what docs/examples.md shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))
PAGE = (ROOT / "docs/examples.md").read_text()


def section_of(program: Path) -> str:
    """What the page says of a program: from its heading to the next."""
    parts = re.split(r"^## ", PAGE, flags=re.M)[1:]
    link = f"(../examples/{program.name})"
    (found,) = [each for each in parts if link in each]
    return found


def require_packages(program: Path) -> None:
    """Skips where one that the program says it needs is not installed."""
    text = program.read_text()
    needed = re.search(r"^Needs packages: pip install (.*?)\.", text, re.M)
    for name in needed[1].split() if needed else ():
        pytest.importorskip(name)


def test_there_are_fourteen() -> None:
    assert len(PROGRAMS) == 14
    assert [each.name[:3] for each in PROGRAMS] == [f"{i:02}_" for i in range(1, 15)]
    assert len(re.findall(r"^## \d+\. ", PAGE, re.M)) == 14


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_it_prints_what_the_page_shows(
    program: Path, run_python: Callable[..., Any]
) -> None:
    require_packages(program)
    (shown,) = re.findall(r"^```console\n(.*?)^```", section_of(program), re.M | re.S)
    printed = run_python(program).stdout
    assert "\n".join(line.rstrip() for line in printed.splitlines()) + "\n" == shown


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_it_says_what_it_shows(program: Path) -> None:
    assert program.read_text().startswith('"""')
    assert len(program.read_text().splitlines()) <= 150
