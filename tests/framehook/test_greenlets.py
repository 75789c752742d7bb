"""Greenlets take turns on one thread; each has pauses and limits of its own."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

greenlet = pytest.importorskip("greenlet")

pytestmark = pytest.mark.usefixtures("hook")


def park() -> None:
    """Lets the greenlet that started this one go on."""
    greenlet.getcurrent().parent.switch()


def hit(a):
    return "hit"


@pytest.fixture
def f(fresh) -> Callable[[Any], str]:
    """A function of its own code, which answers "plain" where the hook is off."""
    return fresh("def f(a):\n    return 'plain'\n", "f")


@pytest.fixture
def nested(fresh) -> Callable[[Callable[[], Any]], Any]:
    """A function that calls what it is given, with code of its own."""
    return fresh("def nested(body):\n    return body()\n", "nested")


@pytest.fixture
def limited(nested):
    """The same, and the hook is off for all that it calls."""
    gt.skip_code(nested.__code__, recursive=True)
    yield nested
    gt.reset_code(nested)


def started(body: Callable[[], Any]) -> Any:
    made = greenlet.greenlet(body)
    made.switch()
    return made


def test_a_limit_holds_in_its_own_greenlet_alone(f, limited, swap) -> None:
    seen: list[str] = []

    def body() -> None:
        seen.append(f(1))
        park()
        seen.append(f(1))

    with gt.optimize(swap(f, hit)):
        assert f(1) == "hit"
        first = started(lambda: limited(body))
        assert f(1) == "hit"
        second = started(lambda: limited(body))
        assert f(1) == "hit"
        first.switch()
        assert f(1) == "hit"
        second.switch()
        assert first.dead and second.dead
        assert f(1) == "hit"
    assert seen == ["plain"] * 4


def test_a_greenlet_made_inside_a_limit_starts_without_it(f, limited, swap) -> None:
    with gt.optimize(swap(f, hit)):
        f(1)
        made = limited(lambda: started(lambda: [f(1), park(), f(1)]))
        assert made.switch() == ["hit", None, "hit"]


def test_run_only_holds_in_its_own_greenlet_alone(f, nested, swap) -> None:
    gt.run_only(nested.__code__)
    callback = swap(f, hit)
    with gt.optimize(callback):
        first, second = (started(lambda: nested(lambda: [park(), f(1)])) for _ in "ab")
        assert first.switch() == [None, "plain"]
        assert callback.calls == 0
        assert f(1) == "hit"
        assert second.switch() == [None, "hit"]
    gt.reset_code(nested)


def test_a_parked_guard_pauses_its_own_greenlet_alone(f, swap) -> None:
    inside: list[str] = []

    def guard(f_locals: dict[str, Any]) -> bool:
        if f_locals["a"] == "park":
            park()
            inside.append(f("inside"))
        return True

    with gt.optimize(swap(f, hit, guard)):
        assert f(1) == "hit"
        first = started(lambda: f("park"))
        assert f(2) == "hit"
        second = started(lambda: f("park"))
        assert f(3) == "hit"
        assert first.switch() == "hit"
        assert f(4) == "hit"
        assert second.switch() == "hit"
        assert f(5) == "hit"
    assert inside == ["plain", "plain"]


def test_a_guard_that_is_a_switch_itself(f, swap) -> None:
    """No frame of the greenlet tells the hook that it runs again."""
    main = greenlet.getcurrent()
    with gt.optimize(swap(f, hit, main.switch)):
        f(1)  # the entry is made, and not checked
        parked = [started(lambda: f(1)) for _ in range(3)]
        gt.reset_code(f)
    with gt.optimize(swap(f, hit)):
        for each in (parked[1], parked[0], parked[2]):
            assert f(1) == "hit"
            assert each.switch(True) == "hit"
            assert f(1) == "hit"


def test_a_parked_callback_pauses_its_own_greenlet_alone(f, fresh) -> None:
    g = fresh("def g(a):\n    return 'plain g'\n", "g")
    asked: list[str] = []

    def callback(frame, entry, state):
        if frame.f_code is f.__code__:
            asked.append("f")
            park()
            return gt.GuardedCode(hit.__code__, gt.GuardManager(frame.f_code))
        if frame.f_code is g.__code__:
            asked.append("g")
            return gt.GuardedCode(hit.__code__, gt.GuardManager(frame.f_code))
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        parked = started(lambda: f(1))
        assert g(1) == "hit"
        assert parked.switch() == "hit"
    assert asked == ["f", "g"]


def test_a_greenlet_killed_inside_a_guard_leaves_no_pause(f, swap) -> None:
    def guard(f_locals: dict[str, Any]) -> bool:
        if f_locals["a"] == "park":
            park()
        return True

    with gt.optimize(swap(f, hit, guard)):
        f(1)
        other = started(lambda: f("park"))
        killed = started(lambda: f("park"))
        del killed
        gc.collect()
        assert f(1) == "hit"
        other.throw()
        assert f(1) == "hit"


def test_a_callback_set_while_a_guard_is_parked_takes_effect(f, swap) -> None:
    def guard(f_locals: dict[str, Any]) -> bool:
        if f_locals["a"] == "park":
            park()
        return True

    with gt.optimize(swap(f, hit, guard)):
        f(1)
        parked = started(lambda: (f("park"), f(1)))
        gt.set_eval_frame(None)
        assert f(1) == "plain"
        assert parked.switch() == ("hit", "plain")
        assert f(1) == "plain"


def test_thousands_of_greenlets_wait_inside_limits(f, limited, swap) -> None:
    def body() -> list[str]:
        before = f(1)
        park()
        return [before, f(1)]

    order = random.Random(4)
    with gt.optimize(swap(f, hit)):
        f(1)
        waiting = [started(lambda: limited(body)) for _ in range(2000)]
        assert f(1) == "hit"
        order.shuffle(waiting)
        for each in waiting:
            assert each.switch() == ["plain", "plain"]
            assert f(1) == "hit"


def test_a_limit_holds_however_deep_its_calls_go(f, limited, swap) -> None:
    """Deep calls take several chunks of the data stack."""

    def dive(n: int) -> list[str]:
        if n == 0:
            park()
            return [f(1)]
        return [f(1), *dive(n - 1)]

    with gt.optimize(swap(f, hit)):
        f(1)
        first, second = (started(lambda: limited(lambda: dive(400))) for _ in "ab")
        assert f(1) == "hit"
        assert first.switch() == ["plain"] * 401
        assert second.switch() == ["plain"] * 401
        assert f(1) == "hit"


def test_an_entry_that_is_called_and_parked_before_its_frame_is_made(f, swap) -> None:
    """The hook leaves the frame of the entry's code alone, in that greenlet."""

    class Name(str):
        def __eq__(self, other: object) -> bool:
            park()
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    def takes(**names):
        return "plain", [*names]

    def new(**names):
        return "hit", [*names]

    gt._guardtree._force_called(True)
    with gt.optimize(swap(takes, new)):
        takes(a=1)
        one = greenlet.greenlet(lambda: takes(**{Name("b"): 1}))
        two = greenlet.greenlet(lambda: takes(**{Name("c"): 1}))
        waiting = [one, two]
        while waiting:
            for each in list(waiting):
                result = each.switch()
                if each.dead:
                    assert result[0] == "hit"
                    waiting.remove(each)
            assert takes(d=1) == ("hit", ["d"])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs 3.12")
