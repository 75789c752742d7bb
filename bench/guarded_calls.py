"""What a call costs that guard_function guards, and what all other calls cost then.

Needs a release build and CPython 3.12 or later; for --instructions, valgrind:

    PYTHONPATH=<build>/python python bench/guarded_calls.py [--json] [--rounds N]
        [--instructions]

Each form of call has two functions of its own: one that is guarded, whose target does
what the function does, and one that is not. What is told is the median over the rounds
of the difference within a round, in ns: of a hit, of a miss (which runs the function),
and, as a measure of the noise, of a second function that is not guarded.

The other calls are those of call_heavy.py, in processes of their own: without
guardtree, beside a function that is guarded, and under the frame hook. What is told is
relative to the first: the median of times taken in turn, and the instructions that
callgrind counts, which a busy machine does not change.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import guardtree as gt
from callgrind import CALLGRIND, counted, require_valgrind
from guardtree.bench.rounds import FULL, Batch, Plan, Variant, run_batch

LEAST = 25.0
"""ns over a plain call that a hit by positional arguments may take."""

MAX_INSTRUCTIONS = 1.01
"""What a function that is guarded elsewhere may do to the instructions of a program."""

PROGRAM = Path(__file__).resolve().parent / "call_heavy.py"
PROCESSES = {
    "plain": "no guardtree",
    "guarded": "a function guarded elsewhere",
    "hooked": "the frame hook on",
}


@dataclass(frozen=True)
class Form:
    """How a function is declared and called, and which of its arguments are guarded."""

    name: str
    parameters: str
    call: str
    guarded: tuple[str, ...]


def many(count: int, named: int) -> Form:
    """A call with `count` arguments, the last `named` of them by keyword."""
    names = ["a", *(f"p{number}" for number in range(1, count))]
    by_position = ["x"] * (count - named)
    by_name = [f"{name}=x" for name in names[count - named :]]
    return Form(
        f"{named} keywords of {count}",
        ", ".join(names),
        ", ".join(by_position + by_name),
        ("a",),
    )


FORMS = [
    Form("one positional, empty guard", "a", "x", ()),
    Form("one positional", "a", "x", ("a",)),
    Form("two positional", "a, b", "x, x", ("a", "b")),
    Form("two positional, an attribute", "a, b", "x, x", ("a", "b.kind")),
    Form("a default", "a, b=None", "x", ("a",)),
    Form("a keyword", "a, b", "x, b=x", ("a", "b")),
    many(19, 5),
    many(30, 18),
    Form("a keyword-only", "a, *, k", "x, k=x", ("a", "k")),
    Form("*args, none given", "a, *rest", "x", ("a",)),
    Form("*args, two given", "a, *rest", "x, x, x", ("a",)),
    Form("**kwargs, one given", "a, **more", "x, m=x", ("a",)),
]


class Value:
    """The class of the value that is passed and checked."""

    kind: Any

    def __init__(self) -> None:
        self.kind = 3


class Other:
    """The class of a value that the guards refuse."""

    kind = 4


def loop_of(form: Form) -> tuple[Any, dict[str, Any]]:
    """A loop over calls of a function of its own."""
    names: dict[str, Any] = {}
    exec(  # noqa: S102
        f"def f({form.parameters}): return a\n"
        f"def target({form.parameters}): return a\n"
        "def loop(times, x):\n"
        f"    for _ in range(times):\n        f({form.call})\n",
        names,
    )
    return names["loop"], names


def guarded_loop(form: Form) -> tuple[Any, dict[str, Any]]:
    """The same, with the function guarded."""
    loop, names = loop_of(form)
    guards = gt.GuardManager(names["f"])
    for path in form.guarded:
        first, *attributes = path.split(".")
        value = guards.local(first).type_match(Value)
        for name in attributes:
            value.instance_attr(name).equals(3)
    gt.guard_function(names["f"]).add(guards, names["target"])
    return loop, names


def measure(form: Form, plan: Plan) -> dict[str, float]:
    """The differences of one form, after its hits and misses were counted."""
    hit, hits = guarded_loop(form)
    miss, misses = guarded_loop(form)
    again, _ = loop_of(form)
    plain, _ = loop_of(form)
    batch: Batch = run_batch(
        [
            Variant("plain", plain, Value()),
            Variant("hit", hit, Value()),
            Variant("miss", miss, Other() if form.guarded else Value()),
            Variant("again", again, Value()),
        ],
        plan,
    )
    counted = gt.guard_function(hits["f"]).stats()
    missed = gt.guard_function(misses["f"]).stats()
    if counted["misses"] or (form.guarded and missed["hits"]):
        raise RuntimeError(f"{form.name}: did not measure what it says: {counted}")
    kept = batch.kept()
    return {
        "plain": median(batch.times["plain"][number] for number in kept),
        "hit": batch.difference("hit", "plain"),
        "miss": batch.difference("miss", "plain") if form.guarded else float("nan"),
        "again": batch.difference("again", "plain"),
    }


def run_program(
    mode: str, rounds: int, under: list[str]
) -> subprocess.CompletedProcess[str]:
    """call_heavy.py in a process of its own."""
    done = subprocess.run(
        [*under, sys.executable, str(PROGRAM), mode, str(rounds)],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{PROGRAM} {mode} failed:\n{done.stderr}")
    return done


def program_times(turns: int = 21, rounds: int = 400) -> dict[str, float]:
    """The program's time in each process over the plain one's: medians of the turns."""
    order = list(PROCESSES)
    ratios: dict[str, list[float]] = {mode: [] for mode in order}
    for turn in range(turns):
        first = turn % len(order)
        modes = order[first:] + order[:first]
        times = {mode: int(run_program(mode, rounds, []).stdout) for mode in modes}
        for mode, time in times.items():
            ratios[mode].append(time / times["plain"])
    return {mode: median(each) for mode, each in ratios.items()}


def program_instructions(few: int = 20, many: int = 120) -> dict[str, float]:
    """Instructions of a round of the program: what runs of two lengths differ in, so
    that start and imports do not count."""

    def count(mode: str, rounds: int) -> int:
        return counted(run_program(mode, rounds, CALLGRIND).stderr)

    return {
        mode: (count(mode, many) - count(mode, few)) / (many - few)
        for mode in PROCESSES
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=61)
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    if gt.features()["guards_calls_by"] != "entry":
        sys.exit("CPython 3.11 guards calls by the hook: see hook_hit")
    if not gt.features()["optimized"]:
        sys.exit("this guardtree is a debug build: its numbers would mean nothing")
    if options.instructions:
        require_valgrind()
    plan = Plan(FULL.calls, FULL.warm_up, options.rounds, 1)
    rows = {form.name: measure(form, plan) for form in FORMS}
    times = program_times()
    instructions = program_instructions() if options.instructions else {}
    if options.json:
        program = {"times": times, "instructions": instructions}
        print(json.dumps({"calls": rows, "program": program}))
    else:
        print(f"{'ns per call':30} plain  +hit  +miss  +plain again")
        for name, row in rows.items():
            told = "  ".join(f"{row[key]:5.1f}" for key in row)
            print(f"{name:30} {told}")
        print(f"\n{'a program of other calls':30}  time  instructions")
        for mode, name in PROCESSES.items():
            told = f"{times[mode]:5.2f}"
            if instructions:
                told += f"  {instructions[mode] / instructions['plain']:.4f}"
            print(f"{name:30} {told}")
    promised = [form.name for form in FORMS if "positional" in form.name]
    if any(rows[name]["hit"] > LEAST for name in promised):
        return 1
    most = instructions.get("plain", 0) * MAX_INSTRUCTIONS
    return instructions.get("guarded", 0) > most


if __name__ == "__main__":
    sys.exit(main())
