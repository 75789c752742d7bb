"""The command ``python -m guardtree bench``: what an installed package can measure.

`bench/run.py` of the repository measures more: it has the C++ program.
"""

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

from ..progress import Progress
from . import building, hook, report
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
    if not gt.features()["optimized"]:
        return "this guardtree is a debug build"
    return ""


def parser_of(prog: str) -> argparse.ArgumentParser:
    """The options that both commands have."""
    parser = argparse.ArgumentParser(
        prog=prog, description="Measures guardtree on this machine: about a minute."
    )
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="run everything for a moment, in any build, and claim nothing",
    )
    parser.add_argument(
        "--build",
        action="store_true",
        help="only what building a tree takes",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the numbers as JSON, not as tables"
    )
    return parser


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


def refused(program: str, smoke: bool) -> bool:
    """Whether numbers would mislead; says so."""
    reason = reason_to_refuse()
    if reason and not smoke:
        print(
            f"{program}: {reason}, so its numbers would mean nothing; "
            "use the release preset ('python3 dev.py bench') or --smoke",
            file=sys.stderr,
        )
    return bool(reason) and not smoke


def main(argv: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    options = parser_of("python -m guardtree bench").parse_args(argv)
    if refused("guardtree bench", options.smoke):
        return 1
    plan, claims = SMOKE if options.smoke else FULL, not options.smoke
    with Progress("guardtree bench") as progress:
        built = building.measure(plan, progress)
        hooked = None if options.build else hook.measure(plan, None, progress)
    tables = [building.table(built, claims)]
    document: dict[str, Any] = {"environment": environment()}
    document["build"] = [asdict(each) for each in built]
    if hooked:
        tables = [*report.hook_tables(hooked, claims), *tables]
        document["hook"] = asdict(hooked)
    if options.json:
        print(json.dumps(document, indent=1))
    else:
        show(tables)
    if options.smoke:
        print(SMOKE_WARNING, file=sys.stderr)
    return 0
