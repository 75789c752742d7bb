"""Functions on constants: equality with exact types, and floats without a literal."""

from __future__ import annotations

import struct
from typing import Any

nan = float("nan")
inf = float("inf")


def same_constant(value: Any, expected: Any) -> bool:
    """Whether a value equals a constant, with equal types at every depth.

    Floats are equal if their bits are equal. Tuples and lists are compared in order,
    sets and dicts in any order. False for a subclass, for ``True`` and 1, for 0.0 and
    -0.0. Runs no user code, because values of other types are always unequal.
    """
    kind = type(expected)
    if type(value) is not kind:
        return False
    if kind is float:
        return struct.pack("d", value) == struct.pack("d", expected)
    if kind is complex:
        return same_constant(value.real, expected.real) and same_constant(
            value.imag, expected.imag
        )
    if kind in (tuple, list):
        return len(value) == len(expected) and all(map(same_constant, value, expected))
    if kind is dict:
        return len(value) == len(expected) and all(
            any(
                same_constant(k, key) and same_constant(v, item)
                for key, item in expected.items()
            )
            for k, v in value.items()
        )
    if kind in (set, frozenset):
        return len(value) == len(expected) and all(
            any(same_constant(item, other) for other in expected) for item in value
        )
    if kind in (int, str, bytes):
        return bool(value == expected)
    return value is expected  # None, True, False, Ellipsis


def nan_of_bits(bits: int) -> float:
    """The NaN with these 64 bits. NaNs with other bits than ``nan`` print like this."""
    return float(struct.unpack("d", struct.pack("Q", bits))[0])