def test_guards_of_a_guarded_function_pause_their_own_greenlet(f) -> None:
    inside: list[str] = []

    class Value:
        def __init__(self, parks: bool) -> None:
            self.parks = parks

        @property
        def p(self) -> int:
            if self.parks:
                park()
                inside.append(f(Value(False)))
            return 1

    guards = gt.GuardManager(f)
    guards.local("a").attr("p").equals(1)
    gt.guard_function(f).add(guards, hit)
    first, second = (started(lambda: f(Value(True))) for _ in "ab")
    assert f(Value(False)) == "hit"
    assert first.switch() == "hit"
    assert f(Value(False)) == "hit"
    assert second.switch() == "hit"
    assert inside == ["plain", "plain"]


def test_each_thread_has_greenlets_of_its_own(f, limited, swap) -> None:
    results: list[Any] = []

    def body() -> None:
        with gt.optimize(swap(f, hit)):
            f(1)
            parked = started(lambda: limited(lambda: [f(1), park(), f(1)]))
            outside = f(1)
            results.append((outside, parked.switch(), f(1)))
            started(lambda: limited(park))  # still waits when its thread ends

    for _ in range(3):
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
    assert results == [("hit", ["plain", None, "plain"], "hit")] * 3


@pytest.mark.parametrize("seed", range(20))
def test_records_nest_in_each_greenlet_whatever_the_others_do(
    seed, f, fresh, swap
) -> None:
    """Random switches inside random nests; each call knows what it has to give."""
    choose = random.Random(seed)
    limited = fresh("def nested(body):\n    return body()\n", "nested")
    gt.skip_code(limited.__code__, recursive=True)
    paused = fresh("def paused(a):\n    return 'plain'\n", "paused")
    bodies: dict[int, Callable[[], None]] = {}

    def guard(f_locals: dict[str, Any]) -> bool:
        if f_locals["a"] in bodies:
            bodies.pop(f_locals["a"])()
        return True

    def callback(frame, entry, state):
        if frame.f_code is f.__code__:
            return gt.GuardedCode(hit.__code__, gt.GuardManager(frame.f_code))
        if frame.f_code is paused.__code__:
            return gt.GuardedCode(hit.__code__, guard)
        return gt.ASK_AGAIN

    others: list[Any] = []
    keys = iter(range(1, 1 << 30))

    def act(depth: int, is_on: bool) -> None:
        for _ in range(choose.randrange(4)):
            assert f(1) == ("hit" if is_on else "plain")
            what = choose.randrange(5)
            if what == 0 and depth < 5:
                limited(lambda: act(depth + 1, False))
            elif what == 1 and depth < 5 and is_on:
                key = next(keys)
                bodies[key] = lambda: act(depth + 1, False)
                assert paused(key) == "hit"
            elif what == 2 and len(others) < 30:
                others.append(greenlet.greenlet(lambda: act(0, True)))
            elif others:
                park_or_switch()
            assert f(1) == ("hit" if is_on else "plain")

    def park_or_switch() -> None:
        live = [each for each in others if not each.dead]
        if live and choose.randrange(2):
            choose.choice(live).switch()
        elif greenlet.getcurrent().parent:
            greenlet.getcurrent().parent.switch()

    with gt.optimize(callback):
        f(1)
        paused(0)
        for _ in range(30):
            act(0, True)
        for each in others:
            while not each.dead:
                each.switch()
        act(0, True)
    gt.reset_code(f)
    gt.reset_code(paused)


