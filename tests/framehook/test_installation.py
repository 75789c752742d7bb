"""When the evaluator is installed, and `optimize` around code that may fail."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest
from guardtree._guardtree import _hook_installed


def target() -> str:
    return "plain"


class Counting:
    """A callback that counts the calls of `target`."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        self.calls += frame.f_code is target.__code__
        return gt.ASK_AGAIN


pytestmark = pytest.mark.usefixtures("hook")


def test_the_evaluator_is_installed_only_while_a_callback_is() -> None:
    assert not _hook_installed()
    gt.set_eval_frame(Counting())
    assert _hook_installed()
    gt.set_eval_frame(None)
    assert not _hook_installed()
    gt.set_eval_frame(False)
    assert _hook_installed()
    gt.set_eval_frame(None)
    assert not _hook_installed()


SEQUENCES = [
    ["a", "False", "None"],
    ["False", "a", "None"],
    ["a", "b", "None"],
    ["a", "a", "None"],
    ["False", "False", "None"],
    ["None", "None"],
    ["a", "None", "None"],
    ["a", "False", "b", "False", "a", "None"],
    ["False", "None", "a", "None", "False", "None"],
]


@pytest.mark.parametrize("sequence", SEQUENCES, ids=" ".join)
def test_any_sequence_that_ends_with_none_takes_the_evaluator_away(sequence) -> None:
    values = {"a": Counting(), "b": Counting(), "False": False, "None": None}
    for _ in range(3):
        prior = None
        for name in sequence:
            assert gt.set_eval_frame(values[name]) is prior
            prior = values[name]
            assert _hook_installed() == (prior is not None)
        assert not _hook_installed()


def test_a_refused_callback_changes_nothing() -> None:
    callback = Counting()
    for current in (None, False, callback):
        gt.set_eval_frame(current)
        with pytest.raises(TypeError):
            gt.set_eval_frame(42)
        assert _hook_installed() == (current is not None)
        assert gt.set_eval_frame(None) is current
    assert not _hook_installed()


@pytest.mark.parametrize("where", ["callback", "guard"])
def test_an_exception_keeps_the_count_right(where, only) -> None:
    def f():
        return "plain"

    def guard(f_locals):
        raise KeyboardInterrupt

    def answer(frame, entry, state):
        if where == "callback":
            raise KeyboardInterrupt
        return gt.GuardedCode(f.__code__, guard)

    callback = only(f, answer)
    for _ in range(3):
        gt.set_eval_frame(callback)
        if where == "guard":
            f()
        with pytest.raises(KeyboardInterrupt):
            f()
        assert _hook_installed()
        assert gt.set_eval_frame(None) is callback
        assert not _hook_installed()
        gt.reset_code(f.__code__)


def test_optimize_installs_and_restores() -> None:
    callback = Counting()
    with gt.optimize(callback):
        target()
        assert _hook_installed()
    target()
    assert callback.calls == 1
    assert not _hook_installed()


def test_optimize_restores_after_an_exception() -> None:
    outer = Counting()
    with gt.optimize(outer):
        with pytest.raises(KeyError), gt.optimize(Counting()):
            raise KeyError
        assert gt.set_eval_frame(outer) is outer
    with pytest.raises(KeyError), gt.optimize(outer):
        raise KeyError
    assert not _hook_installed()


def test_nested_optimize_uses_the_innermost_callback() -> None:
    first, second = Counting(), Counting()
    with gt.optimize(first):
        target()
        with gt.optimize(second):
            target()
            with gt.optimize(None):
                target()
            with gt.optimize(False):
                target()
            target()
        target()
    target()
    assert (first.calls, second.calls) == (2, 2)


def test_one_optimize_may_be_entered_again_and_again() -> None:
    callback = Counting()
    context = gt.optimize(callback)
    for _ in range(2):
        with context:
            target()
    with context, context:
        target()
    assert not _hook_installed()
    target()
    assert callback.calls == 3


def test_optimize_decorates_a_function() -> None:
    callback = Counting()

    @gt.optimize(callback)
    def decorated(a, *args, k=1, **kw):
        """A documented function."""
        return target(), a, args, k, kw

    assert decorated(1, 2, k=3, z=4) == ("plain", 1, (2,), 3, {"z": 4})
    assert callback.calls == 1
    assert decorated.__name__ == "decorated"
    assert decorated.__doc__ == "A documented function."
    assert not _hook_installed()


def test_a_decorated_function_itself_is_seen(swap) -> None:
    def f(a):
        return "old"

    def new(a):
        return "new"

    decorated = gt.optimize(swap(f, new))(f)
    assert [decorated(1), decorated(a=2)] == ["new"] * 2
    assert f(1) == "old"


def test_a_decorated_function_restores_after_an_exception() -> None:
    @gt.optimize(Counting())
    def fail():
        raise KeyError

    outer = Counting()
    with gt.optimize(outer):
        with pytest.raises(KeyError):
            fail()
        assert gt.set_eval_frame(outer) is outer
    with pytest.raises(KeyError):
        fail()
    assert not _hook_installed()


def test_a_decorated_function_may_call_itself() -> None:
    callback = Counting()

    @gt.optimize(callback)
    def down(n):
        target()
        return n if n == 0 else down(n - 1)

    assert down(20) == 0
    assert callback.calls == 21
    assert not _hook_installed()


def test_a_decorated_method_gets_its_instance() -> None:
    class Thing:
        @gt.optimize(Counting())
        def who(self, a):
            return self, a

    thing = Thing()
    assert thing.who(1) == (thing, 1)


def test_optimize_refuses_what_set_eval_frame_refuses() -> None:
    with pytest.raises(TypeError), gt.optimize(42):
        pass
    assert not _hook_installed()


def test_the_function_may_change_the_callback_and_it_stays_changed(only) -> None:
    def f():
        return gt.set_eval_frame(other)

    other = Counting()
    callback = only(f, lambda *_: gt.GuardedCode(f.__code__, lambda _: True))
    for _ in range(3):
        gt.set_eval_frame(callback)
        assert f() is callback
        target()
        assert gt.set_eval_frame(None) is other
    assert other.calls == 3
    gt.reset_code(f.__code__)


def test_the_function_may_take_the_evaluator_away_while_it_runs(path, swap) -> None:
    def old():
        return None

    def new():
        gt.set_eval_frame(None)
        return _hook_installed(), target()

    for _ in range(3):
        gt.set_eval_frame(swap(old, new))
        assert old() == (False, "plain")
        assert gt.set_eval_frame(None) is None
