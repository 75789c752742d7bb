"""Threads: one callback each, entries shared, nothing left behind when one ends."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import guardtree as gt
import pytest
from guardtree._guardtree import _hook_installed

pytestmark = pytest.mark.usefixtures("hook")


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Runs work(0..count-1) at once; what they returned, or the first exception."""
    results: list[Any] = [None] * count
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def body(n: int) -> None:
        try:
            start.wait(30)
            results[n] = work(n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]
    return results


@pytest.fixture
def busy_switching() -> Iterator[None]:
    """Lets threads alternate every few microseconds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def eventually(claim: Callable[[], bool]) -> bool:
    """A thread's own state goes a moment after join returns on some versions."""
    deadline = time.monotonic() + 5
    while not claim() and time.monotonic() < deadline:
        time.sleep(0.01)
    return claim()


def test_a_new_thread_starts_without_a_callback(only) -> None:
    def f():
        return "plain"

    callback = only(f, lambda *_: gt.ASK_AGAIN)

    def work(_: int) -> Any:
        f()
        return gt.set_eval_frame(None)

    with gt.optimize(callback):
        assert in_threads(3, work) == [None] * 3
    assert callback.calls == 0


def test_each_thread_has_its_own_callback(only) -> None:
    def f():
        return "plain"

    callbacks = [only(f, lambda *_: gt.ASK_AGAIN) for _ in range(4)]

    def work(n: int) -> Any:
        with gt.optimize(callbacks[n]):
            for _ in range(n + 1):
                f()
                time.sleep(0.001)
        return gt.set_eval_frame(None)

    mine = only(f, lambda *_: gt.ASK_AGAIN)
    with gt.optimize(mine):
        assert in_threads(4, work) == [None] * 4
        f()
    assert [callback.calls for callback in callbacks] == [1, 2, 3, 4]
    assert mine.calls == 1


def test_the_evaluator_stays_until_the_last_thread_lets_go() -> None:
    inside, leave = threading.Event(), threading.Event()

    def body() -> None:
        with gt.optimize(False):
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=body)
    with gt.optimize(False):
        thread.start()
        assert inside.wait(30)
    assert _hook_installed()
    leave.set()
    thread.join()
    assert not _hook_installed()


def test_a_thread_that_ends_with_a_callback_installed_lets_go_of_it() -> None:
    class Callback:
        def __call__(self, frame, entry, state):
            return gt.ASK_AGAIN

    callback = Callback()
    alive = weakref.ref(callback)

    def work(_: int) -> None:
        gt.set_eval_frame(callback)  # noqa: F821

    in_threads(2, work)
    assert eventually(lambda: not _hook_installed())
    del callback, work
    assert eventually(lambda: alive() is None)


def test_many_threads_hit_one_entry_at_once(path, swap, busy_switching) -> None:
    def old(a, b):
        return None

    def new(a, b):
        c = [a, b]
        return c

    callback = swap(old, new)
    with gt.optimize(callback):
        old(0, 0)

    def work(n: int) -> int:
        wrong = 0
        with gt.optimize(False):
            for i in range(5000):
                wrong += old(n, i) != [n, i]
        return wrong

    assert in_threads(8, work) == [0] * 8
    assert gt.code_stats(old.__code__)["hits"] > 0
    assert callback.calls == 1


def test_many_threads_compile_one_function_at_once(swap, busy_switching) -> None:
    def old(a):
        return None

    def new(a):
        return [a]

    callback = swap(old, new)

    def work(n: int) -> list[Any]:
        with gt.optimize(callback):
            return [old(n) for _ in range(500)]

    results = in_threads(8, work)
    assert results == [[[n]] * 500 for n in range(8)]
    assert 1 <= len(gt.cache_entries(old.__code__)) <= 8


def test_python_guards_may_switch_threads_in_mid_lookup(swap, busy_switching) -> None:
    def old(a):
        return None

    def new(a):
        return [a]

    def guard(f_locals):
        value = f_locals["a"]
        for _ in range(20):
            time.sleep(0) if value % 7 == 0 else None
        return f_locals["a"] is value

    with gt.optimize(swap(old, new, guard)):
        old(0)

    def work(n: int) -> bool:
        with gt.optimize(False):
            return all(old(n * 1000 + i) == [n * 1000 + i] for i in range(200))

    assert in_threads(8, work) == [True] * 8


