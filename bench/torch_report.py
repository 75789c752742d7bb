"""The comparison with PyTorch's engine as tables and a plot, and its progress bar."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from engines import COMPARED, ENGINES, PEERS
from guardtree.bench.report import Table, number, ratio_text
from plot import drawing
from workload_costs import Measured

OUR = COMPARED.name
NOT_HAD = "-"


class Progress:
    """One line on a terminal's stderr; silent elsewhere."""

    WIDTH = 30

    def __init__(self, total: int) -> None:
        self.total, self.done = total, -1
        self.shown = sys.stderr.isatty()

    def __call__(self, said: str) -> None:
        """The next part begins."""
        self.done += 1
        if self.shown:
            filled = min(self.WIDTH, self.WIDTH * self.done // max(1, self.total))
            bar = "#" * filled + "." * (self.WIDTH - filled)
            print(f"\r[{bar}] {said[:45]:45s}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """The line is blank again."""
        if self.shown:
            print("\r" + " " * 80 + "\r", end="", file=sys.stderr, flush=True)


def time_text(ns: float | None) -> str:
    """ns, with thousands set apart."""
    if ns is None:
        return NOT_HAD
    return f"{ns:,.0f}" if abs(ns) >= 100 else number(ns)


def costs_row(found: Measured, key: str) -> list[str]:
    """A row: each engine's time, then how many times as long the peers take."""
    costs, ratios = found.costs[key], found.ratios[key]
    row = [found.workload, *(time_text(costs.get(each.name)) for each in ENGINES)]
    for peer in PEERS:
        # Less than a nanosecond is noise, and so is a ratio to it.
        has_both = costs[OUR] >= 1 and peer.name in ratios
        row.append(f"x{ratio_text(ratios[peer.name])}" if has_both else NOT_HAD)
    return row


LOOP = "ns of a check, an empty one subtracted"
SINGLE = "ns of a single check"

SECTIONS = {
    "hit": f"A hit, warm: {LOOP}",
    "cold": f"A hit, caches flushed: {SINGLE}",
    "first_miss": f"The first guard fails, warm: {LOOP}",
    "first_miss_cold": f"The first guard fails, caches flushed: {SINGLE}",
    "last_miss_once": f"The last guard fails after hits, warm: {SINGLE}",
    "last_miss_cold": f"The last guard fails after hits, caches flushed: {SINGLE}",
    "last_miss": f"The last guard fails time and again, warm: {LOOP}",
}

COLUMNS = ["", *(each.name for each in ENGINES), *(f"x {each.name}" for each in PEERS)]


def workload_tables(found: list[Measured]) -> list[Table]:
    """What was measured down, engines across."""
    tables = {
        key: Table(title, COLUMNS, [costs_row(each, key) for each in found])
        for key, title in SECTIONS.items()
    }
    tables["hit"].notes.append(
        "`tags`: with recursive dict tags, off by default; `-` where no module is "
        "guarded, for which alone the peer has them. Its plain dict tags are always on."
    )
    tables["last_miss"].notes.append(
        "The peer has moved what failed to the front by then; guardtree does so where "
        "it is told to (`reordered`). After one miss recursive tags are off for good."
    )
    return [*tables.values(), counts_table(found), building_table(found)]


def counts_table(found: list[Measured]) -> Table:
    """That both engines check the same, and what an evaluation is inside C++."""
    rows = [
        [
            each.workload,
            str(each.guards),
            str(each.counts[PEERS[0].name]["guards"]),
            str(each.counts[PEERS[0].name]["leafs"]),
            str(each.rechecked),
            str(each.compared),
            time_text(each.cpp.get(OUR)),
            number(each.cpp[OUR] / each.guards),
        ]
        for each in found
    ]
    columns = ["", "guards", "peer", "its leafs", "re-checked", "words compared"]
    columns += ["C++ ns", "a guard"]
    notes = [
        "The peer has a leaf for each key of a dict in order, and for each alias.",
        f"Re-checked: what {OUR} looks at in each hit. On the other guards it relies: "
        "events tell of changes, and words of what has no event are compared.",
    ]
    return Table("The same guards on the same values", columns, rows, notes)


def building_table(found: list[Measured]) -> Table:
    """Time and memory for each guard."""
    rows = []
    for each in found:
        built = [time_text(each.build.get(engine.name)) for engine in ENGINES]
        held = [time_text(each.bytes.get(engine.name)) for engine in ENGINES]
        rows.append([each.workload, *built, *held])
    names = [engine.name for engine in ENGINES]
    columns = ["", *(f"ns, {n}" for n in names), *(f"bytes, {n}" for n in names)]
    note = "For each guard of a tree that was built and checked once."
    return Table("Building", columns, rows, [note])


def tensor_table(found: dict[str, Any]) -> Table:
    """Tensors alone: in C++, by check, through the hooks."""
    rows = [
        [f"one (64, 128) float32 in C++, {name}", number(cost), NOT_HAD, NOT_HAD]
        for name, cost in found["cpp_ns_per_guard"].items()
    ]
    two = number(found["cpp_ns_two_tensors"])
    rows.append(["two tensors, one evaluation in C++", two, NOT_HAD, NOT_HAD])
    pairs = {
        f"check of {name}, empty subtracted": pair
        for name, pair in found["check_ns_over_empty"].items()
    }
    pairs["hit through the hook, plain subtracted"] = found["hook_ns_over_plain"]
    for name, (ours, peer) in pairs.items():
        rows.append([name, number(ours), number(peer), f"x{peer / ours:.1f}"])
    return Table("Tensors, ns", ["", OUR, "peer", "x peer"], rows)


def entries_table(found: dict[str, dict[int, tuple[float, float]]]) -> Table:
    """Look-ups among entries through the hooks."""
    rows = [
        [f"{name}, {count}", number(ours), time_text(peer), f"x{peer / ours:.0f}"]
        for name, row in found.items()
        for count, (ours, peer) in row.items()
    ]
    title = "Entries, hit in turn through the hook: ns over a plain call"
    return Table(title, ["differing in, entries", OUR, "peer", "x peer"], rows)


def draw(found: list[Measured], title: str, path: Path) -> None:
    """Bars of warm and of cold hits and misses by workload, as SVG."""
    keys = ("hit", "cold", "last_miss_once", "last_miss_cold")
    with drawing(path, 2, 2, title) as (_, axes):
        for place, key in enumerate(keys):
            draw_bars(axes[place // 2][place % 2], found, key)


def draw_bars(axes: Any, found: list[Measured], key: str) -> None:
    """One panel: a group of bars for each workload, one for each engine."""
    width = 0.8 / len(ENGINES)
    for place, engine in enumerate(ENGINES):
        bars = {
            row + (place - (len(ENGINES) - 1) / 2) * width: costs[engine.name]
            for row, each in enumerate(found)
            for costs in [each.costs[key]]
            if engine.name in costs
        }
        axes.barh(list(bars), list(bars.values()), height=width, label=engine.name)
    axes.set_xscale("log")
    axes.set_xlim(left=1)
    axes.set_yticks(range(len(found)), [each.workload for each in found])
    axes.invert_yaxis()
    axes.set_xlabel("ns per check")
    axes.set_title(SECTIONS[key].split(":")[0])
    axes.grid(True, which="major", axis="x", alpha=0.3)
    axes.legend()
