"""Policies: limits and eviction, misses, warm-up, codes given up, entries by hand."""

from __future__ import annotations

import threading
from typing import Any

import guardtree as gt
import pytest
from entry_code import returning

pytestmark = pytest.mark.usefixtures("default_policy")


def guarded(function: Any, value: Any) -> gt.GuardedCode:
    """Returns the text of `value` for arguments equal to it."""
    guards = gt.GuardManager(function)
    guards.local("a").equals(value)
    return gt.GuardedCode(returning(f"for {value!r}"), guards)


def by_value(only: Any, function: Any) -> Any:
    """A callback that makes an entry for each value it is asked about."""
    return only(function, lambda frame, *_: guarded(function, frame.f_locals["a"]))


def values_of(function: Any) -> list[Any]:
    """What the entries of a function are for, oldest first."""
    return [entry.code.co_consts[-1] for entry in gt.cache_entries(function)]


def test_the_entry_that_was_hit_longest_ago_makes_room(only) -> None:
    def f(a):
        return "plain"

    gt.set_policy(f, entry_limit=3)
    with gt.optimize(by_value(only, f)):
        for value in (1, 2, 3, 1, 2, 4, 1, 2, 5):
            assert f(value) == f"for {value}"
    assert values_of(f) == ["for 1", "for 2", "for 5"]
    assert gt.code_stats(f)["evicted"] == 2
    told = gt.removed_entries(f)
    assert [hits for hits, _ in told] == [0, 0]
    assert all("evicted" in reason for _, reason in told)


def test_an_entry_counts_as_used_when_it_is_made(only) -> None:
    def f(a):
        return "plain"

    gt.set_policy(f, entry_limit=2)
    with gt.optimize(by_value(only, f)):
        f(1), f(2), f(3)
    assert values_of(f) == ["for 2", "for 3"]


def test_entries_may_be_kept_instead(only) -> None:
    def f(a):
        return "plain"

    prior = gt.set_policy(f, entry_limit=1, when_full="keep")
    assert prior == gt.get_policy()
    callback = by_value(only, f)
    with gt.optimize(callback):
        assert [f(1), f(2), f(1)] == ["for 1", "plain", "for 1"]
    assert callback.calls == 1
    assert gt.code_stats(f)["limit_reached"]


def test_guards_that_never_pass_are_not_compiled_for_ever(only) -> None:
    def f(a):
        return "plain"

    gt.set_policy(f, entry_limit=4)
    callback = only(f, lambda *_: gt.GuardedCode(returning("new"), lambda _: False))
    with gt.optimize(callback):
        results = [f(1) for _ in range(20)]
    assert results == ["new"] * 8 + ["plain"] * 12
    assert gt.code_stats(f)["limit_reached"]


def test_misses_run_plain_where_that_is_settled(only) -> None:
    def f(a):
        return "plain"

    def g(a):
        return "plain"

    gt.set_policy(f, on_miss="plain")
    with gt.optimize(by_value(only, f)):
        assert f(1) == "plain"
        gt.set_policy(f, on_miss="ask")
        assert f(1) == "for 1"
    assert gt.get_policy(g)["on_miss"] == "ask"


def test_misses_raise_where_that_is_settled(only) -> None:
    def f(a):
        return "plain"

    with gt.optimize(by_value(only, f)):
        f(1), f(2)
        gt.set_policy(f, on_miss="raise")
        assert f(1) == "for 1"
        with pytest.raises(gt.GuardMiss, match=r"same_constant\(a, 2\)") as caught:
            f(3)
    assert len(caught.value.explanation.entries) == 2
    assert f(3) == "plain"  # without the hook


def test_misses_raise_in_frames_with_builtins_of_their_own(only) -> None:
    names: dict[str, Any] = {"__builtins__": {"len": len}}
    exec("def f(a): return 'plain'", names)
    f = names["f"]
    gt.set_policy(f, on_miss="raise")
    with gt.optimize(by_value(only, f)):
        f(1)
        with pytest.raises(gt.GuardMiss):
            f(2)


def test_a_thread_may_raise_on_misses(only) -> None:
    def f(a):
        return "plain"

    def without_entries(a):
        return "plain"

    with gt.optimize(by_value(only, f)):
        f(1)
    with gt.optimize(gt.RAISE_ON_MISS):
        assert gt.get_eval_frame() is gt.RAISE_ON_MISS
        assert f(1) == "for 1"
        assert without_entries(1) == "plain"
        with pytest.raises(gt.GuardMiss):
            f(2)
    with gt.optimize(False):
        assert f(2) == "plain"


def test_the_callback_is_asked_after_a_warm_up(only) -> None:
    def f(a):
        return "plain"

    gt.set_policy(f, warm_up=3)
    callback = by_value(only, f)
    with gt.optimize(callback):
        assert [f(1) for _ in range(5)] == ["plain"] * 3 + ["for 1"] * 2
    assert callback.calls == 1


