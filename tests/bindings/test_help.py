"""What help() and repr() say of every public object."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest


def step(x: Any, y: Any = 0) -> None: ...


def guards_on(kind: str = "is_none") -> gt.GuardManager:
    guards = gt.GuardManager(step)
    getattr(guards.local("x"), kind)()
    return guards


def table() -> gt.Table:
    made = gt.Table(step)
    made.add(guards_on(), "payload")
    return made


def guarded() -> Any:
    made = gt.guard_function(step)
    made.restore()
    gt.set_eval_frame(None)  # CPython 3.11 serves such calls through the hook
    return made


def missed_call() -> gt.MissedCall:
    seen: list[gt.MissedCall] = []
    gt.Dispatcher(step, lambda call: (seen.append(call), gt.ASK_AGAIN)[1])(1)
    return seen[0]


def miss() -> gt.GuardMiss:
    return gt.GuardMiss(gt.explain(step, {}))


def syntax_error() -> Any:
    try:
        gt.parse("x = 3", step)
    except gt.GuardSyntaxError as error:
        return error


def profile() -> gt.GuardProfile:
    made = guards_on().profile()
    made.check({"x": None})
    made.check({"x": 1})
    return made


def history() -> gt.History:
    return gt.record_history()


MADE: dict[str, tuple[Callable[[], Any], str]] = {
    "AssumedGuards": (lambda: gt.AssumedGuards(1, 0, 0, ()), "AssumedGuards("),
    "CacheExplanation": (lambda: gt.explain(step, {}), "CacheExplanation(name='step'"),
    "Dispatcher": (
        lambda: gt.Dispatcher(step),
        "<guardtree.Dispatcher of step: 0 entries>",
    ),
    "Explanation": (
        lambda: guards_on().explain({"x": 1}),
        "<Explanation: x: expected is_none(), that is `x is None`; found 1 (int)>",
    ),
    "Failure": (
        lambda: guards_on().explain({"x": 1}).failures[0],
        "<Failure x: expected is_none(), that is `x is None`; found 1 (int)>",
    ),
    "GuardCheck": (lambda: guards_on().checks()[0], "GuardCheck("),
    "GuardCounts": (lambda: guards_on().counts(), "GuardCounts("),
    "GuardManager": (guards_on, "<GuardManager of a guard tree>"),
    "GuardMiss": (miss, "GuardMiss("),
    "GuardProfile": (profile, "<guardtree.GuardProfile: 2 checks, 1 passed>"),
    "GuardSyntaxError": (syntax_error, "GuardSyntaxError("),
    "GuardedCode": (
        lambda: gt.GuardedCode(step.__code__, guards_on()),
        "<guardtree.GuardedCode: runs step>",
    ),
    "FactDifference": (
        lambda: gt.FactDifference("ndim", None, "2", "3"),
        "FactDifference(fact='ndim', index=None, expected='2', found='3')",
    ),
    "GuardedFunction": (guarded, "<guardtree.GuardedFunction of step: 0 entries>"),
    "History": (history, "<guardtree.History: 0 events>"),
    "KeyPlan": (lambda: gt.KeyPlan(divisor=8), "KeyPlan(divisor=8)"),
    "MissedCall": (missed_call, "<guardtree.MissedCall with x, y>"),
    "ProfileRow": (lambda: profile().rows()[0], "ProfileRow("),
    "Report": (lambda: gt.report(table()), "<guardtree.Report of Table: 1 entry>"),
    "Simplification": (lambda: guards_on().simplified(), "Simplification("),
    "Table": (table, "<guardtree.Table: 1 entry>"),
    "TableEntry": (
        lambda: table().entries()[0],
        "<guardtree.TableEntry: gives 'payload', 0 hits>",
    ),
    "TensorSpec": (lambda: gt.TensorSpec(dtype="float32"), "TensorSpec("),
    "optimize": (lambda: gt.optimize(None), "<guardtree.optimize(None)>"),
}

# Made in a callback, below; enums; types of annotations; an exception of strict mode.
OTHERS = {
    "Answer", "CacheEntry", "Callback", "DynamoFrameType", "EntryExplanation",
    "Event", "Frame", "FrameState", "GuardFn", "GuardRelation", "Mode", "StrictError",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_repr_says_what_the_object_is(name: str) -> None:
    make, told = MADE[name]
    made = make()
    if name != "GuardedFunction":  # another class on CPython 3.11
        assert type(made) is getattr(gt, name)
    assert repr(made).startswith(told)


def test_every_public_class_is_asked() -> None:
    classes = {name for name in gt.__all__ if inspect.isclass(getattr(gt, name))}
    assert classes <= set(MADE) | OTHERS


def test_what_a_callback_sees_says_what_it_is(only: Any) -> None:
    told: list[str] = []

    def answer(frame: Any, entry: Any, state: Any) -> Any:
        told.append(repr(frame))
        return gt.GuardedCode(step.__code__, guards_on())

    with gt.optimize(only(step, answer)):
        step(None)
        step(None)
    assert told == ["<guardtree.Frame about to run step>"]
    (entry,) = gt.cache_entries(step)
    assert repr(entry) == "<guardtree.CacheEntry: runs step, 1 hit>"
    (explained,) = gt.explain(step, {}).entries
    assert repr(explained).startswith("EntryExplanation(index=0, hits=1, entry=<guard")


@pytest.mark.parametrize("name", ["Dispatcher", "GuardedCode", "Table"])
def test_an_object_that_was_not_initialised_has_a_repr(name: str) -> None:
    made = getattr(gt, name).__new__(getattr(gt, name))
    assert repr(made) == f"<guardtree.{name} that was not initialised>"


def test_help_of_the_package_works() -> None:
    text = pydoc.render_doc(gt, renderer=pydoc.plaintext)
    for name in ("class GuardManager", "class Table", "parse(", "optimize"):
        assert name in text, name


@pytest.mark.parametrize("name", sorted(set(gt.__all__) - {"__version__"}))
def test_help_of_every_public_object_works(name: str) -> None:
    thing = getattr(gt, name)
    assert pydoc.render_doc(thing, renderer=pydoc.plaintext)
    if inspect.isroutine(thing) or inspect.isclass(thing):
        assert inspect.getdoc(thing), f"{name} has no docstring"


def test_the_module_of_the_frame_class_is_a_name(only: Any) -> None:
    assert gt.Frame.__module__ == "guardtree._guardtree"
    seen: list[str] = []

    def answer(frame: Any, entry: Any, state: Any) -> Any:
        seen.append(frame.__module__)
        with pytest.raises(AttributeError):
            frame.__module__ = "other"
        return gt.ASK_AGAIN

    with gt.optimize(only(step, answer)):
        step(None)
    assert seen == [__name__]
