"""Functions on containers and iterators. They ignore overrides of subclasses."""

from __future__ import annotations

import collections
import copy
import types
from collections.abc import Iterator
from typing import Any

from .classes import MISSING, is_a
from .errors import DoesNotHold

tuple_iterator: type = type(iter(()))

BUILTIN_LENGTHS = [
    kind.__len__
    for kind in (list, tuple, dict, set, frozenset, str, bytes, bytearray, range,
                 collections.deque)
]  # fmt: skip

SCALARS = (int, bool, float, complex, str, bytes, types.NoneType, types.EllipsisType)


def has_builtin_len(value: Any) -> bool:
    """Whether CPython itself computes ``len(value)``.

    True for a list, tuple, dict, set, frozenset, str, bytes, bytearray, range or deque,
    and for a subclass that keeps its ``__len__``.
    """
    found = getattr(type(value), "__len__", None)
    return any(found is known for known in BUILTIN_LENGTHS)


def builtin_len(value: Any) -> int:
    """``len(value)``. Raises DoesNotHold unless ``has_builtin_len`` is true."""
    if not has_builtin_len(value):
        raise DoesNotHold(type(value))
    return len(value)


def is_plain(key: Any) -> bool:
    """Whether CPython's own code compares such a key: a scalar, or a tuple of them."""
    kind = type(key)
    return any(kind is each for each in SCALARS) or (
        kind is tuple and all(map(is_plain, key))
    )


def asks_user_code(entries: dict[Any, Any], key: Any) -> bool:
    """Whether a look-up of the key could run the ``__eq__`` of a user-defined type."""
    rivals = [k for k in dict.keys(entries) if hash(k) == hash(key)]
    return not all(k is key or is_plain(k) for k in rivals)


def dict_has(value: Any, key: Any) -> bool | None:
    """Whether a dict, or a subclass of dict, has a key.

    None for every other value, and if the ``__eq__`` of a key with the same hash would
    have to run. An overridden ``__contains__`` does not run.
    """
    if not is_a(value, dict) or asks_user_code(value, key):
        return None
    return dict.__contains__(value, key)


def dict_item(value: Any, key: Any) -> Any:
    """The value of a key in a dict or a subclass of dict.

    Raises KeyError if the key is missing, and if the ``__eq__`` of a key with the same
    hash would have to run. Raises TypeError if the value is not a dict. ``__getitem__``
    and ``__missing__`` of a subclass do not run.
    """
    if asks_user_code(value, key):
        raise KeyError(key)
    found = dict.get(value, key, MISSING)
    if found is MISSING:
        raise KeyError(key)
    return found


def is_unchanged(value: Any, expected: dict[Any, Any]) -> bool:
    """Whether the value is this very dict.

    The guard ``dict_version`` also detects every change since it was built. Plain
    Python cannot detect those.
    """
    return value is expected


def is_a_set(value: Any) -> bool:
    """Whether the value is a set or frozenset, or an instance of a subclass."""
    return is_a(value, set) or is_a(value, frozenset)


def is_exact_set(value: Any) -> bool:
    """Whether the value is a set or a frozenset, but not an instance of a subclass."""
    return type(value) is set or type(value) is frozenset


def plain_contains(value: Any, item: Any) -> bool:
    """``item in value`` for a set. An overridden ``__contains__`` does not run.

    The ``__eq__`` of elements with the same hash can run. Raises TypeError for other
    values.
    """
    kind: Any = set if is_a(value, set) else frozenset
    return bool(kind.__contains__(value, item))


def plain_list(value: Any) -> list[Any]:
    """The elements of a set in order. An overridden ``__iter__`` does not run.

    Raises TypeError if the value is neither a set nor a frozenset.
    """
    kind: Any = set if is_a(value, set) else frozenset
    return list(kind.__iter__(value))


def deque_item(value: Any, index: int) -> Any:
    """An element of a deque. An overridden ``__getitem__`` does not run.

    Raises IndexError if there is none, TypeError if the value is not a deque.
    """
    return list(collections.deque.__iter__(value))[index]


def left_of(iterator: Iterator[Any]) -> list[Any]:
    """The items that an iterator of a tuple still has to return. It is not advanced.

    Raises TypeError for every other iterator.
    """
    if type(iterator) is not tuple_iterator:
        raise TypeError(iterator)
    return list(copy.copy(iterator))


def is_left(iterator: Any, expected: range) -> bool:
    """Whether an iterator of a range still has to return the numbers of ``expected``.

    It is not advanced. False for other values and for ranges beyond a machine word.
    """
    is_iterator = type(iterator) is type(iter(range(0)))
    return is_iterator and list(copy.copy(iterator)) == list(expected)
