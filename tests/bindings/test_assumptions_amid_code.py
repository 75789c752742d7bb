"""Assumed guards beside guards that run user code, and below what those fetched.

They stay where they are: a change that the code makes before them is noticed, and one
that it makes behind them is not."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from assumed import Guards, Thing, armed, function_with


def outer(self: Any) -> Any:
    def scope(x: Any = None) -> Any:
        return self

    return scope


def in_a_closure() -> gt.GuardManager:
    cells = (types.CellType(),)
    return Guards(types.FunctionType(outer(None).__code__, {}, closure=cells))


def names_of(node: gt.GuardManager) -> None:
    """Two names of a Thing."""
    node.instance_attr("a").equals(1000)
    node.instance_attr("b").equals(2)


def thing(**more: Any) -> Thing:
    return Thing(a=1000, b=2, **more)


def assume(guards: gt.GuardManager, subject: dict[str, Any], runs: int) -> None:
    """Asks until so many runs are assumed."""
    before = armed()
    for _ in range(4):
        assert guards.check(subject)
    assert armed() == before + runs


def test_guards_below_a_free_variable_are_assumed() -> None:
    guards = in_a_closure()
    module = guards.closure("self").instance_attr("inner")
    names_of(module.type_match(Thing))
    subject = {"self": Thing(inner=thing())}
    assume(guards, subject, 1)
    assert guards.assumed().assumed == 3
    subject["self"].inner.b = 3
    assert not guards.check(subject)
    subject["self"].inner.b = 2
    assert guards.check(subject)
    assert not guards.check({"self": Thing(inner=Thing(a=1000))})
    assert not guards.check({})
    assert guards.check({"self": Thing(inner=thing())})


STARTS: dict[str, Callable[[gt.GuardManager], gt.GuardManager]] = {
    "local": lambda guards: guards.local("x"),
    "closure": lambda guards: guards.closure("self"),
    "below a local": lambda guards: guards.local("x").instance_attr("same"),
    "an attribute": lambda guards: guards.closure("self").attr("same"),
    "an item": lambda guards: guards.local("x").attr("box").item(0),
    "a call": lambda guards: guards.local("x").attr("get").call(),
    "computed": lambda guards: guards.local("x").compute(lambda x: x.same),
}


def subject_of(value: Any) -> dict[str, Any]:
    value.same, value.box, value.get = value, [value], lambda: value
    return {"x": value, "self": value}


@pytest.mark.parametrize("start", STARTS)
def test_one_guard_that_runs_code_leaves_its_neighbours_assumed(start: str) -> None:
    """It comes first, last, or between two runs."""
    for places, runs in (((0,), 1), ((2,), 1), ((1,), 2), ((0, 1, 2), 2)):
        guards = in_a_closure()
        node = STARTS[start](guards).type_match(Thing)
        for place in range(3):
            if place in places:
                node.attr(f"code{place}").is_none()
            if place < 2:
                names_of(node.instance_attr(f"inner{place}"))
        value = thing(inner0=thing(), inner1=thing(), code0=None, code1=None)
        value.code2 = None
        subject = subject_of(value)
        assume(guards, subject, runs)
        assert guards.assumed().assumed == 4
        for name in ("inner0", "inner1"):
            inner = getattr(value, name)
            inner.b = 3
            assert not guards.check(subject)
            inner.b = 2
            assert guards.check(subject)
            setattr(value, name, Thing(a=1000))
            assert not guards.check(subject)
            setattr(value, name, inner)
            assert guards.check(subject)


class Acts:
    """Its attribute `now` runs a function."""

    def __init__(self, **names: Any) -> None:
        vars(self).update(names)
        self.act: Callable[[], Any] = lambda: None

    @property
    def now(self) -> None:
        self.act()


CHANGES: dict[str, Callable[[Acts], Any]] = {
    "another value": lambda acts: acts.inner.__setattr__("b", 3),
    "no value": lambda acts: vars(acts.inner).pop("b", None),
    "another dict": lambda acts: acts.inner.__setattr__("__dict__", {"a": 1000}),
    "another object": lambda acts: acts.__setattr__("inner", Thing(a=1000)),
    "none": lambda acts: vars(acts).pop("inner", None),
    "another class": lambda acts: acts.inner.__setattr__("__class__", Other),
}


class Other(Thing):
    """Another class of the same layout."""


@pytest.mark.parametrize("how", CHANGES)
def test_what_code_changes_is_seen_by_the_guards_behind_it_alone(how: str) -> None:
    for is_behind in (True, False):
        guards = in_a_closure()
        node = guards.closure("self")
        if is_behind:
            node.attr("now").is_none()
        names_of(node.instance_attr("inner").type_match(Thing))
        if not is_behind:
            node.attr("now").is_none()
        acts = Acts(inner=thing())
        assume(guards, {"self": acts}, 1)
        acts.act = lambda: CHANGES[how](acts)
        assert guards.check({"self": acts}) is not is_behind
        acts.act = lambda: None
        assert not guards.check({"self": acts})


def test_the_start_may_go_while_code_runs() -> None:
    """Guards below it are asked about the object that was fetched."""
    guards = in_a_closure()
    node = guards.closure("self").instance_attr("inner")
    names_of(node.instance_attr("first"))
    node.attr("now").is_none()
    names_of(node.instance_attr("second"))
    holder = Thing(inner=Acts(first=thing(), second=thing()))
    assume(guards, {"self": holder}, 2)
    inner = holder.inner

    def replace() -> None:
        holder.inner = Acts(first=None, second=None)

    inner.act = replace
    del inner
    assert guards.check({"self": holder})
    assert not guards.check({"self": holder})


def test_code_that_ends_an_assumption_ends_it_for_this_check() -> None:
    names = {"cfg": thing()}
    guards = Guards(function_with(**names))
    first = guards.global_("cfg")
    names_of(first)
    guards.local("x").attr("now").is_none()
    second = guards.global_("other")
    names_of(second)
    guards.function.__globals__["other"] = thing()
    acts = Acts()
    assume(guards, {"x": acts}, 2)
    acts.act = lambda: guards.function.__globals__.__setitem__("other", None)
    assert not guards.check({"x": acts})
    guards.function.__globals__["other"] = thing()
    acts.act = lambda: guards.function.__globals__.__setitem__("cfg", None)
    assert guards.check({"x": acts})
    assert not guards.check({"x": acts})


def test_a_value_that_is_made_anew_each_time_is_not_assumed_about() -> None:
    guards = Guards(function_with())
    names_of(guards.local("x").attr("made").call())
    kept = []

    def make() -> Thing:
        kept.append(thing())
        return kept[-1]

    before = gt.assumption_counts()["arms"]
    for _ in range(200):
        assert guards.check({"x": Thing(made=make)})
    assert gt.assumption_counts()["arms"] - before < 5
    assert not guards.check({"x": Thing(made=lambda: Thing(a=1000))})


def test_values_that_are_at_one_address_in_turn_are_told_apart() -> None:
    guards = Guards(function_with())
    node = guards.local("x").attr("made").call()
    names_of(node.instance_attr("inner"))
    answers = []
    for number in range(300):
        inner = Thing(a=1000, b=2 + (number % 3 == 0))
        expected = inner.b == 2
        assert guards.check({"x": Thing(made=lambda: Thing(inner=inner))}) is expected
        answers.append(expected)
    assert any(answers) and not all(answers)


def test_a_related_value_leaves_its_siblings_assumed() -> None:
    guards = in_a_closure()
    node = guards.closure("self")
    first, second = node.instance_attr("first"), node.instance_attr("second")
    guards.same_object(first, second)
    names_of(node.instance_attr("inner"))
    value = thing(inner=thing())
    value.first = value.second = [1]
    assume(guards, {"self": value}, 1)
    value.second = [1]
    assert not guards.check({"self": value})
    value.second = value.first
    value.inner.a = 3
    assert not guards.check({"self": value})