def test_a_code_that_was_given_up_says_why(only) -> None:
    def f(a):
        return "plain"

    callback = by_value(only, f)
    with gt.optimize(callback):
        gt.fail_code(f, "the backend has no loops")
        assert f(1) == "plain"
    assert callback.calls == 0
    stats = gt.code_stats(f)
    assert stats["skipped"]
    assert stats["failure"] == "the backend has no loops"
    gt.reset_code(f)
    assert not gt.code_stats(f)["failure"]


def inner(a: Any) -> Any:
    return "plain"


def test_a_code_may_be_skipped_with_all_that_it_calls(only) -> None:
    def outer(a):
        return inner(a)

    callback = by_value(only, inner)
    try:
        with gt.optimize(callback):
            gt.skip_code(outer, recursive=True)
            assert outer(1) == "plain"
            assert inner(1) == "for 1"
            assert outer(1) == "plain"  # not even hits
            gt.reset_code(outer)
            assert outer(1) == "for 1"
        assert callback.calls == 1
    finally:
        gt.reset_code(inner)


def test_a_code_may_ask_for_nothing_new_with_all_that_it_calls(only) -> None:
    def outer(a):
        if a == "raise":
            raise ValueError(a)
        return inner(a)

    callback = by_value(only, inner)
    try:
        with gt.optimize(callback):
            inner(1)
            gt.run_only(outer)
            assert [outer(1), outer(2)] == ["for 1", "plain"]
            with pytest.raises(ValueError, match="raise"):
                outer("raise")
            assert inner(2) == "for 2"
        assert callback.calls == 2
    finally:
        gt.reset_code(inner)


def test_a_limit_ends_with_each_part_of_a_generator() -> None:
    def outer(n):
        for i in range(n):
            yield inner(i)

    asked = []

    def callback(frame, entry, state):
        if frame.f_code is inner.__code__:
            asked.append(frame.f_locals["a"])
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        gt.run_only(outer)
        made = outer(3)
        for i, _ in enumerate(made):
            inner(10 + i)
    gt.reset_code(inner)
    assert asked == [10, 11, 12]


def test_entries_come_from_another_thread(only) -> None:
    def f(a):
        return "plain"

    wanted: list[Any] = []

    def callback(frame, entry, state):
        wanted.append(frame.f_locals["a"])
        return gt.ASK_AGAIN

    def compile_in_the_background() -> None:
        while wanted:
            gt.add_entry(f, guarded(f, wanted.pop()))

    with gt.optimize(only(f, callback)):
        assert [f(1), f(2)] == ["plain", "plain"]
        thread = threading.Thread(target=compile_in_the_background)
        thread.start()
        thread.join()
        assert [f(1), f(2)] == ["for 1", "for 2"]


def test_what_entries_differ_in_is_told(only) -> None:
    def f(a):
        return "plain"

    assert gt.differences(f) == {}
    with gt.optimize(by_value(only, f)):
        f(8), f(16), f(24)
    assert gt.differences(f) == {"a": ["8", "16", "24"]}
    told = gt.explain(f, {"a": 32})
    assert "entries differ only in a: 8, 16, 24" in str(told)
    assert told.to_dict()["differences"] == {"a": ["8", "16", "24"]}


def test_an_entry_is_taken_out_for_a_reason(only) -> None:
    def f(a):
        return "plain"

    with gt.optimize(by_value(only, f)):
        assert [f(1), f(2), f(1)] == ["for 1", "for 2", "for 1"]
        first, second = gt.cache_entries(f)
        gt.invalidate(f, first, "the weights were loaded anew")
        assert values_of(f) == ["for 2"]
        assert f(2) == "for 2"
    assert gt.removed_entries(f) == [(1, "invalidated: the weights were loaded anew")]
    assert "the weights were loaded anew" in str(gt.explain(f, {"a": 3}))
    assert gt.code_stats(f)["invalidated"] == 1
    assert gt.code_stats(f)["hits"] == 2
    with pytest.raises(ValueError, match="not among those"):
        gt.invalidate(f, first, "again")
    assert second.hits == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"entry_limit": -1}, "expected a number >= 0, found -1"),
        ({"warm_up": -2}, "expected a number >= 0, found -2"),
        ({"when_full": "drop"}, "expected one of 'evict', 'keep', found 'drop'"),
        ({"on_miss": "die"}, "expected one of 'ask', 'plain', 'raise', found 'die'"),
    ],
)
def test_what_is_no_policy_is_refused(given: dict[str, Any], message: str) -> None:
    before = gt.get_policy()
    with pytest.raises(ValueError, match=message):
        gt.set_policy(**given)
    assert gt.get_policy() == before
