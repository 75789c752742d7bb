"""Numba's compiled code behind a Dispatcher, with Numba's own choice as the oracle.

Needs packages: pip install numpy numba. With --time it prints what each call costs.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from statistics import median
from timeit import timeit
from typing import Any

import guardtree as gt
import numba
import numpy as np


def total(x: Any, n: Any) -> Any:
    return x.sum() + n


kernel = numba.njit(total)


def guard_like_numba(at: gt.GuardManager, value: Any) -> None:
    """The facts that ``numba.typeof`` looks at."""
    if type(value) is int:
        at.int_range(-(2**63), 2**63 - 1)
    elif isinstance(value, np.ndarray):
        free, flags = (None,) * value.ndim, value.flags
        spec = gt.TensorSpec.of(value, shape=free, strides=free).replace(
            c_contiguous=flags.c_contiguous,
            f_contiguous=None if flags.c_contiguous else flags.f_contiguous,
        )
        at.tensor_match(spec)
    else:
        at.type_match(type(value))


def compile_for_call(call: gt.MissedCall) -> Any:
    """The native function of Numba's own specialisation."""
    for name, value in call.arguments.items():
        guard_like_numba(call.guards.local(name), value)
    kernel.compile(types := types_of(call.arguments.values()))
    return kernel.overloads[types].entry_point


def types_of(values: Any) -> tuple[Any, ...]:
    return tuple(map(numba.typeof, values))


guarded = gt.Dispatcher(total, compile_for_call)


def random_array(chance: random.Random) -> Any:
    made = np.ones((chance.randrange(1, 4), chance.randrange(1, 4)))
    kind = chance.randrange(4)
    if kind == 0:
        return made.astype(np.float32)
    if kind == 1:
        return made.T  # C, F or both, by its shape
    if kind == 2:
        made.flags.writeable = False
        return made
    return np.ones((6, 6))[::2, ::2]


chance = random.Random(13)
wrong, calls = 0, {}
for _ in range(2000):
    x, n = random_array(chance), chance.choice([1, -5, 2**40, 0.5, True])
    result = guarded(x, n)
    entry = guarded.find(x, n)
    assert entry is not None
    own = kernel.overloads[types_of((x, n))].entry_point
    calls[own] = (x, n)
    wrong += entry.payload is not own or result != kernel(x, n)
print(f"2,000 calls, {wrong} with another kernel than Numba's")
print(f"{len(kernel.overloads)} kernels, {len(guarded)} entries")


def nanoseconds(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median of 31 rounds, which alternate."""
    rounds = [
        {name: timeit(call, number=5000) / 5000 * 1e9 for name, call in ways.items()}
        for _ in range(31)
    ]
    return {name: median(each[name] for each in rounds) for name in ways}


if "--time" in sys.argv[1:]:
    x, n = np.ones((2, 2)), 1
    native = kernel.overloads[types_of((x, n))].entry_point
    alone, last = (gt.Dispatcher(total, compile_for_call) for _ in range(2))
    alone(x, n)
    for each in (*(calls[own] for own in calls if own is not native), (x, n)):
        last(*each)
    ways: dict[str, Callable[[], object]] = {
        "Numba's dispatcher": lambda: kernel(x, n),
        "guardtree, 1 entry": lambda: alone(x, n),
        "guardtree, last of 15": lambda: last(x, n),
        "the native function": lambda: native(x, n),
    }
    for name, time in nanoseconds(ways).items():
        print(f"{name:24} {time:6.0f} ns")
