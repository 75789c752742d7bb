"""The subpackage's README: its blocks run, its version table is the code's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import alone
from guardtree import bytecode
from guardtree.bytecode.versions import VERSIONS, Version

MANUAL = alone.SOURCES / "bytecode/README.md"


def test_every_block_runs(capsys) -> None:
    text = MANUAL.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == text.count("```") // 2 > 4
    names: dict[str, Any] = {"__name__": "manual"}
    for block in blocks:
        exec(compile(block, str(MANUAL), "exec"), names)  # noqa: S102
    assert "hello" in capsys.readouterr().out


def cell(value: Any) -> str:
    """A value of the version table as the README writes it."""
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, Mapping):
        words = [
            f"{name} {n}" if n.__class__ is int else name for name, n in value.items()
        ]
        return ", ".join(words) or "-"
    if isinstance(value, tuple):
        return " ".join(str(each) for each in value if each is not None) or "-"
    if isinstance(value, int) and value > 0xFFFF:
        return hex(value)
    return str(value or "-")


def version_table() -> list[str]:
    heads = ["row", *(f"{major}.{minor}" for major, minor in VERSIONS)]
    lines = [" | ".join(heads), "|".join("---" for _ in heads)]
    for field in fields(Version):
        values = [cell(getattr(version, field.name)) for version in VERSIONS.values()]
        told = [
            "same" if new == old else new for old, new in zip(["", *values], values)
        ]
        lines.append(" | ".join([f"`{field.name}`", *told]))
    return [f"|{each}|" if each.startswith("-") else f"| {each} |" for each in lines]


def test_the_version_table_is_that_of_the_code() -> None:
    text = MANUAL.read_text().partition("## Versions")[2]
    shown = [line for line in text.splitlines() if line.startswith("|")]
    table = version_table()
    assert shown == table, "\n".join(["the README's table has to be", *table])


def test_every_name_of_the_subpackage_is_in_the_manual() -> None:
    text = MANUAL.read_text()
    missing = [name for name in bytecode.__all__ if not re.search(rf"\b{name}\b", text)]
    assert not missing
