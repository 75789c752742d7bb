"""The demo's report as text: tables with rich if it is installed, plain otherwise."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

try:
    from rich import box
    from rich.console import Console
    from rich.table import Table
except ImportError:
    Console = None  # type: ignore[assignment, misc]

WIDTH = 100
MOST_ROWS = 24

Row = Sequence[str]


def printer() -> Callable[[str, Row, Iterable[Row]], None]:
    """What prints a table: a title, column heads, rows. The first column is text."""
    if Console is None:
        return plain_table
    columns = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
    console = Console(width=WIDTH if columns < 80 else columns, highlight=False)

    def rich_table(title: str, heads: Row, rows: Iterable[Row]) -> None:
        table = Table(box=box.ASCII2, show_edge=False, pad_edge=False, padding=0)
        for place, head in enumerate(heads):
            side = "right" if place else "left"
            table.add_column(head, justify=side, overflow="fold", header_style="bold")
        for row in rows:
            table.add_row(*row)
        console.print(f"\n{title}", style="bold", markup=False)
        console.print(table)

    return rich_table


def plain_table(title: str, heads: Row, rows: Iterable[Row]) -> None:
    every = [heads, *rows]
    widths = [max(len(row[place]) for row in every) for place in range(len(heads))]
    print(f"\n{title}")
    for number, row in enumerate(every):
        cells = [row[0].ljust(widths[0])]
        cells += [
            cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)
        ]
        print(" ".join(cells).rstrip())
        if number == 0:
            print(" ".join("-" * width for width in widths))


def paragraph(text: str) -> None:
    print(textwrap.fill(" ".join(text.split()), WIDTH))


def clipped(text: str, width: int = WIDTH) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def percent(ratio: float) -> str:
    """How much longer than plain, in percent."""
    return f"{(ratio - 1) * 100:+.1f}%"


def show(report: dict[str, Any]) -> None:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    table = printer()
    build = "release" if report["release_build"] else "debug (its times mean little)"
    version, python = report["guardtree"], report["python"]
    jobs = len(report["tasks"])
    paragraph(
        f"guardtree {version} on CPython {python}, {build} build: {jobs} "
        f"jobs of the standard library on {report['files']} of its own files, as they "
        "are and under a callback that specialises functions for the calls it sees. "
        "All results were compared and are equal."
    )
    show_tasks(report, table)
    show_functions(report, table)
    show_totals(report)
    show_tree(report)
    show_polymorphic(report)


def show_tasks(report: dict[str, Any], table: Callable[..., None]) -> None:
    rows = [
        (
            clipped(f"{each['name']}: {each['what']}", 58),
            f"{each['plain_ms']:.2f}",
            percent(each["pass_through_ratio"]),
            percent(each["specialized_ratio"]),
        )
        for each in report["tasks"]
    ]
    totals = report["totals"]
    plain = sum(each["plain_ms"] for each in report["tasks"])
    both = percent(totals["pass_through_ratio"]), percent(totals["specialized_ratio"])
    rows.append(("all", f"{plain:.2f}", *both))
    heads = ("time against plain Python", "plain ms", "hook only", "specialised")
    table("Jobs", heads, rows)
    paragraph(
        """CPU time, medians of runs in turn. 'Hook only' is set_eval_frame(False) with
        nothing cached: under any PEP 523 evaluator CPython gives up its cheap
        Python-to-Python calls, and every frame pays for that, compiled or not.
        'Specialised' pays it too."""
    )


def show_functions(report: dict[str, Any], table: Callable[..., None]) -> None:
    functions = report["functions"]
    heads = ("function", "entr", "hits", "miss", "dict", "call", "bytecode B")
    rows = [function_row(each) for each in functions[:MOST_ROWS]]
    times = ("plain", "hook", "hit", "look")
    table("Functions that were specialised", (*heads, *times), rows)
    if len(functions) > MOST_ROWS:
        print(f"... and {len(functions) - MOST_ROWS} more (--json has all)")
    paragraph(
        """entr: entries; dict: dicts that look-ups built; call: hits that did not fit
        into the frame and ran as a call; bytecode: of the original, then of the
        entries, which keep the original as the way out of their checks. Nanoseconds
        of one call that was seen, best of several rounds: plain, hook off; hook on,
        nothing cached; a hit, specialised code; look: guards and substitution alone.
        '-': arguments that cannot be used again."""
    )


def function_row(function: dict[str, Any]) -> Row:
    times = function["times_ns"]
    names = ("plain", "hooked", "hit", "lookup")
    name = function["name"]
    if len(name) > 28:
        name = name.removeprefix(function["module"] + ".")
    sizes = sorted(function["bytes_after"])
    after = dict.fromkeys(str(size) for size in (sizes[0], sizes[-1]))
    return (
        clipped(name, 28),
        str(len(function["entries"])),
        *(str(function[each]) for each in ("hits", "misses", "dicts_built", "called")),
        f"{function['bytes_before']} > {'-'.join(after)}",
        *(f"{times[each]:.0f}" if times else "-" for each in names),
    )


def show_totals(report: dict[str, Any]) -> None:
    totals = report["totals"]
    left = ", ".join(f"{n} {why}" for why, n in report["left_as_they_are"].items())
    print("\nTotals")
    names = ("functions", "entries", "hits", "misses", "errors")
    counted = ", ".join(f"{totals[name]} {name}" for name in names)
    paragraph(
        f"{counted}, {totals['dicts_built']} dicts built; entries ran "
        f"{totals['substituted']} times in the caller's frame, "
        f"{totals['called']} times as a call."
    )
    if totals["measured"]:
        low, high = totals["lookup_ns_range"]
        paragraph(
            f"A look-up with its hit costs {totals['lookup_ns']:.0f} ns (median of "
            f"{totals['measured']} functions, {low:.0f} to {high:.0f}); "
            f"{totals['faster_than_hook']} of them are faster than under the hook "
            f"alone, {totals['faster_than_plain']} faster than plain Python."
        )
    paragraph(f"Left as they are, code objects: {left}.")


def show_tree(report: dict[str, Any]) -> None:
    tree = report["tree"]
    if tree is None:
        return
    print(f"\nGuards of {tree['function']}")
    for line in tree["text"].rstrip().splitlines():
        print(clipped(line))
    print("With them, the compiler folded")
    for fold in tree["folds"][:8]:
        print(clipped(f"  {fold}"))
    print(f"The same call, but {tree['changed']}, is a miss:")
    for line in tree["explanation"].splitlines():
        print(clipped(f"  {line}"))


def show_polymorphic(report: dict[str, Any]) -> None:
    both = report["polymorphic"]
    if both is None:
        return
    print(f"\n{both['function']} is called in several ways, with an entry for each:")
    for each in both["entries"]:
        print(clipped(f"  {each['hits']:>7} hits   " + "; ".join(each["guards"])))
    print("The first refuses calls of the second:")
    for line in both["explanation"].splitlines():
        print(clipped(f"  {line}"))
