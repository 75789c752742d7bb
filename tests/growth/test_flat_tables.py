"""A table with many entries costs what a table with one costs, whatever kind or step
tells the entries apart."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import counted_marks
import flat_tables
import guardtree as gt
import pytest

REFERENCE = Path(__file__).resolve().parents[2] / "guards/REFERENCE.md"
# Of instructions, which are few for one entry: 500 and more. In time the factor for 64
# entries is 1.3.
MOST = {64: 1.5, 1024: 2.5}


def words(group: str, operands: str) -> set[str]:
    """The kinds or steps of the reference whose operands match."""
    text = REFERENCE.read_text()
    part = text.partition(f"\n## {group}\n")[2].partition("\n## ")[0]
    return set(re.findall(rf"^### `(\w+)\({operands}\)`", part, re.MULTILINE))


def test_every_kind_and_step_is_measured_or_is_not_flat_for_a_reason() -> None:
    not_flat = set(" ".join(flat_tables.NOT_FLAT.values()).split())
    measured = {name.partition(",")[0] for name in flat_tables.KINDS}
    measured |= {name.partition(",")[0] for name in flat_tables.STEPS}
    measured |= set(flat_tables.ROOTS)
    every = words("Kinds", ".+") | words("Steps", ".*")
    missing = every - measured - not_flat
    assert not missing, f"add to KINDS, STEPS or NOT_FLAT of flat_tables.py: {missing}"
    assert measured | not_flat == every
    assert not measured & not_flat


@counted_marks.needs_valgrind
def test_many_entries_cost_what_one_costs(tmp_path: Path) -> None:
    names = list(flat_tables.cases())
    all_counts = counted_marks.counts(tmp_path, flat_tables.__file__, names)
    repeats = flat_tables.REPEATS
    starts = range(0, len(all_counts), repeats)
    nothing, *counts = (min(all_counts[i : i + repeats]) for i in starts)
    counts = [count - nothing for count in counts]
    sizes = len(flat_tables.SIZES)
    assert len(counts) == sizes * len(names)
    told = []
    for i, name in enumerate(names):
        one, *many = counts[sizes * i : sizes * (i + 1)]
        for size, count in zip(flat_tables.SIZES[1:], many, strict=True):
            if count > MOST[size] * one:
                told.append(f"{name}: {one}, {count} with {size} entries")
    assert not told, "\n".join(["more than one entry costs:", *told])


def entry_of(rng: random.Random, names: list[str]) -> tuple[gt.GuardManager, Any]:
    """Guards of x, often of two kinds, and a value that passes the first of them."""
    add, value = flat_tables.of_values()[rng.choice(names)]
    i = rng.randrange(12)
    x = flat_tables.held(value(i))
    guards = gt.GuardManager(flat_tables.subject)
    add(guards.local("x"), i, x)
    if rng.random() < 0.3:
        guards.local("y").equals(rng.randrange(2))
    return guards, x


@pytest.mark.parametrize("seed", range(60))
def test_a_mix_of_entries_is_found_as_by_trying_all(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(sorted(flat_tables.of_values()), rng.randint(1, 6))
    table = gt.Table(flat_tables.subject)
    entries: list[Any] = []
    values: list[Any] = []

    def compare() -> None:
        for x in rng.sample(values, min(len(values), 12)):
            y = rng.randrange(2)
            given = {"x": x, "y": y}
            passing = (n for n, (guards, _) in entries if guards.check(given))
            expected = next(passing, None)
            assert table.lookup_call(x, y) == expected
            assert table.lookup(given) == expected

    for n in range(60):
        guards, x = entry_of(rng, names)
        entries.append((n, (guards, table.add(guards, n))))
        values.append(x)
        compare()
        if rng.random() < 0.1:
            table.remove(entries.pop(rng.randrange(len(entries)))[1][1])
            compare()