def test_a_frame_is_read_from_another_greenlet_while_its_callback_is_parked(f) -> None:
    """The C stack of a greenlet that waits is moved away."""
    frames: list[Any] = []

    def callback(frame, entry, state):
        if frame.f_code is not f.__code__:
            return gt.ASK_AGAIN
        frames.append(frame)
        park()
        return gt.GuardedCode(hit.__code__, gt.GuardManager(frame.f_code))

    def use_stack(n: int) -> int:
        return sum(sorted([n], key=lambda _: use_stack(n - 1))) if n else 0

    with gt.optimize(callback):
        parked = [started(lambda n=n: f(f"argument {n}")) for n in range(3)]
        use_stack(50)
        for n, frame in enumerate(frames):
            assert frame.f_code is f.__code__
            assert frame.f_locals == {"a": f"argument {n}"}
            assert frame.function is f
        assert [each.switch() for each in parked] == ["hit"] * 3
    for frame in frames:
        with pytest.raises(RuntimeError, match="callback that is over"):
            frame.f_locals
    assert gt.code_stats(f)["dicts_built"] == 3


def test_code_that_does_not_fit_is_told_of_the_callback_of_this_greenlet(
    f, fresh
) -> None:
    g = fresh("def g():\n    return 'plain g'\n", "g")
    told: list[str] = []

    def callback(frame, entry, state):
        if frame.f_code not in (f.__code__, g.__code__):
            return gt.ASK_AGAIN
        park()
        try:
            return gt.GuardedCode(hit.__code__, gt.GuardManager(frame.f_code))
        except ValueError as error:
            told.append(str(error))
            return gt.ASK_AGAIN

    with gt.optimize(callback):
        of_f, of_g = started(lambda: f(1)), started(g)
        assert of_f.switch() == "hit"
        assert of_g.switch() == "plain g"
    assert len(told) == 1 and "'g'" in told[0]


def test_coroutines_of_asyncio_interleave_inside_limits(f, swap, fresh) -> None:
    coroutine = fresh(
        """
        async def coroutine(f, sleep, seen):
            for _ in range(3):
                seen.append(f(1))
                await sleep(0)
        """,
        "coroutine",
    )
    free = fresh(
        """
        async def free(f, sleep, seen):
            for _ in range(3):
                seen.append(f(1))
                await sleep(0)
        """,
        "free",
    )
    gt.skip_code(coroutine.__code__, recursive=True)
    inside: list[str] = []
    outside: list[str] = []

    async def main() -> None:
        await asyncio.gather(
            *(coroutine(f, asyncio.sleep, inside) for _ in range(3)),
            *(free(f, asyncio.sleep, outside) for _ in range(3)),
        )

    with gt.optimize(swap(f, hit)):
        f(1)
        asyncio.run(main())
        assert f(1) == "hit"
    assert inside == ["plain"] * 9
    assert outside == ["hit"] * 9


def test_gevent_tasks_wait_inside_limits(f, limited, swap) -> None:
    gevent = pytest.importorskip("gevent")

    def body() -> list[str]:
        seen = []
        for _ in range(5):
            seen.append(f(1))
            gevent.sleep(0)
        return seen

    with gt.optimize(swap(f, hit)):
        f(1)
        inside = [gevent.spawn(limited, body) for _ in range(20)]
        outside = [gevent.spawn(body) for _ in range(20)]
        gevent.joinall(inside + outside)
        assert all(each.value == ["plain"] * 5 for each in inside)
        assert all(each.value == ["hit"] * 5 for each in outside)
