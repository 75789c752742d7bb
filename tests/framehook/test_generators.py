"""Generators are looked up when they are created, never when they go on."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import guardtree as gt
import pytest


def drain(generator: Any) -> tuple[list[Any], Any]:
    """What a generator yields, and what it returns."""
    values = []
    while True:
        try:
            values.append(next(generator))
        except StopIteration as stop:
            return values, stop.value


def test_a_generator_is_asked_about_when_created_and_not_when_resumed(only) -> None:
    def numbers(n):
        yield from range(n)

    callback = only(numbers, lambda *_: gt.ASK_AGAIN)
    with gt.optimize(callback):
        generator = numbers(5)
        assert callback.calls == 1
        assert list(generator) == [0, 1, 2, 3, 4]
    assert callback.calls == 1


def test_an_entry_is_never_hit_by_a_resumed_generator(swap) -> None:
    def old(n):
        yield from range(n)

    def new(n):
        for i in range(n):
            yield -i

    early = old(4)
    assert next(early) == 0
    with gt.optimize(swap(old, new)):
        assert list(old(3)) == [0, -1, -2]
        before = gt.code_stats(old.__code__)["lookups"]
        assert list(early) == [1, 2, 3]
        assert gt.code_stats(old.__code__)["lookups"] == before


def test_a_generator_made_before_the_hook_starts_plain_under_it(only) -> None:
    def f():
        yield "plain"

    early = f()
    callback = only(f, lambda *_: gt.ASK_AGAIN)
    with gt.optimize(callback):
        assert list(early) == ["plain"]
        assert callback.calls == 0


def test_a_replaced_generator_yields_takes_and_returns(path, swap) -> None:
    def old(a, b=2):
        yield a
        return b

    def new(a, b):
        got = yield [a]
        other = yield [got, b]
        return other

    with gt.optimize(swap(old, new)):
        for _ in range(3):
            generator = old(1)
            assert generator.gi_code is new.__code__
            assert next(generator) == [1]
            assert generator.send("x") == ["x", 2]
            with pytest.raises(StopIteration) as stop:
                generator.send("end")
            assert stop.value.value == "end"


def test_a_replaced_generator_is_named_after_its_function(path, swap) -> None:
    def old():
        yield "old"

    def new():
        larger = "new"
        yield [[larger]]

    old.__name__, old.__qualname__ = "own", "its.own"
    with gt.optimize(swap(old, new)):
        for _ in range(2):
            generator = old()
            assert (generator.__name__, generator.__qualname__) == ("own", "its.own")


@pytest.mark.parametrize("count", [2, 50, 3000])
def test_a_replaced_generator_may_need_a_larger_frame(count, path, swap, fresh) -> None:
    def old(a):
        yield a

    body = "\n".join(f"    v{i} = a + {i}" for i in range(count))
    total = ", ".join(f"v{i}" for i in range(count))
    source = f"def new(a):\n{body}\n    yield a\n    yield sum([{total}])"
    new = fresh(source, "new")
    with gt.optimize(swap(old, new)):
        for _ in range(3):
            generators = [old(n) for n in range(3)]
            results = [list(generator) for generator in generators]
            assert results == [list(new(n)) for n in range(3)]


def test_a_replaced_generator_keeps_cells_and_free_variables(path, swap) -> None:
    def outer():
        total = 0

        def old(a):
            nonlocal total
            total += a
            yield lambda: a

        def new(a):
            nonlocal total
            total += 10 * a
            yield lambda: -a

        return old, new, lambda: total

    old, new, read = outer()
    with gt.optimize(swap(old, new)):
        assert [f() for f in old(1)] == [-1]
        assert [f() for f in old(2)] == [-2]
    assert read() == 30


@pytest.mark.parametrize("started", [False, True])
def test_throw_reaches_a_generator_without_a_lookup(started, path, swap) -> None:
    log: list[str] = []

    def old():
        yield "old", log

    def new():
        log.append("started")
        try:
            yield "new"
        except KeyError:
            log.append("caught")
            yield "after"
        finally:
            log.append("finally")

    with gt.optimize(swap(old, new)):
        list(old())
        del log[:]
        generator = old()
        if started:
            next(generator)
        before = gt.code_stats(old.__code__)["lookups"]
        if started:
            assert generator.throw(KeyError()) == "after"
            assert list(generator) == []
            assert log == ["started", "caught", "finally"]
        else:
            with pytest.raises(KeyError):
                generator.throw(KeyError())
            assert log == []
        assert gt.code_stats(old.__code__)["lookups"] == before


@pytest.mark.parametrize("how", ["close", "delete"])
def test_with_and_finally_run_when_a_generator_is_dropped(how, path, swap) -> None:
    log: list[str] = []

    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, kind, value, trace):
            log.append(kind.__name__)

    def old():
        yield Manager, log

    def new():
        with Manager():
            try:
                yield "new"
            finally:
                log.append("finally")

    with gt.optimize(swap(old, new)):
        for make in (new, old, old):
            generator = make()
            assert next(generator) == "new"
            if how == "close":
                generator.close()
            else:
                del generator
                gc.collect()
            assert log == ["finally", "GeneratorExit"]
            del log[:]


def test_yield_from_passes_through_replaced_generators(path, swap) -> None:
    def old(n):
        if n:
            yield from old(n - 1)
        yield n

    def new(n):
        if n:
            got = yield from old(n - 1)
            yield got
        yield -n
        return f"end {n}"

    with gt.optimize(swap(old, new)):
        for _ in range(2):
            assert drain(old(2)) == ([0, "end 0", -1, "end 1", -2], "end 2")


def test_a_generator_expression_is_a_code_of_its_own(only) -> None:
    def squares(n):
        return (i * i for i in range(n))

    [code] = [c for c in squares.__code__.co_consts if hasattr(c, "co_code")]
    callback = only(code, lambda frame, *_: gt.GuardedCode(code, lambda _: True))
    with gt.optimize(callback):
        assert [list(squares(4)) for _ in range(3)] == [[0, 1, 4, 9]] * 3
    assert callback.calls == 1
    assert gt.code_stats(code)["hits"] == 2


def test_a_generator_may_end_after_the_hook_and_in_another_thread(path, swap) -> None:
    def old():
        yield "old"

    def new():
        yield 1
        yield 2
        yield 3

    with gt.optimize(swap(old, new)):
        old()
        generator = old()
        assert next(generator) == 1
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(next(generator)))
    thread.start()
    thread.join()
    assert got == [2]
    assert list(generator) == [3]


def test_an_exception_in_a_replaced_generator_names_it(path, swap) -> None:
    def old(a):
        yield a

    def new(a):
        yield a
        raise ValueError(a)

    with gt.optimize(swap(old, new)):
        for _ in range(2):
            with pytest.raises(ValueError) as caught:
                list(old(1))
            last = caught.traceback[-1]
            assert last.name == "new"


def test_a_dropped_generator_releases_its_arguments(path, swap) -> None:
    class Thing:
        pass

    def old(a, *args, **kw):
        yield a

    def new(a, *args, **kw):
        kept = [a, args, kw]
        yield len(kept)

    watched = (old, old.__code__, new.__code__)
    with gt.optimize(swap(old, new)):
        list(old(None))
        before = [sys.getrefcount(x) for x in watched]
        for consumed in (0, 1, 2) * 300:
            thing = Thing()
            alive = weakref.ref(thing)
            generator = old(thing, thing, z=thing)
            for _ in range(consumed):
                next(generator, None)
            del generator, thing
            assert alive() is None
        assert [sys.getrefcount(x) for x in watched] == before
