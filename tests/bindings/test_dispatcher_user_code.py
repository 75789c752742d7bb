"""Dispatchers while user code runs in them: exceptions, recursion, threads, removal."""

from __future__ import annotations

import functools
import gc
import inspect
import random
import sys
import threading
import weakref
from typing import Any

import guardtree as gt
import pytest
from dispatching import Compiler, exact, fast, ints, numbered, plain

SIGNATURE = inspect.signature(plain)


# --- Exceptions.


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_what_on_miss_raises_comes_out_and_nothing_is_added(error: Any) -> None:
    fails = True

    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        if fails:
            raise error("by on_miss")
        return fast

    dispatcher = gt.Dispatcher(plain, on_miss)
    for _ in range(2):
        with pytest.raises(error, match="by on_miss"):
            dispatcher(1)
    assert (len(dispatcher), dispatcher.stats()["misses"]) == (0, 2)
    fails = False
    assert dispatcher(1) == ("fast", (1,), {})


def test_what_a_guard_raises_is_a_miss() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        return fast

    def fails(value: object) -> bool:
        raise ValueError("by a guard")

    dispatcher = gt.Dispatcher(plain, on_miss)
    guards = gt.GuardManager(plain)
    guards.local("x").python(fails)
    entry = dispatcher.add(guards, fast)
    assert dispatcher(1) == ("fast", (1,), {})
    assert (entry.errors, len(dispatcher)) == (1, 2)
    assert str(entry.last_error) == "by a guard"


def test_guards_of_on_miss_that_raise_are_refused() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        call.guards.local("x").python(lambda value: 1 / 0)
        return fast

    dispatcher = gt.Dispatcher(plain, on_miss)
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        dispatcher(1)
    assert len(dispatcher) == 0


def test_what_a_payload_raises_comes_out() -> None:
    def payload(x: Any) -> None:
        raise ValueError("by the payload")

    dispatcher = gt.Dispatcher(plain, Compiler(payload))
    for _ in range(2):
        with pytest.raises(ValueError, match="by the payload"):
            dispatcher(1)
    assert len(dispatcher) == 1


# --- Recursion.


def test_calls_inside_on_miss_run_plain_or_hit() -> None:
    seen: list[Any] = []

    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        seen.append(dispatcher(call.arguments["x"]))
        seen.append(dispatcher(7))
        return fast

    dispatcher = gt.Dispatcher(plain, on_miss)
    guards = gt.GuardManager(plain)
    guards.local("x").equals(7)
    dispatcher.add(guards, fast)
    assert dispatcher(1) == ("fast", (1,), {})
    assert seen == [("plain", 1, 2), ("fast", (7,), {})]


def test_where_nothing_runs_plain_on_miss_is_asked_inside_itself() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        value = exact_value(call)
        below = dispatcher(value - 1, 0) if value else ()
        return lambda *args: (value, *below)

    dispatcher = gt.Dispatcher(SIGNATURE, on_miss)
    assert dispatcher(3, 0) == (3, 2, 1, 0)
    assert len(dispatcher) == 4


def exact_value(call: gt.MissedCall) -> Any:
    exact(call)
    return call.arguments["x"]


def test_endless_recursion_in_on_miss_is_a_recursion_error() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        return dispatcher(call.arguments["x"])

    dispatcher = gt.Dispatcher(SIGNATURE, on_miss)
    with pytest.raises(RecursionError):
        dispatcher(1)
    assert len(dispatcher) == 0


def test_a_dispatcher_is_no_payload_of_its_own() -> None:
    dispatcher = gt.Dispatcher(plain, lambda call: dispatcher)
    with pytest.raises(ValueError, match="its own payload"):
        dispatcher(1)
    with pytest.raises(ValueError, match="its own payload"):
        dispatcher.add(ints(plain), dispatcher)
    assert len(dispatcher) == 0


@pytest.mark.parametrize(
    "wrap",
    [functools.partial, lambda called: functools.partial(called).__call__],
    ids=["partial", "slot"],
)
def test_a_payload_that_calls_the_dispatcher_is_a_recursion_error(wrap: Any) -> None:
    dispatcher = gt.Dispatcher(plain)
    dispatcher.add(gt.GuardManager(plain), wrap(dispatcher))
    with pytest.raises(RecursionError):
        dispatcher(1)


def test_a_payload_that_calls_the_original_is_fine() -> None:
    dispatcher = gt.Dispatcher(plain)
    dispatcher.add(ints(plain), lambda x: ("over", dispatcher.original(x)))
    assert dispatcher(1) == ("over", ("plain", 1, 2))


# --- Threads.


def in_threads(count: int, body: Any) -> list[Any]:
    """What `body(index)` returns in as many threads."""
    results: list[Any] = [None] * count

    def run(index: int) -> None:
        try:
            results[index] = body(index)
        except BaseException as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return results


def test_threads_that_miss_at_once_all_compile_and_keep_one() -> None:
    both = threading.Barrier(2)
    made: list[Any] = []

    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        both.wait(20)
        number = len(made)
        made.append(number)
        return lambda *args: ("number", number)

    dispatcher = gt.Dispatcher(plain, on_miss)
    answers = in_threads(2, lambda index: dispatcher(1))
    assert len(made) == 2
    assert answers[0] == answers[1] == dispatcher(1)
    assert (len(dispatcher), dispatcher.stats()["compiled"]) == (1, 1)


