"""Entries: order, chain, counters, limit, and what a reset leaves of them."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest
from entry_code import returning


def typed(code: Any, kind: type) -> gt.GuardManager:
    guards = gt.GuardManager(code)
    guards.local("a").type_match(kind)
    return guards


def compiler(only, function, *rows):
    """A callback that gives the rows (value, guards) one after the other."""
    left = [gt.GuardedCode(returning(value), guards) for value, guards in rows]
    return only(function, lambda *_: left.pop(0) if left else gt.ASK_AGAIN)


def anything(f_locals: dict[str, Any]) -> bool:
    return True


def test_the_first_matching_entry_in_order_of_insertion_wins(only) -> None:
    def f(a):
        return "old"

    code = f.__code__
    rows = [
        ("int", typed(code, int)),
        ("str", typed(code, str)),
        ("any", anything),
        ("never", typed(code, int)),
    ]
    callback = compiler(only, f, *rows)
    with gt.optimize(callback):
        assert [f(1), f("x"), f(b"")] == ["int", "str", "any"]
        for _ in range(3):  # hits do not reorder
            assert [f(b""), f(""), f(2)] == ["any", "str", "int"]
    assert callback.calls == 3


def test_entries_are_listed_and_chained_oldest_first(only) -> None:
    def f(a):
        return "old"

    kinds = [int, str, bytes]
    rows = [(kind.__name__, typed(f.__code__, kind)) for kind in kinds]
    with gt.optimize(compiler(only, f, *rows)):
        f(1), f(""), f(b"")
    entries = gt.cache_entries(f.__code__)
    assert [entry.code.co_consts[-1] for entry in entries] == ["int", "str", "bytes"]
    assert [entry.check_fn for entry in entries] == [guards for _, guards in rows]
    chain, entry = [], entries[0]
    while entry is not None:
        chain.append(entry.code)
        entry = entry.next
    assert chain == [entry.code for entry in entries]
    assert all(isinstance(entry, gt.CacheEntry) for entry in entries)


def test_the_callback_gets_the_oldest_entry(only) -> None:
    def f(a):
        return "old"

    chains: list[list[Any]] = []

    def answer(frame, entry, state):
        chains.append([])
        while entry is not None:
            chains[-1].append(entry.check_fn)
            entry = entry.next
        checks.append(lambda f_locals: False)
        return gt.GuardedCode(returning(len(checks)), checks[-1])

    checks: list[Any] = []
    with gt.optimize(only(f, answer)):
        assert [f(0) for _ in range(4)] == [1, 2, 3, 4]
    assert chains == [checks[:n] for n in range(4)]


def test_counters_tell_hits_misses_and_lookups(only) -> None:
    def f(a):
        return "old"

    code = f.__code__
    rows = [("int", typed(code, int)), ("str", typed(code, str))]
    with gt.optimize(compiler(only, f, *rows)):
        f(1), f("")
    with gt.optimize(False):
        f(1), f(2), f(""), f(b""), f(None)
    first, second = gt.cache_entries(code)
    assert (first.hits, second.hits) == (2, 1)
    stats = gt.code_stats(code)
    assert stats["hits"] == 3
    # Two misses in run-only mode and two of the compiling calls; the first call is no
    # lookup, because there was no entry to try.
    assert stats["misses"] == 4
    assert stats["lookups"] == stats["hits"] + 3
    assert stats["entries"] == 2
    assert stats["errors"] == stats["dicts_built"] == 0


def test_an_entry_holds_what_its_guards_said_when_it_was_made(swap) -> None:
    def f(a):
        return "old"

    guards = gt.GuardManager(f)
    callback = swap(f, returning("new"), guards)
    with gt.optimize(callback):
        f(1)
        guards.local("a").type_match(int)
        assert f("a string") == "new"
    assert callback.calls == 1


def test_one_guarded_code_may_serve_several_code_objects(only) -> None:
    def f(a):
        return "f"

    def g(a):
        return "g"

    guarded = gt.GuardedCode(returning("shared"), anything)
    for function in (f, g):
        with gt.optimize(only(function, lambda *_: guarded)):
            assert [function(1), function(2)] == ["shared"] * 2
            gt.reset_code(function.__code__)
            assert [function(1), function(2)] == ["shared"] * 2


def test_at_the_limit_the_callback_rests(only, default_policy) -> None:
    def f(a):
        return "plain"

    gt.set_policy(entry_limit=2, when_full="keep")
    kinds = [int, str, bytes, float]
    rows = [(kind.__name__, typed(f.__code__, kind)) for kind in kinds]
    callback = compiler(only, f, *rows)
    with gt.optimize(callback):
        assert [f(1), f("")] == ["int", "str"]
        assert not gt.code_stats(f.__code__)["hits"]
        assert [f(b""), f(1.0)] == ["plain"] * 2
        assert [f(2), f("x")] == ["int", "str"]
    assert callback.calls == 2
    stats = gt.code_stats(f.__code__)
    assert stats["limit_reached"]
    assert stats["entries"] == 2


def test_raising_the_limit_lets_the_callback_work_again(only, default_policy) -> None:
    def f(a):
        return "plain"

    gt.set_policy(entry_limit=1, when_full="keep")
    callback = only(f, lambda *_: gt.GuardedCode(returning("new"), lambda _: False))
    with gt.optimize(callback):
        assert [f(1), f(1)] == ["new", "plain"]
        gt.set_policy(entry_limit=2)
        assert [f(1), f(1)] == ["new", "plain"]
    assert callback.calls == 2


def test_the_limit_is_64_and_always_missing_guards_stop_there(
    only, default_policy
) -> None:
    def f(a):
        return "plain"

    assert gt.get_policy()["entry_limit"] == 64
    callback = only(f, lambda *_: gt.GuardedCode(returning("new"), lambda _: False))
    with gt.optimize(callback):
        results = [f(1) for _ in range(200)]
    # As many again made room for others and were never hit.
    assert results == ["new"] * 128 + ["plain"] * 72
    assert callback.calls == 128


@pytest.mark.parametrize("limit", [-1, "many", 1.5])
def test_the_limit_is_a_count(limit, default_policy) -> None:
    with pytest.raises((TypeError, ValueError)):
        gt.set_policy(entry_limit=limit)
    assert gt.get_policy()["entry_limit"] == 64


def test_a_reset_drops_all_of_the_codes_state(swap) -> None:
    def f(a):
        return "old"

    untouched = gt.code_stats(f.__code__)
    callback = swap(f, returning("new"))
    with gt.optimize(callback):
        f(1), f(1)
    gt.reset_code(f.__code__)
    assert gt.cache_entries(f.__code__) == []
    assert gt.code_stats(f.__code__) == untouched
    with gt.optimize(False):
        assert f(1) == "old"
    with gt.optimize(callback):
        assert f(1) == "new"
    assert callback.calls == 2


def test_an_entry_kept_across_a_reset_still_answers(swap) -> None:
    def f(a):
        return "old"

    new = returning("new")
    with gt.optimize(swap(f, new, lambda f_locals: False)):
        f(1), f(1), f(1)
    entries = gt.cache_entries(f.__code__)
    gt.reset_code(f.__code__)
    del f
    assert [entry.code for entry in entries] == [new] * 3
    assert [entry.hits for entry in entries] == [0] * 3
    assert all(callable(entry.check_fn) for entry in entries)
    assert entries[-1].next is None


def test_resetting_an_untouched_code_does_nothing(hook) -> None:
    def f():
        return "plain"

    for _ in range(3):
        gt.reset_code(f.__code__)
    assert gt.cache_entries(f.__code__) == []
    assert f() == "plain"
