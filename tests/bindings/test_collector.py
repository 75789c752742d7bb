"""The garbage collector frees a cycle through any public object that holds others.

Each line of `CYCLES` makes a token that can be reached only through a cycle with one
such object in it. A public type without a line fails `test_every_type_has_a_cycle`.
"""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

pytestmark = pytest.mark.usefixtures("hook")


class Token:
    """What must go."""


def fresh_function() -> Any:
    def f(a):
        return a

    def template(a):
        return a

    f.__code__ = template.__code__.replace(co_name="f")
    return f


def always(token: Any) -> Callable[[Any], bool]:
    """A guard that keeps the token."""
    return lambda value, kept=token: True


def answer_with(f: Any, guards: Any, code: Any = None) -> None:
    """Has a callback make an entry of f's code, and runs f once."""

    def callback(frame, entry, state):
        if frame.f_code is f.__code__:
            return gt.GuardedCode(code or f.__code__, guards)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        f(1)


def guards_of(f: Any, token: Any) -> gt.GuardManager:
    return gt.GuardManager(f).local("a").python(always(token))


def guard_manager(f: Any, token: Any) -> None:
    token.kept = guards_of(f, token)


def guard_manager_note(f: Any, token: Any) -> None:
    token.kept = gt.GuardManager(f).local("a").is_true().note(token)


def guarded_code(f: Any, token: Any) -> None:
    token.kept = gt.GuardedCode(f.__code__, always(token))


def guarded_code_of_guards(f: Any, token: Any) -> None:
    token.kept = gt.GuardedCode(f.__code__, guards_of(f, token))


def profile(f: Any, token: Any) -> None:
    token.kept = guards_of(f, token).profile()


def explanation(f: Any, token: Any) -> None:
    guards = gt.GuardManager(f)
    guards.local("a").is_true().note(token)
    token.kept = guards.explain({"a": 1})
    assert not token.kept


def failure(f: Any, token: Any) -> None:
    explanation(f, token)
    [token.kept] = token.kept.failures


def table(f: Any, token: Any) -> None:
    token.kept = gt.Table(f)
    token.kept.add(gt.GuardManager(f), token)


def table_entry(f: Any, token: Any) -> None:
    kept = gt.Table(f)
    token.kept = [kept, kept.add(guards_of(f, token), token), kept.entries()]


def table_entry_alone(f: Any, token: Any) -> None:
    token.kept = gt.Table(f).add(gt.GuardManager(f), token)


def table_entry_in_two_tables(f: Any, token: Any) -> None:
    kept = gt.Table(f)
    token.kept = [kept, kept.add(gt.GuardManager(f), token), kept.find({"a": 1})]
    kept.add(gt.GuardManager(f), None)


def table_entry_error(f: Any, token: Any) -> None:
    error = ValueError(token)

    def fails(value):
        raise error

    kept = gt.Table(f)
    token.kept = kept.add(gt.GuardManager(f).python(fails), None)
    kept.lookup({"a": 1})
    assert token.kept.last_error is error


def strict_entry(f: Any, token: Any) -> None:
    gt.strict()
    try:
        table_entry(f, token)
    finally:
        gt.strict(False)


def cache_entry(f: Any, token: Any) -> None:
    answer_with(f, always(token))
    token.kept = gt.cache_entries(f)
    gt.reset_code(f)


def cache_entry_of_the_function(f: Any, token: Any) -> None:
    answer_with(f, always(token))
    f.kept = gt.cache_entries(f)
    gt.reset_code(f)


def own_code(f: Any, token: Any) -> None:
    answer_with(f, always(token))
    assert gt.code_stats(f)["entries"] == 1


def own_code_with_handles(f: Any, token: Any) -> None:
    answer_with(f, lambda f_locals: token)
    token.kept = gt.cache_entries(f)
    # The code is gone by the end; what it had is the collector's from there on.


def own_code_in_the_background(f: Any, token: Any) -> None:
    gt.add_entry(f, gt.GuardedCode(f.__code__, always(token)))


def frame(f: Any, token: Any) -> None:
    def callback(given, entry, state):
        if given.f_code is f.__code__:
            token.kept = [given, token]
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        f(1)
    assert token.kept


def guarded_function(f: Any, token: Any) -> None:
    f.entry = gt.guard_function(f).add(gt.GuardManager(f), lambda a, kept=token: a)


def guarded_function_closure(f: Any, token: Any) -> None:
    guarded = gt.guard_function(f)
    guarded.add(guards_of(f, token), lambda a, kept=(guarded, token): a)


def guarded_function_entries(f: Any, token: Any) -> None:
    guarded = gt.guard_function(f)
    guarded.add(gt.GuardManager(f), lambda a, kept=token: a)
    token.kept = [guarded.entries(), guarded.entries(), f]


