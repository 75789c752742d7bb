"""What a callback may answer, and what each answer does to this and later calls."""

from __future__ import annotations

import sys
from typing import Any

import guardtree as gt
import pytest


def plain() -> str:
    return "plain"


def test_none_skips_the_code_from_then_on(only) -> None:
    def f():
        return "plain"

    first = only(f, lambda *_: None)
    with gt.optimize(first):
        assert [f() for _ in range(5)] == ["plain"] * 5
    later = only(f, lambda *_: None)
    with gt.optimize(later):
        f()
    assert (first.calls, later.calls) == (1, 0)
    assert gt.code_stats(f.__code__)["skipped"]


def test_skip_code_does_what_none_does(swap) -> None:
    def f():
        return "plain"

    callback = swap(f, plain)
    gt.skip_code(f.__code__)
    with gt.optimize(callback):
        assert f() == "plain"
    assert callback.calls == 0


def test_skip_code_puts_entries_to_rest(swap) -> None:
    def f():
        return "old"

    with gt.optimize(swap(f, plain)):
        assert [f(), f()] == ["plain"] * 2
        gt.skip_code(f.__code__)
        assert f() == "old"


def test_reset_code_forgets_a_skip(only) -> None:
    def f():
        return "plain"

    callback = only(f, lambda *_: None)
    with gt.optimize(callback):
        f()
        gt.reset_code(f.__code__)
        f()
        f()
    assert callback.calls == 2


def test_ask_again_runs_plain_and_asks_every_time(only) -> None:
    def f():
        return "plain"

    callback = only(f, lambda *_: gt.ASK_AGAIN)
    with gt.optimize(callback):
        assert [f() for _ in range(5)] == ["plain"] * 5
    assert callback.calls == 5
    assert gt.cache_entries(f.__code__) == []


def test_an_entry_runs_at_once_and_is_not_asked_about_again(path, swap) -> None:
    def f():
        return "old"

    callback = swap(f, plain)
    with gt.optimize(callback):
        assert [f() for _ in range(5)] == ["plain"] * 5
    assert callback.calls == 1
    stats = gt.code_stats(f.__code__)
    assert (stats["entries"], stats["hits"]) == (1, 4)
    assert stats["dicts_built"] == 0


def test_false_runs_hits_and_never_compiles(path, swap) -> None:
    def f(a):
        return "old"

    def new(a):
        return "new"

    guards = gt.GuardManager(f)
    guards.local("a").type_match(int)
    with gt.optimize(swap(f, new, guards)):
        f(1)
    with gt.optimize(False):
        assert [f(1), f("x"), f(2)] == ["new", "old", "new"]
    assert len(gt.cache_entries(f.__code__)) == 1


def test_false_without_entries_runs_plain(hook) -> None:
    def f():
        return "plain"

    with gt.optimize(False):
        assert f() == "plain"
    assert gt.cache_entries(f.__code__) == []


def test_no_callback_looks_nothing_up(swap) -> None:
    def f():
        return "old"

    with gt.optimize(swap(f, plain)):
        f()
    before = gt.code_stats(f.__code__)
    assert f() == "old"
    with gt.optimize(None):
        assert f() == "old"
    assert gt.code_stats(f.__code__) == before


WRONG = [42, "code", True, False, object(), (plain.__code__, None), plain.__code__]


@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: type(answer).__name__)
def test_another_answer_is_a_type_error_at_the_caller(answer, only) -> None:
    def f():
        return "plain"

    callback = only(f, lambda *_: answer)
    with gt.optimize(callback):
        for _ in range(2):
            with pytest.raises(TypeError, match=type(answer).__name__):
                f()
        assert gt.set_eval_frame(callback) is callback
    assert callback.calls == 2
    assert gt.cache_entries(f.__code__) == []
    assert f() == "plain"


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_in_the_callback_reaches_the_caller(kind, only) -> None:
    def f(a):
        return "plain"

    def answer(frame, entry, state):
        if answers:
            raise answers.pop()
        return None

    error = kind("why")
    answers = [error]
    callback = only(f, answer)
    argument = object()
    count = sys.getrefcount(argument)
    with gt.optimize(callback):
        with pytest.raises(kind) as caught:
            f(argument)
        assert caught.value is error
        assert gt.set_eval_frame(callback) is callback, "still installed"
        assert gt.cache_entries(f.__code__) == []
        assert not gt.code_stats(f.__code__)["skipped"]
        assert f(argument) == "plain"
    assert callback.calls == 2
    del caught, error
    assert sys.getrefcount(argument) == count


