"""Entry points of Dispatcher and of guarded functions that ask on_miss."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import guardtree as gt
from callbacks import doomed
from scene import (
    Act,
    Case,
    Doomed,
    entry_point,
    function,
    guarded,
    hit,
    scope as scope_of_signature,
)

HIT, PLAIN = ("hit", 1, 2), ("plain", 1, 2)


def dispatched(name: str, call: Callable[[Any], Any], *covers: str) -> None:
    """A hit whose guard is user code; the entry is removed meanwhile."""

    @entry_point(f"a Dispatcher, {name}", *covers)
    def make(act: Act) -> Case:
        scope = function()
        dispatcher = gt.Dispatcher(scope)
        entry = dispatcher.add(guarded(act, scope), hit)

        def remove() -> None:
            if len(dispatcher):
                dispatcher.remove(entry)

        def run() -> Any:
            return call(dispatcher) if len(dispatcher) else hit(1)

        return Case(run, HIT, remove, None, scope, PLAIN)


dispatched("call by position", lambda made: made(1), "Dispatcher.__call__")
dispatched("call by name", lambda made: made(a=1), "Dispatcher.remove")


@entry_point("a Dispatcher of a signature, captured values", "Dispatcher.add")
def captured(act: Act) -> Case:
    dispatcher = gt.Dispatcher(inspect.signature(scope_of_signature))
    guards = gt.GuardManager(scope_of_signature)

    def body(self: Any) -> int:
        act()
        return 1

    value = type("Value", (), {"name": property(body)})()
    path = guards.local("a").attr("name")
    entry = dispatcher.add(guards, hit, captures=[path, guards.local("b")])

    def remove() -> None:
        if len(dispatcher):
            dispatcher.remove(entry)

    def run() -> Any:
        if not len(dispatcher):
            return hit(1)
        try:
            return dispatcher(value)
        except gt.GuardMiss:
            return "missed"

    return Case(run, HIT, remove, None, None, "missed")


@entry_point("a Dispatcher, its payload", "Dispatcher.add")
def payload(act: Act) -> Case:
    scope = function()
    dispatcher = gt.Dispatcher(scope)

    def called(a: Any, b: Any = 2) -> Any:
        act()
        return "hit", a, b

    entry = dispatcher.add(gt.GuardManager(scope), called)

    def remove() -> None:
        if len(dispatcher):
            dispatcher.remove(entry)

    def run() -> Any:
        return dispatcher(1) if len(dispatcher) else hit(1)

    return Case(run, HIT, remove, None, scope, is_paused=False)


def asking(name: str, answer: Any, right: Any, *covers: str) -> None:
    """A miss: on_miss calls the act and answers."""

    @entry_point(f"on_miss of a Dispatcher, {name}", *covers)
    def make(act: Act) -> Case:
        scope = function()

        def on_miss(call: gt.MissedCall) -> Any:
            call.guards.local("a").equals(call.arguments["a"])
            act()
            return answer

        dispatcher = gt.Dispatcher(scope, on_miss)

        def forget() -> None:
            for entry in dispatcher.entries():
                dispatcher.remove(entry)

        def run() -> Any:
            try:
                return dispatcher(1)
            finally:
                forget()

        # What runs plain runs the code that the function has by then.
        replaced = None if answer is gt.ASK_AGAIN else scope
        return Case(run, right, forget, None, replaced)


asking("a callable", hit, HIT, "Dispatcher.__init__", "MissedCall.__init__")
asking("plain this time", gt.ASK_AGAIN, PLAIN, "Dispatcher.__init__")


def asked_code() -> Any:
    def other(a: Any, b: Any = 2) -> Any:
        return "hit", a, b

    return other.__code__


asking("code", asked_code(), HIT, "Dispatcher.__init__")


@entry_point("on_miss of a guarded function", "guard_function", oldest=(3, 12))
def asking_function(act: Act) -> Case:
    scope = function()

    def on_miss(call: gt.MissedCall) -> Any:
        call.guards.local("a").equals(call.arguments["a"])
        act()
        return hit

    guarded_function = gt.guard_function(scope, on_miss)

    def forget() -> None:
        for entry in guarded_function.entries():
            guarded_function.remove(entry)

    def run() -> Any:
        try:
            return scope(1)
        finally:
            forget()

    return Case(run, HIT, forget, None, scope)


# --- Questions about calls.


def asked_about(name: str, ask: Callable[[Any], Any], right: Any, fails: Any) -> None:
    """A question, of a Dispatcher and of a guarded function."""
    made_by: dict[str, tuple[Callable[[Any], Any], tuple[int, int]]] = {
        "Dispatcher": (gt.Dispatcher, (3, 11)),
        "GuardedFunction": (gt.guard_function, (3, 12)),
    }
    for owner, (make_one, oldest) in made_by.items():

        @entry_point(f"{owner}.{name}, python guard", f"{owner}.{name}", oldest=oldest)
        def make(act: Act, make_one: Any = make_one) -> Case:
            scope = function()
            made = make_one(scope)
            made.add(guarded(act, scope), hit)

            def remove() -> None:
                for entry in made.entries():
                    made.remove(entry)

            def run() -> Any:
                return ask(made) if len(made) else right

            return Case(run, right, remove, None, scope, fails)


def verdict(made: Any) -> Any:
    return made.explain(1).entries[0].explanation.verdict


asked_about("explain", verdict, "pass", "error")
asked_about("find", lambda made: made.find(1) is not None, True, False)


class Shown:
    """A payload that is shown by user code."""

    def __init__(self, act: Act) -> None:
        self.act = act

    def __call__(self, *ignored: Any) -> None: ...

    def __repr__(self) -> str:
        self.act()
        return "Shown()"


@entry_point(
    "Dispatcher.report, a payload in Python",
    "Dispatcher.report", "GuardedFunction.report",
)  # fmt: skip
def report(act: Act) -> Case:
    scope = function()
    dispatcher = gt.Dispatcher(scope)
    dispatcher.add(gt.GuardManager(scope), Shown(act))

    def remove() -> None:
        for entry in dispatcher.entries():
            dispatcher.remove(entry)

    def run() -> Any:
        return "Shown()" in dispatcher.report() if len(dispatcher) else True

    return Case(run, True, remove, None, scope, is_paused=False)


@entry_point("MissedCall.find, python guard", "MissedCall.find")
def find_again(act: Act) -> Case:
    scope = function()
    seen: list[gt.MissedCall] = []

    def on_miss(call: gt.MissedCall) -> Any:
        seen.append(call)
        return gt.ASK_AGAIN

    dispatcher = gt.Dispatcher(scope, on_miss)
    dispatcher(1)
    dispatcher.add(guarded(act, scope), hit)
    run = lambda: seen[0].find() is not None  # noqa: E731
    return Case(run, True, None, None, scope, False)


# --- What dies in them.


def evicted(scope: Any, act: Act) -> None:
    dispatcher = gt.Dispatcher(scope, entry_limit=1)
    dispatcher.add(gt.GuardManager(scope), Doomed(act))
    dispatcher.add(gt.GuardManager(scope), hit)
    assert len(dispatcher) == 1


def gone(scope: Any, act: Act) -> None:
    dispatcher = gt.Dispatcher(scope, Doomed(act))
    del dispatcher


doomed("a payload, entry evicted", evicted, "Dispatcher.add")
doomed("on_miss, dispatcher gone", gone, "Dispatcher.__init__")
