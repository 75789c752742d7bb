"""The demo's report as text, at most 100 columns wide."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

WIDTH = 100
MAX_ROWS, MAX_NOTES = 24, 8
LEGEND = """
    Times as fast as plain Python: CPU time, medians of runs in turn. 'Hook only' is
    set_eval_frame(False) with nothing cached: under any PEP 523 evaluator CPython gives
    up its cheap Python-to-Python calls. 'By the hook' pays for that too. 'By function'
    is guard_function with the same entries and no hook; CPython 3.11 has no way to it.
    """

Row = Sequence[str]


def table(title: str, heads: Row, rows: Iterable[Row]) -> None:
    every = [heads, *rows]
    widths = [max(len(row[place]) for row in every) for place in range(len(heads))]
    print(f"\n{title}")
    for number, row in enumerate(every):
        cells = [row[0].ljust(widths[0])]
        cells += [each.rjust(n) for each, n in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def paragraph(text: str) -> None:
    print(textwrap.fill(" ".join(text.split()), WIDTH))


def clipped(text: str, width: int = WIDTH) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def times(speed: float | None) -> str:
    return f"{speed:.2f}" if speed else "-"


def show(report: dict[str, Any]) -> None:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    build = "release" if report["release_build"] else "debug (its times mean little)"
    version, python, files = (report[n] for n in ("guardtree", "python", "files"))
    paragraph(
        f"guardtree {version} on CPython {python}, {build} build: "
        f"{len(report['jobs'])} jobs of the standard library on {files} of its own "
        "files, as they are and with their functions specialised for the calls that a "
        "JIT saw. All results were compared and are equal."
    )
    show_jobs(report)
    show_functions(report)
    show_tree(report["tree"])
    show_polymorphic(report["polymorphic"])


def show_jobs(report: dict[str, Any]) -> None:
    ways = ("hooked", "specialised", "guarded")
    rows = [
        (
            clipped(f"{each['name']}: {each['what']}", 56),
            f"{each['plain_ms']:.2f}",
            *(times(each[way]) for way in ways),
        )
        for each in report["jobs"]
    ]
    rows.append(("geometric mean", "", *(times(report["speeds"][way]) for way in ways)))
    heads = ("job", "plain ms", "hook only", "by the hook", "by function")
    table("Jobs", heads, rows)
    paragraph(LEGEND)


def show_functions(report: dict[str, Any]) -> None:
    functions, totals = report["functions"], report["totals"]
    counters = ("hits", "misses", "dicts_built", "called")
    rows = []
    for each in functions[:MAX_ROWS]:
        sizes = "-".join(str(entry["bytes"]) for entry in each["entries"][:2])
        counts = [str(each[name]) for name in counters]
        size = f"{each['bytes']} > {sizes}"
        name = clipped(each["name"], 44)
        rows.append((name, str(len(each["entries"])), *counts, size))
    heads = ("function", "entries", "hits", "misses", "dicts", "calls", "bytecode")
    table("Functions that were specialised", heads, rows)
    if len(functions) > MAX_ROWS:
        print(f"... and {len(functions) - MAX_ROWS} more (--json has all)")
    entries = sum(len(each["entries"]) for each in functions)
    left = ", ".join(f"{n} {why}" for why, n in report["left_as_they_are"].items())
    counted = ", ".join(f"{totals[n]} {n}" for n in ("hits", "misses", "errors"))
    paragraph(
        f"In all {len(functions)} functions with {entries} entries, made in "
        f"{report['compile_ms']:.0f} ms of CPU time, which no time above includes; "
        f"{counted}; look-ups built {totals['dicts_built']} dicts. Entries ran "
        f"{totals['substituted']} times in the caller's frame, {totals['called']} "
        f"times as a call. Left as they are, code objects: {left}."
    )


def show_tree(tree: dict[str, Any] | None) -> None:
    if tree is None:
        return
    print(f"\nGuards of {tree['function']}")
    for line in tree["text"].rstrip().splitlines():
        print(clipped(line))
    print("With them, the JIT has done")
    for note in list(dict.fromkeys(tree["notes"]))[:MAX_NOTES]:
        print(clipped(f"  {note}"))
    print(f"The same call, but {tree['changed']}, is a miss:")
    for line in tree["explanation"].splitlines():
        print(clipped(f"  {line}"))


def show_polymorphic(both: dict[str, Any] | None) -> None:
    if both is None:
        return
    hits = ", ".join(map(str, both["hits"]))
    print(f"\n{both['function']} is called in several ways; hits by entry: {hits}")
    for place, values in both["differences"].items():
        shown = ", ".join(value or "-" for value in values)
        print(clipped(f"  they differ in {place}: {shown}"))
    print("The first refuses calls of the second:")
    for line in both["explanation"].splitlines():
        print(clipped(f"  {line}"))
