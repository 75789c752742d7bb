"""All measurements: prints tables, writes files. `python3 dev.py bench` runs this.

What the package can measure by itself is `python -m guardtree bench`; this adds the C++
program, the pass-through evaluator and the plots.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import evaluate
import plot
import tables_of_cpp
from guardtree.bench import building, hook, report
from guardtree.bench.command import (
    SMOKE_WARNING,
    environment,
    parser_of,
    refused,
    show,
)
from guardtree.bench.rounds import FULL, SMOKE


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
            for form in tables_of_cpp.FORMS
        }
    return document


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
        costs = plot.table_costs(rounds, "int/cyclic")
        plot.draw_tables(costs, {}, title + note, written[-1])
    return written


def main(argv: Sequence[str]) -> int:
    """Runs the command; its exit status."""
    parser = parser_of("bench/run.py")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("bench-results"),
        metavar="DIR",
        help="where the table, the numbers and the plot go (default: %(default)s)",
    )
    options = parser.parse_args(argv)
    if refused("bench/run.py", options.smoke):
        return 1
    plan, claims = SMOKE if options.smoke else FULL, not options.smoke
    said: list[str] = []
    binary, rounds = evaluate.find_binary(), None
    only = "build/" if options.build else ""
    try:
        rounds = evaluate.measure(binary, options.smoke, only) if binary else None
    except RuntimeError as problem:
        print(f"bench/run.py: {problem}", file=sys.stderr)
        return 1
    built = building.measure(plan)
    in_cpp = rounds and tables_of_cpp.building(rounds, building.SIZES)
    tables = [building.table(built, claims, in_cpp)]
    written: list[Path] = []
    if not binary:
        said.append(evaluate.HOW_TO_BUILD)
    if options.build:
        document: Any = [asdict(each) for each in built]
    else:
        hooked = hook.measure(plan, evaluate.bench_folder())
        more = tables_of_cpp.evaluate_tables(rounds, claims) if rounds else []
        tables = [*report.hook_tables(hooked, claims), *more, *tables]
        if rounds and not plot.available():
            said.append(plot.NEEDS)
        document = numbers(environment(), hooked, built, rounds)
        remarks = [] if claims else [SMOKE_WARNING]
        written = write_files(options.output, tables, remarks, document, rounds)
    if options.json:
        print(json.dumps(document, indent=1))
    else:
        show(tables)
    said += [SMOKE_WARNING] * options.smoke
    for line in [*said, *(f"wrote {path}" for path in written)]:
        print(line, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
