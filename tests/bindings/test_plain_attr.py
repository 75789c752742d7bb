"""plain_attr: what getattr finds without running code, and what changes that; each
change is noticed by the next check of guards that are assumed."""

from __future__ import annotations

import functools
import sys
import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from assumed import Guards, Slotted, Thing, armed, function_with
from guardtree.semantics import plain_attr


def fetches(value: Any, name: str) -> bool:
    guards = Guards(function_with())
    guards.local("x").plain_attr(name).any_of((("is_none",), ("is_not_none",)))
    found = guards.check({"x": value})
    try:
        plain_attr(value, name)
    except LookupError:
        assert not found
    else:
        assert found
    return found


def filled() -> Slotted:
    made = Slotted()
    made.a = 1
    return made


class Fallback(Thing):
    def __getattr__(self, name: str) -> int:
        return 7


class Reads(Thing):
    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


class Binds:
    """A descriptor that getattr asks after the own dict."""

    def __get__(self, value: Any, kind: Any) -> Any:
        return 7


class Stores(Binds):
    """One that it asks before."""

    def __set__(self, value: Any, new: Any) -> None: ...


def with_class_attribute(value: Any) -> Any:
    return type("Made", (Thing,), {"a": value})(a=1)


Pair = namedtuple("Pair", "a")


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        (Thing(a=1), "a", True),
        (Thing(), "a", False),
        (filled(), "a", True),
        (Slotted(), "a", False),
        (Fallback(a=1), "a", True),
        (Fallback(), "a", False),
        (Reads(a=1), "a", False),
        (with_class_attribute(1), "a", True),
        (with_class_attribute(Binds()), "a", True),
        (with_class_attribute(Stores()), "a", False),
        (with_class_attribute(property(lambda self: 1)), "a", False),
        (Thing(), "__class__", False),
        (Thing(), "__dict__", False),
        (Thing, "__doc__", False),
        (type("C", (), {"a": 1}), "a", False),
        (sys, "path", False),
        (Pair(1), "a", False),
        (functools.partial(len), "func", False),
        (fetches, "__closure__", True),
        (fetches, "__name__", False),
        (3, "real", False),
    ],
)
def test_what_is_fetched(value: Any, name: str, expected: bool) -> None:
    assert fetches(value, name) is expected


def test_it_is_what_getattr_gives() -> None:
    guards = Guards(function_with())
    guards.local("x").plain_attr("a").equals(1000)
    for value in (Thing(a=1000), Fallback(a=1000), with_class_attribute(3)):
        assert guards.check({"x": value}) is (value.a == 1000)


class Base(Thing):
    pass


def fresh() -> tuple[Any, Any]:
    """A class of its own, and an instance with a dict."""
    kind = type("Fresh", (Base,), {})
    return kind, kind(a=1000, b=2)


CHANGES: dict[str, tuple[Callable[[Any, Any], Any], bool]] = {
    "a property": (lambda kind, x: setattr(kind, "a", property(lambda x: 1000)), False),
    "of a base": (lambda kind, x: setattr(Base, "a", property(lambda x: 1000)), False),
    "a data descriptor": (lambda kind, x: setattr(kind, "a", Stores()), False),
    "a descriptor": (lambda kind, x: setattr(kind, "a", Binds()), True),
    "a class attribute": (lambda kind, x: setattr(kind, "a", 3), True),
    "__getattr__": (lambda kind, x: setattr(kind, "__getattr__", lambda *_: 3), True),
    "__getattribute__": (
        lambda kind, x: setattr(kind, "__getattribute__", lambda *_: 1000),
        False,
    ),
    "another value": (lambda kind, x: setattr(x, "a", 1001), False),
    "no value": (lambda kind, x: delattr(x, "a"), False),
    "another class": (lambda kind, x: setattr(x, "__class__", Reads), False),
    "another class that is plain": (
        lambda kind, x: setattr(x, "__class__", Fallback),
        True,
    ),
    "another dict": (lambda kind, x: setattr(x, "__dict__", {"b": 2}), False),
}


@pytest.mark.parametrize("how", CHANGES)
def test_the_next_check_notices(how: str) -> None:
    change, expected = CHANGES[how]
    kind, value = fresh()
    guards = Guards(function_with(thing=value))
    for start in (guards.global_("thing"), guards.local("x")):
        start.plain_attr("a").equals(1000)
        start.plain_attr("b").equals(2)
    before = armed()
    for _ in range(4):
        assert guards.check({"x": value})
    assert armed() == before + 2
    change(kind, value)
    try:
        for _ in range(4):
            assert guards.check({"x": value}) is expected
    finally:
        if "a" in vars(Base):
            del Base.a


def test_a_descriptor_whose_own_class_changes_is_asked_about_each_time() -> None:
    kind = type("Late", (Binds,), {})
    owner = type("Owner", (Thing,), {"a": kind()})
    value = owner(a=1000, b=2)
    guards = Guards(function_with())
    guards.local("x").plain_attr("a").equals(1000)
    guards.local("x").plain_attr("b").equals(2)
    for _ in range(4):
        assert guards.check({"x": value})
    kind.__set__ = lambda *_: None
    assert not guards.check({"x": value})
    del kind.__set__
    assert guards.check({"x": value})


def test_a_slot_is_read_each_time() -> None:
    value = filled()
    value.b = 2
    guards = Guards(function_with(thing=value))
    guards.global_("thing").plain_attr("a").equals(1)
    guards.global_("thing").plain_attr("b").equals(2)
    for _ in range(4):
        assert guards.check({})
    value.a = 3
    assert not guards.check({})
    value.a = 1
    del value.b
    assert not guards.check({})


def test_no_user_code_runs() -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("user code")

    for word in ("__getattribute__", "__getattr__"):
        value = type("Made", (Thing,), {word: refuse})
        made = object.__new__(value)
        guards = gt.GuardManager(types.FunctionType(fetches.__code__, {}))
        guards.local("value").plain_attr("a").is_none()
        assert not guards.check({"value": made})
        assert guards.explain({"value": made}).verdict == "fail"
