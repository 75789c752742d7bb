"""Assumptions: what keeps them, what breaks them, and that each change is noticed.

Each test asks until its guards are assumed, changes one thing, and asks once more: the
very next check must notice. That they were assumed, not walked, is told by the counts.
"""

from __future__ import annotations

import builtins
import gc
import sys
import types
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from assumed import (
    Assumed, Guards, Other, Slotted, Thing, armed, function_with, on_global, scope,
)  # fmt: skip

CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "stored": lambda names: names.__setitem__("a", 1001),
    "stored, equal but of another type": lambda names: names.update(a=1000.0),
    "deleted": lambda names: names.pop("a"),
    "cleared": lambda names: names.clear(),
    "updated": lambda names: names.update({"a": 3, "other": 2}),
    "merged": lambda names: names.__ior__({"a": 3}),
    "by a statement": lambda names: exec("global a; a = 3", names),
    "deleted by a statement": lambda names: exec("global a; del a", names),
    "by a loop": lambda names: exec("for a in [3]: pass", names),
    "by a definition": lambda names: exec("def a(): pass", names),
    "by an import": lambda names: exec("import sys as a", names),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_change_of_a_global_is_noticed(how: str) -> None:
    assumed, names = on_global(1000, ("equals", 1000))
    CHANGES[how](names)
    assert not assumed.check()
    names["a"] = 1000
    assert assumed.check()
    assert assumed.check()


def test_what_changes_elsewhere_in_the_dict_costs_nothing() -> None:
    assumed, names = on_global(1000, ("equals", 1000))
    before = gt.assumption_counts()
    for i in range(100):
        names["other"] = i
        names[f"new{i}"] = i
    names["new3"] = names.pop("new4")
    assert assumed.check()
    after = gt.assumption_counts()
    if gt.features()["dict_watcher"]:
        assert after["events"] == before["events"]
        assert after["arms"] == before["arms"]


def test_after_a_change_it_is_assumed_again() -> None:
    assumed, names = on_global(1000, ("equals", 1000))
    count = armed()
    names["a"] = 3
    assert not assumed.check()
    assert armed() == count - 1
    names["a"] = 1000
    assert assumed.check()
    assert armed() == count
    assert gt.assumption_counts()["rearms"] > 0


def test_a_dict_that_changes_all_the_time_is_read_directly() -> None:
    assumed, names = on_global(1000, ("type_match", int))
    before = gt.assumption_counts()
    for i in range(3000):
        names["a"] = i
        assert assumed.check()
    names["a"] = "text"
    assert not assumed.check()
    after = gt.assumption_counts()
    assert after["demotions"] == before["demotions"] + 1
    assert after["events"] + after["found"] - before["events"] - before["found"] < 60


def test_setting_the_same_object_again_is_no_change() -> None:
    assumed, names = on_global(scope, ("id_match", scope))
    before = gt.assumption_counts()["arms"]
    for _ in range(50):
        names["a"] = scope
    assert assumed.check()
    assert gt.assumption_counts()["arms"] == before


def test_an_object_at_the_address_of_a_dead_one_is_another() -> None:
    assumed, names = on_global(Thing(), ("type_match", Thing))
    for _ in range(200):
        names["a"] = None
        names["a"] = Other()
        assert not assumed.check()
        names["a"] = None
        names["a"] = Thing()
        assert assumed.check()


def test_large_ints_at_the_address_of_dead_ones_are_others() -> None:
    assumed, names = on_global(10**6, ("equals", 10**6))
    for i in range(400):  # past the budget of the dict
        names["a"] = 10**6 + (i & 1) + int("0")
        assert assumed.check() is (i & 1 == 0)


