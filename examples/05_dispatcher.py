"""Multiple dispatch: the implementation is chosen by what the arguments are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import guardtree as gt


def combine(left: Any, right: Any) -> Any: ...


table = gt.Table(combine)


def when(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers an implementation under guards that are written as Python text."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        table.add(gt.parse(text, combine), implementation)
        return implementation

    return register


@when("type(left) is int and type(right) is int")
def add(left: int, right: int) -> int:
    return left + right


@when("isinstance(left, list) and isinstance(right, list) and len(left) == len(right)")
def add_items(left: list[int], right: list[int]) -> list[int]:
    return [a + b for a, b in zip(left, right)]


@when("isinstance(left, str)")
def join(left: str, right: object) -> str:
    return f"{left}{right}"


def dispatch(left: Any, right: Any) -> Any:
    found = table.lookup_call(left, right)
    if found is None:
        raise TypeError(f"nothing combines {left!r} and {right!r}")
    return found(left, right)


print(dispatch(1, 2), dispatch([1, 2], [3, 4]), dispatch("a", 3))
try:
    dispatch([1], [2, 3])
except TypeError as error:
    print(error)
for entry in table.entries():
    failure = entry.guards.explain({"left": [1], "right": [2, 3]}).failures[0]
    print(f"{entry.payload.__name__}: {failure}")
