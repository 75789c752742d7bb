"""The hook is off inside callbacks and guards, and what they may do to it."""

from __future__ import annotations

import threading
from typing import Any

import guardtree as gt
import pytest


def test_functions_called_by_the_callback_are_not_seen(only) -> None:
    def helper():
        return 1

    def f():
        return helper()

    def answer(frame, entry, state):
        helper()
        asked.append("f")
        return gt.ASK_AGAIN

    asked: list[str] = []
    inner = only(helper, lambda *_: asked.append("helper"))
    outer = only(f, answer)

    def callback(frame, entry, state):
        inner(frame, entry, state)
        return outer(frame, entry, state)

    with gt.optimize(callback):
        f()
    assert asked == ["f", "helper"]


def test_functions_called_by_a_guard_are_not_seen(only) -> None:
    def helper(a):
        return a == 1

    def f(a):
        return "ran"

    seen: list[Any] = []

    def callback(frame, entry, state):
        seen.append(frame.f_code)
        if frame.f_code is f.__code__:
            return gt.GuardedCode(f.__code__, lambda f_locals: helper(f_locals["a"]))
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        f(1)
        f(1)
    assert f.__code__ in seen
    assert helper.__code__ not in seen
    gt.reset_code(f.__code__)


def test_a_guard_that_calls_its_own_function_gets_a_plain_run(swap) -> None:
    def f(a):
        return "old"

    def new(a):
        return "new"

    inside: list[str] = []

    def guard(f_locals):
        inside.append(f(0))
        return True

    with gt.optimize(swap(f, new, guard)):
        assert [f(1), f(1)] == ["new", "new"]
    assert inside == ["old"]


def test_a_callback_that_calls_its_own_function_gets_a_plain_run(only) -> None:
    def f(a):
        return "old"

    def answer(frame, entry, state):
        inside.append(f(0))
        return gt.ASK_AGAIN

    inside: list[str] = []
    callback = only(f, answer)
    with gt.optimize(callback):
        assert f(1) == "old"
    assert inside == ["old"]
    assert callback.calls == 1


def test_balanced_switching_inside_the_callback_leaves_it_installed(only) -> None:
    def f():
        return "plain"

    def answer(frame, entry, state):
        with gt.optimize(None):
            pass
        with gt.optimize(False):
            pass
        prior = gt.set_eval_frame(None)
        gt.set_eval_frame(prior)
        return gt.ASK_AGAIN

    callback = only(f, answer)
    with gt.optimize(callback):
        f()
        f()
        assert gt.set_eval_frame(callback) is callback
    assert callback.calls == 2


@pytest.mark.parametrize("where", ["callback", "guard"])
def test_switching_off_inside_lasts(where, only) -> None:
    def f():
        return "plain"

    def guard(f_locals):
        gt.set_eval_frame(None)
        return True

    def answer(frame, entry, state):
        if where == "callback":
            gt.set_eval_frame(None)
        return gt.GuardedCode(f.__code__, guard)

    callback = only(f, answer)
    gt.set_eval_frame(callback)
    f()
    if where == "guard":
        f()
    assert gt.set_eval_frame(None) is None
    gt.reset_code(f.__code__)


def test_a_callback_installed_by_the_callback_takes_over_afterwards(only) -> None:
    def f():
        return "plain"

    def answer(frame, entry, state):
        gt.set_eval_frame(second)
        return gt.ASK_AGAIN

    first = only(f, answer)
    second = only(f, lambda *_: gt.ASK_AGAIN)
    gt.set_eval_frame(first)
    f()
    f()
    assert gt.set_eval_frame(None) is second
    assert (first.calls, second.calls) == (1, 1)


def test_an_entry_added_by_a_nested_call_does_not_upset_the_outer_lookup(
    only,
) -> None:
    def f(a):
        return "old"

    def new(a):
        return "new"

    def other_thread():
        with gt.optimize(callback):
            f(99)

    def guard(f_locals):
        if f_locals["a"] == 1:  # another thread adds an entry in mid-lookup
            thread = threading.Thread(target=other_thread)
            thread.start()
            thread.join()
        return False

    callback = only(f, lambda *_: gt.GuardedCode(new.__code__, guard))
    with gt.optimize(callback):
        assert [f(0), f(1), f(1)] == ["new"] * 3
    assert len(gt.cache_entries(f.__code__)) >= 4
