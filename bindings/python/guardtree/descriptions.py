"""Descriptions of a GuardManager: checks, relations, counts, rows of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._guardtree import GuardManager


@dataclass(frozen=True)
class GuardCheck:
    """One check: a kind and its operands, applied to the value at a path."""

    path: str
    """The value as a Python expression: ``cfg.training``."""
    kind: str
    """The kind's name: ``is_true``."""
    operands: dict[str, Any] = field(hash=False)
    """The operands by name, as objects. None for an object that has died."""
    python: str
    """The check in Python: ``cfg.training is True``."""
    note: Any = field(hash=False)
    """The note that note() added, or None."""
    node: GuardManager = field(compare=False, repr=False)
    """The GuardManager of the checked value."""


@dataclass(frozen=True)
class GuardRelation:
    """One relation over several values."""

    paths: tuple[str, ...]
    """The values as Python expressions, in order."""
    kind: str
    """The relation's name: ``same_object``."""
    operands: dict[str, Any] = field(hash=False)
    """The operands by name, as objects."""
    python: str
    """The relation in Python: ``x is y``."""
    note: Any = field(hash=False)
    """The note that note() added, or None."""
    nodes: tuple[GuardManager, ...] = field(compare=False, repr=False)
    """The GuardManagers of its values."""


@dataclass(frozen=True)
class FactDifference:
    """One fact of a value that is not what a guard expects."""

    fact: str
    """The fact: ``shape``, ``dtype``."""
    index: int | None
    """The dimension of ``shape`` and ``strides``; otherwise None."""
    expected: str
    """What the guard expects: ``8``, ``1 to 8``, ``float32``."""
    found: str
    """What the value has."""


@dataclass(frozen=True)
class GuardCounts:
    """The numbers of nodes, checks and relations, and of checks of each kind."""

    nodes: int
    checks: int
    relations: int
    kinds: dict[str, int] = field(hash=False)


@dataclass(frozen=True)
class AssumedGuards:
    """The guards that hold until an event, and what is still tested each time."""

    assumed: int
    """Number of checks that are skipped."""
    reread: int
    """Number of checks below the same roots that still run: tensor facts, lists."""
    compared: int
    """Number of classes, dicts and values that are compared by address each time."""
    invalidated: tuple[str, ...]
    """Why assumptions do not hold now: "invalidated by a change of G['cfg']"."""


@dataclass(frozen=True)
class Simplification:
    """A copy of guards without those that others imply."""

    guards: GuardManager
    """The remaining guards, with the same verdict on every value."""
    removed: list[str]
    """The removed guards, each with the guard that implies it."""
    contradictions: list[str]
    """Guards that exclude each other. If there are any, the tree never passes."""


@dataclass(frozen=True)
class ProfileRow:
    """The counters of one step, check or relation in a profile."""

    path: str
    """The value as a Python expression; for a relation, the same as ``python``."""
    kind: str
    """The name of the step, kind or relation."""
    python: str
    """The check in Python; for a step, its path."""
    note: Any = field(hash=False)
    """The note that note() added, or None."""
    executed: int
    """How often it ran."""
    failed: int
    """How often it did not pass, without raising."""
    errors: int
    """How often it raised."""
    ns: int
    """Total time in ns, without the cost of the clock (``clock_ns``)."""


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