def guarded_function_of_code(f: Any, token: Any) -> None:
    guarded = gt.guard_function(f)
    token.kept = [guarded.add(guards_of(f, token), f.__code__.replace()), f]
    f(1)


def miss(f: Any, token: Any) -> None:
    guards = gt.GuardManager(f)
    guards.local("a").equals(1).note(token)
    answer_with(f, guards)
    with gt.optimize(gt.RAISE_ON_MISS), pytest.raises(gt.GuardMiss) as caught:
        f(token)
    token.kept = caught.value
    token.kept.__traceback__ = None


def frame_state(f: Any, token: Any) -> None:
    def callback(given, entry, state):
        if given.f_code is f.__code__:
            state["kept"] = token
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        f(1)


def thread_callback(f: Any, token: Any) -> None:
    def callback(given, entry, state, kept=token):
        return gt.ASK_AGAIN

    token.kept = callback
    with gt.optimize(callback):
        f(1)


def dispatcher_on_miss(f: Any, token: Any) -> None:
    def on_miss(call: Any, kept: Any = token) -> Any:
        return gt.ASK_AGAIN

    token.kept = gt.Dispatcher(f, on_miss)


def dispatcher_function(f: Any, token: Any) -> None:
    token.kept = gt.Dispatcher(f)
    f.kept = token


def dispatcher_payload(f: Any, token: Any) -> None:
    dispatcher = gt.Dispatcher(f)
    dispatcher.add(gt.GuardManager(f), lambda a, kept=dispatcher: token)


def dispatcher_guards(f: Any, token: Any) -> None:
    token.kept = gt.Dispatcher(f)
    token.kept.add(guards_of(f, token), f)


def dispatcher_attribute(f: Any, token: Any) -> None:
    token.kept = gt.Dispatcher(f)
    token.kept.token = token


def guarded_function_on_miss(f: Any, token: Any) -> None:
    if sys.version_info >= (3, 12):
        gt.guard_function(f, lambda call, kept=(f, token): kept)


#: What each line is about; the names of public types.
CYCLES: dict[Callable[[Any, Any], None], str] = {
    guard_manager: "GuardManager",
    guard_manager_note: "GuardManager",
    guarded_code: "GuardedCode",
    guarded_code_of_guards: "GuardedCode",
    profile: "GuardProfile",
    explanation: "Explanation",
    failure: "Failure",
    table: "Table",
    table_entry: "TableEntry",
    table_entry_alone: "TableEntry",
    table_entry_in_two_tables: "TableEntry",
    table_entry_error: "TableEntry",
    strict_entry: "TableEntry",
    cache_entry: "CacheEntry",
    cache_entry_of_the_function: "CacheEntry",
    own_code: "CacheEntry",
    own_code_with_handles: "CacheEntry",
    own_code_in_the_background: "CacheEntry",
    frame: "Frame",
    guarded_function: "GuardedFunction",
    guarded_function_closure: "GuardedFunction",
    guarded_function_entries: "GuardedFunction",
    guarded_function_of_code: "GuardedFunction",
    miss: "GuardMiss",
    dispatcher_on_miss: "Dispatcher",
    dispatcher_function: "Dispatcher",
    dispatcher_payload: "Dispatcher",
    dispatcher_guards: "Dispatcher",
    dispatcher_attribute: "Dispatcher",
    guarded_function_on_miss: "GuardedFunction",
    frame_state: "",
    thread_callback: "",
}


@pytest.mark.parametrize("make", CYCLES, ids=lambda make: make.__name__)
def test_the_collector_frees_a_cycle_through(make: Any) -> None:
    if make is guarded_function_of_code and sys.version_info < (3, 12):
        pytest.skip("the collector does not see what code refers to")
    function, token = fresh_function(), Token()
    gone = weakref.ref(token)
    make(function, token)
    gt.set_eval_frame(None)  # CPython 3.11 guards functions by the hook
    del function, token
    gc.collect()
    gc.collect()
    assert gone() is None, gc.get_referrers(gone())


def test_every_type_of_the_extension_has_a_cycle() -> None:
    types = [
        name
        for name, value in vars(gt._guardtree).items()
        if inspect.isclass(value) and not name.startswith("_")
    ]
    assert len(types) >= 9
    assert set(types) <= set(CYCLES.values())


def test_every_type_of_the_extension_is_seen_by_the_collector() -> None:
    have_gc = 1 << 14  # Py_TPFLAGS_HAVE_GC
    for value in vars(gt._guardtree).values():
        if inspect.isclass(value):
            assert value.__flags__ & have_gc, value


def test_an_entry_of_its_own_code_tells_its_code_while_there_is_one() -> None:
    f = fresh_function()
    answer_with(f, lambda f_locals: True)
    [entry] = gt.cache_entries(f)
    assert entry.code is f.__code__
    code = weakref.ref(f.__code__)
    del f
    gc.collect()
    assert code() is None
    assert entry.code is None
