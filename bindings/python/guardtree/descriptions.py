"""What a GuardManager says of itself: checks, relations, counts, rows of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._guardtree import GuardManager


@dataclass(frozen=True)
class GuardCheck:
    """One check: a kind with its operands on the value at a path."""

    path: str
    """The value as a Python expression: ``cfg.training``."""
    kind: str
    """The kind's name: ``is_true``."""
    operands: dict[str, Any] = field(hash=False)
    """By name, as objects; None for one that was held weakly and has died."""
    python: str
    """The check in Python: ``cfg.training is True``."""
    note: Any = field(hash=False)
    """What note() said of it, or None."""
    node: GuardManager = field(compare=False, repr=False)
    """A handle on the node that is checked."""


@dataclass(frozen=True)
class GuardRelation:
    """One relation over several values."""

    paths: tuple[str, ...]
    """Its values as Python expressions, in order."""
    kind: str
    """The relation's name: ``same_object``."""
    operands: dict[str, Any] = field(hash=False)
    """By name, as objects."""
    python: str
    """The relation in Python: ``x is y``."""
    note: Any = field(hash=False)
    """What note() said of it, or None."""
    nodes: tuple[GuardManager, ...] = field(compare=False, repr=False)
    """Handles on the nodes of its values."""


@dataclass(frozen=True)
class GuardCounts:
    """How many nodes, checks and relations there are, and how many of each kind."""

    nodes: int
    checks: int
    relations: int
    kinds: dict[str, int] = field(hash=False)


@dataclass(frozen=True)
class AssumedGuards:
    """What a check relies on without looking, as long as no event says otherwise."""

    assumed: int
    """Checks that are not looked at."""
    reread: int
    """Checks below the same roots that are made each time: tensors' facts, lists."""
    compared: int
    """Classes, dicts and values that are compared by address each time."""
    invalidated: tuple[str, ...]
    """Why others do not hold now: "invalidated by a change of G['cfg']"."""


@dataclass(frozen=True)
class Simplification:
    """Guards without those that others imply."""

    guards: GuardManager
    """They give the same verdict on every value."""
    removed: list[str]
    """What went, and which guard says the same."""
    contradictions: list[str]
    """Guards that exclude each other: with one of these nothing ever passes."""


@dataclass(frozen=True)
class ProfileRow:
    """What happened at one step, check or relation while a profile ran."""

    path: str
    """The value as a Python expression; of a relation, what ``python`` says."""
    kind: str
    """Which step, kind or relation."""
    python: str
    """The check in Python; of a step, its path."""
    note: Any = field(hash=False)
    """What note() said of it, or None."""
    executed: int
    """How often it ran."""
    failed: int
    """How often it did not pass, without raising."""
    errors: int
    """How often it raised."""
    ns: int
    """Nanoseconds of all its runs, without the clock's own (``clock_ns``)."""


def profile_text(
    rows: Sequence[ProfileRow], checks: int, passed: int, clock_ns: float
) -> str:
    """The table that a GuardProfile prints, most expensive first."""
    table = [["guard", "kind", "executed", "failed", "errors", "ns", "ns each"]]
    for row in rows:
        each = f"{row.ns / row.executed:.1f}" if row.executed else "-"
        numbers = (row.executed, row.failed, row.errors, row.ns)
        table.append([row.python, row.kind, *map(str, numbers), each])
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = [f"{checks} checks, {passed} passed"]
    for line in table:
        texts = [line[i].ljust(widths[i]) for i in (0, 1)]
        texts += [line[i].rjust(widths[i]) for i in range(2, len(line))]
        lines.append("  " + "  ".join(texts).rstrip())
    lines.append(f"  without the clock's own {clock_ns:.1f} ns a reading")
    return "\n".join(lines)
