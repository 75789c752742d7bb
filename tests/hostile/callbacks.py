"""Entry points that call what the user gave: callbacks, handlers, finalizers.

What a finalizer raises goes to sys.unraisablehook; the call goes on.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import weakref
from collections.abc import Callable
from typing import Any

import guardtree as gt
from lookups import hooked
from scene import (
    UNRAISABLE,
    Act,
    Case,
    Doomed,
    Hook,
    entry_point,
    function,
    hit,
)


def answering(name: str, answer: Callable[[], Any], plain: Any, *covers: str) -> None:
    """A callback that calls the act and answers."""

    @entry_point(name, *covers)
    def make(act: Act) -> Case:
        scope = function()
        code = scope.__code__

        def answered(frame: Any) -> Any:
            assert frame.f_locals["a"] == 1
            act()
            assert frame.f_code is code
            return answer()

        def run() -> Any:
            Hook.answers[code] = answered
            try:
                return scope(1)
            finally:
                gt.reset_code(code)

        return Case(run, plain, lambda: gt.reset_code(code), None, scope)


PLAIN = ("plain", 1, 2)
answering("the callback, no entry", lambda: gt.ASK_AGAIN, PLAIN, "set_eval_frame")
answering("the callback, skip", lambda: None, PLAIN, "optimize.__enter__")
answering(
    "the callback, an entry",
    lambda: gt.GuardedCode(hit.__code__, lambda found: True),
    ("hit", 1, 2),
    "optimize.__init__", "optimize.__exit__", "Frame.f_locals", "Frame.f_code",
)  # fmt: skip


@entry_point("a callback in optimize", "optimize.__enter__", "optimize.__exit__")
def in_optimize(act: Act) -> Case:
    scope = function()
    code = scope.__code__

    def callback(frame: Any, entry: Any, state: Any) -> Any:
        if frame.f_code is code:
            act()
            return gt.GuardedCode(hit.__code__, lambda found: True)
        return Hook.callback(frame, entry, state)

    def run() -> Any:
        try:
            with gt.optimize(callback):
                return scope(1)
        finally:
            gt.reset_code(code)

    return Case(run, ("hit", 1, 2), lambda: gt.reset_code(code), None, scope)


@entry_point("a callback in a decorated function", "optimize.__call__")
def decorated(act: Act) -> Case:
    scope = function()
    code = scope.__code__

    def callback(frame: Any, entry: Any, state: Any) -> Any:
        if frame.f_code is code:
            act()
            return gt.GuardedCode(hit.__code__, lambda found: True)
        return Hook.callback(frame, entry, state)

    within = gt.optimize(callback)(scope)

    def run() -> Any:
        try:
            return within(1)
        finally:
            gt.reset_code(code)

    return Case(run, ("hit", 1, 2), lambda: gt.reset_code(code), None, scope)


class Shown:
    """A value that is shown by user code."""

    def __init__(self, act: Act) -> None:
        self.act = act

    def __repr__(self) -> str:
        self.act()
        return "Shown()"


def typed(act: Act) -> tuple[Any, Callable[[], None]]:
    """A function with an entry for ints alone."""
    scope = function()
    guards = gt.GuardManager(scope)
    guards.local("a").equals(0)
    return hooked(act, guards)


@entry_point("the report of a miss", "GuardMiss.__init__", "set_policy")
def raise_on_miss(act: Act) -> Case:
    code_of, _ = typed(act)
    value = Shown(act)

    def run() -> Any:
        # Of this code alone: RAISE_ON_MISS is a thread's, and so of all its greenlets.
        gt.set_policy(code_of, on_miss="raise")
        try:
            code_of(value)
        except gt.GuardMiss as miss:
            return "Shown()" in str(miss)
        return None

    remove = lambda: gt.reset_code(code_of.__code__)  # noqa: E731
    # A repr that raises is left out of the report.
    return Case(run, True, remove, True, code_of, False)


class NoLock(contextlib.nullcontext):
    """What a handler asks of its lock."""

    def acquire(self) -> None:
        pass

    def release(self) -> None:
        pass


class Handler(logging.Handler):
    """A handler of the user's."""

    def __init__(self, act: Act) -> None:
        super().__init__()
        self.act = act

    def createLock(self) -> None:
        """A lock that locks nothing: at exit logging waits for it, in vain."""
        self.lock = NoLock()

    def emit(self, record: logging.LogRecord) -> None:
        self.act()


