"""sys.monitoring (3.12 and later) sees one start and one end of one code object."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

pytestmark = pytest.mark.skipif(
    not hasattr(sys, "monitoring"), reason="sys.monitoring came with 3.12"
)

TOOL = 3
NAMES = ("PY_START", "PY_RETURN", "PY_YIELD", "PY_RESUME", "LINE", "CALL")
GLOBAL_ONLY = ("PY_THROW", "PY_UNWIND", "RAISE", "EXCEPTION_HANDLED")


def monitor(call: Callable[[], Any], local: Any = None) -> list[tuple[str, str]]:
    """The events of a call as (event, code name), without those of `call` itself.

    With `local`, only the events of that one code object are asked for.
    """
    events: list[tuple[str, str]] = []
    own = sys._getframe().f_code
    monitoring = sys.monitoring
    names = NAMES if local else (*NAMES, *GLOBAL_ONLY)
    mask = 0
    monitoring.use_tool_id(TOOL, "guardtree tests")
    try:
        for name in names:
            event = getattr(monitoring.events, name)
            mask |= event

            def record(code, *details, name=name):
                if code not in (call.__code__, own):
                    where = details[0] if name == "LINE" else ""
                    events.append((f"{name} {where}".strip(), code.co_name))

            monitoring.register_callback(TOOL, event, record)
        if local:
            monitoring.set_local_events(TOOL, local, mask)
        else:
            monitoring.set_events(TOOL, mask)
        try:
            call()
        except ValueError:
            pass
        finally:
            monitoring.set_events(TOOL, 0)
            if local:
                monitoring.set_local_events(TOOL, local, 0)
    finally:
        for name in names:
            event = getattr(monitoring.events, name)
            monitoring.register_callback(TOOL, event, None)
        monitoring.free_tool_id(TOOL)
    return events


def helper(a):
    return a


def returns(a):
    b = len([a])
    return b + helper(a)


def raises(a):
    b = helper(a)
    raise ValueError(b)


def handles(a):
    try:
        raises(a)
    except ValueError:
        return a


def recurses(a):
    return helper(a) + (recurses(a - 1) if a else 0)


def yields(a):
    try:
        yield helper(a)
        yield a
    except ValueError:
        yield None


def warm(old: Callable[[Any], Any], callback: Any) -> None:
    with gt.optimize(callback):
        try:
            old(2)
        except ValueError:
            pass


@pytest.mark.parametrize("new", [returns, raises, handles, recurses])
def test_a_hit_gives_the_events_of_a_direct_call(new, path, swap) -> None:
    def old(a):
        return a

    direct = monitor(lambda: new(2))
    warm(old, swap(old, new))
    with gt.optimize(False):
        hit = monitor(lambda: old(2))
    assert hit == direct
    ends = ("PY_RETURN", "PY_UNWIND")
    count = 3 if new is recurses else 1
    assert hit.count(("PY_START", new.__name__)) == count
    assert sum(event in ends and name == new.__name__ for event, name in hit) == count


def test_a_replaced_generator_gives_the_events_of_a_direct_one(path, swap) -> None:
    def old(a):
        yield a

    def use(make):
        generator = make(2)
        next(generator)
        generator.throw(ValueError)
        return list(generator)

    direct = monitor(lambda: use(yields))
    warm(old, swap(old, yields))
    with gt.optimize(False):
        assert monitor(lambda: use(old)) == direct


def test_local_events_on_the_replacement_fire_once_a_call(path, swap) -> None:
    def old(a):
        return a

    warm(old, swap(old, returns))
    with gt.optimize(False):
        events = monitor(lambda: [old(2) for _ in range(3)], returns.__code__)
    assert events.count(("PY_START", "returns")) == 3
    assert events.count(("PY_RETURN", "returns")) == 3


def test_local_events_on_the_original_do_not_fire_on_a_hit(path, swap) -> None:
    def old(a):
        return a

    warm(old, swap(old, returns))
    with gt.optimize(False):
        assert monitor(lambda: old(2), old.__code__) == []


def test_an_instrumented_replacement_still_gives_its_result(path, swap) -> None:
    def old(a):
        return a

    warm(old, swap(old, returns))
    results: list[Any] = []
    with gt.optimize(False):
        results.append(old(2))
        monitor(lambda: results.append(old(2)))
        results.append(old(2))
    assert results == [3, 3, 3]


def test_an_instrumented_original_is_recognised_at_its_first_instruction(
    path, swap
) -> None:
    def old(a):
        return a

    callback = swap(old, returns)
    results: list[Any] = []

    def call() -> None:
        with gt.optimize(callback):
            results.extend(old(2) for _ in range(3))

    monitor(call, old.__code__)
    assert results == [3, 3, 3]
    assert callback.calls == 1


def test_the_callbacks_of_a_tool_are_not_looked_up_forever(path, swap) -> None:
    def old(a):
        return a

    asked: list[str] = []

    def callback(frame, entry, state):
        asked.append(frame.f_code.co_name)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        monitor(lambda: old(2))
    # A tool's callback is Python code in a monitored thread: being asked about it is
    # allowed, being asked about what the answer itself runs is not.
    assert asked.count("callback") == 0
    assert asked.count("old") == 1
