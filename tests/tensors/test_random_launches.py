"""Random launches through a Dispatcher find the kernel of their key, said in Python.

Each fact of the plan is needed: with one left out, some launch finds another's kernel.
"""

from __future__ import annotations

import random
from typing import Any

import guardtree as gt
import pytest

np = pytest.importorskip("numpy")

CALLS = 600
MEMORY = np.zeros(512, "u1")
START = -MEMORY.__array_interface__["data"][0] % 64


def launch(a: Any, b: Any, n: Any, block: Any = 64, mode: Any = None) -> None: ...


def array(numbers: random.Random) -> Any:
    offset = START + numbers.choice([0, 0, 4, 16, 32])
    dtype = numbers.choice(["f4", "f8", "i4"])
    flat = MEMORY[offset : offset + 64].view(dtype)
    return flat.reshape(2, -1) if numbers.random() < 0.2 else flat


def some_int(numbers: random.Random) -> Any:
    near = numbers.choice([0, 1, 16, 2**31, -(2**31), 2**63, 2**64])
    return near + numbers.choice([0, 0, 1, -1, 16, 8])


def random_call(numbers: random.Random) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args: list[Any] = [array(numbers), array(numbers), some_int(numbers)]
    if numbers.random() < 0.2:
        args[numbers.randrange(3)] = numbers.choice([None, True, False, 2.5])
    kwargs: dict[str, Any] = {}
    if numbers.random() < 0.5:
        kwargs["block"] = numbers.choice([64, 128, True, 64.0])
    if numbers.random() < 0.5:
        kwargs["mode"] = numbers.choice([None, "fast", "exact", (1, "fast")])
    return tuple(args), kwargs


def fact_of(value: Any) -> Any:
    """What of an argument counts, but for constants."""
    if isinstance(value, np.ndarray):
        aligned = value.__array_interface__["data"][0] % 16 == 0
        return value.dtype.str, value.ndim, aligned
    if type(value) is int:
        if value == 1:
            return "one"
        widths = ((-(2**31), 2**31), (-(2**63), 2**63), (2**63, 2**64))
        width = next((w for w in widths if w[0] <= value < w[1]), None)
        is_divisible = -(2**63) <= value < 2**63 and value % 16 == 0
        return int, width, is_divisible
    return value if value is None or type(value) is bool else type(value)


def key_of(a: Any, b: Any, n: Any, block: Any = 64, mode: Any = None) -> Any:
    constants = (type(block), block if type(block) is not float else 0, repr(mode))
    return fact_of(a), fact_of(b), fact_of(n), constants


PLAN = {
    "ints": ("one", "divisible", "width"),
    "shape": "free",
    "strides": "free",
    "alignment": 16,
}
CONSTANT = gt.KeyPlan()


def wrong_kernels(facts: dict[str, Any], **plans: Any) -> int:
    """How many launches got the kernel of another key."""

    def on_miss(call: gt.MissedCall) -> Any:
        chosen = {"block": CONSTANT, "mode": CONSTANT, **plans}
        call.guards.specialize(call.arguments, plans=chosen, **facts)
        key = key_of(**call.arguments)
        return lambda *args, **kwargs: key

    dispatcher = gt.Dispatcher(launch, on_miss, entry_limit=10**6)
    numbers, wrong, keys = random.Random(7), 0, set()
    for _ in range(CALLS):
        args, kwargs = random_call(numbers)
        key = key_of(*args, **kwargs)
        keys.add(key)
        wrong += dispatcher(*args, **kwargs) != key
    if not wrong:
        assert len(dispatcher) == len(keys)
    return wrong


def test_a_launch_finds_the_kernel_of_its_key() -> None:
    assert wrong_kernels(PLAN) == 0


@pytest.mark.parametrize(
    ("changes", "plans"),
    [
        ({"alignment": None}, {}),
        ({"ints": ("divisible", "width")}, {}),
        ({"ints": ("one", "width")}, {}),
        ({"ints": ("one", "divisible")}, {}),
        ({}, {"a": None}),
        ({}, {"n": None}),
        ({}, {"block": None}),
        ({}, {"mode": None}),
    ],
    ids=repr,
)
def test_with_a_fact_left_out_another_kernel_is_found(changes: Any, plans: Any) -> None:
    assert wrong_kernels({**PLAN, **changes}, **plans) > 0
