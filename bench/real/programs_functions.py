"""Programs: small functions, closures, and functions whose shapes stay free."""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from .programs import made, one_row, program, row

SMALL, CLOSURES, DYNAMIC = "small functions", "closures", "dynamic shapes"

SCALE = 2.5
OPTIONS = {"gain": 3, "names": ("a", "b")}
WEIGHT = torch.ones(8)


class Color(enum.Enum):
    """A global that is an enumeration."""

    RED = 1
    BLUE = 2


@program(SMALL, one_row)
def add_one(a: Any) -> Any:
    return a + 1


@program(SMALL, lambda: (row(), row()))
def two_tensors(a: Any, b: Any) -> Any:
    return a * b + a


@program(SMALL, lambda: (row(), 3, 0.5, "mean", True, None))
def constants(a: Any, power: int, rate: float, mode: str, flag: bool, mask: Any) -> Any:
    a = a**power * rate if flag else a
    return a.mean() if mode == "mean" and mask is None else a.sum()


@program(SMALL, lambda: ([row(), row(), row()],))
def list_of_tensors(items: Any) -> Any:
    return sum(items)


@program(SMALL, lambda: ((row(), (row(), 2)),))
def nested_tuple(pair: Any) -> Any:
    a, (b, times) = pair
    return a + b * times


@program(SMALL, one_row)
def globals_read(a: Any) -> Any:
    return a * SCALE + WEIGHT * OPTIONS["gain"]


@program(SMALL, one_row)
def library_calls(a: Any) -> Any:
    return functional.relu(torch.sin(a)) * math.sqrt(math.pi)


def helper(a: Any, bias: float = 0.25, *, gain: float = 2.0) -> Any:
    return a * gain + bias


@program(SMALL, one_row)
def helper_with_defaults(a: Any) -> Any:
    return helper(a)


@program(SMALL, lambda: (row(), Color.RED))
def enumeration(a: Any, color: Color) -> Any:
    return a + 1 if color is Color.RED else a - 1


@program(SMALL, lambda: (row(), torch.float64, torch.device("cpu")))
def dtype_and_device(a: Any, dtype: Any, device: Any) -> Any:
    return a.to(device=device, dtype=dtype)


@program(SMALL, one_row)
def graph_break(a: Any) -> Any:
    a = a + 1
    torch._dynamo.graph_break()
    return a * 2


@program(SMALL, lambda: (torch.ones(8, requires_grad=True), torch.ones(8).double()))
def other_tensors(a: Any, b: Any) -> Any:
    return a * b.float()


@program(SMALL, lambda: ({"a", "b"}, row()))
def set_of_names(names: Any, a: Any) -> Any:
    return a + 1 if "a" in names else a


@made(CLOSURES, one_row)
def over_a_number() -> Callable[..., Any]:
    times = 3

    def run(a: Any) -> Any:
        return a * times

    return run


@made(CLOSURES, one_row)
def over_a_tensor() -> Callable[..., Any]:
    weight = torch.ones(8)

    def run(a: Any) -> Any:
        return a * weight

    return run


@made(CLOSURES, one_row)
def over_a_function() -> Callable[..., Any]:
    bias = 0.5

    def inner(a: Any) -> Any:
        return a + bias

    def run(a: Any) -> Any:
        return inner(inner(a))

    return run


@made(CLOSURES, one_row)
def over_a_dict() -> Callable[..., Any]:
    options = {"gain": 2, "shift": 1.5}

    def run(a: Any) -> Any:
        return a * options["gain"] + options["shift"]

    return run


def with_gain(gain: float) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **named: Any) -> Any:
            return function(*args, **named) * gain

        return run

    return decorate


@made(CLOSURES, one_row)
def decorated() -> Callable[..., Any]:
    @with_gain(2.0)
    def run(a: Any) -> Any:
        return a + 1

    return run


@made(CLOSURES, one_row)
def partial_of_a_function() -> Callable[..., Any]:
    filled = functools.partial(helper, bias=1.0, gain=3.0)

    def run(a: Any) -> Any:
        return filled(a)

    return run


@made(CLOSURES, one_row)
def list_of_functions() -> Callable[..., Any]:
    stages = [torch.sin, torch.cos, helper]

    def run(a: Any) -> Any:
        for stage in stages:
            a = stage(a)
        return a

    return run


def free(*sizes: int) -> torch.Tensor:
    return torch.ones(sizes)


@program(DYNAMIC, lambda: (free(5),), is_dynamic=True)
def free_length(a: Any) -> Any:
    return a * 2


@program(DYNAMIC, lambda: (free(4, 6), free(6, 3)), is_dynamic=True)
def product(a: Any, b: Any) -> Any:
    return a @ b


@program(DYNAMIC, lambda: (free(6, 4),), is_dynamic=True)
def reshaped(a: Any) -> Any:
    return a.reshape(a.shape[0] // 2, -1) if a.shape[0] % 2 == 0 else a


@program(DYNAMIC, lambda: (free(9), free(7)), is_dynamic=True)
def compared(a: Any, b: Any) -> Any:
    return a[:7] + b if a.shape[0] > b.shape[0] else a[:5]


@program(DYNAMIC, lambda: (free(5), 7), is_dynamic=True)
def free_number(a: Any, count: int) -> Any:
    return a * count if count > 5 else a


@program(DYNAMIC, lambda: ([free(5), free(5), free(5)],), is_dynamic=True)
def concatenated(items: Any) -> Any:
    return torch.cat(items)


@program(DYNAMIC, lambda: (free(2, 3, 8), free(2, 3, 8), free(2, 3, 8)), True)
def scaled_products(q: Any, k: Any, v: Any) -> Any:
    scores = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1)
    return scores @ v
