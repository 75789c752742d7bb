"""Checks each tree of bench/real/trees/ between marks that Callgrind counts by."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.append(str(BENCH))

from real import lookalike  # noqa: E402

CHECKS = 200


def counted(name: str) -> None:
    """Its checks, in a loop, between two marks."""
    kept = lookalike.load(name)
    check, values = kept.guards.check, kept.locals
    with kept.modules_in_place():
        assert all(check(values) for _ in range(5)), name
        gc.collect()
        gc.disable()
        os.getloadavg()
        for _ in range(CHECKS):
            check(values)
        os.getloadavg()
        gc.enable()


if __name__ == "__main__":
    # The first loop is slower: CPython specialises it, and links what it calls.
    for tree in lookalike.names()[:1] + lookalike.names():
        counted(tree)
