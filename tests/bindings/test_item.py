"""The step item agrees with Python's `value[key]`, also where it reads the value:
exact lists, tuples and dicts."""

from __future__ import annotations

import collections
import sys
from typing import Any

import guardtree as gt
import pytest


def subject(x: Any) -> Any:
    return x


class Equal:
    """Equal to every key with its hash, and counts how often it is asked."""

    def __init__(self, key: Any) -> None:
        self.hash, self.asked = hash(key), 0

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        self.asked += 1
        return True


class Doubling(list):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> Any:
        return 2 * super().__getitem__(index)


class Missing(dict):  # type: ignore[type-arg]
    def __missing__(self, key: Any) -> Any:
        return key


VALUES = [
    [7, 8, 9],
    (7, 8, 9),
    [],
    (),
    {0: 7, "a": 8, 2**70: 9, True: 6, (1, 2): 5},
    {"a": 7},
    {},
    {Equal("a"): 7},
    {Equal("a"): 7, "b": 8},
    Doubling([7, 8, 9]),
    Missing(b=7),
    collections.namedtuple("Pair", "first second")(7, 8),
    collections.defaultdict(list, a=7),
    collections.OrderedDict(a=7),
    range(7, 9),
    "ab",
    b"ab",
    None,
    7,
]
KEYS = [0, 1, -1, -3, 3, -4, 2**70, -(2**70), True, 1.0, "a", "b", (1, 2), None]


def found(value: Any, key: Any) -> Any:
    """What Python's own `value[key]` gives, or the exception's type."""
    try:
        return value[key]
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{value!r:.40}")
def test_the_same_as_in_python(value: Any, key: Any) -> None:
    expected = found(value, key)
    seen: list[Any] = []
    guards = gt.GuardManager(subject)
    guards.local("x").item(key).python(lambda item: seen.append(item) or True)
    explained = guards.explain({"x": value})
    is_found = not isinstance(expected, type)
    assert explained.verdict == "pass" if is_found else explained.verdict != "pass"
    assert seen == ([expected] if is_found else [])
    has_items = hasattr(value, "__getitem__")
    is_error = not is_found and has_items and not issubclass(expected, LookupError)
    assert (explained.verdict == "error") == is_error
    assert guards.check({"x": value}) == is_found


def test_a_key_of_a_user_is_asked() -> None:
    key = Equal("a")
    guards = gt.GuardManager(subject)
    guards.local("x").item("a").equals(7)
    assert guards.check({"x": {key: 7}})
    assert key.asked == 1
    assert guards.check({"x": {key: 7}})
    assert key.asked == 2


def test_a_dict_that_its_key_clears_has_no_item() -> None:
    values: dict[Any, Any] = {}

    class Clearing(Equal):
        __hash__ = Equal.__hash__

        def __eq__(self, other: object) -> bool:
            values.clear()
            return True

    values[Clearing("a")] = [7]
    guards = gt.GuardManager(subject)
    guards.local("x").item("a").equals([7])
    assert not guards.check({"x": values})
    assert not values


def test_items_read_without_the_protocol_keep_their_references() -> None:
    item, guards = object(), gt.GuardManager(subject)
    guards.local("x").item(0).id_match(item)
    asked = [{"x": [item]}, {"x": (item,)}, {"x": {0: item}}]
    assert guards.check(asked[0])  # the first check compiles the guards
    before = sys.getrefcount(item)
    answers = [guards.check(each) for each in asked * 100]
    after = sys.getrefcount(item)
    assert all(answers)
    assert before == after