def test_changes_of_slots_lists_sets_and_cells_are_noticed() -> None:
    slotted = Slotted()
    slotted.a = 5
    cell = 7

    def closing() -> int:
        return cell

    guards = Guards(function_with(s=slotted, l=[1, [2]], u={1, 2}, f=closing))
    guards.global_("s").slot("a").equals(5)
    guards.global_("l").length(2).list_item(1).list_item(0).equals(2)
    guards.global_("u").set_equals({1, 2})
    guards.global_("f").function_match(closing)
    assumed = Assumed(guards)
    names = guards.function.__globals__
    for change, undo in (
        (lambda: setattr(slotted, "a", 6), lambda: setattr(slotted, "a", 5)),
        (lambda: names["l"].append(3), lambda: names["l"].pop()),
        (lambda: names["l"][1].insert(0, 3), lambda: names["l"][1].pop(0)),
        (lambda: names["u"].add(3), lambda: names["u"].discard(3)),
    ):
        change()
        assert not assumed.check()
        undo()
        assert assumed.check()
    cell = 8
    assert not assumed.check()


def test_parts_of_a_function_are_read_each_time() -> None:
    def inner(a: int = 3, *, b: int = 4) -> None: ...

    def another(a: int = 3, *, b: int = 4) -> int:
        return 1

    guards = Guards(function_with(f=inner))
    f = guards.global_("f")
    f.code().id_match(inner.__code__)
    f.defaults().tuple_item(0).equals(3)
    f.kwdefaults().dict_item("b").equals(4)
    assumed = Assumed(guards)
    inner.__kwdefaults__["b"] = 5
    assert not assumed.check()
    inner.__kwdefaults__ = {"b": 4}
    assert assumed.check()
    inner.__defaults__ = (4,)
    assert not assumed.check()
    inner.__defaults__ = (3,)
    assert assumed.check()
    code, inner.__code__ = inner.__code__, another.__code__
    assert not assumed.check()
    inner.__code__ = code
    assert assumed.check()


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda d: defaultdict(int, d)])
def test_keys_of_a_dict(kind: Any) -> None:
    config = kind({"a": 1, "b": 2})
    assumed, names = on_global(
        config, ("dict_keys", ("a", "b")), ("dict_lacks", "c"), ("length", 2)
    )
    assert assumed.guards.assumed().reread == 0
    config["a"] = 7
    assert assumed.check()
    config["c"] = 1
    assert not assumed.check()
    del config["c"]
    assert assumed.check()
    config["a"] = config.pop("a")  # the order
    assert not assumed.check()
    names["a"] = {"a": 1, "b": 2}
    assert assumed.check()
    names["a"].clear()
    assert not assumed.check()


def test_keys_that_are_no_strings() -> None:
    config = {1: "one", (1, 2): "pair", None: "nothing"}
    guards = Guards(function_with(c=config))
    c = guards.global_("c")
    c.dict_item(1).equals("one")
    c.dict_item((1, 2)).equals("pair")
    c.dict_item(None).equals("nothing")
    assumed = Assumed(guards)
    for key in (1, 1.0, True, (1, 2), None):
        kept = config[key]
        config[key] = "else"
        assert not assumed.check()
        config[key] = kept
        assert assumed.check()


class Equal:
    """A key that equals "k"."""

    def __eq__(self, other: object) -> bool:
        return other == "k"

    def __hash__(self) -> int:
        return hash("k")


def test_a_key_of_a_users_type_in_the_place_of_a_text() -> None:
    config: dict[Any, int] = {"k": 1, "l": 2}
    assumed, _ = on_global(config, ("dict_contains", "k"))
    del config["k"]
    config[Equal()] = 1
    assert not assumed.check()


def test_dict_version() -> None:
    config = {"a": 1}
    assumed, _ = on_global(config, ("dict_version", config))
    config["a"] = 2
    assert not assumed.check()


def test_modules_and_their_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("made_for_this")
    module.flag = 1000
    monkeypatch.setitem(sys.modules, "made_for_this", module)
    guards = Guards(function_with())
    guards.module("made_for_this").module_attr("flag").equals(1000)
    assumed = Assumed(guards)
    module.flag = 3
    assert not assumed.check()
    module.flag = 1000
    assert assumed.check()
    sys.modules["made_for_this"] = types.ModuleType("made_for_this")
    assert not assumed.check()
    del sys.modules["made_for_this"]
    assert not assumed.check()


def test_builtins(monkeypatch: pytest.MonkeyPatch) -> None:
    guards = gt.GuardManager(scope)
    guards.builtin("len").id_match(len)
    guards.global_("scope").id_match(scope)
    assumed = Assumed(guards)
    monkeypatch.setattr(builtins, "len", lambda value: 3)
    assert not assumed.check()


