"""A defect of the nearest peer's hook, by name (tests/DEFECTS.md): pytorch #196637.

What held for the call in flight was kept for the process: a thread's stance was another
one's, which skipped guards there, and stayed when two of them left in the other order.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import guardtree as gt
import pytest
from entry_code import returning

pytestmark = pytest.mark.usefixtures("hook")


class Other:
    """A thread that does one thing after another when it is asked to."""

    def __init__(self) -> None:
        self._work: Callable[[], Any] | None = None
        self._wanted, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._body)
        self._thread.start()

    def _body(self) -> None:
        while self._wanted.acquire() and self._work:
            try:
                self._result, self._error = self._work(), None
            except BaseException as error:
                self._result, self._error = None, error
            self._done.release()

    def run(self, work: Callable[[], Any]) -> Any:
        self.start(work)
        return self.finish()

    def start(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._wanted.release()

    def finish(self) -> Any:
        assert self._done.acquire(timeout=30)
        if self._error:
            raise self._error
        return self._result

    def end(self) -> None:
        self._work = None
        self._wanted.release()
        self._thread.join(30)


@contextmanager
def two_threads() -> Iterator[tuple[Other, Other]]:
    one, two = Other(), Other()
    try:
        yield one, two
    finally:
        one.end()
        two.end()


def by_value(only: Any, function: Any) -> Any:
    def answer(frame: Any, *_: Any) -> gt.GuardedCode:
        value = frame.f_locals["a"]
        guards = gt.GuardManager(function)
        guards.local("a").equals(value)
        return gt.GuardedCode(returning(f"for {value!r}"), guards)

    return only(function, answer)


def test_a_stance_leaks_into_other_threads(only: Any) -> None:
    def f(a: Any) -> Any:
        return "plain"

    callback = by_value(only, f)
    with two_threads() as (one, two):
        raising, asking = gt.optimize(gt.RAISE_ON_MISS), gt.optimize(callback)
        two.run(asking.__enter__)
        assert two.run(lambda: f(1)) == "for 1"
        one.run(raising.__enter__)
        assert one.run(lambda: f(1)) == "for 1"
        with pytest.raises(gt.GuardMiss):
            one.run(lambda: f(2))
        assert two.run(lambda: f(2)) == "for 2"  # neither raised nor the entry of 1
        assert f(1) == "plain"  # this thread has no hook
        two.run(lambda: asking.__exit__(None, None, None))
        assert two.run(gt.get_eval_frame) is None
        assert one.run(gt.get_eval_frame) is gt.RAISE_ON_MISS
        one.run(lambda: raising.__exit__(None, None, None))
        assert one.run(gt.get_eval_frame) is None
        assert two.run(lambda: f(3)) == "plain"


def inner(a: Any) -> Any:
    return "plain"


@pytest.mark.parametrize("limit", ["skip", "run only"])
def test_what_holds_for_the_calls_of_one_thread_holds_for_no_other(
    limit: str, only: Any
) -> None:
    inside, leave = threading.Event(), threading.Event()

    def outer(a: Any) -> Any:
        inside.set()
        assert leave.wait(30)
        return inner(a)

    callback = by_value(only, inner)
    if limit == "skip":
        gt.skip_code(outer, recursive=True)
    else:
        gt.run_only(outer)

    def under_the_hook(function: Any, a: Any) -> Any:
        with gt.optimize(callback):
            return function(a)

    try:
        with two_threads() as (one, two):
            one.start(lambda: under_the_hook(outer, 1))
            assert inside.wait(30)
            assert two.run(lambda: under_the_hook(inner, 2)) == "for 2"
            leave.set()
            assert one.finish() == "plain"
            assert one.run(lambda: under_the_hook(inner, 3)) == "for 3"
    finally:
        gt.reset_code(outer)
        gt.reset_code(inner)
    assert callback.calls == 2
