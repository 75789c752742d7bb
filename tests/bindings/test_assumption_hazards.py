"""What sends no event, or sends it early: an assumption notices it all the same."""

from __future__ import annotations

import types
import weakref
from typing import Any

import guardtree as gt
from assumed import Assumed, Guards, function_with, on_global


class SubModule(types.ModuleType):
    """Modules may be given another class, though theirs is immutable."""


def test_the_class_of_a_module() -> None:
    module = types.ModuleType("m")
    assumed, _ = on_global(module, ("type_match", types.ModuleType))
    module.__class__ = SubModule
    assert not assumed.check()


def test_the_type_of_a_module_as_a_step() -> None:
    module = types.ModuleType("m")
    guards = Guards(function_with(m=module))
    guards.global_("m").type().id_match(types.ModuleType)
    assumed = Assumed(guards)
    module.__class__ = SubModule
    assert not assumed.check()


class Sized(dict):  # type: ignore[type-arg]
    """A dict whose class may be given a length."""


class Liar(dict):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 7


def test_the_length_that_a_subclass_tells() -> None:
    sized = Sized(a=1, b=2)
    assumed, _ = on_global(sized, ("length", 2))
    sized.__class__ = Liar
    assert not assumed.check()
    sized.__class__ = Sized
    assert assumed.check()
    Sized.__len__ = lambda self: 7  # type: ignore[method-assign]
    try:
        assert not assumed.check()
    finally:
        del Sized.__len__


class Kept:
    """Its dict has no values beside it."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__ = attributes


class Ends:
    """Asks when it ends."""

    def __init__(self, ask: Any) -> None:
        self.ask = ask

    def __del__(self) -> None:
        self.ask()


def stored(thing: Any, value: Any) -> None:
    """A store that CPython specialises: it drops the old value early."""
    thing.a = value


def specialise() -> None:
    for _ in range(300):
        stored(Kept(a=1, b=2), 5)


def both(function: Any, add: Any) -> tuple[gt.GuardManager, gt.GuardManager]:
    """The same guards, assumed and plain, after they have passed."""
    made = []
    for enabled in (True, False):
        prior = gt.set_assumptions(enabled)
        guards = gt.GuardManager(function)
        add(guards)
        assert all(guards.check({}) for _ in range(5))
        gt.set_assumptions(prior)
        made.append(guards)
    return made[0], made[1]


def test_a_finalizer_of_the_value_that_a_store_replaces() -> None:
    specialise()
    said: list[tuple[bool, bool]] = []
    thing = Kept(a=Ends(lambda: said.append((one.check({}), other.check({})))), b=1)
    function = function_with(thing=thing)
    one, other = both(
        function, lambda g: g.global_("thing").instance_attr("a").type_match(Ends)
    )
    stored(thing, 3)
    assert len(said) == 1
    assert said[0][0] is said[0][1]
    assert not one.check({})


def test_a_weak_callback_of_the_value_that_a_store_replaces() -> None:
    specialise()
    said: list[tuple[bool, bool]] = []
    thing = Kept(a=Kept(k=1000), b=1)
    function = function_with(thing=thing)
    one, other = both(
        function,
        lambda g: g.global_("thing").instance_attr("a").instance_attr("k").equals(1000),
    )
    told = weakref.ref(thing.a, lambda _: said.append((one.check({}), other.check({}))))
    stored(thing, 3)
    assert told() is None
    assert said[0][0] is said[0][1]


def test_a_dict_that_is_cleared_value_by_value() -> None:
    said: list[tuple[bool, bool]] = []

    def ask() -> None:
        said.extend((one.check({}), other.check({})) for _ in range(4))

    class Plain:
        def __init__(self) -> None:
            self.a, self.b, self.c = Ends(ask), 1000, 2000

    thing = Plain()
    vars(thing)
    function = function_with(thing=thing)
    one, other = both(
        function, lambda g: g.global_("thing").instance_attr("c").equals(2000)
    )
    vars(thing).clear()
    assert all(mine is plain for mine, plain in said)
    assert not one.check({})


def test_a_tuple_that_shares_its_parts_is_not_counted_for_ever() -> None:
    parts: Any = (1, 2)
    for _ in range(12):
        parts = (parts,) * 40
    assumed, names = on_global(parts, ("length", 40))  # of 10**19 parts
    names["a"] = (1,)
    assert not assumed.check()


def test_guards_that_are_broken_cost_stores_nothing() -> None:
    names = {"a": 0, "b": 1}
    function = types.FunctionType(on_global.__code__, names)
    many = []
    for _ in range(2000):
        guards = gt.GuardManager(function)
        guards.global_("a").type_match(int)
        assert all(guards.check({}) for _ in range(3))
        many.append(guards)
    before = gt.assumption_counts()
    assert before["armed"] >= 2000
    names["a"] = 1
    assert (
        gt.assumption_counts()["armed"] <= before["armed"] - 2000
        or not (gt.features()["dict_watcher"])
    )
    for i in range(20_000):  # each would walk 2000 of them
        names["a"] = i
    after = gt.assumption_counts()
    assert after["events"] <= before["events"] + 1
    assert all(guards.check({}) for guards in many)
    names["a"] = "text"
    assert not any(guards.check({}) for guards in many)