def test_another_function_of_the_same_code_has_other_globals() -> None:
    seen: list[Any] = []
    one, other = function_with(a=1), function_with(a=2)
    table = gt.Table(scope)
    guards = gt.GuardManager(one)
    guards.global_("a").equals(1)
    table.add(guards, "one")
    for function in (one, one, one, other, one, other):
        here = gt.Table(function)
        here.add(guards, "one")
        seen.append([here.lookup({}) for _ in range(4)][-1])
    assert seen == ["one", "one", "one", None, "one", None]


def test_a_type_that_died_is_no_other_type_at_its_address() -> None:
    def make() -> Any:
        return type("Made", (Thing,), {})

    thing, made = Thing(a=1), make()
    thing.__class__ = made
    guards = Guards(function_with(thing=thing))
    guards.global_("thing").type_match(made).instance_attr("a").equals(1)
    assumed = Assumed(guards)
    del made
    thing.__class__ = Thing
    gc.collect()
    for _ in range(50):
        thing.__class__ = make()
        assert not assumed.check()
        thing.__class__ = Thing
        gc.collect()


def test_nothing_is_kept_alive() -> None:
    thing = Thing(inner=Thing(b=5))
    died: list[int] = []
    names = {"thing": thing}
    guards = Guards(types.FunctionType(scope.__code__, names))
    guards.global_("thing").instance_attr("inner").type_match(Thing)
    guards.global_("thing").instance_attr("inner").instance_attr("b").equals(5)
    assumed = Assumed(guards)
    weakref.finalize(thing.inner, died.append, 1)
    del thing, names["thing"]
    gc.collect()
    assert died == [1]
    assert not assumed.check()


def test_a_dict_that_died_is_forgotten() -> None:
    before = gt.assumption_counts()["watched"]
    for _ in range(20):
        assumed, names = on_global({"k": 1}, ("dict_contains", "k"))
        assert assumed.check()
        del names["a"]
        assert not assumed.check()
        del assumed, names
        gc.collect()
    assert gt.assumption_counts()["watched"] == before


def test_locals_in_turn_are_not_armed_time_and_again() -> None:
    things = [Thing(a=1000, b=1) for _ in range(4)]
    guards = gt.GuardManager(scope)
    x = guards.local("x")
    x.instance_attr("a").equals(1000)
    x.instance_attr("b").equals(1)
    before = gt.assumption_counts()["arms"]
    for i in range(2000):
        assert guards.check({"x": things[i % 4]})
    assert gt.assumption_counts()["arms"] - before < 20
    things[2].a = 3
    assert not guards.check({"x": things[2]})


def test_without_assumptions_nothing_is_assumed() -> None:
    assert gt.set_assumptions(False) is True
    try:
        names = {"a": 1000}
        guards = Guards(types.FunctionType(scope.__code__, names))
        guards.global_("a").equals(1000)
        before = gt.assumption_counts()
        for _ in range(5):
            assert guards.check({})
        assert gt.assumption_counts() == before
    finally:
        assert gt.set_assumptions(True) is False


def test_what_is_assumed_is_told() -> None:
    guards = Guards(function_with(cfg={"a": 1}, items=[2]))
    guards.global_("cfg").dict_item("a").equals(1)
    guards.global_("items").length(1)
    assert guards.assumed().assumed == 0
    assert "[assumed]" not in str(guards)
    assumed = Assumed(guards)
    told = guards.assumed()
    assert (told.assumed, told.reread, told.invalidated) == (1, 1, ())
    marked = [line for line in str(guards).splitlines() if "[assumed]" in line]
    assert len(marked) == 1
    assert "equals(1)" in marked[0]
    guards.function.__globals__["cfg"] = {"a": 2}
    assert not assumed.check()
    why = "invalidated by a change of G['cfg']"
    assert guards.assumed().invalidated == (why,)
    explanation = guards.explain({})
    assert explanation.invalidated == [why]
    assert str(explanation).endswith(why)
    assert explanation.to_dict()["invalidated"] == [why]
    assert "[assumed]" not in str(guards)
