"""Defects of the nearest peer's dict tags, by name (tests/DEFECTS.md).

Its tags skip what a dict led to while the dict is unchanged; ours are assumptions. Each
test of a wrong answer first sees that there is one.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import guardtree as gt
import pytest
from assumed import Assumed, Guards, Thing, function_with, scope
from hazards import TELLS

needs_watchers = pytest.mark.skipif(
    not gt.features()["dict_watcher"], reason="this CPython has no dict watchers"
)


def assumed_of(guards: Guards, count: int, **subject: Any) -> Assumed:
    """Guards of which `count` checks are not looked at any more."""
    assumed = Assumed(guards, **subject)
    assert not TELLS or guards.assumed().assumed == count
    return assumed


# Wrong answers.


@pytest.mark.parametrize("kind", ["same_object", "distinct_objects"])
def test_a_dict_tag_skip_ignores_the_aliasing_guard(kind: str) -> None:
    """pytorch #147212, #185911: one side was skipped, the relation saw the other. The
    assumption hands that side over."""
    value, other = tuple([1, 2][:]), tuple([1, 2][:])
    guards = Guards(function_with(d={"value": value, "k": 1000}, e={"k": 1000}))
    guards.global_("e").dict_item("k").equals(1000)
    guards.global_("d").dict_item("k").equals(1000)
    sides = guards.global_("d").dict_item("value"), guards.local("x")
    getattr(guards, kind)(*sides)
    right, wrong = (value, other) if kind == "same_object" else (other, value)
    assumed_of(guards, 2, x=right)
    for _ in range(3):
        assert not guards.check({"x": wrong})
        assert guards.check({"x": right})
    guards.function.__globals__["d"]["value"] = right if right is other else wrong
    assert not guards.check({"x": right})


@pytest.mark.parametrize("kind", ["same_object", "id_match"])
def test_an_attribute_compared_by_identity_is_bound_anew_unseen(kind: str) -> None:
    """pytorch #196173: `holder.current is holder.left` was folded, types guarded only;
    an instance of the same type passed, and the branch and its stores were stale."""
    holder = Thing(left=Thing(), right=Thing(), name="k")
    holder.current = holder.left  # type: ignore[attr-defined]
    guards = Guards(function_with(holder=holder, e={"k": 1000}))
    guards.global_("e").dict_item("k").equals(1000)
    node = guards.global_("holder")
    if kind == "same_object":
        guards.same_object(node.instance_attr("current"), node.instance_attr("left"))
    else:
        node.instance_attr("current").type_match(Thing).id_match(holder.left)
    assumed = assumed_of(guards, 1 if kind == "same_object" else 3)
    for _ in range(3):
        holder.current = holder.right
        assert not assumed.check()
        holder.current = holder.left
        assert assumed.check()
    holder.current = holder.left = Thing()
    assert assumed.check() is (kind == "same_object")


def test_another_class_of_a_module_is_unseen_by_recursive_tags() -> None:
    class Module:
        def __init__(self, **children: Any) -> None:
            self.training, self.children = True, children

    class Other(Module):
        """Only its methods differ."""

    root = Module(a=Module(b=Module()))
    inner = root.children["a"].children["b"]
    guards = Guards(function_with(root=root))
    at = guards.global_("root")
    for name in ("a", "b", None):
        at.type_match(Module).instance_attr("training").is_true()
        if name:
            at = at.instance_attr("children").dict_item(name)
    assumed = assumed_of(guards, 6)
    for module in (root, root.children["a"], inner):
        module.__class__ = Other
        assert not assumed.check()
        module.__class__ = Module
        assert assumed.check()


def test_a_class_attribute_that_changes_is_unseen() -> None:
    """pytorch #176851."""

    class State:
        factor = 1.0

    guards = Guards(function_with(State=State))
    guards.global_("State").type_dict().dict_item("factor").equals(1.0)
    assumed = assumed_of(guards, 1)
    for factor in (10.0, 1.0, 1, 1.0):
        State.factor = factor
        assert assumed.check() is (type(factor) is float and factor == 1.0)


def test_one_tag_a_node_confuses_two_dicts_in_turn() -> None:
    good, bad = {"a": 1000, "b": 1}, {"a": 3, "b": 1}
    guards = Guards(scope)
    guards.local("x").dict_item("a").equals(1000)
    guards.local("x").dict_item("b").equals(1)
    assumed_of(guards, 2, x=good)
    for i in range(300):
        assert guards.check({"x": good})
        assert not guards.check({"x": bad})
        if i % 7 == 0:
            good, bad = bad, good
            bad["a"], good["a"] = 3, 1000


def test_one_event_disables_a_node_for_ever() -> None:
    names = {"d": {"k": 1000}, "e": {"k": 1000}}
    guards = Guards(function_with(**names))
    guards.global_("d").dict_item("k").equals(1000)
    guards.global_("e").dict_item("k").equals(1000)
    assumed = assumed_of(guards, 2)
    before = gt.assumption_counts()
    for _ in range(3):
        names["d"]["k"] = 3
        assert not assumed.check()
        names["d"]["k"] = 1000
        assert assumed.check()
        assert not TELLS or guards.assumed().assumed == 2
    assert gt.assumption_counts()["rearms"] == before["rearms"] + 3
    assert gt.assumption_counts()["demotions"] == before["demotions"]


