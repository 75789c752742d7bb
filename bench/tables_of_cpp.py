"""What the C++ program measured, as tables."""

from __future__ import annotations

import re

from evaluate import CELL, Cell, Rounds
from guardtree.bench.report import Table, number, ratio_text

ENTRIES = re.compile(r"table/(\w+)/(\w+)/entries:(\d+)(/one_by_one)?$")
NOISE = 0.03  # ratios this close to 1 are equal
CORNER = "locals, guards:"

FORMS = {
    "dict": "a dict that exists",
    "built_dict": "a dict built for the call",
}


def ratio_table(rounds: Rounds, form: str) -> Table:
    """How many times as long as raw slots, locals down, guards across."""
    cells = rounds.cells()
    guards = sorted({cell[1] for cell in cells})
    rows = [
        [str(count), *(ratio_text(rounds.ratio(form, (count, g))) for g in guards)]
        for count in sorted({cell[0] for cell in cells})
    ]
    title = f"{FORMS[form].capitalize()}: times as long as raw slots"
    return Table(title, [CORNER, *map(str, guards)], rows)


def raw_table(rounds: Rounds) -> Table:
    """Nanoseconds of the program over raw slots."""
    cells = rounds.cells()
    guards = sorted({cell[1] for cell in cells})

    def time(cell: Cell) -> str:
        where = f"locals:{cell[0]}/guards:{cell[1]}"
        return number(rounds.time(f"evaluate/raw/{where}"))

    rows = [
        [str(count), *(time((count, g)) for g in guards)]
        for count in sorted({cell[0] for cell in cells})
    ]
    title = "One program over raw slots, ns"
    return Table(title, [CORNER, *map(str, guards)], rows)


def smallest_ratio(rounds: Rounds) -> tuple[float, str, Cell]:
    """Where raw slots win the least."""
    return min(
        (rounds.ratio(form, cell), form, cell)
        for form in FORMS
        for cell in rounds.cells()
    )


def sweep_verdict(rounds: Rounds) -> str:
    """One sentence on whether raw slots are ever slower."""
    ratio, form, (count, guards) = smallest_ratio(rounds)
    verdict = "never slower" if ratio >= 1 - NOISE else "SLOWER in places"
    return (
        f"Raw slots are {verdict} (beyond {NOISE:.0%} noise): the smallest ratio is "
        f"{ratio:.2f}, against {FORMS[form]}, with {count} locals and {guards} guards."
    )


def lookup_table(rounds: Rounds) -> Table:
    """Whole look-ups inside C++ and their pieces."""
    names = [
        name
        for name in rounds.times
        if not name.startswith(("kind/", "step/", "build/", "table/"))
        and not CELL.match(name)
    ]
    rows = [[name, number(rounds.time(name))] for name in names]
    note = "lookup/two_type_match is promised to take at most 10 ns."
    return Table("A look-up inside C++", ["benchmark", "ns"], rows, [note])


def entries_table(rounds: Rounds) -> Table:
    """Look-ups among entries: what they differ in down, how many there are across."""
    found: dict[str, dict[int, float]] = {}
    for name in rounds.times:
        if match := ENTRIES.match(name):
            how = f"{match[1]}, {match[2]}{', one by one' if match[4] else ''}"
            found.setdefault(how, {})[int(match[3])] = rounds.time(name)
    counts = sorted({count for row in found.values() for count in row})
    rows = [
        [how, *(number(row[count]) if count in row else "-" for count in counts)]
        for how, row in sorted(found.items())
    ]
    note = (
        "Over one entry, in turn: at most 5 ns more are promised for 64 and 12 for "
        "1,024; in random order 14 and 16. `one by one` tries them in order."
    )
    columns = ["ns, entries:", *map(str, counts)]
    return Table("A look-up among entries, and adding one", columns, rows, [note])


def entity_table(rounds: Rounds) -> Table:
    """One check of each kind, one fetch and type check of each step."""
    names = [name for name in rounds.times if name.startswith(("kind/", "step/"))]
    rows = [[f"`{name}`", number(rounds.check(name))] for name in names]
    note = "A step's time includes the exact type check of what it fetched."
    return Table("Kinds and steps, by example", ["one check", "ns"], rows, [note])


def evaluate_tables(rounds: Rounds, claims: bool) -> list[Table]:
    """Everything that the C++ program measured."""
    ratios = [ratio_table(rounds, form) for form in FORMS]
    if claims:
        ratios[-1].notes.append(sweep_verdict(rounds))
    return [
        lookup_table(rounds),
        entries_table(rounds),
        *ratios,
        raw_table(rounds),
        entity_table(rounds),
    ]


def building(rounds: Rounds, sizes: tuple[int, ...]) -> dict[int, tuple[float, float]]:
    """ns and bytes for each value of a tree that C++ builds, by size."""
    names = {size: f"build/values:{size}" for size in sizes}
    return {
        size: (rounds.check(name), rounds.bytes[name]) for size, name in names.items()
    }
