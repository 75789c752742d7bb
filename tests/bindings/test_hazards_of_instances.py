"""Changes of instances that no event tells of, or not always: all are noticed.

CPython keeps attributes in a dict, in the object, or in both, and what it tells depends
on where they are; a new `__dict__` or `__class__` it tells nobody of.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from assumed import Assumed, Guards, Other, Thing, function_with
from hazards import Hazard, Hazards, on

HAZARDS = Hazards()
row = HAZARDS.row


class Bare:
    """Has attributes, and no dict until somebody asks for it."""

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


class Bare2(Bare):
    """Another class of the same layout."""


def a_of(value: Any) -> Guards:
    guards, a = on(value)
    a.instance_attr("a").equals(1000)
    return guards


# Every object that has a dict, from a global and from a local.


class Numbered(int):
    """Its dict lies after its digits."""


class Named(types.ModuleType):
    """A module of a class of its own."""


def with_dict(make: Callable[[], Any]) -> Callable[..., Any]:
    """What makes such an object with attributes."""

    def filled(**attributes: Any) -> Any:
        made = make()
        vars(made).update(attributes)
        return made

    return filled


partial = with_dict(lambda: functools.partial(print))
WITH_DICTS: dict[str, Callable[..., Any]] = {
    "an instance": Thing,
    "one without a dict": Bare,
    "an exception": with_dict(ValueError),
    "a function": with_dict(function_with),
    "a partial": partial,
    "a namespace": types.SimpleNamespace,
    "a large int": with_dict(lambda: Numbered(10**30)),
    "a module": with_dict(lambda: Named("m")),
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "attribute stored": lambda thing: setattr(thing, "a", 3),
    "attribute deleted": lambda thing: delattr(thing, "a"),
    "stored in the dict": lambda thing: vars(thing).update(a=3),
    "dict cleared": lambda thing: vars(thing).clear(),
    "__dict__ replaced": lambda thing: setattr(thing, "__dict__", {"a": 3, "b": 2}),
    "__dict__ emptied": lambda thing: setattr(thing, "__dict__", {}),
    "__dict__ replaced, the old one kept": lambda thing: (
        OLD.append(vars(thing)),
        setattr(thing, "__dict__", {"a": 3, "b": 2}),
    ),
}
OLD: list[Any] = []  # a dict that dies would tell
FOR_GOOD = {"a namespace", "a module"}  # keep their dicts


def change_of(name: str, how: str, is_local: bool) -> Callable[[], Iterator[Any]]:
    def begin() -> Iterator[Any]:
        thing = WITH_DICTS[name](a=1000, b=2)
        guards, node = on(thing)
        if is_local:
            node = guards.local("x")
        node.instance_attr("a").equals(1000)
        node.instance_attr("b").equals(2)
        yield guards, {"x": thing}
        CHANGES[how](thing)

    return begin


for name in WITH_DICTS:
    for how in CHANGES:
        if how.startswith("__dict__") and name in FOR_GOOD:
            continue
        for is_local in (False, True):
            start = " from a local" if is_local else ""
            HAZARDS.add(Hazard(how, name + start, change_of(name, how, is_local)))


@row("__dict__ replaced")
def the_new_one_is_changed() -> Iterator[Any]:
    thing, new = Thing(a=1000), {"a": 1000}
    thing.__dict__ = new
    yield a_of(thing)
    new["a"] = 3


@row("__dict__ replaced")
def by_the_dict_of_another_which_changes() -> Iterator[Any]:
    one, other = Thing(a=1000), Thing(a=1000)
    one.__dict__ = vars(other)
    yield a_of(one)
    other.a = 3


@row("__dict__ replaced")
def by_setstate_of_a_partial() -> Iterator[Any]:
    made = partial(a=1000)
    yield a_of(made)
    made.__setstate__((print, (), {}, {"a": 3}))


if sys.version_info[:3] != (3, 13, 0):  # which goes on with the old values itself

    @row("__dict__ replaced")
    def by_a_c_function() -> Iterator[Any]:
        thing = Thing(a=1000)
        yield a_of(thing)
        as_object = ctypes.py_object
        ctypes.pythonapi.PyObject_GenericSetDict(as_object(thing), as_object({}), None)


@row("object died, its dict did not")
def and_the_dict_is_changed() -> Iterator[Any]:
    thing = Bare(a=1000)
    kept = vars(thing)
    guards, a = on(kept)
    a.dict_item("a").equals(1000)
    yield guards
    del thing
    kept["a"] = 3


# obj.__class__ = X: no event of the dict, none of the type.


@row("__class__ replaced")
def of_an_instance() -> Iterator[Any]:
    thing = Thing()
    guards, a = on(thing)
    a.type_match(Thing)
    yield guards
    thing.__class__ = Other


@row("__class__ replaced")
def of_an_instance_without_a_dict() -> Iterator[Any]:
    bare = Bare(a=1000)
    guards, a = on(bare)
    a.type_match(Bare).instance_attr("a").equals(1000)
    yield guards
    bare.__class__ = Bare2


@row("__class__ replaced")
def of_an_instance_from_a_local() -> Iterator[Any]:
    thing = Thing(a=1000, b=2)
    guards, _ = on(None)
    x = guards.local("x").type_match(Thing)
    x.instance_attr("a").equals(1000)
    x.instance_attr("b").equals(2)
    yield guards, {"x": thing}
    thing.__class__ = Other


@row("__class__ replaced")
def of_an_instance_three_dicts_deep() -> Iterator[Any]:
    inner = Thing(a=1)
    guards, a = on({"k": Thing(b=Thing(c=inner))})
    at = a.dict_item("k").instance_attr("b").instance_attr("c")
    at.type_match(Thing).instance_attr("a").equals(1)
    yield guards
    inner.__class__ = Other


@row("__class__ replaced")
def then_an_attribute_is_stored() -> Iterator[Any]:
    bare = Bare(a=1000)
    vars(bare)
    yield a_of(bare)
    bare.__class__ = Bare2
    bare.a = 3


# Where the values are: in the object, beside a dict, in it.


def store(thing: Any, values: list[Any]) -> None:
    """Specialised by the many values."""
    for value in values:
        thing.a = value


def with_more(bare: Any) -> Any:
    for i in range(60):
        setattr(bare, f"more{i}", i)
    return bare


STORES: dict[str, Callable[[Any], Any]] = {
    "setattr": lambda bare: setattr(bare, "a", 3),
    "delattr": lambda bare: delattr(bare, "a"),
    "past the class": lambda bare: object.__setattr__(bare, "a", 3),
    "STORE_ATTR, hot": lambda bare: store(bare, [1000] * 300 + [3]),
    "into a new dict": lambda bare: vars(bare).update(a=3),
    "after 60 others": lambda bare: store(with_more(bare), [3]),
    "after popitem": lambda bare: (vars(bare).popitem(), store(bare, [3])),
    "after a key that is no text": lambda b: (vars(b).update({3: 4}), store(b, [3])),
    "after another class": lambda b: (setattr(b, "__class__", Bare2), store(b, [3])),
}
PLACES: dict[str, Callable[[Any], Any]] = {
    "values without a dict": lambda bare: None,
    "values beside a dict": vars,
    "a dict of 60 values": with_more,
    "values of another class": lambda bare: setattr(bare, "__class__", Bare2),
    "a dict of its own": lambda b: setattr(b, "__dict__", dict(vars(b))),
}


def store_at(place: str, how: str) -> Callable[[], Iterator[Any]]:
    def begin() -> Iterator[Any]:
        bare = Bare(a=1000, last=1)
        store(bare, [1000] * 50)
        PLACES[place](bare)
        yield a_of(bare)
        STORES[how](bare)

    return begin


for place in PLACES:
    for how in STORES:
        HAZARDS.add(Hazard(place, how, store_at(place, how)))


@pytest.mark.parametrize("hazard", HAZARDS.rows)
def test_a_change_of_an_instance_is_noticed(hazard: Hazard) -> None:
    hazard.must_be_noticed()


def test_a_specialised_store_to_the_guarded_object_is_noticed() -> None:
    thing = Thing(a=1000)
    assumed = Assumed(a_of(thing))
    for value in (1001, 1000, 1002, 1000):
        store(thing, [value] * 50)
        assert assumed.check() is (value == 1000)


def test_an_instance_without_a_dict_is_read_directly() -> None:
    bare = Bare(a=1000)
    assumed = Assumed(a_of(bare))
    bare.a = 3
    assert not assumed.check()
    bare.a = 1000
    assert assumed.check()
    assert vars(bare)  # the dict is made now
    assert assumed.check()
    bare.a = 3
    assert not assumed.check()
    bare.a = 1000
    del bare.__dict__
    assert not assumed.check()


def test_other_attributes_are_not_a_change() -> None:
    thing = Thing(a=1000)
    assumed = Assumed(a_of(thing))
    for change in (with_more, lambda one: vars(one).popitem(), vars):
        change(thing)
        assert assumed.check()
