"""What it costs to decide a launch and call its payload: Dispatcher, guard_function.

Needs a release build and NumPy:

    PYTHONPATH=<build>/python python bench/dispatch.py [--json] [--rounds N] [--smoke]

A kernel gets arrays, ints and constants. Its key is like Triton's: the dtype, rank and
16-byte alignment of each array, whether an int is 1, divisible by 16 and of 32 bits,
the value of each constant. Entries differ in one constant. One is hit again and again,
or all in turn, which a processor's cache does not hold. What is told is the median over
the rounds of the difference within a round to a loop that calls the payload itself, in
ns, and the ratio to a dict with a key by hand, which leaves the alignment out, and
calls the payload too. Then: the milliseconds that adding the 1,000th entry takes,
guards and all.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns
from typing import Any

import guardtree as gt
from guardtree.bench.rounds import FULL, SMOKE, Plan, Variant, run_batch

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

PLAN = gt.KeyPlan(
    ints=("one", "divisible", "width"), shape="free", strides="free", alignment=16
)
EXACT = gt.KeyPlan()
MAX_ADDING = 1.0
"""Milliseconds that adding the 1,000th entry may take."""


@dataclass(frozen=True)
class Form:
    """A kernel: its parameters, how it is called, the ns that launching one and the
    same again may take, its payload included."""

    name: str
    arrays: int
    ints: int
    constants: int
    by_name: int
    most: float

    @property
    def parameters(self) -> list[str]:
        numbered = (("a", self.arrays), ("n", self.ints), ("c", self.constants))
        return [f"{kind}{i}" for kind, count in numbered for i in range(count)]

    @property
    def call(self) -> str:
        """The arguments of a call; the last constant is what differs."""
        given = self.parameters[:-1]
        first = len(self.parameters) - self.by_name
        told = [*given, "last"]
        return ", ".join(
            f"{self.parameters[i]}={each}" if i >= first else each
            for i, each in enumerate(told)
        )


FORMS = [
    Form("5 arguments", 3, 1, 1, 0, 250.0),
    Form("19 arguments, 5 by name", 6, 7, 6, 5, 450.0),
]


def names_of(form: Form) -> dict[str, Any]:
    """The kernel, and a value for each of its parameters."""
    names: dict[str, Any] = {}
    exec(  # noqa: S102
        f"def kernel({', '.join(form.parameters)}): return None\n", names
    )
    for name in form.parameters:
        if name[0] == "a":
            names[name] = numpy.zeros(64, "float32")
        else:
            names[name] = 16 * int(name[1:]) + 16 if name[0] == "n" else int(name[1:])
    return names


def on_miss_of(names: dict[str, Any], form: Form) -> Any:
    """Compiles for Triton's key."""
    plans = dict.fromkeys([each for each in form.parameters if each[0] == "c"], EXACT)

    def on_miss(call: gt.MissedCall) -> Any:
        call.guards.specialize(call.arguments, PLAN, plans=plans)
        return names["payload"]

    return on_miss


def by_hand(form: Form) -> str:
    """The source of a launch by a dict, without alignment."""
    key = []
    for name in form.parameters:
        if name[0] == "a":
            key += [f"{name}.dtype", f"{name}.ndim"]
        elif name[0] == "n":
            key += [f"{name} == 1", f"{name} % 16 == 0", f"-limit <= {name} < limit"]
        else:
            key.append(name)
    declared = ", ".join(form.parameters)
    return (
        f"def launch({declared}):\n"
        f"    return table[{', '.join(key)}]({declared})\n"
    )


def loop_over(form: Form, names: dict[str, Any], called: str) -> Any:
    """A loop that calls what is named, with each entry's constant in turn."""
    made = dict(names)
    exec(  # noqa: S102
        "def loop(times, constants):\n"
        "    for _ in range(max(1, times // len(constants))):\n"
        "        for last in constants:\n"
        f"            {called}({form.call})\n",
        made,
    )
    return made["loop"]


