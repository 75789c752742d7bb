"""The meaning of relations in plain Python; imports nothing of what it judges."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .meaning import NAMESPACE, has_builtin_len

LOW, HIGH = -(2**63), 2**63 - 1


class DoesNotHold(Exception):
    """Something is no integer, or does not fit in 64 bits."""


def checked(number: int) -> int:
    if not LOW <= number <= HIGH:
        raise DoesNotHold(number)
    return number


class Int64:
    """An integer whose every result must fit in 64 bits."""

    def __init__(self, number: int) -> None:
        self.number = checked(number)

    def __bool__(self) -> bool:
        return self.number != 0

    def __neg__(self) -> Int64:
        return Int64(-self.number)

    def __pos__(self) -> Int64:
        return self


def number_of(value: Any) -> int:
    return value.number if type(value) is Int64 else value


def arithmetic(operation: Callable[[int, int], int], swapped: bool) -> Any:
    def method(self: Int64, other: Any) -> Int64:
        left, right = self.number, number_of(other)
        if swapped:
            left, right = right, left
        return Int64(operation(left, right))

    return method


for name in ("add", "sub", "mul", "floordiv", "mod"):
    function = getattr(operator, name)
    setattr(Int64, f"__{name}__", arithmetic(function, swapped=False))
    setattr(Int64, f"__r{name}__", arithmetic(function, swapped=True))
for name in ("eq", "ne", "lt", "le", "gt", "ge"):
    compare = getattr(operator, name)
    setattr(
        Int64,
        f"__{name}__",
        lambda self, other, compare=compare: compare(self.number, number_of(other)),
    )


def int64(value: Any) -> Int64:
    """An exact int of 64 bits."""
    if type(value) is Int64:
        return value
    if type(value) is not int:
        raise DoesNotHold(type(value))
    return Int64(value)


def builtin_len(value: Any) -> int:
    """len() where CPython itself computes it."""
    if not has_builtin_len(value):
        raise DoesNotHold(type(value))
    return len(value)


def all_distinct(*values: Any) -> bool:
    return len({id(each) for each in values}) == len(values)


def holds(text: str, names: dict[str, Any]) -> bool:
    """A relation's text is true; what cannot be computed is not."""
    try:
        return bool(eval(text, names))
    except (DoesNotHold, ZeroDivisionError, TypeError, IndexError):
        return False


NAMESPACE.update(
    int64=int64, builtin_len=builtin_len, all_distinct=all_distinct, holds=holds
)
