"""The blocks of dsl/README.md run as they stand; C++ has its own test of its block."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

MANUAL = Path(__file__).resolve().parents[2] / "dsl/README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", MANUAL.read_text(), re.M | re.S)


def test_every_block_is_run_and_all_trees_are_the_same() -> None:
    names: dict[str, Any] = {"__name__": "manual"}
    for block in blocks("python"):
        exec(compile(block, str(MANUAL), "exec"), names)  # noqa: S102
    gt, step = names["gt"], names["step"]
    (written,) = blocks("json")
    read = gt.from_json(written, step)
    assert str(read) == str(names["guards"])
    assert json.loads(read.to_json()) == json.loads(written)
    assert len(blocks("cpp")) == 1
    known = {"python", "json", "cpp"}
    assert set(re.findall(r"^```(\w+)", MANUAL.read_text(), re.M)) == known
