"""A callback's frame in other threads: it shows what it is, or says that it is over."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest


class Value:
    """What a test keeps a weak reference to."""


class Elsewhere:
    """Runs `use(frame, wait)` in another thread. `wait` ends when the frame has run."""

    def __init__(self, only: Any, function: Any, use: Callable[..., Any]) -> None:
        self.reached, self.has_run = threading.Event(), threading.Event()
        self.results: list[Any] = []
        self.use = use
        self.callback = only(function, self.answer)

    def answer(self, frame: Any, entry: Any, state: Any) -> Any:
        self.thread = threading.Thread(target=self.work, args=(frame,))
        self.thread.start()
        assert self.reached.wait(30)
        return gt.ASK_AGAIN

    def work(self, frame: Any) -> None:
        self.results.append(self.use(frame, self.wait))
        self.reached.set()

    def wait(self) -> None:
        self.reached.set()
        assert self.has_run.wait(30)

    def run(self, call: Callable[[], Any]) -> Any:
        with gt.optimize(self.callback):
            call()
        deep(50)
        self.has_run.set()
        self.thread.join(30)
        [result] = self.results
        return result


def deep(depth: int) -> int:
    """Writes over what a frame left on the stacks."""
    values = [depth] * 9
    return deep(depth - 1) if depth else len(values)


def f(a: Any, b: Any) -> Any:
    return a


@pytest.mark.parametrize("way", ["check", "explain"])
def test_guards_that_wait_in_another_thread_see_the_frame_that_has_run(
    only: Any, way: str
) -> None:
    def use(frame: Any, wait: Any) -> Any:
        guards = gt.GuardManager(frame)
        guards.local("a").python(lambda a: wait() or True)
        guards.local("b").equals([1, 2, 3])
        guards.global_("f").id_match(f)
        guards.python(lambda f_locals: sorted(f_locals) == ["a", "b"])
        return guards.check(frame) if way == "check" else str(guards.explain(frame))

    for _ in range(20):
        found = Elsewhere(only, f, use).run(lambda: f(Value(), [1, 2, 3]))
        assert found is True if way == "check" else found


def test_the_frame_is_over_in_other_threads_too(only: Any) -> None:
    def use(frame: Any, wait: Any) -> Any:
        before = frame.f_locals, frame.function, frame.f_code
        wait()
        with pytest.raises(RuntimeError, match="is over"):
            frame.f_locals
        return before

    found = Elsewhere(only, f, use).run(lambda: f(1, 2))
    assert found == ({"a": 1, "b": 2}, f, f.__code__)


def test_a_frame_that_is_over_holds_nothing(only: Any) -> None:
    frames = []
    value = Value()

    def answer(frame: Any, entry: Any, state: Any) -> Any:
        frames.append(frame)
        assert frame.f_locals["a"] is value
        return gt.ASK_AGAIN

    before = sys.getrefcount(value)
    with gt.optimize(only(f, answer)):
        f(value, value)
    assert sys.getrefcount(value) == before
    dead = weakref.ref(value)
    del value
    gc.collect()
    assert dead() is None
    assert len(frames) == 1


def test_the_dict_that_a_callback_asked_for_is_counted(only: Any) -> None:
    def answer(frame: Any, entry: Any, state: Any) -> Any:
        assert frame.f_locals is frame.f_locals
        return gt.ASK_AGAIN

    with gt.optimize(only(f, answer)):
        f(1, 2)
        f(1, 2)
    assert gt.code_stats(f)["dicts_built"] == 2
