"""What it takes to build a guard tree: time and memory for each guarded value.

A value is a path with its check, two calls: ``x.list_item(i).type_match(int)``. The
bench ``build/values`` (bench/cpp/building.cpp) does the same with the C++ tree.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from time import thread_time_ns
from typing import Any

import guardtree as gt

from ..progress import Tell, tell_nobody
from .report import Table, number
from .rounds import Plan

SIZES = (1_000, 4_000, 16_000, 64_000)
LIMIT_NS = 500.0
LIMIT_BYTES = 120.0


class MallInfo(ctypes.Structure):
    """glibc's ``struct mallinfo2``."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks "
            "keepcost"
        ).split()
    ]


@dataclass(frozen=True)
class Building:
    """Building a tree of ``values`` list items, each with one check."""

    values: int
    ns: float  # per value, the loop and its ints included
    bytes: float | None  # per value; None without glibc's mallinfo2


def allocated_bytes() -> int | None:
    """Bytes that malloc has handed out; None where the C library does not say."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return None
    mallinfo.restype = MallInfo
    info = mallinfo()
    return int(info.uordblks + info.hblkhd)


def subject(x: Any) -> None:
    """The guarded function."""


def build(values: int) -> gt.GuardManager:
    """The tree that is measured."""
    guards = gt.GuardManager(subject)
    items = guards.local("x")
    for i in range(values):
        items.list_item(i).type_match(int)
    return guards


def bytes_per_value(values: int) -> float | None:
    """What the C heap holds for a tree."""
    before = allocated_bytes()
    guards = build(values)
    after = allocated_bytes()
    del guards
    return None if before is None or after is None else (after - before) / values


def measure(plan: Plan, tell: Tell = tell_nobody) -> list[Building]:
    """All sizes in turn within each round; the median over the rounds."""
    times: dict[int, list[float]] = {size: [] for size in SIZES}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for done in range(plan.rounds):
            tell(f"building trees, round {done + 1} of {plan.rounds}")
            for size in SIZES:
                start = thread_time_ns()
                guards = build(size)
                times[size].append((thread_time_ns() - start) / size)
                del guards
        return [
            Building(size, median(times[size]), bytes_per_value(size)) for size in SIZES
        ]
    finally:
        if collecting:
            gc.enable()


def table(
    found: list[Building],
    claims: bool,
    in_cpp: Mapping[int, tuple[float, float]] | None = None,
) -> Table:
    """By size; beside it ns and bytes of the same in C++, where they were measured."""
    rows = []
    for each in found:
        row = [str(each.values), number(each.ns)]
        row.append("-" if each.bytes is None else number(each.bytes))
        row += map(number, in_cpp[each.values] if in_cpp else ())
        rows.append(row)
    note = f"At most {LIMIT_NS:.0f} ns and {LIMIT_BYTES:.0f} bytes a value are promised"
    missed = [
        str(each.values)
        for each in found
        if each.ns > LIMIT_NS or (each.bytes or 0) > LIMIT_BYTES
    ]
    note += f" of 16000; MISSED at {', '.join(missed)}." if claims and missed else "."
    return Table(
        "Building x.list_item(i).type_match(int), for each value",
        ["values", "Python ns", "bytes", *(["C++ ns", "bytes"] if in_cpp else [])],
        rows,
        [note],
    )
