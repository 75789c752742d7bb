"""Threads call functions that come and go, whose entries are compiled, evicted and fail
to compile meanwhile: each call gets its own result, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

THREADS = 8
CALLS = 10**6 if os.environ.get("GUARDTREE_TEST_LONG") else 40_000

# Sanitizers keep freed memory, so the process grows by design.
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")

KINDS = 12
BROKEN = KINDS - 1
"""Calls of this kind have no target: on_miss raises."""


class CompileError(Exception):
    pass


def compile_call(call: gt.MissedCall) -> Any:
    """Compiles for one kind. What the target gets differs between kinds."""
    kind, value = call.arguments["kind"], call.arguments["value"]
    if kind == BROKEN:
        raise CompileError(kind)
    call.guards.local("kind").equals(kind)
    call.guards.local("value").type_match(type(value))
    if kind % 4 == 1:
        call.captures = [call.guards.local(name) for name in ("kind", "value", "rest")]
        return lambda *given: (kind, *given[1:])
    if kind % 4 == 2:
        call.captures = [call.guards.local("value")]
        return lambda given: (kind, given, {})
    if kind % 4 == 3:
        call.guards.local("value").python(callable_guard)
        call.captures = [call.guards.local(name) for name in ("kind", "value", "rest")]
        return lambda *given: (kind, *given[1:])
    return lambda kind, value=None, **rest: (kind, value, rest)


def callable_guard(value: Any) -> bool:
    """One that runs Python code, in which threads take turns."""
    return isinstance(value, list)


def make_dispatcher() -> Any:
    def plain(kind: Any, value: Any = (), **rest: Any) -> Any:
        raise AssertionError("nothing runs plain here")

    return gt.Dispatcher(plain, compile_call, entry_limit=4)


def make_function() -> Any:
    """A function, or on CPython 3.11 what stands for it."""

    @gt.guard_function(on_miss=compile_call, entry_limit=4)
    def plain(kind: Any, value: Any = (), **rest: Any) -> Any:
        raise AssertionError("nothing runs plain here")

    return plain


def is_called_right(called: Any, kind: int, chance: random.Random) -> bool:
    value = [kind]  # of its own: nobody else's result is equal by chance
    try:
        if chance.random() < 0.5:
            found = called(kind, value)
        else:
            found = called(value=value, kind=kind)
    except CompileError as error:
        return kind == BROKEN and error.args == (kind,)
    return found[0] == kind and found[1] is value and found[2] == {}


class Run:
    """Threads that call what `make` returns, and replace it now and then."""

    def __init__(self, make: Callable[[], Any], calls: int) -> None:
        self.make = make
        self.calls = calls // THREADS
        self.called = make()
        self.wrong: list[Any] = []
        self.deleted: list[Any] = []

    def run(self, seed: int) -> None:
        chance = random.Random(seed)
        for number in range(self.calls):
            kind = chance.randrange(KINDS)
            if not is_called_right(self.called, kind, chance):
                self.wrong.append((seed, number, kind))
            if number % 500 == 499:
                # Nobody but the calls that run now holds the former one.
                self.deleted = [weakref.ref(self.called)]
                self.called = self.make()

    def __call__(self) -> None:
        seeds = range(THREADS)
        threads = [threading.Thread(target=self.run, args=(each,)) for each in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.wrong


def resident() -> int:
    """Bytes of memory the process uses now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(autouse=True)
def fast_switches() -> Any:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("make", [make_dispatcher, make_function])
def test_calls_are_right_and_leave_nothing(make: Callable[[], Any]) -> None:
    Run(make, CALLS // 4)()
    gc.collect()
    blocks, memory = sys.getallocatedblocks(), resident()
    run = Run(make, CALLS)
    run()
    (deleted,) = run.deleted
    del run
    gc.collect()
    assert deleted() is None
    more = sys.getallocatedblocks() - blocks
    assert more < 500, f"{more} blocks more after {CALLS} calls"
    if not SANITIZED:
        grown = resident() - memory
        assert grown < 6 << 20, f"{grown} bytes more after {CALLS} calls"


def test_what_runs_may_be_deleted() -> None:
    """The last reference goes while an entry of it runs, and its guards."""
    started, goes_on = threading.Event(), threading.Event()

    def wait(kind: Any, value: Any, rest: Any) -> Any:
        started.set()
        goes_on.wait(10)
        return kind, value, rest

    def compile_waiting(call: gt.MissedCall) -> Any:
        call.guards.local("kind").equals(call.arguments["kind"])
        call.captures = [call.guards.local(name) for name in ("kind", "value", "rest")]
        return wait

    def plain(kind: Any, value: Any = (), **rest: Any) -> Any:
        raise AssertionError("nothing runs plain here")

    held = [gt.Dispatcher(plain, compile_waiting)]
    goes_on.set()
    held[0](1, 2)
    goes_on.clear()
    started.clear()
    seen: list[Any] = []
    died = weakref.ref(held[0])
    thread = threading.Thread(target=lambda: seen.append(held.pop()(1, value=[5], a=6)))
    thread.start()
    assert started.wait(10)
    gc.collect()
    goes_on.set()
    thread.join()
    gc.collect()
    assert seen == [(1, [5], {"a": 6})]
    assert died() is None
