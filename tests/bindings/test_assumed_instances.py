"""Assumptions about instances: every way to change one is noticed by the next check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from assumed import Assumed, Guards, Other, Thing, function_with

INSTANCE_CHANGES: dict[str, Callable[[Any], Any]] = {
    "stored": lambda thing: setattr(thing, "a", 3),
    "stored in the dict": lambda thing: vars(thing).update(a=3),
    "deleted": lambda thing: delattr(thing, "a"),
    "cleared": lambda thing: vars(thing).clear(),
    "its dict replaced": lambda thing: setattr(thing, "__dict__", {"a": 3}),
    "its class replaced": lambda thing: setattr(thing, "__class__", Other),
    "stored past the class": lambda thing: object.__setattr__(thing, "a", 3),
}


@pytest.mark.parametrize("how", INSTANCE_CHANGES)
@pytest.mark.parametrize("is_local", [False, True])
def test_a_change_of_an_instance_is_noticed(how: str, is_local: bool) -> None:
    thing = Thing(a=1000, inner=Thing(b=5))
    guards = Guards(function_with(thing=thing))
    root = guards.local("x") if is_local else guards.global_("thing")
    root.type_match(Thing).instance_attr("a").equals(1000)
    root.instance_attr("inner").instance_attr("b").equals(5)
    assumed = Assumed(guards, x=thing)
    INSTANCE_CHANGES[how](thing)
    assert not assumed.check()


@pytest.mark.parametrize("how", INSTANCE_CHANGES)
def test_a_hot_store_is_noticed(how: str) -> None:
    """Stores that CPython has specialised."""
    thing = Thing(a=1000, inner=Thing(b=5))
    guards = Guards(function_with(thing=thing))
    guards.global_("thing").type_match(Thing).instance_attr("a").equals(1000)
    change, value = INSTANCE_CHANGES[how], 1000
    for _ in range(40):
        change(Thing(a=1))
        one = Thing(a=1, inner=None)
        one.a = value
    assumed = Assumed(guards)
    change(thing)
    assert not assumed.check()


def test_a_specialised_store_to_the_guarded_object_is_noticed() -> None:
    thing = Thing(a=1000)
    guards = Guards(function_with(thing=thing))
    guards.global_("thing").instance_attr("a").equals(1000)

    def store(value: Any) -> None:
        for _ in range(50):
            thing.a = value

    store(1000)
    assumed = Assumed(guards)
    for value in (1001, 1000, 1002, 1000):
        store(value)
        assert assumed.check() is (value == 1000)


def test_an_instance_without_a_dict_is_read_directly() -> None:
    class Bare:
        def __init__(self) -> None:
            self.a = 1000

    bare = Bare()
    guards = Guards(function_with(bare=bare))
    guards.global_("bare").type_match(Bare).instance_attr("a").equals(1000)
    assumed = Assumed(guards)
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


def test_more_attributes_than_inline_values_take() -> None:
    thing = Thing(a=1000)
    guards = Guards(function_with(thing=thing))
    guards.global_("thing").instance_attr("a").equals(1000)
    assumed = Assumed(guards)
    for i in range(60):
        setattr(thing, f"more{i}", i)
        assert assumed.check()
    vars(thing).popitem()
    assert assumed.check()
    vars(thing)[3] = 4
    assert assumed.check()
    thing.a = 3
    assert not assumed.check()
