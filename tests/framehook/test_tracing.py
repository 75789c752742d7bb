"""Profile and trace functions see one call of one function, on both paths.

The oracle is the replacement called directly, without a hook: a hit must give the
same events. Only the frame that makes the call is left out of the comparison. Hits
are observed in run-only mode, where no callback adds events of its own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

Event = tuple[str, str, int]


def trace(call: Callable[[], Any]) -> list[Event]:
    events: list[Event] = []

    def tracer(frame, event, arg):
        if frame.f_code is not call.__code__:
            events.append((event, frame.f_code.co_name, frame.f_lineno))
        return tracer

    sys.settrace(tracer)
    try:
        call()
    except ValueError:
        pass
    finally:
        sys.settrace(None)
    return events


def profile(call: Callable[[], Any]) -> list[Event]:
    events: list[Event] = []
    own = sys._getframe().f_code

    def profiler(frame, event, arg):
        if frame.f_code not in (call.__code__, own):
            name = getattr(arg, "__name__", "") if event.startswith("c_") else ""
            events.append((event + name, frame.f_code.co_name, frame.f_lineno))

    sys.setprofile(profiler)
    try:
        call()
    except ValueError:
        pass
    finally:
        sys.setprofile(None)
    return events


OBSERVERS = pytest.mark.parametrize("observe", [trace, profile])


def returns(a):
    b = len([a])
    return b + helper(a)


def helper(a):
    return a


def raises(a):
    b = helper(a)
    raise ValueError(b)


def yields(a):
    yield helper(a)
    yield a


def recurses(a):
    return helper(a) + (recurses(a - 1) if a else 0)


@OBSERVERS
@pytest.mark.parametrize("new", [returns, raises, recurses])
def test_a_hit_gives_the_events_of_a_direct_call(new, observe, path, swap) -> None:
    def old(a):
        return a

    direct = observe(lambda: new(2))
    with gt.optimize(swap(old, new)):
        try:
            old(2)
        except ValueError:
            pass
    with gt.optimize(False):
        hit = observe(lambda: old(2))
    assert hit == direct
    calls = [event for event in hit if event[:2] == ("call", new.__name__)]
    ends = [event for event in hit if event[:2] == ("return", new.__name__)]
    assert len(calls) == len(ends) == (3 if new is recurses else 1)


@OBSERVERS
def test_a_replaced_generator_gives_the_events_of_a_direct_one(
    observe, path, swap
) -> None:
    def old(a):
        yield a

    direct = observe(lambda: list(yields(2)))
    with gt.optimize(swap(old, yields)):
        list(old(2))
    with gt.optimize(False):
        assert observe(lambda: list(old(2))) == direct


@OBSERVERS
def test_the_first_call_shows_the_callback_and_then_one_call(
    observe, path, swap
) -> None:
    def old(a):
        return a

    callback = swap(old, returns)
    with gt.optimize(callback):
        events = observe(lambda: old(2))
    names = [name for event, name, _ in events if event == "call"]
    assert names.count("returns") == 1
    assert names.count("old") == 0
    assert names.index("__call__") < names.index("returns")
    assert callback.calls == 1


@OBSERVERS
def test_a_plain_call_under_the_hook_gives_the_events_of_a_plain_call(
    observe, hook
) -> None:
    direct = observe(lambda: recurses(3))
    with gt.optimize(False):
        assert observe(lambda: recurses(3)) == direct
        gt.skip_code(recurses.__code__)
        assert observe(lambda: recurses(3)) == direct
    gt.reset_code(recurses.__code__)


@OBSERVERS
def test_a_python_guard_is_seen_as_one_call_of_its_own(observe, swap) -> None:
    def old(a):
        return a

    def guard(f_locals):
        return True

    with gt.optimize(swap(old, returns, guard)):
        old(2)
    with gt.optimize(False):
        events = observe(lambda: old(2))
    names = [name for event, name, _ in events if event == "call"]
    assert names == ["guard", "returns", "helper"]


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_the_trace_function_itself_is_never_looked_up(install, hook) -> None:
    seen: list[Any] = []

    def observer(frame, event, arg):
        return observer

    def callback(frame, entry, state):
        seen.append(frame.f_code)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        install(observer)
        try:
            returns(1)
        finally:
            install(None)
    assert returns.__code__ in seen
    assert observer.__code__ not in seen


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile])
def test_an_error_in_the_trace_function_reaches_the_caller(install, path, swap) -> None:
    def old(a):
        return a

    def observer(frame, event, arg):
        if frame.f_code is returns.__code__:
            raise KeyError("observer")
        return observer

    with gt.optimize(swap(old, returns)):
        old(1)
        install(observer)
        try:
            with pytest.raises(KeyError, match="observer"):
                old(1)
        finally:
            install(None)
        assert old(1) == 2


def test_line_events_may_start_in_the_middle_of_a_replacement(path, swap) -> None:
    lines: list[int] = []

    def old(a):
        return a, tracer

    def new(a):
        sys._getframe().f_trace = tracer
        sys.settrace(lambda *_: None)
        a += 1
        a += 1
        sys.settrace(None)
        return a

    def tracer(frame, event, arg):
        lines.append(frame.f_lineno - new.__code__.co_firstlineno)
        return tracer

    assert new(1) == 3
    direct, lines = lines, []
    with gt.optimize(swap(old, new)):
        old(1)
        del lines[:]
        assert old(1) == 3
    assert lines == direct


def test_a_profiler_started_in_a_replacement_sees_its_return(path, swap) -> None:
    events: list[str] = []

    def profiler(frame, event, arg):
        events.append(f"{event} {frame.f_code.co_name}")

    def old():
        return profiler

    def new():
        sys.setprofile(profiler)
        return "done"

    def run(fn):
        del events[:]
        result = fn()
        sys.setprofile(None)
        return result, list(events)

    direct = run(new)
    with gt.optimize(swap(old, new)):
        run(old)
        assert run(old) == direct


def test_the_profile_of_another_thread_sees_the_replacement_once(path, swap) -> None:
    events: list[str] = []

    def old():
        return None

    def new():
        return None

    def profiler(frame, event, arg):
        if frame.f_code in (old.__code__, new.__code__):
            events.append(f"{event} {frame.f_code.co_name}")

    callback = swap(old, new)

    def work() -> None:
        with gt.optimize(callback):
            old()

    with gt.optimize(callback):
        old()
    threading.setprofile(profiler)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.setprofile(None)
    assert events == ["call new", "return new"]
