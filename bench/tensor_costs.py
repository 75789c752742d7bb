"""What tensors cost in guardtree and in the peer: in C++, by check, through the hooks.

All variants of a table run in turn within each round; a number is the median over the
rounds, a difference is taken within the round first (README.md, Method).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import guardtree as gt
import guardtree.torch as gtt
import torch
from guardtree import _guardtree
from peer import Peer, peer_callback, peer_hits, peer_hook

Round = dict[str, float]


def one_argument_loops(
    calls: dict[str, tuple[Callable[[Any], Any], Any]],
) -> dict[str, Callable[[int], float]]:
    """For each call with an argument, its ns over so many calls in a row."""
    made = {}
    for name, (call, argument) in calls.items():
        namespace: dict[str, Any] = {
            "call": call, "value": argument, "clock": time.perf_counter_ns,
        }  # fmt: skip
        source = (
            "def loop(times):\n    start = clock()\n    for _ in range(times):\n"
            "        call(value)\n    return (clock() - start) / times\n"
        )
        exec(source, namespace)
        made[name] = namespace["loop"]
    return made


def in_turn(
    loops_: dict[str, Callable[[int], float]], rounds: int, times: int
) -> list[Round]:
    """Every loop once in each round."""
    for loop in loops_.values():
        loop(max(1, times // 10))
    return [{name: loop(times) for name, loop in loops_.items()} for _ in range(rounds)]


def difference(rounds: list[Round], name: str, base: str) -> float:
    return median(each[name] - each[base] for each in rounds)


def function_of(count: int) -> Any:
    """A function of so many arguments."""
    namespace: dict[str, Any] = {}
    names = ", ".join(f"v{i}" for i in range(count))
    exec(f"def function({names}): pass", namespace)
    return namespace["function"]


def in_cpp(rounds: int) -> dict[str, float]:
    """ns per guard on a (64, 128) float32 in C++: the slope over 8 to 32 of them."""
    import numpy as np

    kinds: dict[str, Callable[[], Any]] = {
        "NumPy": lambda: np.zeros((64, 128), "f"),
        "torch plugin": lambda: torch.zeros(64, 128),
        "DLPack": lambda: torch.zeros(64, 128),
    }
    programs: dict[str, Any] = {}
    for name, make in kinds.items():
        # A guard keeps the reader that its type had when it was built.
        reader = None if name == "DLPack" else gtt.plugin().reader
        _guardtree.register_tensor_type(torch.Tensor, reader)
        for count in (8, 32):
            guards = gt.GuardManager(function_of(count))
            values = {f"v{i}": make() for i in range(count)}
            for local, value in values.items():
                guards.local(local).tensor_match(value)
            programs[f"{name} {count}"] = (guards, values)
    _guardtree.register_tensor_type(torch.Tensor, gtt.plugin().reader)
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(rounds):
        times = {
            name: _guardtree._time_evaluations(guards, values, 3000)
            for name, (guards, values) in programs.items()
        }
        for name, slopes in found.items():
            slopes.append((times[f"{name} 32"] - times[f"{name} 8"]) / 24)
    return {name: median(slopes) for name, slopes in found.items()}


def two_tensors(names: str, aliasing: bool) -> tuple[gt.GuardManager, Peer, dict]:
    """The same guards in both engines: type and tensor facts, no aliasing."""
    values = {sys.intern(name): torch.randn(64, 128) for name in names}
    guards = gt.GuardManager(step)
    for name, value in values.items():
        guards.local(name).tensor_match(value)  # of exactly this type
    if aliasing:
        guards.distinct_objects(*map(guards.local, names))
    peer = Peer(values, aliasing)
    assert guards.check(values)
    assert peer.check(values)
    return guards, peer, values


def step(x: Any, y: Any) -> Any:
    return x


def instead(x: Any, y: Any) -> Any:
    return x


def through_check(rounds: int) -> dict[str, tuple[float, float]]:
    """ns of `check` over each engine's own empty check: ours, the peer's."""
    empty_values = {"x": 1, "y": 2}
    empty, empty_peer = gt.GuardManager(step), Peer({}, aliasing=False)
    one = two_tensors("x", aliasing=False)
    two = two_tensors("xy", aliasing=True)
    calls: dict[str, tuple[Any, Any]] = {
        "ours empty": (empty.check, empty_values),
        "peer empty": (empty_peer.check, empty_values),
    }
    for name, (guards, peer, values) in {"one": one, "two": two}.items():
        calls[f"ours {name}"] = (guards.check, values)
        calls[f"peer {name}"] = (peer.check, values)
    done = in_turn(one_argument_loops(calls), rounds, 20_000)
    return {
        name: (
            difference(done, f"ours {name}", "ours empty"),
            difference(done, f"peer {name}", "peer empty"),
        )
        for name in ("one", "two")
    }


def lookup_in_cpp(rounds: int) -> float:
    """ns of the two tensors' guards in C++."""
    guards, _, values = two_tensors("xy", aliasing=True)
    return median(
        _guardtree._time_evaluations(guards, values, 20_000) for _ in range(rounds)
    )


def hook_loop(function: Any, values: dict[str, Any]) -> Callable[[int], float]:
    namespace: dict[str, Any] = dict(values, call=function, clock=time.perf_counter_ns)
    source = (
        "def loop(times):\n    start = clock()\n    for _ in range(times):\n"
        "        call(x, y)\n    return (clock() - start) / times\n"
    )
    exec(source, namespace)
    return namespace["loop"]


def fresh(function: Any) -> Any:
    """A function of its own, with code of its own."""
    return type(function)(function.__code__.replace(), globals())


def through_hook(rounds: int, times: int = 5000) -> tuple[float, float]:
    """ns of a hit through each engine's own frame hook over the plain call."""
    guards, _, values = two_tensors("xy", aliasing=True)
    plain, ours, theirs = fresh(step), fresh(step), fresh(step)

    def compiler(frame: Any, entry: Any, state: Any) -> Any:
        if frame.f_code is not ours.__code__:
            return None
        return gt.GuardedCode(instead.__code__, guards)

    loops_ = {name: hook_loop(f, values) for name, f in
              (("plain", plain), ("ours", ours), ("peer", theirs))}  # fmt: skip
    with gt.optimize(compiler):
        ours(**values)
    peer = Peer(values, aliasing=True)
    callback = peer_callback(theirs.__code__, instead.__code__, peer)
    rows: list[Round] = []
    for _ in range(rounds + 2):
        row = {"plain": loops_["plain"](times)}
        with gt.optimize(False):
            row["ours"] = loops_["ours"](times)
        with peer_hook(callback):
            row["peer"] = loops_["peer"](times)
        rows.append(row)
    assert gt.cache_entries(ours)[0].hits >= rounds * times
    assert peer_hits(theirs.__code__) == 1
    rows = rows[2:]
    return difference(rows, "ours", "plain"), difference(rows, "peer", "plain")


def measure(rounds: int) -> dict[str, Any]:
    """All of them, ns."""
    return {
        "cpp_ns_per_guard": in_cpp(rounds),
        "check_ns_over_empty": through_check(rounds),
        "hook_ns_over_plain": through_hook(rounds),
        "cpp_ns_two_tensors": lookup_in_cpp(rounds),
    }