def variants_of(
    form: Form, entries: int, in_turn: bool = True
) -> tuple[list[Variant], list[Any]]:
    """Ways to launch, with so many kernels; and what must have been hit alone."""
    names = names_of(form)
    exec(  # noqa: S102
        f"def payload({', '.join(form.parameters)}): return None\n", names
    )
    constants = [1000 + i for i in range(entries)]
    on_miss = on_miss_of(names, form)
    limit = max(entries, 1)
    names["dispatcher"] = gt.Dispatcher(names["kernel"], on_miss, entry_limit=limit)
    called = {"payload": "payload", "Dispatcher": "dispatcher", "dict": "launch"}
    asked = [names["dispatcher"]]
    if gt.features()["guards_calls_by"] == "entry":
        asked.append(gt.guard_function(names["kernel"], on_miss, entry_limit=limit))
        called["guard_function"] = "kernel"
    names["table"], names["limit"] = Misses(names), 2**31
    exec(by_hand(form), names)  # noqa: S102
    hit = constants if in_turn else constants[-1:]
    variants = [
        Variant(name, loop_over(form, names, each), hit)
        for name, each in called.items()
    ]
    for variant in variants:
        variant.loop(entries, constants)  # compiles
    for each in asked:
        if len(each) != entries:
            raise RuntimeError(f"{form.name}: {each} was to have {entries} entries")
    return variants, asked


class Misses(dict[Any, Any]):
    """A dict that compiles on a miss."""

    def __init__(self, names: dict[str, Any]) -> None:
        super().__init__()
        self.names = names

    def __missing__(self, key: Any) -> Any:
        self[key] = self.names["payload"]
        return self[key]


def measure(form: Form, entries: int, in_turn: bool, plan: Plan) -> dict[str, float]:
    """A row: ns over a call of the payload; the dict's time over the Dispatcher's."""
    variants, asked = variants_of(form, entries, in_turn)
    misses = [each.stats()["misses"] for each in asked]
    batch = run_batch(variants, plan)
    if misses != [each.stats()["misses"] for each in asked]:
        raise RuntimeError(f"{form.name}: calls missed that were to hit")
    kept = batch.kept()

    def total(name: str) -> float:
        return median(batch.times[name][i] - batch.times["empty"][i] for i in kept)

    row = {
        variant.name: batch.difference(variant.name, "payload")
        for variant in variants[1:]
    }
    row["launch and payload"] = total("Dispatcher")
    row["dict / Dispatcher"] = total("dict") / total("Dispatcher")
    return row


def adding(form: Form, entries: int = 1000) -> float:
    """The median of the last 50 entries' milliseconds, made by on_miss."""
    names = names_of(form)
    names["payload"] = lambda *given, **more: None
    dispatcher = gt.Dispatcher(names["kernel"], on_miss_of(names, form))
    loop = loop_over(form, {**names, "dispatcher": dispatcher}, "dispatcher")
    times = []
    for i in range(entries):
        start = perf_counter_ns()
        loop(0, [1000 + i])
        times.append(perf_counter_ns() - start)
    return median(times[-50:]) / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=FULL.rounds)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if numpy is None:
        sys.exit("NumPy is not installed: pip install numpy")
    if not gt.features()["optimized"] and not options.smoke:
        sys.exit("this guardtree is a debug build: its numbers would mean nothing")
    plan = Plan(20 * 1024, FULL.warm_up, options.rounds, 1)
    many = 8 if options.smoke else 1024
    cases = [
        (f"{form.name}, {words.format(count)}", form, count, in_turn)
        for form in FORMS
        for count, words, in_turn in (
            (1, "1 entry", True),
            (many, "the last of {} entries", False),
            (many, "{} entries in turn", True),
        )
    ]
    rows = {
        name: measure(form, count, in_turn, SMOKE if options.smoke else plan)
        for name, form, count, in_turn in cases
    }
    added = {
        form.name: adding(form, 20 if options.smoke else 1000) for form in FORMS
    }
    if options.json:
        print(json.dumps({"launches": rows, "adding": added}))
        return 0
    print("ns over a call of the payload; of a launch with its payload: ns in all")
    for name, row in rows.items():
        print(f"{name:46} " + "  ".join(f"{k}: {v:.3g}" for k, v in row.items()))
    for name, time in added.items():
        print(f"adding the 1,000th entry, {name}: {time:.3f} ms")
    if options.smoke:
        return 0
    is_slow = any(
        rows[name]["launch and payload"] > form.most
        for name, form, _, in_turn in cases
        if not in_turn
    )
    return is_slow or max(added.values()) > MAX_ADDING


if __name__ == "__main__":
    sys.exit(main())
