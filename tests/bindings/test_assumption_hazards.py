"""What has no watcher, and what watchers of dicts say nothing of: noticed all the same.

Slots, cells, containers, types, modules, builtins, functions, deaths, dicts that change
too often. test_hazards_of_dicts.py, _of_instances.py and _of_finalizers.py have the
rest.
"""

from __future__ import annotations

import builtins
import functools
import gc
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import guardtree as gt
import pytest
from assumed import Guards, Slotted, Thing, function_with, on_global
from hazards import TELLS, Hazard, Hazards, change_of, on

HAZARDS = Hazards()
row = HAZARDS.row


# No version of CPython tells of these: they are read each time.


def slotted(a: Any) -> Slotted:
    made = Slotted()
    made.a = a
    return made


def closing() -> Any:
    content: Any = [1]
    return lambda: content


def emptied(container: Any) -> None:
    container.clear()


class Listed(list):  # type: ignore[type-arg]
    """A subclass of list."""


UNSEEN: dict[str, tuple[Any, Any, Any]] = {
    "a slot": (
        lambda: slotted([1]),
        lambda a: a.slot("a").length(1),
        lambda made: setattr(made, "a", []),
    ),
    "a slot, deleted": (
        lambda: slotted([1]),
        lambda a: a.slot("a").length(1),
        lambda made: delattr(made, "a"),
    ),
    "a cell's content": (
        closing,
        lambda a: a.closure_cell(0).length(1),
        lambda made: setattr(made.__closure__[0], "cell_contents", []),
    ),
    "a list's length": (lambda: [1], lambda a: a.length(1), emptied),
    "a list's item": (
        lambda: [1, [2]],
        lambda a: a.list_item(1).length(1),
        lambda made: made.__setitem__(1, []),
    ),
    "a list's order": (
        lambda: [[2], []],
        lambda a: a.list_item(0).length(1),
        lambda made: made.reverse(),
    ),
    "a list of a subclass": (lambda: Listed([1]), lambda a: a.length(1), emptied),
    "a set's items": (lambda: {1, 2}, lambda a: a.set_equals({1, 2}), emptied),
    "a set's length": (lambda: {1, 2}, lambda a: a.length(2), lambda s: s.add(3)),
    "a deque's length": (lambda: deque([1]), lambda a: a.length(1), emptied),
    "a bytearray's length": (lambda: bytearray(b"a"), lambda a: a.length(1), emptied),
}
for name, parts in UNSEEN.items():
    HAZARDS.add(Hazard("no watcher", name, change_of(*parts), reread=1))


@row("no watcher")
def a_field_of_a_c_type() -> Iterator[Any]:
    made = functools.partial(print)
    guards, a = on(made)
    a.slot("func").id_match(print)
    yield guards
    made.__setstate__((len, (), {}, {}))


# Builtins, modules, functions: reached by names that may be bound anew.


@row("builtins")
def is_replaced() -> Iterator[Any]:
    guards, _ = on(None)
    guards.builtin("len").id_match(len)
    yield guards
    kept = len
    builtins.len = lambda value: 3  # type: ignore[assignment]
    try:
        yield
    finally:
        builtins.len = kept


@row("builtins")
def is_hidden_by_a_global() -> Iterator[Any]:
    guards, f = on(function_with())
    f.function_globals().dict_lacks("len")
    guards.builtin("len").id_match(len)
    yield guards
    guards.function.__globals__["a"].__globals__["len"] = None


@row("sys.modules")
def has_another_module() -> Iterator[Any]:
    one = types.ModuleType("of_hazards")
    sys.modules["of_hazards"] = one
    try:
        guards, _ = on(None)
        guards.module("of_hazards").id_match(one)
        yield guards
        sys.modules["of_hazards"] = types.ModuleType("of_hazards")
        yield
    finally:
        del sys.modules["of_hazards"]


@row("sys.modules")
def is_another_dict() -> Iterator[Any]:
    one = types.ModuleType("of_hazards")
    modules = sys.modules
    modules["of_hazards"] = one
    try:
        guards, _ = on(None)
        guards.module("of_hazards").id_match(one)
        yield guards
        sys.modules = {**modules, "of_hazards": types.ModuleType("of_hazards")}
        yield
    finally:
        sys.modules = modules
        del modules["of_hazards"]


@pytest.mark.parametrize("assumed", [True, False])
def test_a_module_is_the_one_in_sys_modules(assumed: bool) -> None:
    one, other = types.ModuleType("of_hazards"), types.ModuleType("of_hazards")
    modules = sys.modules
    prior = gt.set_assumptions(assumed)
    guards, _ = on(None)
    guards.module("of_hazards").id_match(one)
    found = {}
    try:
        sys.modules["of_hazards"] = one
        found["the same"] = all(guards.check({}) for _ in range(4))
        sys.modules = {**modules, "of_hazards": other}
        found["another"] = guards.check({})
        sys.modules["of_hazards"] = one
        found["the same there"] = all(guards.check({}) for _ in range(4))
        modules["of_hazards"] = other
        found["another where CPython looks"] = guards.check({})
        sys.modules = None  # type: ignore[assignment]
        found["none"] = guards.check({})
        del sys.modules
        found["deleted"] = guards.check({})
    finally:
        sys.modules = modules
        del modules["of_hazards"]
        gt.set_assumptions(prior)
    assert [name for name, passes in found.items() if passes] == [
        "the same", "the same there", "another where CPython looks",
    ]  # fmt: skip


