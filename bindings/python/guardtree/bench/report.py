"""The results as tables: Markdown for a file, aligned text or rich for the terminal."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .evaluate import CELL, Cell, Rounds
from .hook import HookResult
from .rounds import Spread

ENTRIES = re.compile(r"table/(\w+)/(\w+)/entries:(\d+)(/one_by_one)?$")
NOISE = 0.03  # ratios this close to 1 are equal
CORNER = "locals, guards:"

LIMIT_OVER_LAMBDA = 5.0  # ns, of check on an empty guard

FORMS = {
    "dict": "a dict that exists",
    "built_dict": "a dict built for the call",
}


@dataclass
class Table:
    """Rows under a title; the first column is text, the others are numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """As it stands in the file."""
        rule = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = [f"## {self.title}", ""]
        for row in [self.columns, rule, *self.rows]:
            cells = (cell.replace("|", "\\|") for cell in row)
            lines.append(f"| {' | '.join(cells)} |")
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def text(self) -> str:
        """Aligned, for a terminal."""
        table = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.columns))]
        lines = [self.title]
        for row in table:
            first = row[0].ljust(widths[0])
            rest = [row[i].rjust(widths[i]) for i in range(1, len(row))]
            lines.append("  " + "  ".join([first, *rest]))
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)]) + "\n"


def number(value: float) -> str:
    """Three digits that matter."""
    return f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def ratio_text(value: float) -> str:
    """Two decimals while they matter."""
    return f"{value:.2f}" if value < 10 else number(value)


def spread_text(spread: Spread | None) -> str:
    """The middle one of the batches' medians, and in brackets how far they go."""
    if spread is None:
        return "-"
    span = f"{number(spread.best)} to {number(spread.worst)}"
    return f"{number(spread.middle)} ({span})"


def hook_tables(result: HookResult, claims: bool) -> list[Table]:
    """Hits through the hook, and ``check`` from Python."""
    rows = []
    for hit in result.hits:
        row = [f"{hit.guards}, {hit.arguments} arg."]
        for spread, limit in (
            (hit.over_pass_through, hit.limit_over_pass_through),
            (hit.over_plain, hit.limit_over_plain),
        ):
            row += [spread_text(spread), number(limit)]
            if claims:
                within = spread is None or spread.middle <= limit
                row[-1] += "" if within else " MISSED"
        rows.append(row)
    notes = [
        f"Plain call, its loop included: {spread_text(result.plain[1])} ns with one "
        f"argument, {spread_text(result.plain[2])} with two."
    ]
    if result.pass_through:
        notes.append(
            "The pass-through function alone adds "
            f"{spread_text(result.pass_through[1])} and "
            f"{spread_text(result.pass_through[2])} ns to it: with any hook installed "
            "CPython no longer inlines Python-to-Python calls."
        )
    notes.append(
        "The middle one of the batches' medians (smallest to largest); "
        f"{result.rounds_kept} of {result.rounds_run} rounds kept."
    )
    columns = ["ns (hook_hit)", "over pass-through", "limit"]
    hits = Table(
        "A hit through the hook",
        [*columns, "over a plain call", "limit"],
        rows,
        notes,
    )
    over = result.check_over_lambda
    note = f"An empty guard over the lambda: {spread_text(over)} ns; at most "
    note += f"{LIMIT_OVER_LAMBDA:.0f} are promised."
    if claims and over.middle > LIMIT_OVER_LAMBDA:
        note += " MISSED"
    checks = Table(
        "check(mapping) from Python",
        ["ns per call", "over an empty loop"],
        [[name, spread_text(spread)] for name, spread in result.checks.items()],
        [note],
    )
    return [hits, checks]


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
