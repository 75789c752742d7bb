"""Code for a thousand lengths: exact ones, then multiples of 16, then padded ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import guardtree as gt

EXACT = 4
"""So many values of an int get code of their own, before it is generalised."""

Kernel = Callable[[int, int], str]


def step(length: int, width: int) -> str:
    """What runs where nothing is compiled: any objects, and ints below 1."""
    return "plain"


def build(what: str) -> Kernel:
    """Stands for a compiler."""
    return lambda length, width: what


def bucket_of(value: int) -> tuple[int, int]:
    """The powers of two around it: from just above the lower to the upper."""
    high = 1 << (value - 1).bit_length()
    return high // 2 + 1, high


def compile_for_call(call: gt.MissedCall) -> Any:
    """Guards each int as exactly as its history lets it be."""
    entries_differ_in = call.dispatcher.differences()
    told = []
    for name, value in call.arguments.items():
        at = call.guards.local(name)
        if type(value) is not int or value < 1:
            return gt.ASK_AGAIN
        if len(entries_differ_in.get(name, [value])) < EXACT:
            at.equals(value)
            told.append(f"{name} = {value}")
        elif value % 16 == 0:
            at.int_range(1, 2**31 - 1).divisible_by(16)
            told.append(f"{name} by 16")
        else:
            low, high = bucket_of(value)
            at.int_range(low, high).not_(("divisible_by", 16))
            told.append(f"{name} padded to {high}")
    return build(", ".join(told))


served = gt.Dispatcher(step, compile_for_call)
for length in range(1, 1001):
    served(length, 4096)

for entry in served.entries():
    print(f"{entry.payload(0, 0):36} {entry.hits} hits")
print("compiled:", served.stats()["compiled"], "for 1,000 lengths")
print("they differ in:", *served.differences())
print("length -1 runs", served(-1, 4096))