def test_a_lock_of_on_miss_compiles_once() -> None:
    lock, compiled = threading.Lock(), []

    def on_miss(call: gt.MissedCall) -> Any:
        with lock:
            entry = call.find()
            if entry is not None:
                return entry
            exact(call)
            compiled.append(call.args)
            return call.dispatcher.add(call.guards, fast)

    dispatcher = gt.Dispatcher(plain, on_miss)
    answers = in_threads(4, lambda index: dispatcher(1))
    assert answers == [("fast", (1,), {})] * 4
    assert len(compiled) == len(dispatcher) == 1


def test_threads_that_hit_miss_evict_and_remove_get_right_answers() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        value = exact_value(call)
        return lambda x: ("square", value * value)

    dispatcher = gt.Dispatcher(plain, on_miss, entry_limit=8)

    def body(seed: int) -> int:
        numbers = random.Random(seed)
        wrong = 0
        for _ in range(400):
            value = numbers.randrange(24)
            wrong += dispatcher(value) != ("square", value * value)
            if value == 0:
                for entry in dispatcher.entries()[:2]:
                    try:
                        dispatcher.remove(entry)
                    except ValueError:  # another thread did
                        pass
        return wrong

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        assert in_threads(8, body) == [0] * 8
    finally:
        sys.setswitchinterval(before)
    assert len(dispatcher) <= 8
    assert dispatcher.stats()["evicted"] > 0


# --- Limits.


def test_the_least_recently_used_entry_gives_its_place() -> None:
    dispatcher = gt.Dispatcher(plain, numbered, entry_limit=2)
    for value in (1, 2, 1, 3):
        assert dispatcher(value) == ("for", value)
    assert [dispatcher.find(value) is None for value in (1, 2, 3)] == [
        False,
        True,
        False,
    ]
    counts = dispatcher.stats()
    assert (counts["evicted"], counts["hits"], counts["entries"]) == (1, 1, 2)
    dispatcher.add(ints(plain), fast)
    assert len(dispatcher) == 2


def test_a_full_table_that_is_kept_runs_plain() -> None:
    dispatcher = gt.Dispatcher(plain, numbered, entry_limit=1, when_full="keep")
    assert dispatcher(1) == ("for", 1)
    assert dispatcher(2) == ("plain", 2, 2)
    with pytest.raises(ValueError, match="raise the limit"):
        dispatcher.add(ints(plain), fast)
    bare = gt.Dispatcher(SIGNATURE, numbered, entry_limit=1, when_full="keep")
    assert bare(1) == ("for", 1)
    with pytest.raises(gt.GuardMiss):
        bare(2)


def test_an_entry_may_be_evicted_while_it_runs() -> None:
    def payload(x: Any) -> Any:
        dispatcher(100)
        gc.collect()
        return "ran", x, token()

    class Token:
        def __call__(self) -> str:
            return "alive"

    token: Any = Token()
    dispatcher = gt.Dispatcher(plain, lambda call: (exact(call), lambda x: x)[1],
                               entry_limit=1)  # fmt: skip
    guards = gt.GuardManager(plain)
    guards.local("x").equals(1)
    dispatcher.add(guards, functools.partial(payload))
    assert dispatcher(1) == ("ran", 1, "alive")
    assert dispatcher.find(1) is None


class Suicide:
    """A payload that drops all that leads to it."""

    def __call__(self, x: Any) -> Any:
        HELD.clear()
        gc.collect()
        return "ran", x


HELD: dict[str, Any] = {}


@pytest.mark.parametrize("python_guard", [False, True])
def test_a_dispatcher_may_end_while_it_runs(python_guard: bool) -> None:
    dispatcher = gt.Dispatcher(SIGNATURE)
    guards = gt.GuardManager(plain)
    if python_guard:
        guards.local("x").python(lambda value: True)
    dispatcher.add(guards, Suicide())
    HELD["only"] = dispatcher
    gone = weakref.ref(dispatcher)
    del dispatcher
    assert HELD["only"](1) == ("ran", 1)
    gc.collect()
    assert gone() is None


def test_on_miss_may_drop_the_dispatcher() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        HELD.clear()
        gc.collect()
        return fast

    HELD["only"] = gt.Dispatcher(plain, on_miss)
    assert HELD["only"](1) == ("fast", (1,), {})


def test_the_function_may_get_other_code() -> None:
    def f(x: Any) -> Any:
        return "plain", x

    def g(x: Any) -> Any:
        return "other", x

    dispatcher = gt.Dispatcher(f, Compiler())
    assert dispatcher(1) == ("fast", (1,), {})
    f.__code__ = g.__code__
    assert dispatcher(1) == dispatcher(x=1) == ("other", 1)
    assert dispatcher.stats()["other_code"] == 2


def test_nothing_is_left_of_many_calls() -> None:
    dispatcher = gt.Dispatcher(plain, numbered, entry_limit=4)

    def turns() -> None:
        for value in range(200):
            dispatcher(value % 12)
            dispatcher(x=value % 5)

    turns()
    grown = []
    for _ in range(5):
        gc.collect()
        before = sys.getallocatedblocks()
        turns()
        gc.collect()
        grown.append(sys.getallocatedblocks() - before)
    assert min(grown) < 50, grown
