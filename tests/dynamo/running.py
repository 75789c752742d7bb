"""Runs a program under a hook: its results, how often it compiled, its graph breaks."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.backends.registry import lookup_backend
from torch.utils._pytree import tree_flatten


@dataclass
class Ran:
    """What a run gave."""

    results: Any
    compiled: int
    graph_breaks: int


def run(program: Callable[[Any], Any], backend: str) -> Ran:
    """Runs it with nothing compiled before."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    random.seed(0)
    torch.manual_seed(0)
    compiled = 0

    def counting(graph: Any, inputs: Any) -> Any:
        nonlocal compiled
        compiled += 1
        return lookup_backend(backend)(graph, inputs)

    def compile(function: Any, **named: Any) -> Any:
        return torch.compile(function, backend=counting, **named)

    try:
        results = program(compile)
    except Exception as error:
        results = f"raised {type(error).__name__}"
    breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
    return Ran(results, compiled, breaks)


def are_same(one: Any, other: Any) -> bool:
    """Whether results are equal, with their types and dtypes."""
    (first, shape), (second, others) = tree_flatten(one), tree_flatten(other)
    return shape == others and all(map(is_same, first, second))


def is_same(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor):
        return type(one) is type(other) and bool(one == other)
    return (
        isinstance(other, torch.Tensor)
        and one.dtype == other.dtype
        and one.shape == other.shape
        and (one.is_meta or torch.equal(one, other))
    )


def difference(torchs: Ran, ours: Ran) -> str:
    """What two runs differ in; empty where they do not."""
    if (torchs.compiled, torchs.graph_breaks) != (ours.compiled, ours.graph_breaks):
        return (
            f"torch compiled {torchs.compiled}, broke {torchs.graph_breaks}; guardtree "
            f"compiled {ours.compiled}, broke {ours.graph_breaks}"
        )
    if not are_same(torchs.results, ours.results):
        return f"torch gives {torchs.results}, guardtree {ours.results}"
    return ""
