"""guardtree and PyTorch's guard engine on the same values, in one process.

Needs torch, the plugin (python -m guardtree.torch build) and a release build:

    PYTHONPATH=<build>/python python bench/compare_torch.py [--json] [--plot FILE]

Both engines get the same guards (`workloads.py`), the peer none of its ambient ones. An
engine's own empty check is subtracted from warm times; how is in README.md, Method. It
takes some minutes; `--smoke` runs everything for a moment and claims nothing.

`--real` measures the trees that Dynamo builds for the programs of `real/`: whole, with
nothing subtracted. `--agree` changes what they guard and compares the verdicts.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

import compare_lookup
import guardtree.torch as gtt
import plot
import tensor_costs
import torch
import torch_report
import workload_costs
from guardtree.bench.command import (
    SMOKE_WARNING,
    environment,
    reason_to_refuse,
    show,
)
from workloads import SMALL, WORKLOADS

PARTS = 4  # of a workload, for the progress bar

REAL = dataclasses.replace(workload_costs.FULL, rounds=15, loop_ns=1_000_000)
REAL_SMOKE = workload_costs.SMOKE


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, help="rounds of each measurement")
    parser.add_argument("--json", action="store_true", help="print JSON, no tables")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw it, as SVG")
    parser.add_argument(
        "--workloads",
        metavar="A,B",
        help=f"only these, and no tensors or entries; of {', '.join(WORKLOADS)}",
    )
    parser.add_argument(
        "--real",
        action="store_true",
        help="the trees that Dynamo builds for the programs of real/, and these alone",
    )
    parser.add_argument(
        "--programs", metavar="A,B", help="only these, with --real or --agree"
    )
    parser.add_argument(
        "--agree",
        action="store_true",
        help="change whatever those trees guard, and compare the verdicts; no times",
    )
    parser.add_argument(
        "--smoke",
        action="store_true",
        help="the smallest sizes, for a moment, in any build; claims nothing",
    )
    options = parser.parse_args()
    known = set(WORKLOADS)
    options.names = options.workloads.split(",") if options.workloads else [*WORKLOADS]
    if unknown := set(options.names) - known:
        parser.error(f"no such workload: {', '.join(sorted(unknown))}")
    if options.plot and not plot.available():
        parser.error(plot.NEEDS)
    return options


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that was asked for."""
    effort = workload_costs.SMOKE if options.smoke else workload_costs.FULL
    if options.rounds:
        effort = dataclasses.replace(effort, rounds=options.rounds)
    sizes = SMALL if options.smoke else WORKLOADS
    told = torch_report.Progress(PARTS * len(options.names) + 2)
    found: dict[str, Any] = {"workloads": []}
    for name in options.names:
        measured = workload_costs.measure(sizes[name](), effort, told)
        found["workloads"].append(measured)
    if not options.workloads:
        told("tensors")
        found["tensors"] = tensor_costs.measure(effort.rounds)
        told("entries")
        counts = compare_lookup.COUNTS[:2] if options.smoke else compare_lookup.COUNTS
        found["entries"] = compare_lookup.measure_all(counts, effort.rounds)
    told.clear()
    return found


def measure_real(options: argparse.Namespace) -> int:
    """The trees of real programs: their times, or whether the engines agree."""
    from real import agree, programs, replay, report

    names = set(options.programs.split(",")) if options.programs else None
    if unknown := (names or set()) - {each.name for each in programs.load()}:
        print(f"no such program: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    if options.agree:
        changed = [agree.agreement(tree) for tree in replay.trees(names)]
        print(report.agreement_text(changed))
        return 1 if any(each.differences for each in changed) else 0
    effort = REAL_SMOKE if options.smoke else REAL
    if options.rounds:
        effort = dataclasses.replace(effort, rounds=options.rounds)
    told = torch_report.Progress(len(names or programs.load()))
    found = []
    for tree in replay.trees(names):
        told(tree.recording.name)
        found.append(replay.measure(tree, effort))
    told.clear()
    if options.json:
        trees = [dataclasses.asdict(each) for each in found]
        print(json.dumps({"environment": facts(), "trees": trees}, indent=1))
    else:
        print(", ".join(f"{name} {value}" for name, value in facts().items()) + "\n")
        show(report.tables(found))
    return 0


def facts() -> dict[str, str]:
    """Machine and versions."""
    cores = f"{os.cpu_count()} cores"
    return environment() | {"torch": torch.__version__, "cores": cores}


def document(found: dict[str, Any]) -> dict[str, Any]:
    """The numbers, for programs."""
    made: dict[str, Any] = {"environment": facts()}
    # Named as if they stood alone, for programs that read nothing else.
    made |= {"python": made["environment"]["python"], "torch": torch.__version__}
    made |= found.get("tensors", {})
    made["workloads"] = {each.workload: each.as_dict() for each in found["workloads"]}
    if "entries" in found:
        made["entries"] = found["entries"]
    return made


def main() -> int:
    """Runs the command; its exit status."""
    options = arguments()
    problem = reason_to_refuse() if not options.smoke else ""
    if not gtt.has_plugin():
        problem = "no plugin; run: python -m guardtree.torch build"
    if problem:
        print(problem, file=sys.stderr)
        return 1
    torch.set_num_threads(1)
    gc.disable()
    if options.real or options.agree:
        return measure_real(options)
    found = measure(options)
    if options.plot:
        title = (
            f"The same guards, CPython {facts()['python']}, torch {facts()['torch']}"
        )
        torch_report.draw(found["workloads"], title, options.plot)
    if options.json:
        print(json.dumps(document(found), indent=1))
    else:
        print(", ".join(f"{name} {value}" for name, value in facts().items()) + "\n")
        tables = torch_report.workload_tables(found["workloads"])
        if "tensors" in found:
            tables.append(torch_report.tensor_table(found["tensors"]))
            tables.append(torch_report.entries_table(found["entries"]))
        show(tables)
    if options.smoke:
        print(SMOKE_WARNING, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
