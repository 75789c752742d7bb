"""Look-ups among many entries: guardtree and PyTorch's engine, in one process.

Needs torch and a release build with bench_evaluate:

    PYTHONPATH=<build>/python python bench/compare_lookup.py [--json] [--plot FILE]

One function, K entries that differ in one int or in the size of one tensor, called with
all K values in turn: the worst case of an engine that keeps what was hit last in front.
Each engine looks up in its own frame hook and runs the same replacement; a plain call
is subtracted within the round, so what is left is the look-up with its hook. The peer's
guards are the same, without its ambient ones, and nothing limits its entries.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import evaluate
import guardtree as gt
import plot
import torch
from peer import Peer, PeerInt, peer_callback_of, peer_hits, peer_hook

COUNTS = (1, 2, 4, 8, 16, 32, 64)
LEAST = {8: 10.0, 64: 100.0}
"""How many times as fast as the peer is promised."""


def step(x: Any) -> Any:
    return x


def instead(x: Any) -> Any:
    return x


def loop_over(function: Any, values: list[Any]) -> Callable[[int], float]:
    """ns of a call, over `times` of them."""
    source = (
        "def loop(times):\n    start = clock()\n"
        "    for _ in range(times // len(values)):\n"
        "        for value in values:\n            call(value)\n"
        "    return (clock() - start) / (times // len(values) * len(values))\n"
    )
    names = {"call": function, "values": values, "clock": time.perf_counter_ns}
    exec(source, names)
    return names["loop"]


def fresh() -> Any:
    """A function with code of its own."""
    return type(step)(step.__code__.replace(), globals())


def ours_of(function: Any, values: list[Any]) -> None:
    """An entry for each value, in guardtree's hook."""

    def callback(frame: Any, entry: Any, state: Any) -> Any:
        if frame.f_code is not function.__code__:
            return None
        guards = gt.GuardManager(frame)
        value = frame.f_locals["x"]
        if type(value) is int:
            guards.local("x").equals(value)
        else:
            guards.local("x").tensor_match(value)
        return gt.GuardedCode(instead.__code__, guards)

    gt.set_policy(function, entry_limit=len(values))
    with gt.optimize(callback):
        for value in values:
            function(value)
    assert len(gt.cache_entries(function)) == len(values)


def theirs_of(function: Any, values: list[Any]) -> Any:
    """The peer's callback, which has made an entry for each value."""
    peers = [
        PeerInt("x", value)
        if type(value) is int
        else Peer({"x": value}, aliasing=False)
        for value in values
    ]
    by_value = {id(value): peer for value, peer in zip(values, peers)}
    callback = peer_callback_of(
        function.__code__, instead.__code__, lambda found: by_value[id(found["x"])]
    )
    with peer_hook(callback):
        for value in values:
            function(value)
    assert peer_hits(function.__code__) == len(values)
    return callback


def measure(values: list[Any], rounds: int, times: int = 2000) -> tuple[float, float]:
    """ns of a look-up through each engine's hook over the plain call."""
    functions = [fresh() for _ in range(3)]
    plain, ours, theirs = (loop_over(each, values) for each in functions)
    ours_of(functions[1], values)
    callback = theirs_of(functions[2], values)
    found: list[tuple[float, float]] = []
    for _ in range(rounds + 1):
        base = plain(times)
        with gt.optimize(False):
            our = ours(times)
        with peer_hook(callback):
            their = theirs(times)
        found.append((our - base, their - base))
    assert len(gt.cache_entries(functions[1])) == len(values)
    assert peer_hits(functions[2].__code__) == len(values)
    return median(our for our, _ in found[1:]), median(their for _, their in found[1:])


VALUES: dict[str, Callable[[int], list[Any]]] = {
    "int": lambda count: [1000 + i for i in range(count)],
    "size": lambda count: [torch.zeros(8, i + 2) for i in range(count)],
}


def measure_all(
    counts: Sequence[int], rounds: int
) -> dict[str, dict[int, tuple[float, float]]]:
    """Ours and the peer's, by what entries differ in and by how many there are."""
    return {
        name: {count: measure(make(count), rounds) for count in counts}
        for name, make in VALUES.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", metavar="FILE", help="cost against K, as SVG")
    options = parser.parse_args()
    torch.set_num_threads(1)
    gc.disable()
    rows = measure_all(COUNTS, options.rounds)
    if options.plot:
        binary = evaluate.find_binary()
        if not binary:
            print(evaluate.HOW_TO_BUILD, file=sys.stderr)
            return 1
        rounds = evaluate.measure(binary, False, "table/int/cyclic")
        tables = plot.table_costs(rounds, "int/cyclic")
        names = ("guardtree", "PyTorch")
        hooks = {
            name: {count: pair[i] for count, pair in rows["int"].items()}
            for i, name in enumerate(names)
        }
        title = "Look-ups among entries that differ in one int"
        plot.draw_tables(tables, hooks, title, options.plot)
    if options.json:
        print(json.dumps(rows, indent=1))
        return 0
    print(f"CPython {sys.version.split()[0]}, torch {torch.__version__}; ns")
    for name, row in rows.items():
        for count, (our, their) in row.items():
            promise = LEAST.get(count)
            missed = " MISSED" if promise and their < promise * our else ""
            print(
                f"  {name:5s} {count:3d} entries {our:8.1f}   peer {their:9.1f}   "
                f"x{their / our:.0f}{missed}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
