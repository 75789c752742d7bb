"""Many hits, misses, errors and resets leave nothing behind."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

pytestmark = pytest.mark.usefixtures("hook")

LONG = bool(os.environ.get("GUARDTREE_TEST_LONG"))
MANY = 1_000_000 if LONG else 200_000
SOME = MANY // 5  # where every turn runs Python code of ours besides the call itself

# AddressSanitizer keeps freed memory in quarantine, so the process grows by design.
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")


def resident() -> int:
    """Bytes of memory the process uses now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def assert_steady(action: Callable[[int], Any], times: int, *watched: Any) -> None:
    """Runs action(times): no more blocks, memory or references than after a warm-up.

    A leak of one object a turn is `times` blocks; the bounds are far below that and
    above what caches of the interpreter do on their own.
    """
    action(max(times // 20, 10))
    gc.collect()
    references = [sys.getrefcount(x) for x in watched]
    blocks, memory = sys.getallocatedblocks(), resident()
    action(times)
    gc.collect()
    more_memory = resident() - memory
    more_blocks = sys.getallocatedblocks() - blocks
    assert [sys.getrefcount(x) for x in watched] == references
    assert more_blocks < 300, f"{more_blocks} blocks more after {times} turns"
    if not SANITIZED:
        assert more_memory < 3 << 20, f"{more_memory} bytes more after {times} turns"


def old(a):
    return a


def new(a):
    b = a
    return b


def fails(a):
    raise ValueError(a)


def numbers(a):
    yield a


def more_numbers(a):
    b = [a]
    yield b
    yield b


@pytest.fixture(autouse=True)
def clean_codes() -> Any:
    yield
    for function in (old, numbers):
        gt.reset_code(function.__code__)


def typed(*kinds: type) -> gt.GuardManager:
    guards = gt.GuardManager(old)
    for kind in kinds:
        guards.local("a").type_match(kind)
    return guards


def call_many(argument: Any) -> Callable[[int], None]:
    def action(times: int) -> None:
        for _ in range(times):
            old(argument)

    return action


def test_hits(swap) -> None:
    argument = object()
    with gt.optimize(swap(old, new, typed(object))):
        old(argument)
        [entry] = gt.cache_entries(old.__code__)
        watched = (argument, old, old.__code__, new.__code__, entry, entry.check_fn)
        assert_steady(call_many(argument), MANY, *watched)
    assert entry.hits > MANY
    assert gt.code_stats(old.__code__)["dicts_built"] == 0


def test_hits_that_call_a_fresh_function(swap) -> None:
    gt._guardtree._force_called(True)
    argument = object()
    with gt.optimize(swap(old, new)):
        old(argument)
        watched = (argument, old, old.__code__, new.__code__)
        assert_steady(call_many(argument), SOME, *watched)
    assert gt.code_stats(old.__code__)["called"] > SOME


def test_hits_of_python_guards(swap) -> None:
    argument = object()
    guards = typed(object).python(lambda f_locals: f_locals["a"] is argument)
    with gt.optimize(swap(old, new, guards)):
        old(argument)
        watched = (argument, old, old.__code__, new.__code__, guards)
        assert_steady(call_many(argument), SOME, *watched)
    assert gt.code_stats(old.__code__)["dicts_built"] > SOME


def test_misses(only) -> None:
    checks = [typed(kind) for kind in (int, str, bytes)]
    callback = only(old, lambda *_: gt.GuardedCode(new.__code__, checks.pop()))
    argument = object()
    with gt.optimize(callback):
        for _ in range(3):
            old(argument)
    watched = (argument, old, old.__code__, new.__code__)
    with gt.optimize(False):
        assert_steady(call_many(argument), MANY, *watched)
    assert gt.code_stats(old.__code__)["misses"] > MANY


def test_misses_that_ask_the_callback(only) -> None:
    argument = object()
    with gt.optimize(only(old, lambda *_: gt.ASK_AGAIN)):
        watched = (argument, old, old.__code__)
        assert_steady(call_many(argument), SOME, *watched)


def test_callbacks_that_read_the_whole_frame(only) -> None:
    names = ("f_code", "f_locals", "f_globals", "f_builtins", "closure")
    argument = object()

    def answer(frame, entry, state):
        state["seen"] = [getattr(frame, name) for name in names]
        return gt.ASK_AGAIN

    with gt.optimize(only(old, answer)):
        watched = (argument, old, old.__code__, globals())
        assert_steady(call_many(argument), SOME // 2, *watched)


def test_errors_in_guards(swap) -> None:
    def guard(f_locals):
        raise KeyError(f_locals["a"])

    argument = object()
    with gt.optimize(swap(old, new, guard)):
        old(None)
    with gt.optimize(False):
        old(None)
        assert_steady(call_many(argument), SOME, old, old.__code__, new.__code__)
    assert gt.code_stats(old.__code__)["errors"] > SOME


def test_errors_in_callbacks(only) -> None:
    def answer(frame, entry, state):
        raise KeyError(frame)

    argument = object()

    def action(times: int) -> None:
        for _ in range(times):
            try:
                old(argument)
            except KeyError:
                pass

    with gt.optimize(only(old, answer)):
        assert_steady(action, SOME // 2, argument, old, old.__code__)


def test_exceptions_in_replacements(path, swap) -> None:
    argument = object()

    def action(times: int) -> None:
        for _ in range(times):
            try:
                old(argument)
            except ValueError:
                pass

    watched = (argument, old, old.__code__, fails.__code__)
    with gt.optimize(swap(old, fails)):
        assert_steady(action, SOME, *watched)


def test_resets_of_entries(only) -> None:
    guarded = gt.GuardedCode(new.__code__, typed(int).python(lambda f_locals: True))
    argument = object()

    def action(times: int) -> None:
        for _ in range(times):
            old(argument)
            gt.reset_code(old.__code__)

    watched = (argument, old, old.__code__, new.__code__, guarded)
    with gt.optimize(only(old, lambda *_: guarded)):
        assert_steady(action, SOME, *watched)


def test_resets_of_untouched_and_skipped_codes() -> None:
    def action(times: int) -> None:
        code = old.__code__
        for _ in range(times // 2):
            gt.reset_code(code)
            gt.skip_code(code)
            gt.reset_code(code)

    assert_steady(action, MANY, old, old.__code__)


def test_entries_made_to_the_limit_again_and_again(only) -> None:
    def answer(frame, entry, state):
        guards = gt.GuardManager(frame)
        guards.local("a").type_match(str)
        guards.python(lambda f_locals: False)
        return gt.GuardedCode(new.__code__, guards)

    argument = object()

    def action(times: int) -> None:
        for _ in range(times // 100):
            for _ in range(70):
                old(argument)
            gt.reset_code(old.__code__)

    with gt.optimize(only(old, answer)):
        watched = (argument, old, old.__code__, new.__code__)
        assert_steady(action, 10_000, *watched)


@pytest.mark.parametrize("consumed", [0, 1, 9])
def test_replaced_generators(consumed, path, swap) -> None:
    argument = object()

    def action(times: int) -> None:
        for _ in range(times):
            generator = numbers(argument)
            for _ in range(consumed):
                next(generator, None)

    watched = (argument, numbers, numbers.__code__, more_numbers.__code__)
    with gt.optimize(swap(numbers, more_numbers)):
        assert_steady(action, SOME // 4, *watched)


def test_installing_and_removing() -> None:
    def callback(frame, entry, state):
        return gt.ASK_AGAIN

    def action(times: int) -> None:
        for _ in range(times):
            gt.set_eval_frame(callback)
            gt.set_eval_frame(False)
            gt.set_eval_frame(None)

    assert_steady(action, MANY, callback)


def test_refused_answers(only) -> None:
    def two(a, b):
        return a

    argument = object()

    def action(times: int) -> None:
        for _ in range(times):
            try:
                old(argument)
            except (TypeError, ValueError):
                pass

    callback = only(old, lambda *_: gt.GuardedCode(two.__code__, lambda _: True))
    with gt.optimize(callback):
        assert_steady(action, SOME // 10, argument, old.__code__, two.__code__)
