"""A check of a tree that Dynamo built executes no more than its ceiling."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import counted_marks
import guardtree as gt
import kept_trees
import pytest


@counted_marks.needs_valgrind
@pytest.mark.skipif(
    not gt.features()["optimized"], reason="the ceilings are those of a release build"
)
def test_each_kept_tree_stays_below_its_ceiling(tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    every = json.loads((kept_trees.BENCH / "real/ceilings.json").read_text())
    ceilings = every.get(version)
    if ceilings is None:
        pytest.skip(f"there are no ceilings for {version}")
    _, *counts = counted_marks.counts(tmp_path, kept_trees.__file__, [])
    assert len(counts) == len(ceilings)
    above = {
        name: f"{count / kept_trees.CHECKS:.0f}, of at most {ceilings[name]}"
        for name, count in zip(sorted(ceilings), counts)
        if count > ceilings[name] * kept_trees.CHECKS
    }
    assert not above, "bench/real/instructions.py --write stores what they take now"
