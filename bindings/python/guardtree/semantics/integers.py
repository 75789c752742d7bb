"""64-bit integers, in which integer expressions are computed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .errors import DoesNotHold

LOW, HIGH = -(2**63), 2**63 - 1


class Int64:
    """An integer all of whose results must fit in 64 bits.

    ``+ - * // %`` return another one, or raise DoesNotHold if the result does not fit.
    Comparisons and truth are those of the integer. ``int64`` creates one.
    """

    def __init__(self, number: int) -> None:
        if not LOW <= number <= HIGH:
            raise DoesNotHold(number)
        self.number = number

    def __bool__(self) -> bool:
        return self.number != 0

    def __neg__(self) -> Int64:
        return Int64(-self.number)

    def __pos__(self) -> Int64:
        return self

    def __repr__(self) -> str:
        return f"int64({self.number})"


def number_of(value: Any) -> Any:
    """The integer in an Int64. Other values are returned unchanged."""
    return value.number if type(value) is Int64 else value


def arithmetic(operation: Callable[[int, int], int], swapped: bool) -> Any:
    """A method of Int64 that computes in 64 bits."""

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


def int64(value: Any) -> Any:
    """Converts an exact int (not a bool) to an Int64.

    Every other value raises DoesNotHold.
    """
    if type(value) is Int64:
        return value
    if type(value) is not int:
        raise DoesNotHold(type(value))
    return Int64(value)
