"""The results as tables: Markdown for a file, aligned text or rich for the terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

from .hook import HookResult
from .rounds import Spread

LIMIT_OVER_LAMBDA = 5.0  # ns, of check on an empty guard


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
