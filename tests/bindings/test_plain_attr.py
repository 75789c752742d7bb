"""plain_attr: what getattr finds without running code, and what changes that; each
change is noticed by the next check of guards that are assumed."""

from __future__ import annotations

import enum
import functools
import sys
import types
from collections import defaultdict, namedtuple
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from assumed import Guards, Slotted, Thing, armed, function_with
from guardtree.semantics import lacks_plain_attr, plain_attr


def fetches(value: Any, name: str) -> bool:
    guards = Guards(function_with())
    guards.local("x").plain_attr(name).exists()
    found = guards.check({"x": value})
    try:
        plain_attr(value, name)
    except LookupError:
        assert not found
    else:
        assert found
    return found


def lacks(value: Any, name: str) -> bool:
    guards = Guards(function_with())
    guards.local("x").lacks_plain_attr(name)
    found = guards.check({"x": value})
    assert found is lacks_plain_attr(value, name)
    return found


@pytest.mark.parametrize("word", ["plain_attr", "lacks_plain_attr"])
@pytest.mark.parametrize("name", [1.5, None, b"a", ("a",)])
def test_takes_the_names_that_getattr_takes(word: str, name: Any) -> None:
    guards = Guards(function_with())
    x = guards.local("x")
    before = str(guards)
    with pytest.raises(TypeError, match=rf"{word}\(name\): expected a name \(str\)"):
        getattr(x, word)(name)
    assert str(guards) == before


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


class Borrows(Fallback):
    """getattr calls the wrapper of tuple, which raises TypeError: this is no tuple.
    (Since CPython 3.14, tuple has object's.)"""

    __getattribute__ = tuple.__getattribute__


class Binds:
    """A descriptor that getattr asks after the own dict."""

    def __get__(self, value: Any, kind: Any) -> Any:
        return 7


class Stores(Binds):
    """One that it asks before."""

    def __set__(self, value: Any, new: Any) -> None: ...


def with_class_attribute(value: Any) -> Any:
    return type("Made", (Thing,), {"a": value})(a=1)


class Named(str):
    """Its own __eq__, which getattr asks where the hashes are equal."""

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def keyed_by(names: dict[Any, Any]) -> Any:
    """An object whose class has an attribute that its own dict may replace."""
    made = type("Made", (Thing,), {"a": 1})()
    vars(made).update(names)
    return made


def looked_up(kind: Any) -> Any:
    """A class that CPython has given a version tag."""
    return kind if kind.a else None


def general(names: dict[Any, Any]) -> dict[Any, Any]:
    """The same names in a table of keys of any type."""
    made: dict[Any, Any] = {1: 2, **names}
    del made[1]
    return made


class Meta(type):
    b = property(lambda self: 1)
    c = 3


class Looks(type):
    def __getattr__(self, name: str) -> int:
        return 7


class Answers(type):
    def __getattribute__(self, name: str) -> int:
        return 7


class Colour(enum.Enum):
    RED = 1


