"""Coroutines, asynchronous generators and whole asyncio programs under the hook."""

from __future__ import annotations

import asyncio
import contextlib
import types
import warnings
from typing import Any

import guardtree as gt
import pytest


def run(coroutine: Any) -> Any:
    """Drives a coroutine that awaits nothing foreign: its return value."""
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)
    return stop.value.value


@types.coroutine
def pause(value: Any) -> Any:
    return (yield value)


def test_a_replaced_coroutine_is_awaited_and_closed_like_any_other(path, swap) -> None:
    async def old(a):
        return await pause(a)

    async def new(a):
        first = await pause([a])
        second = await pause(first)
        return second, a

    async def outer():
        return await old(1)

    with warnings.catch_warnings(), gt.optimize(swap(old, new)):
        warnings.simplefilter("error")  # "never awaited" would mean a second coroutine
        for _ in range(3):
            coroutine = old(1)
            assert coroutine.cr_code is new.__code__
            coroutine.close()
            coroutine = outer()
            assert coroutine.send(None) == [1]
            assert coroutine.send("x") == "x"
            with pytest.raises(StopIteration) as stop:
                coroutine.send("y")
            assert stop.value.value == ("y", 1)


def test_a_coroutine_is_asked_about_once_however_often_it_pauses(only) -> None:
    async def f():
        return [await pause(n) for n in range(5)]

    callback = only(f, lambda *_: gt.ASK_AGAIN)
    with gt.optimize(callback):
        coroutine = f()
        assert [coroutine.send(None) for _ in range(5)] == list(range(5))
        coroutine.close()
    assert callback.calls == 1


def test_throw_into_a_paused_replaced_coroutine_is_caught_inside(path, swap) -> None:
    async def old():
        return None

    async def new():
        try:
            await pause("waiting")
        except KeyError:
            return "caught"
        finally:
            await pause("finally")

    with gt.optimize(swap(old, new)):
        for _ in range(2):
            coroutine = old()
            assert coroutine.send(None) == "waiting"
            assert coroutine.throw(KeyError()) == "finally"
            assert run(coroutine) == "caught"


def test_a_generator_based_coroutine_can_be_replaced(path, swap) -> None:
    @types.coroutine
    def old(a):
        return (yield a)

    @types.coroutine
    def new(a):
        return [(yield [a])]

    async def outer():
        return await old(1)

    with gt.optimize(swap(old, new)):
        for _ in range(2):
            coroutine = outer()
            assert coroutine.send(None) == [1]
            with pytest.raises(StopIteration) as stop:
                coroutine.send("x")
            assert stop.value.value == ["x"]


def test_an_asynchronous_generator_can_be_replaced(path, swap) -> None:
    log: list[str] = []

    async def old(n):
        yield n, log

    async def new(n):
        try:
            for i in range(n):
                try:
                    got = yield i
                    log.append(f"got {got}")
                except KeyError:
                    log.append("caught")
        finally:
            log.append("finally")

    async def use() -> list[Any]:
        values = [value async for value in old(2)]
        generator = old(9)
        values.append(await generator.asend(None))
        values.append(await generator.asend("x"))
        values.append(await generator.athrow(KeyError()))
        await generator.aclose()
        async with contextlib.aclosing(old(9)) as closing:
            async for value in closing:
                values.append(value)
                break
        return values

    expected_log = ["got None", "got None", "finally"]
    expected_log += ["got x", "caught", "finally", "finally"]
    with gt.optimize(swap(old, new)):
        for _ in range(3):
            assert run(use()) == [0, 1, 0, 1, 2, 0]
            assert log == expected_log
            del log[:]


async def worker(queue: asyncio.Queue[Any], out: list[Any]) -> None:
    try:
        while True:
            out.append(await compute(await queue.get()))
            queue.task_done()
    finally:
        out.append("cancelled")


async def compute(n: int) -> int:
    await asyncio.sleep(0)
    return n * n


async def compute_more(n: int) -> int:
    await asyncio.sleep(0)
    first = await asyncio.wait_for(asyncio.sleep(0, n * n), 5)
    return first


async def program() -> Any:
    """Queues, tasks, cancellation, a time-out and a group of failing tasks."""
    queue: asyncio.Queue[Any] = asyncio.Queue()
    out: list[Any] = []
    tasks = [asyncio.create_task(worker(queue, out)) for _ in range(3)]
    for n in range(20):
        queue.put_nowait(n)
    await queue.join()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    timed_out = False
    try:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(30)
    except TimeoutError:
        timed_out = True

    async def fail() -> None:
        raise KeyError

    caught = 0
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
            group.create_task(asyncio.sleep(30))
    except* KeyError as errors:
        caught = len(errors.exceptions)
    numbers = sorted(x for x in out if x != "cancelled")
    return numbers, out.count("cancelled"), timed_out, caught


EXPECTED = ([n * n for n in range(20)], 3, True, 1)


def test_an_asyncio_program_runs_unchanged_while_every_frame_is_seen(hook) -> None:
    seen: set[str] = set()

    def callback(frame, entry, state):
        seen.add(frame.f_code.co_name)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        result = asyncio.run(program())
    assert result == EXPECTED
    assert {"program", "worker", "compute", "fail"} <= seen


def test_an_asyncio_program_runs_unchanged_with_an_entry_on_every_code(
    path, run_python
) -> None:
    # Every code of asyncio gets an entry, so it happens in a process of its own.
    source = f"""
    import sys
    sys.path.insert(0, {str(__file__).rpartition("/")[0]!r})
    import guardtree as gt
    from guardtree import _guardtree
    import asyncio
    import test_coroutines as example

    entries = 0
    def callback(frame, entry, state):
        global entries
        entries += 1
        return gt.GuardedCode(frame.f_code, lambda f_locals: True)

    _guardtree._force_called({path == "called"})
    with gt.optimize(callback):
        result = asyncio.run(example.program())
    assert result == example.EXPECTED, result
    assert entries > 50, entries
    """
    run_python(source)


def test_a_replaced_coroutine_runs_under_asyncio(path, swap) -> None:
    with gt.optimize(swap(compute, compute_more)):
        assert asyncio.run(program()) == EXPECTED
    stats = gt.code_stats(compute.__code__)
    assert stats["hits"] >= 19
    gt.reset_code(compute.__code__)


def test_cancelling_a_task_runs_the_finally_of_its_replacement(path, swap) -> None:
    log: list[str] = []

    async def old():
        await asyncio.sleep(30, log)

    async def new():
        try:
            await asyncio.sleep(30)
        finally:
            log.append("finally")

    async def main():
        task = asyncio.create_task(old())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with gt.optimize(swap(old, new)):
        asyncio.run(main())
        asyncio.run(main())
    assert log == ["finally"] * 2