def fresh_function() -> Any:
    def function(a: int = 1000, *, b: int = 4) -> None: ...

    return function


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "__code__": (
        lambda f: f.code().id_match(fresh_function().__code__),
        lambda f: setattr(f, "__code__", function_with().__code__),
    ),
    "__defaults__": (
        lambda f: f.defaults().tuple_item(0).equals(1000),
        lambda f: setattr(f, "__defaults__", (3,)),
    ),
    "__kwdefaults__": (
        lambda f: f.kwdefaults().dict_item("b").equals(4),
        lambda f: setattr(f, "__kwdefaults__", {"b": 3}),
    ),
    "__kwdefaults__, changed": (
        lambda f: f.kwdefaults().dict_item("b").equals(4),
        lambda f: f.__kwdefaults__.update(b=3),
    ),
}
for name, (add, change) in FUNCTIONS.items():
    begin = change_of(fresh_function, add, change)
    HAZARDS.add(Hazard("a function", name, begin, reread=None))


@row("a function")
def is_another_closure_of_the_same_code() -> Iterator[Any]:
    def make() -> Any:
        return lambda: None

    one, other = make(), make()
    guards, a = on(one)
    a.id_match(one)
    yield guards
    guards.function.__globals__["a"] = other


@row("a function")
def has_globals_that_change() -> Iterator[Any]:
    other = function_with(flag=1000)
    guards, a = on(other)
    a.function_globals().dict_item("flag").equals(1000)
    yield guards
    other.__globals__["flag"] = 3


# What assumptions depend on ends, or is given up.


@row("death")
def of_a_dict_in_a_list() -> Iterator[Any]:
    holder: Any = [{"k": 1000}]
    guards, a = on(holder)
    a.list_item(0).dict_item("k").equals(1000)
    yield guards
    for _ in range(9):  # the next one lies where the last one did
        holder[0] = None
        holder[0] = {"k": 3}


@row("death")
def of_an_object_whose_dict_is_another_s() -> Iterator[Any]:
    kept = {"a": 1000}
    holder: Any = [Thing()]
    holder[0].__dict__ = kept
    guards, a = on(holder)
    a.list_item(0).type_match(Thing).instance_attr("a").equals(1000)
    yield guards
    holder[0] = None
    holder[0] = Thing(a=3)


@row("death")
def of_a_cycle() -> Iterator[Any]:
    thing = Thing(a=1000)
    thing.me = thing  # type: ignore[attr-defined]
    guards, a = on(thing)
    a.instance_attr("a").equals(1000)
    yield guards
    del guards.function.__globals__["a"]
    del thing
    gc.collect()


@row("death")
def of_other_guards_on_the_same_dict() -> Iterator[Any]:
    d = {"a": 1000, "b": 1}
    guards, a = on(d)
    a.dict_item("a").equals(1000)
    others = [on(d) for _ in range(5)]
    for other, node in others:
        node.dict_item("a").equals(1000)
        node.dict_item("b").equals(1)
        assert all(other.check({}) for _ in range(3))
    yield guards
    del others, other, node
    gc.collect()
    d["a"] = 3


def changed_too_often(d: dict[str, Any]) -> Guards:
    """Guards on d["b"] that were broken time and again: the dict is read directly."""
    guards, a = on(d)
    a.dict_item("b").type_match(int)
    before = gt.assumption_counts()["demotions"]
    for i in range(500):
        d["b"] = i
        assert guards.check({})
    assert not TELLS or gt.assumption_counts()["demotions"] == before + 1
    return guards


@row("a dict that changes too often", reread=None)
def is_guarded_from_then_on() -> Iterator[Any]:
    d = {"a": [1000], "b": 1}
    others = changed_too_often(d)
    guards, a = on(d)
    a.dict_item("a").length(1)
    yield guards
    d["a"] = []
    assert others.check({})


@row("a dict that changes too often", reread=None)
def was_guarded_all_the_while() -> Iterator[Any]:
    d = {"a": 1000, "b": 1}
    guards, a = on(d)
    a.dict_item("a").equals(1000)
    yield guards
    changed_too_often(d)
    d["a"] = 3


if sys.version_info >= (3, 15):

    @row("a lazy import")
    def is_made_by_its_first_use() -> Iterator[Any]:
        names: dict[str, Any] = {}
        exec("lazy import colorsys as a", names)
        guards = Guards(types.FunctionType(function_with().__code__, names))
        guards.global_("a").type_match(type(names["a"]))
        yield guards
        exec("a.rgb_to_hsv", names)


@pytest.mark.parametrize("hazard", HAZARDS.rows)
def test_what_no_dict_tells_is_noticed(hazard: Hazard) -> None:
    hazard.must_be_noticed()


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


def test_functions_of_the_same_code_and_globals_may_have_other_builtins() -> None:
    def f() -> Any:
        return len

    names: dict[str, Any] = {"__builtins__": {"len": len}}
    one = types.FunctionType(f.__code__, names)
    names["__builtins__"] = {"len": print}
    other = types.FunctionType(f.__code__, names)
    guards = gt.GuardManager(one)
    guards.builtin("len").id_match(len)
    gt.add_entry(f, gt.GuardedCode((lambda: "of one").__code__, guards))
    with gt.optimize(False):
        found = [(one, other)[i]() for i in (0, 0, 0, 0, 1, 0, 1, 1, 0)]
    assert found == ["of one"] * 4 + [print, "of one", print, print, "of one"]