Pair = namedtuple("Pair", "a")
Shadowed = type("Shadowed", (Pair,), {"a": 3})
Stolen = type("Stolen", (), {"a": Pair.a})  # of a tuple, but not in one


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
        (Thing(), "__class__", True),
        (type("C", (), {"__class__": property(lambda x: 1)})(), "__class__", False),
        (Thing(), "__dict__", False),
        (type("C", (), {"a": 1})(), "a", True),
        (type("C", (), {"__slots__": (), "a": 1})(), "a", True),
        (type("C", (type("B", (), {"a": 1}),), {})(), "a", True),
        (type("C", (), {"a": Binds()})(), "a", False),
        (type("C", (), {"a": lambda self: 1})(), "a", False),
        (type("C", (), {"a": 1, Named("b"): 1})(), "a", False),
        (keyed_by({Named("a"): 2}), "a", False),
        (sys.flags, "n_fields", True),
        (Thing, "__doc__", False),
        (Thing, "__class__", True),
        (Thing, "__name__", True),
        (int, "__name__", False),
        (int, "from_bytes", False),
        (int, "__add__", True),
        (int, "bit_length", True),
        (int, "real", True),
        (Slotted, "a", True),
        (type("C", (), {"a": property(lambda self: 1)}), "a", True),
        (type("C", (), {"a": type("P", (property,), {})()}), "a", False),
        (type("C", (), {"a": 1}), "a", True),
        (type("C", (type("B", (), {"a": 1}),), {}), "a", True),
        (type("C", (), {"a": lambda self: 1}), "a", True),
        (type("C", (), {"a": Binds()}), "a", False),
        (type("C", (), {"a": classmethod(repr)}), "a", False),
        (type("C", (), {"a": 1, Named("b"): 1}), "a", False),
        (looked_up(type("C", (), {"a": 1, Named("b"): 1})), "a", False),
        (type("C", (Thing,), {Named("a"): property(repr)})(a=5), "a", False),
        (type("C", (), general({"a": 1, "b": 2})), "a", True),
        (type("C", (), general({"a": 1, "b": 2}))(), "a", True),
        (type("C", (), {}), "a", False),
        (Fallback, "__getattr__", True),
        (Meta("C", (), {"a": 1}), "a", True),
        (Meta("C", (), {"b": 1}), "b", False),
        (Meta("C", (), {"c": 1}), "c", True),
        (Meta("C", (), {}), "c", False),
        (Looks("C", (), {"a": 1}), "a", True),
        (Looks("C", (), {}), "a", False),
        (Answers("C", (), {"a": 1}), "a", False),
        (Colour, "RED", True),
        (Colour.RED, "name", "name" not in vars(Colour.__mro__[1])),
        (sys, "path", False),
        (Pair(1), "a", True),
        (tuple.__new__(Pair), "a", False),
        (type("Sub", (Pair,), {})(1), "a", True),
        (Shadowed(1), "a", True),
        (Stolen(), "a", False),
        (functools.partial(len), "func", True),
        (types.SimpleNamespace(a=1), "a", True),
        (defaultdict(int), "default_factory", True),
        (defaultdict(int), "a", False),
        (Borrows(a=1), "a", "__getattribute__" not in vars(tuple)),
        (fetches, "__closure__", True),
        (fetches, "__name__", False),
        (3, "real", False),
    ],
)
def test_what_is_fetched(value: Any, name: str, expected: bool) -> None:
    assert fetches(value, name) is expected


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        (Thing(), "a", True),
        (Thing(b=1), "a", True),
        (Thing(a=1), "a", False),
        (filled(), "a", False),
        (Slotted(), "a", True),
        (Fallback(), "a", False),
        (Reads(), "a", False),
        (with_class_attribute(1), "a", False),
        (type("C", (), {"a": Binds()})(), "a", False),
        (type("C", (), {"a": Stores()})(), "a", False),
        (type("C", (), {Named("a"): 1})(), "a", False),
        (type("C", (), {Named("b"): 1})(), "a", False),
        (Thing, "a", False),
        (Stolen(), "a", False),
        (Pair(1), "a", False),
        (Pair(1), "b", True),
        (sys, "no_such_name", False),
        (functools.partial(len), "a", True),
        (fetches, "a", True),
        (fetches, "__closure__", False),
        (3, "real", False),
        (3, "a", True),
        ("text", "a", True),
    ],
)
def test_what_is_absent(value: Any, name: str, expected: bool) -> None:
    assert lacks(value, name) is expected
    assert not expected or not hasattr(value, name)


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


@pytest.mark.skipif(sys.version_info < (3, 15), reason="tuples have no slots")
def test_a_slot_behind_the_items_of_a_tuple() -> None:
    kind = type("Slots", (tuple,), {"__slots__": ("a", "b")})
    for items in ((), (1,), (1, 2, 3)):
        value = kind(items)
        value.a = 5000
        guards = gt.GuardManager(function_with())
        guards.local("x").slot("a").equals(5000)
        guards.local("x").has_static_attr("a")
        for _ in range(4):
            assert guards.check({"x": value})
        plain = gt.GuardManager(function_with())
        plain.local("x").plain_attr("a").exists()
        assert not plain.check({"x": value})
        with pytest.raises(LookupError):
            plain_attr(value, "a")
        value.a = 1
        assert not guards.check({"x": value})
        empty = gt.GuardManager(function_with())
        empty.local("x").has_static_attr("b")
        assert not empty.check({"x": value})


def test_a_change_of_a_slot_is_noticed() -> None:
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