def test_an_exception_is_handled_by_the_functions_caller_only(only) -> None:
    log: list[str] = []

    def f():
        try:
            log.append("body")
        finally:
            log.append("finally")

    def answer(frame, entry, state):
        raise ValueError

    with gt.optimize(only(f, answer)):
        try:
            f()
        except ValueError:
            log.append("caller")
    assert log == ["caller"]


def test_an_exception_after_entries_exist_leaves_them(only) -> None:
    def f(a):
        return "old"

    def new(a):
        return "new"

    def answer(frame, entry, state):
        if entry is not None:
            raise ValueError
        guards = gt.GuardManager(frame)
        guards.local("a").type_match(int)
        return gt.GuardedCode(new.__code__, guards)

    with gt.optimize(only(f, answer)):
        assert f(1) == "new"
        for _ in range(3):
            with pytest.raises(ValueError):
                f("x")
            assert f(2) == "new"
    assert len(gt.cache_entries(f.__code__)) == 1


@pytest.mark.parametrize("callback", [42, "callback", [], True, object()])
def test_set_eval_frame_takes_none_false_or_a_callable(callback, hook) -> None:
    with pytest.raises(TypeError, match="callable"):
        gt.set_eval_frame(callback)
    assert gt.set_eval_frame(None) is None


def test_set_eval_frame_returns_the_prior_callback(only) -> None:
    callback = only(plain, lambda *_: gt.ASK_AGAIN)
    assert gt.set_eval_frame(callback) is None
    assert gt.set_eval_frame(False) is callback
    assert gt.set_eval_frame(callback) is False
    assert gt.set_eval_frame(callback) is callback
    assert gt.set_eval_frame(None) is callback
    assert gt.set_eval_frame(None) is None


def test_the_state_is_a_dict_kept_on_the_code_until_a_reset(only) -> None:
    def f():
        return "plain"

    def g():
        return "plain"

    states: list[dict[str, Any]] = []

    def answer(frame, entry, state):
        state.setdefault("count", 0)
        state["count"] += 1
        states.append(state)
        return gt.ASK_AGAIN

    with gt.optimize(only(f, answer)):
        f()
        f()
    with gt.optimize(only(g, answer)):
        g()
    assert type(states[0]) is dict
    assert states[0] is states[1]
    assert states[2] is not states[0]
    assert [state["count"] for state in states] == [2, 2, 1]
    gt.reset_code(f.__code__)
    with gt.optimize(only(f, answer)):
        f()
    assert states[3] is not states[0]
    assert states[3] == {"count": 1}


def test_what_takes_a_code_object_takes_a_function_and_nothing_else(swap) -> None:
    def f():
        return "old"

    with gt.optimize(swap(f, plain)):
        f()
    for function in (gt.cache_entries, gt.code_stats, gt.skip_code, gt.reset_code):
        for wrong in (42, None, "f"):
            with pytest.raises(TypeError, match="code"):
                function(wrong)
    assert len(gt.cache_entries(f)) == len(gt.cache_entries(f.__code__)) == 1
    assert gt.code_stats(f) == gt.code_stats(f.__code__)
    gt.skip_code(f)
    assert gt.code_stats(f.__code__)["skipped"]
    gt.reset_code(f)
    assert gt.cache_entries(f.__code__) == []


def test_the_answer_may_be_the_code_itself(path, only) -> None:
    def f(a):
        return [a]

    callback = only(f, lambda frame, *_: gt.GuardedCode(frame.f_code, lambda _: True))
    with gt.optimize(callback):
        assert [f(n) for n in range(3)] == [[0], [1], [2]]
    assert callback.calls == 1
    assert gt.cache_entries(f.__code__)[0].code is f.__code__
    gt.reset_code(f.__code__)  # an entry whose code is its owner is a cycle


def test_is_generator_tells_a_generators_code(hook) -> None:
    def numbers():
        yield 1

    assert gt.is_generator(numbers.__code__) is True
    assert gt.is_generator(plain.__code__) is False
