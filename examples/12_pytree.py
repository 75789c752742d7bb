"""A dict of 1,000 arrays: its guards beside the key made from optree's flatten.

Needs packages: pip install numpy optree. With --time it prints what each costs, also
of JAX where that is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from timeit import repeat
from typing import Any

import guardtree as gt
import numpy as np
import optree

Parameters = dict[str, Any]
flatten: Any = optree.tree_flatten


def train(parameters: Parameters) -> None: ...


def made(change: str = "") -> Parameters:
    """The parameters of a model, or another model's."""
    parameters: Parameters = {
        f"layer{i}.weight": np.zeros((4, 1 + i % 8), np.float32) for i in range(1000)
    }
    if change == "other values":
        parameters["layer7.weight"] += 1
    elif change == "one other shape":
        parameters["layer7.weight"] = np.zeros((4, 9), np.float32)
    elif change == "one other dtype":
        parameters["layer7.weight"] = parameters["layer7.weight"].astype(np.float16)
    elif change == "one array transposed":
        parameters["layer3.weight"] = parameters["layer3.weight"].T
    elif change == "one key less":
        del parameters["layer7.weight"]
    elif change == "keys in another order":
        parameters = dict(reversed(parameters.items()))
    return parameters


def optree_key(parameters: Parameters) -> Hashable:
    """What a cache by hand looks up: the structure, and each leaf's facts."""
    leaves, structure = flatten(parameters)
    return structure, tuple((each.shape, each.dtype) for each in leaves)


def jax_key(parameters: Parameters) -> Hashable:
    import jax

    leaves, structure = jax.tree.flatten(parameters)
    return structure, tuple((each.shape, each.dtype) for each in leaves)


first = made()
guards = gt.GuardManager(train).specialize({"parameters": first})
table = gt.Table(train)
table.add(guards, "compiled")
cache = {optree_key(first): "compiled"}

print(f"{'change':24} {'guardtree':12} optree's key")
for change in (
    "none",
    "other values",
    "one other shape",
    "one other dtype",
    "one array transposed",
    "one key less",
    "keys in another order",
):
    changed = made(change)
    verdicts = (table.lookup_call(changed), cache.get(optree_key(changed)))
    print(f"{change:24} {verdicts[0] or 'miss':12} {verdicts[1] or 'miss'}")
print(guards.explain({"parameters": made("one other dtype")}).failures[0].path)


def microseconds(call: Callable[[], object]) -> float:
    """The median of 15 rounds."""
    return sorted(repeat(call, number=20, repeat=15))[7] / 20 * 1e6


if "--time" in sys.argv[1:]:
    same = made()
    ways: dict[str, Callable[[], object]] = {
        "guardtree: table.lookup_call": lambda: table.lookup_call(same),
        "optree: tree_flatten": lambda: flatten(same),
        "optree: tree_flatten, key, dict": lambda: cache.get(optree_key(same)),
    }
    try:
        import jax
    except ImportError:
        print("JAX is not installed")
    else:
        by_jax = {jax_key(same): "compiled"}
        ways["JAX: tree.flatten"] = lambda: jax.tree.flatten(same)
        ways["JAX: tree.flatten, key, dict"] = lambda: by_jax.get(jax_key(same))
    for way, call in ways.items():
        print(f"{way:32} {microseconds(call):8.1f} us")
