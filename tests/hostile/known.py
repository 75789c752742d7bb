"""Reads the list of cells that are known to fail, each with its versions."""

from __future__ import annotations

import sys
from pathlib import Path

LIST = Path(__file__).with_name("known_failures.txt")


def known_failures(path: Path = LIST) -> set[tuple[str, str]]:
    """The (condition, entry point) pairs that fail on this CPython.

    A line of the list: the condition, versions such as 3.11-3.13, the entry point.
    """
    found = set()
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            condition, versions, name = line.split(" ", 2)
            first, _, last = versions.partition("-")
            oldest, newest = (
                tuple(map(int, each.split("."))) for each in (first, last or first)
            )
            if oldest <= sys.version_info[:2] <= newest:
                found.add((condition, name))
    return found