def test_resets_in_one_thread_while_others_hit(run_python) -> None:
    source = """
    import gc, sys, threading
    import guardtree as gt
    sys.setswitchinterval(1e-5)

    def old(a):
        return "old", a

    def callback(frame, entry, state):
        if frame.f_code is not old.__code__:
            return gt.ASK_AGAIN
        names = {}
        exec("def new(a):\\n b = [a]\\n return 'new', b[0]", names)
        check = lambda f_locals: type(f_locals["a"]) is int
        return gt.GuardedCode(names["new"].__code__, check)

    done = threading.Event()

    def hit(n):
        gt.set_eval_frame(callback)
        while not done.is_set():
            for i in range(50):
                assert old(i) in (("new", i), ("old", i))
        counts.append(n)

    counts = []
    threads = [threading.Thread(target=hit, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for n in range(2000):
        gt.reset_code(old.__code__)
        if n % 100 == 0:
            gc.collect()
            gt.cache_entries(old.__code__)
            gt.code_stats(old.__code__)
    done.set()
    for thread in threads:
        thread.join()
    print(sorted(counts))
    """
    assert run_python(source).stdout == "[0, 1, 2, 3]\n"


def test_a_generator_of_one_thread_may_go_on_in_another(path, swap) -> None:
    def old(n):
        yield n

    def new(n):
        for i in range(n):
            yield i, threading.get_ident()

    with gt.optimize(swap(old, new)):
        list(old(1))
        generator = old(4)
        first = next(generator)
        [second] = in_threads(1, lambda _: next(generator))
        rest = list(generator)
    assert [i for i, _ in [first, second, *rest]] == [0, 1, 2, 3]
    assert second[1] != first[1] == rest[0][1]


def test_thread_pools_and_locals_work_under_the_hook(hook) -> None:
    from concurrent.futures import ThreadPoolExecutor

    local = threading.local()

    def work(n: int) -> int:
        local.value = n
        time.sleep(0)
        return local.value * 2

    with gt.optimize(lambda *_: gt.ASK_AGAIN), ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(50))) == [n * 2 for n in range(50)]


def test_a_finalizer_at_the_end_of_a_thread_sets_no_callback(run_python) -> None:
    """What it set would be left behind: nothing of the thread is cleared any more."""
    run_python("""
        import gc, sys, threading
        import guardtree as gt
        from guardtree._guardtree import _hook_installed, _hooked_threads

        failures = []
        sys.unraisablehook = lambda told: failures.append(str(told.exc_value))

        def other(frame, entry, state):
            return None

        class Callback:
            def __init__(self, *then):
                self.then = then
            def __call__(self, frame, entry, state):
                return gt.ASK_AGAIN
            def __del__(self):
                for each in self.then:
                    gt.set_eval_frame(each)

        def in_thread(*then):
            thread = threading.Thread(target=lambda: gt.set_eval_frame(Callback(*then)))
            thread.start()
            thread.join()
            gc.collect()
            deadline = 1000
            while _hooked_threads() and deadline:
                threading.Event().wait(0.01)
                deadline -= 1
            assert _hooked_threads() == 0 and not _hook_installed()

        in_thread(other)
        assert len(failures) == 1 and "ending" in failures[0], failures
        in_thread(None, None)
        in_thread(None, other, None)
        assert len(failures) == 2, failures
        gt.set_eval_frame(other)
        assert _hooked_threads() == 1
        gt.set_eval_frame(None)
        """)


@pytest.mark.parametrize("when", ["local", "profile"])
def test_a_finalizer_at_the_end_of_a_thread_that_had_no_callback_leaves_none(
    when, run_python
) -> None:
    """The thread's state is half gone, and not cleared a second time."""
    run_python(f"""
        import sys, threading, time
        import guardtree as gt
        from guardtree._guardtree import _hook_installed, _hooked_threads

        class Finalizer:
            def __del__(self):
                gt.set_eval_frame(lambda *_: gt.ASK_AGAIN)

        local = threading.local()
        def body():
            if {when!r} == "local":
                local.value = Finalizer()
            else:
                sys.setprofile(lambda *_, kept=Finalizer(): None)

        for _ in range(3):
            thread = threading.Thread(target=body)
            thread.start()
            thread.join()
        deadline = time.monotonic() + 20
        while _hooked_threads() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert _hooked_threads() == 0 and not _hook_installed()
        gt.set_eval_frame(False)
        assert _hooked_threads() == 1
        gt.set_eval_frame(None)
        """)
