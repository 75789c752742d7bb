"""The command ``python -m guardtree bench``: measures, prints tables, writes files."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import guardtree as gt

from . import building, evaluate, hook, plot, report
from .rounds import FULL, SMOKE

SMOKE_WARNING = "A smoke run: it shows that the benches run, its numbers mean nothing."


def processor() -> str:
    """The processor's name, as Linux has it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.machine()
    names = [
        line.split(":", 1)[1] for line in text.splitlines() if "model name" in line
    ]
    return names[0].strip() if names else platform.machine()


def environment() -> dict[str, str]:
    """What the numbers depend on, besides the machine's mood."""
    return {
        "guardtree": gt.__version__,
        "python": sys.version.split()[0],
        "python_compiler": platform.python_compiler(),
        "jit": "on" if hook.jit_is_on() else "off",
        "processor": processor(),
    }


def reason_to_refuse() -> str:
    """Why numbers of this process would mislead; empty when they would not."""
    if hasattr(sys, "gettotalrefcount"):
        return "this CPython is a debug build"
    if gt.features()["assertions"]:
        return "this guardtree is a debug build"
    return ""


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m guardtree bench",
        description="Measures guardtree on this machine: about a minute.",
    )
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="run everything for a moment, in any build, and claim nothing",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("bench-results"),
        metavar="DIR",
        help="where the table, the numbers and the plot go (default: %(default)s)",
    )
    parser.add_argument(
        "--build",
        action="store_true",
        help="only what building a tree takes; prints, and writes no files",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the numbers as JSON, not as tables"
    )
    return parser.parse_args(argv)


def numbers(
    facts: dict[str, str],
    hooked: hook.HookResult,
    built: list[building.Building],
    rounds: evaluate.Rounds | None,
) -> dict[str, Any]:
    """Everything measured, for programs."""
    document: dict[str, Any] = {"environment": facts, "hook": asdict(hooked)}
    document["build"] = [asdict(each) for each in built]
    if rounds:
        document["evaluate"] = {name: rounds.time(name) for name in rounds.times}
        document["check"] = {name: rounds.check(name) for name in rounds.checks}
        document["times_raw"] = {
            form: {
                f"{n} locals, {g} guards": rounds.ratio(form, (n, g)) for n, g in cells
            }
            for cells in [rounds.cells()]
            for form in report.FORMS
        }
    return document


def show(tables: list[report.Table]) -> None:
    """Prints tables: with rich where it is installed, else as aligned text."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        print("\n".join(table.text() for table in tables))
        return
    console = Console(highlight=False, markup=False)
    for table in tables:
        shown = Table(title=table.title, title_justify="left", padding=(0, 0))
        for i, column in enumerate(table.columns):
            shown.add_column(column, justify="right" if i else "left", no_wrap=True)
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
        for note in table.notes:
            console.print(note)
        console.print()


def write_files(
    folder: Path,
    tables: list[report.Table],
    remarks: list[str],
    document: dict[str, Any],
    rounds: evaluate.Rounds | None,
) -> list[Path]:
    """The table, the numbers and, where it can be drawn, the plot."""
    facts = document["environment"]
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"bench-{facts['python']}"
    head = f"# Benchmarks of guardtree {facts['guardtree']}, CPython {facts['python']}"
    lines = [head, "", *(f"- {name}: {value}" for name, value in facts.items()), ""]
    lines += [*remarks, ""] if remarks else []
    text = "\n".join(lines) + "\n" + "\n".join(table.markdown() for table in tables)
    written = [folder / f"{stem}.md", folder / f"{stem}.json"]
    written[0].write_text(text, encoding="utf-8")
    written[1].write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if rounds and plot.available():
        written.append(folder / f"{stem}.svg")
        title = f"One program of type_match guards, CPython {facts['python']}"
        note = " (smoke run)" if remarks else ""
        plot.draw(rounds, title + note, written[-1])
        written.append(folder / f"{stem}-entries.svg")
        title = f"Entries that differ in one int, CPython {facts['python']}"
        plot.draw_tables(rounds, {}, title + note, written[-1])
    return written


def main_of_building(binary: Path | None, options: argparse.Namespace) -> int:
    """``--build``: its exit status."""
    smoke, found = options.smoke, building.measure(SMOKE if options.smoke else FULL)
    rounds = evaluate.measure(binary, smoke, "build/") if binary else None
    if options.json:
        print(json.dumps([asdict(each) for each in found], indent=1))
    else:
        show([building.table(found, rounds, claims=not smoke)])
    for line in [SMOKE_WARNING] * smoke + [evaluate.HOW_TO_BUILD] * (not binary):
        print(line, file=sys.stderr)
    return 0


def main(argv: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    options = arguments(argv)
    reason = reason_to_refuse()
    if reason and not options.smoke:
        print(
            f"guardtree bench: {reason}, so its numbers would mean nothing; "
            "use the release preset ('python3 dev.py bench') or --smoke",
            file=sys.stderr,
        )
        return 1
    said: list[str] = []
    binary = evaluate.find_binary()
    if options.build:
        return main_of_building(binary, options)
    hooked = hook.measure(SMOKE if options.smoke else FULL, evaluate.bench_folder())
    tables = report.hook_tables(hooked, claims=not options.smoke)
    built = building.measure(SMOKE if options.smoke else FULL)
    rounds = None
    if binary:
        try:
            rounds = evaluate.measure(binary, options.smoke)
        except RuntimeError as problem:
            print(f"guardtree bench: {problem}", file=sys.stderr)
            return 1
        tables += report.evaluate_tables(rounds, claims=not options.smoke)
    else:
        said.append(evaluate.HOW_TO_BUILD)
    tables.append(building.table(built, rounds, claims=not options.smoke))
    if rounds and not plot.available():
        said.append(plot.NEEDS)
    document = numbers(environment(), hooked, built, rounds)
    remarks = [SMOKE_WARNING] if options.smoke else []
    written = write_files(options.output, tables, remarks, document, rounds)
    if options.json:
        print(json.dumps(document, indent=1))
    else:
        show(tables)
    for line in [*said, *remarks, *(f"wrote {path}" for path in written)]:
        print(line, file=sys.stderr)
    return 0
