"""What the hot calls execute: instructions of one, as callgrind counts them.

Needs a release build and valgrind, and the build's bench_evaluate for the C interface:

    PYTHONPATH=<build>/python python bench/instructions.py [--json] [--only NAME ...]

Each call runs in processes of its own, in loops of two lengths. What they differ in,
divided by the difference of the lengths, is one turn of the loop: the start does not
count. Less the turn of an empty loop, it is the call with its guards. A busy machine
does not change these numbers; another compiler or CPython does.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import callgrind

FEW, MANY = 2_000, 202_000  # the start varies by 0.6 million instructions
MORE_IN_CPP = 10  # times as many turns: the start of an embedded CPython varies more

SHAPES = {
    "leaf": "two type checks of locals",
    "values": "the same, and the length of a value that is fetched",
    "python": "the type checks, and a guard that is a function written in Python",
}
CALLS = {
    "empty": "an empty loop",
    "hook": "a hit through the hook",
    "check": "GuardManager.check of a dict",
    "lookup": "Table.lookup of a dict",
    "guarded": "a hit of a guarded function",
    "c": "a look-up through the C interface",
}
C_BENCHMARKS = {"leaf": "two_type_match", "values": "length", "python": "user_code"}


class Value:
    """What the second argument is."""

    def __init__(self) -> None:
        self.items = (1, 2)


def subject(x: Any, y: Any) -> Any:
    return x


def special(x: Any, y: Any) -> Any:
    return y


def holds(value: Any) -> bool:
    return True


def guards_of(target: Any, shape: str) -> Any:
    import guardtree as gt

    guards = gt.GuardManager(target)
    guards.local("x").type_match(int)
    guards.local("y").type_match(Value)
    if shape == "values":
        guards.local("y").instance_attr("items").length(2)
    elif shape == "python":
        guards.local("y").python(holds)
    return guards


KEPT: list[object] = []


def turns(count: int) -> range:
    """The turns of a loop, which begins right after this call. The call leaves the
    allocator of CPython a pool with many free blocks for each small size. Otherwise a
    loop may happen to take and free the last block of a pool at each turn, which costs
    17 instructions more."""
    blocks: list[object] = [bytes(size) for size in range(0, 480, 8) for _ in range(99)]
    blocks += [object() for _ in range(999)]  # of 16 bytes, and the next of 32
    blocks += [float(number) for number in range(999)]
    KEPT.extend(blocks[::2])
    blocks.reverse()  # a list frees its last one first
    return range(count)


def loop_empty(count: int) -> None:
    for _ in turns(count):
        pass


def loop_call(count: int) -> None:
    x, y, call = 1, Value(), subject
    for _ in turns(count):
        call(x, y)


def loop_ask(count: int, ask: Callable[[Any], Any], expected: Any) -> None:
    asked = {"x": 1, "y": Value()}
    if ask(asked) != expected:
        raise RuntimeError("the guards do not pass: nothing to count")
    for _ in turns(count):
        ask(asked)


def run(call: str, shape: str, count: int) -> None:
    """One of the loops, in this process."""
    if call == "empty":
        return loop_empty(count)
    import guardtree as gt

    if not gt.features()["optimized"]:
        sys.exit("this guardtree is a debug build: its numbers would mean nothing")
    if call == "check":
        return loop_ask(count, guards_of(subject, shape).check, True)
    if call == "lookup":
        table = gt.Table(subject)
        table.add(guards_of(subject, shape), "payload")
        return loop_ask(count, table.lookup, "payload")
    if call == "guarded":
        gt.guard_function(subject).add(guards_of(subject, shape), special)
        loop_call(count)
        hits = gt.guard_function(subject).stats()["hits"]
    else:
        guards = guards_of(subject, shape)
        gt.add_entry(subject, gt.GuardedCode(special.__code__, guards))
        gt.set_eval_frame(False)
        loop_call(count)
        gt.set_eval_frame(None)
        hits = gt.code_stats(subject)["hits"]
    if hits != count:
        raise RuntimeError(f"{hits} hits of {count} calls: nothing to count")
    return None


def bench_program() -> str:
    """The build's bench_evaluate, which has the client in C++."""
    import guardtree as gt

    beside = Path(gt.__file__).absolute().parents[2] / "bench/bench_evaluate"
    return os.environ.get("GUARDTREE_BENCH", str(beside))


def command(call: str, shape: str, count: int) -> list[str]:
    if call != "c":
        return [sys.executable, __file__, "--run", call, shape, str(count)]
    name = f"^c_abi/through/{C_BENCHMARKS[shape]}/"
    return [
        bench_program(),
        f"--benchmark_filter={name}",
        f"--iterations={count}",
    ]


def count_all(call: str, shape: str, times: int) -> int:
    return callgrind.count(command(call, shape, times), f"{call}, {shape}")


def count_one(call: str, shape: str) -> float:
    times = MORE_IN_CPP if call == "c" else 1
    few, many = FEW * times, MANY * times
    return (count_all(call, shape, many) - count_all(call, shape, few)) / (many - few)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", nargs="+", choices=sorted(CALLS))
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        gc.disable()
        call, shape, count = options.run
        run(call, shape, int(count))
        return 0
    import guardtree as gt

    callgrind.require_valgrind()
    calls = [each for each in CALLS if each in (options.only or CALLS)]
    if gt.features()["guards_calls_by"] != "entry" and "guarded" in calls:
        calls.remove("guarded")
    if not Path(bench_program()).exists() and "c" in calls:
        calls.remove("c")
    empty = count_one("empty", "leaf")
    rows = {
        call: {
            shape: count_one(call, shape) - (0 if call == "c" else empty)
            for shape in SHAPES
        }
        for call in calls
        if call != "empty"
    }
    if options.json:
        print(json.dumps(rows))
        return 0
    print(f"{'instructions of one':36}" + "".join(f"{each:>10}" for each in SHAPES))
    for call, row in rows.items():
        print(f"{CALLS[call]:36}" + "".join(f"{each:10.1f}" for each in row.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
