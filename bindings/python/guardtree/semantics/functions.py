"""Functions on Python functions and on bound methods."""

from __future__ import annotations

import types
from typing import Any

NO_CONTENT = object()


def plain_function(value: Any) -> types.FunctionType:
    """The value itself, if it is a Python function. Otherwise raises TypeError."""
    if type(value) is not types.FunctionType:
        raise TypeError(value)
    return value


def bound_method(value: Any) -> types.MethodType:
    """The value itself, if it is a bound method of a Python class, else TypeError.

    Methods of C types, such as ``[].append``, have another type.
    """
    if type(value) is not types.MethodType:
        raise TypeError(value)
    return value


def content_of(cell: types.CellType) -> Any:
    """The content of a cell, or NO_CONTENT for an empty one."""
    try:
        return cell.cell_contents
    except ValueError:
        return NO_CONTENT


def parts_of(function: types.FunctionType) -> list[Any]:
    """The parts of a function. Two types separate the groups."""
    keywords = (function.__kwdefaults__ or {}).items()
    return [
        function.__code__,
        *map(content_of, function.__closure__ or ()), tuple,
        *(function.__defaults__ or ()), dict,
        *(part for pair in keywords for part in pair),
    ]  # fmt: skip


def is_same_function(value: Any, expected: types.FunctionType) -> bool:
    """Whether a value is a function with the same code, cells and defaults.

    The code object, the contents of closure cells, the defaults and the keyword
    defaults are compared by identity. Names and globals are not compared. False for
    everything except Python functions.
    """
    if type(value) is not types.FunctionType:
        return False
    parts, others = parts_of(value), parts_of(expected)
    return len(parts) == len(others) and all(a is b for a, b in zip(parts, others))