def logged(name: str, log: str, call: Callable[[Any], Any], answer: Any) -> None:
    """A logger whose handler calls the act; what it raises comes out of no call."""

    @entry_point(name, "set_logs")
    def make(act: Act) -> Case:
        scope, reset = typed(act)
        logger = logging.getLogger(f"guardtree.{log}")
        # Not in `run`, which may end anywhere: each call would add one for good.
        logger.handlers[:] = [Handler(act)]
        logger.propagate = False

        def run() -> Any:
            gt.set_logs(log)
            try:
                return call(scope)
            finally:
                gt.set_logs()

        return Case(
            run, answer, reset, None, scope, UNRAISABLE, UNRAISABLE
        )


def added(scope: Any) -> Any:
    code = scope.__code__
    gt.add_entry(code, gt.GuardedCode(hit.__code__, lambda found: True))
    for entry in gt.cache_entries(code)[1:]:
        gt.invalidate(code, entry, "again")
    return len(gt.cache_entries(code)) < 2


logged("the log of misses", "misses", lambda scope: scope(1), PLAIN)
logged("the log of guards", "guards", added, True)


# --- Finalizers of what the library gives back.


def doomed(
    name: str, drop: Callable[[Any, Act], None], *covers: str, **more: Any
) -> None:
    """Something of the user's dies in a call."""

    @entry_point(f"a finalizer: {name}", *covers)
    def make(act: Act) -> Case:
        scope = function()

        def run() -> None:
            drop(scope, act)
            gc.collect()

        answers = {"ordinary": UNRAISABLE, "interrupt": UNRAISABLE, **more}
        return Case(run, None, None, None, scope, is_paused=False, **answers)


def table_with(scope: Any, act: Act) -> tuple[gt.Table, gt.TableEntry]:
    table = gt.Table(scope)
    return table, table.add(gt.GuardManager(scope), Doomed(act))


def removed_entry(scope: Any, act: Act) -> None:
    table, entry = table_with(scope, act)
    table.remove(entry)
    del entry
    assert table.lookup({"a": 1, "b": 2}) is None


def dead_table(scope: Any, act: Act) -> None:
    table, entry = table_with(scope, act)
    del entry
    del table


def finalizing(call: Callable[[Any, Any], None]) -> Callable[[Any, Act], None]:
    """An entry of the hook whose guards hold the doomed object."""

    def drop(scope: Any, act: Act) -> None:
        check = Doomed(act)
        gt.add_entry(scope, gt.GuardedCode(hit.__code__, check))
        del check
        call(scope, gt.cache_entries(scope)[0])

    return drop


def replaced_callback(scope: Any, act: Act) -> None:
    prior = gt.set_eval_frame(Doomed(act))
    gt.set_eval_frame(prior)


def weak_callback(scope: Any, act: Act) -> None:
    callback = Doomed(Act())
    dies = weakref.ref(callback, act)
    prior = gt.set_eval_frame(callback)
    del callback
    gt.set_eval_frame(prior)
    assert dies() is None


def restored(scope: Any, act: Act) -> None:
    guarded_function = gt.guard_function(scope)
    guarded_function.add(gt.GuardManager(scope), Doomed(act))
    guarded_function.restore()


def dead_guards(scope: Any, act: Act) -> None:
    guards = gt.GuardManager(scope)
    guards.local("a").python(Doomed(act))
    guards.local("b").id_match_held(Doomed(act))
    del guards


doomed("a payload, entry removed", removed_entry, "Table.remove", "TableEntry.payload")
doomed("a payload, table gone", dead_table, "Table.add")
doomed(
    "guards of an entry, code reset",
    finalizing(lambda scope, entry: gt.reset_code(scope)),
    "reset_code", "add_entry",
)  # fmt: skip
doomed(
    "guards of an entry, invalidated",
    finalizing(lambda scope, entry: gt.invalidate(scope, entry, "by the test")),
    "invalidate",
)  # fmt: skip
doomed("a callback, replaced", replaced_callback, "set_eval_frame")
doomed("a weak reference to a callback", weak_callback, "set_eval_frame")
doomed("a target, restored", restored, "GuardedFunction.restore")
doomed("guards, gone", dead_guards, "GuardManager.id_match_held")


@entry_point("a finalizer: an argument, in a hit")
def argument(act: Act) -> Case:
    """The argument dies when the replacement ends."""
    scope = function()
    Hook.answers[scope.__code__] = lambda frame: gt.GuardedCode(
        hit.__code__, lambda found: True
    )

    def run() -> Any:
        return scope(Doomed(act))[0]

    return Case(
        run, "hit", lambda: gt.reset_code(scope.__code__), None, scope,
        UNRAISABLE, UNRAISABLE, is_paused=False,
    )  # fmt: skip