# Costs.


@needs_watchers
def test_any_key_of_a_dict_invalidates_all_of_its_node() -> None:
    d: dict[str, Any] = {"k": 1000, "counter": 0}
    guards = Guards(function_with(d=d))
    guards.global_("d").dict_item("k").equals(1000)
    assumed = assumed_of(guards, 1)
    before = gt.assumption_counts()
    for i in range(500):
        d["counter"] = i
        assert guards.assumed().assumed == 1
    assert assumed.check()
    assert gt.assumption_counts() == before


@needs_watchers
def test_guarded_dicts_are_watched_for_ever() -> None:
    dicts = [{"k": i} for i in range(50)]
    gc.collect()
    before = gt.assumption_counts()["watched"]
    many = [Guards(function_with(d=each)) for each in dicts]
    for guards in many:
        guards.global_("d").dict_contains("k")
        Assumed(guards)
    assert gt.assumption_counts()["watched"] == before + 100  # and their globals
    del guards, many
    gc.collect()
    assert gt.assumption_counts()["watched"] == before


# Lifetimes.

FREED = """
import gc, types
import guardtree as gt

def scope(): ...

def armed_on(d):
    function = types.FunctionType(scope.__code__, {"d": d})
    guards = gt.GuardManager(function)
    guards.global_("d").dict_item("a").equals(1000)
    guards.global_("d").dict_keys(("a", "b"))
    assert all(guards.check({}) for _ in range(3))
    return function, guards

def rounds(order):
    for i in range(20):
        d = {"a": 1000, "b": 1}
        kept = [armed_on(d) for _ in range(4)]
        for step in order:
            if step == "change":
                d["a"] = i
            elif step == "grow":
                d.update({f"k{i}": i for i in range(99)})
            elif step == "again":
                d.clear()
                d.update(a=1000, b=1)
                assert all(guards.check({}) for _, guards in kept)
            elif step == "free one":
                del kept[:1]
            elif step == "free":
                kept.clear()
                gc.collect()
        del d

before = gt.assumption_counts()
rounds(["change", "free", "change", "grow"])
rounds(["free", "change", "again", "change"])
rounds(["change", "free one", "again", "change", "free one", "grow", "free", "change"])
rounds(["again", "free one", "change", "again", "free", "change"])
rounds(["change", "again", "grow", "again", "free one", "change"])
gc.collect()
after = gt.assumption_counts()
assert after["watched"] == before["watched"] == after["armed"] == 0, after
"""

AT_EXIT = """
import atexit, builtins, sys, types

atexit.register(lambda: names.update(a=3))  # runs after the library's own
import guardtree as gt

def scope(): ...

names = {"a": 1000}
function = types.FunctionType(scope.__code__, names)

class Late:
    def __del__(self):
        names["a"] = 4
        assert guards.check({}) is False

def armed():
    made = gt.GuardManager(function)
    made.global_("a").equals(1000)
    assert all(made.check({}) for _ in range(3))
    return made

guards = builtins.kept = sys.kept = names["guards"] = armed()
cycle = [armed(), Late()]
cycle.append(cycle)
types.kept = armed(), Late()
"""


def test_a_watcher_runs_after_its_guards_were_freed(run_python: Any) -> None:
    """pytorch #183753: freed after one event, the next one read them."""
    run_python(FREED)


def test_guards_outlive_the_interpreter_and_crash(run_python: Any) -> None:
    """pytorch #178231: dicts were unwatched when CPython was gone."""
    done = run_python(AT_EXIT)
    assert "Error" not in done.stderr


# Threads.


@pytest.fixture
def busy_switching() -> Iterator[None]:
    """Lets threads alternate every few microseconds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def at_once(*works: Callable[[], Any]) -> None:
    """Runs them in threads; raises what the first of them raised."""
    errors: list[BaseException] = []

    def body(work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


def test_stores_in_threads_race_with_checks(busy_switching: None) -> None:
    """pytorch #182851: the callback walked what a check was changing."""
    thing = Thing(shared=1000)
    names: dict[str, Any] = {"thing": thing}
    function = function_with(**names)
    names = function.__globals__
    shared = gt.GuardManager(function)
    shared.global_("thing").instance_attr("shared").equals(1000)

    def owns(name: str) -> None:
        """Of its own key it knows what the very next check must say."""
        names[name] = 1000
        guards = gt.GuardManager(function)
        guards.global_(name).equals(1000)
        guards.global_("thing").type_match(Thing)
        for i in range(400):
            names[name] = value = (1000, 3)[i % 3 == 0]
            assert guards.check({}) is (value == 1000)
            thing.shared = i
            shared.check({})
            if i % 50 == 0:
                del guards
                guards = gt.GuardManager(function)
                guards.global_(name).equals(1000)

    at_once(*(lambda n=n: owns(f"key{n}") for n in range(4)))
    thing.shared = 1000
    assert all(shared.check({}) for _ in range(3))
    thing.shared = 3
    assert not shared.check({})
