"""Helion's key decided by a Dispatcher, with Helion's own key as the oracle.

Needs packages: pip install torch helion. It needs no GPU, because nothing is launched.
With --time it prints what the decision costs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import combinations
from statistics import median
from timeit import timeit
from typing import Any

import guardtree as gt
import helion
import helion.language as hl
import torch


def scaled(x: Any, y: Any, factor: Any) -> Any:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile] * factor
    return out


kernel = helion.kernel(scaled, config=helion.Config(block_sizes=[16]))


def guard_like_helion(guards: gt.GuardManager, arguments: dict[str, Any]) -> None:
    """The facts that Helion's key has."""
    tensors = []
    for name, value in arguments.items():
        at = guards.local(name)
        if isinstance(value, torch.Tensor):
            at.tensor_match(gt.TensorSpec.of(value))  # dtype, shape, strides, device
            tensors.append((at, value))
        else:
            at.type_match(type(value))
    for (at, value), (other_at, other) in combinations(tensors, 2):
        relate = guards.same_object if value is other else guards.distinct_objects
        relate(at, other_at)


def compile_for_call(call: gt.MissedCall) -> Any:
    """What stands for a compiled kernel: it answers with its key."""
    guard_like_helion(call.guards, call.arguments)
    key = kernel.specialization_key([*call.arguments.values()])
    return lambda x, y, factor: key


def plain(x: Any, y: Any, factor: Any) -> Any:
    raise AssertionError("each call has a kernel")


guarded = gt.Dispatcher(plain, compile_for_call)


def random_tensor(chance: random.Random) -> torch.Tensor:
    made = torch.empty(chance.choice([8, 16]), 4, dtype=chance.choice(DTYPES))
    return made if chance.random() < 0.5 else made.T.contiguous().T


DTYPES = [torch.float32, torch.float16]
chance = random.Random(14)
wrong = 0
for _ in range(2000):
    x, y = random_tensor(chance), random_tensor(chance)
    args = (x, x if chance.random() < 0.2 else y, chance.choice([1, 7, 0.5, True]))
    wrong += guarded(*args) != kernel.specialization_key(args)
print(f"2,000 calls, {wrong} with another key than Helion's")
print(f"{len(guarded)} entries, {guarded.stats()['misses']} misses")


def nanoseconds(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median of 31 rounds, which alternate."""
    rounds = [
        {name: timeit(call, number=2000) / 2000 * 1e9 for name, call in ways.items()}
        for _ in range(31)
    ]
    return {name: median(each[name] for each in rounds) for name in ways}


if "--time" in sys.argv[1:]:
    x, y = torch.empty(8, 4), torch.empty(8, 4)
    args = (x, y, 7)
    alone = gt.Dispatcher(plain, compile_for_call)
    alone(*args)
    fast_key, cache = kernel._fast_dispatch_key, {}
    cache[fast_key(args)] = "kernel"
    ways: dict[str, Callable[[], object]] = {
        "Helion's full key": lambda: kernel.specialization_key(args),
        "Helion's fast key, and a dict": lambda: cache[fast_key(args)],
        "guardtree, 1 entry": lambda: alone(x, y, 7),
        f"guardtree, {len(guarded)} entries": lambda: guarded(x, y, 7),
    }
    for name, time in nanoseconds(ways).items():
        print(f"{name:30} {time:6.0f} ns")
