"""What happens inside user code, and what must hold then: one function per condition.

Each gets a case and its act, in a process of its own. AssertionError tells what fails.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import guardtree as gt
from scene import (
    ANY,
    EITHER,
    RAISES,
    UNRAISABLE,
    Act,
    Case,
    Hook,
    function,
    hit,
    other_code,
)

BATCHES = 50
TURNS = 60  # blocks that a call leaves behind are counted over so many calls


def called(case: Case, act: Act, answer: Any) -> Any:
    """Calls it once; the act ran, and the answer is right."""
    before = act.calls
    found = case.run()
    assert act.calls > before, "the user code did not run"
    assert answer is ANY or found == answer, f"expected {answer!r}, found {found!r}"
    return found


def grown(case: Case) -> int:
    """Blocks of memory more after many calls."""
    before = sys.getallocatedblocks()
    for _ in range(TURNS):
        case.run()
    gc.collect()
    return sys.getallocatedblocks() - before


def assert_nothing_left(case: Case) -> None:
    """A call leaves no block behind. What grows once, such as a cache, does not grow in
    every batch: since 3.12 CPython's cache of attributes keeps the str that one was
    asked for by, some thousands of them."""
    gc.collect()  # or the first batch shrinks, by what lay about before
    leaks = all(grown(case) > TURNS // 2 for _ in range(BATCHES))
    assert not leaks, "every call leaves a block of memory behind"


def plainly(case: Case, act: Act) -> None:
    """Nothing happens: the answer is right, and no memory is left behind."""
    act.do = lambda: None
    called(case, act, case.answer)
    assert_nothing_left(case)


def pause(case: Case, act: Act) -> None:
    """The hook's callback is not asked about the act's frames."""
    act.do = lambda: None
    called(case, act, case.answer)
    Hook.offered.clear()
    called(case, act, case.answer)
    assert "user_code" not in Hook.offered, "the callback was asked about user code"


def collect(case: Case, act: Act) -> None:
    """gc.collect()"""
    act.do = gc.collect
    called(case, act, case.answer)
    called(case, act, case.answer)


def settle() -> None:
    """Runs a little, so that a pending interrupt comes."""
    for _ in range(3):
        pass


def raising(case: Case, act: Act, error: type[BaseException], answer: Any) -> None:
    """An exception comes out, or is a miss, or is unraisable."""
    unraisable: list[Any] = []
    sys.unraisablehook = lambda about: unraisable.append(about.exc_type)

    def fail() -> None:
        raise error("by the act")

    act.do = fail
    if answer in (RAISES, EITHER):
        try:
            found = case.run()
            settle()
        except error as caught:
            # One that comes out of a message comes later, and without arguments.
            assert caught.args in (("by the act",), ()), caught
        else:
            right = answer is EITHER and found == case.answer
            assert right, f"nothing was raised: {found!r}"
    elif answer is UNRAISABLE:
        called(case, act, case.answer)
        assert error in unraisable, "the exception went nowhere"
    else:
        called(case, act, answer)
        assert not unraisable, unraisable

    def quietly() -> None:
        try:
            case.run()
            settle()
        except error:
            pass

    assert_nothing_left(Case(quietly, None))
    act.do = None
    called(case, act, case.answer)


def exception(case: Case, act: Act) -> None:
    """ValueError"""
    raising(case, act, ValueError, case.ordinary)


def interrupt(case: Case, act: Act) -> None:
    """KeyboardInterrupt"""
    raising(case, act, KeyboardInterrupt, case.interrupt)


def code(case: Case, act: Act) -> None:
    """The scope's function gets other code, for good and in the middle of the call."""
    scope = case.function
    assert scope is not None
    old, new = scope.__code__, other_code(scope)

    def replace() -> None:
        scope.__code__ = new

    act.do = replace
    called(case, act, case.answer)
    scope.__code__ = old
    act.do = None
    called(case, act, case.answer)


def removal(case: Case, act: Act) -> None:
    """The entry is removed: this call goes on with it, the next one runs without."""
    assert case.remove is not None
    act.do = case.remove
    called(case, act, case.answer if case.removed is None else case.removed)
    act.do = None
    case.run()


def switch(case: Case, act: Act) -> None:
    """Two greenlets are inside, in turns; one is killed inside."""
    import greenlet

    main = greenlet.getcurrent()
    results: dict[str, Any] = {}

    def body(name: str) -> None:
        results[name] = "begun"
        results[name] = case.run()

    def park() -> None:
        if greenlet.getcurrent() is not main:
            main.switch()

    def resumed(name: str, started: Any) -> None:
        while not started.dead:
            started.switch()
        right = case.answer is ANY or results[name] == case.answer
        assert right, f"expected {case.answer!r}, found {results[name]!r}"

    act.do = park
    one, two = (greenlet.greenlet(lambda name=name: body(name)) for name in ("1", "2"))
    one.switch()
    assert not one.dead, "the user code did not switch"
    hook_works()
    called(case, act, case.answer)
    two.switch()
    hook_works()
    resumed("1", one)
    hook_works()
    resumed("2", two)
    if case.interrupt is not UNRAISABLE:
        killed = greenlet.greenlet(lambda: body("killed"))
        killed.switch()
        del killed
        gc.collect()
    called(case, act, case.answer)


class Slow:
    """Keeps the interpreter's end busy, so that daemon threads meet it."""

    def __del__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        sleep(0.1)


KEPT: list[Any] = []


def daemon(case: Case, act: Act) -> None:
    """A daemon thread is inside when the interpreter ends."""
    main, inside = threading.get_ident(), threading.Event()

    def wait() -> None:
        if threading.get_ident() != main:
            inside.set()
            for _ in range(100_000):
                time.sleep(0.0002)

    def body() -> None:
        gt.set_eval_frame(Hook.callback)
        case.run()

    act.do = wait
    threading.Thread(target=body, daemon=True).start()
    assert inside.wait(20), "the user code did not run"
    sys.slow = Slow()  # type: ignore[attr-defined]
    KEPT.append(Slow())


def probe(a: int, b: int = 2) -> tuple[Any, ...]:
    return "plain", a, b


def hook_works() -> None:
    """A hit is a hit, and the callback is asked about code that it does not know."""
    Hook.answers[probe.__code__] = lambda frame: gt.GuardedCode(
        hit.__code__, lambda found: True
    )
    before = gt.code_stats(probe)["hits"]
    assert probe(1) == ("hit", 1, 2), "the hook does not run an entry"
    assert probe(1) == ("hit", 1, 2), "the hook does not run an entry"
    assert gt.code_stats(probe)["hits"] > before, "a hit is not counted"
    Hook.offered.clear()
    function("unknown")(1)
    assert "unknown" in Hook.offered, "the callback is not asked"


CONDITIONS = {
    "nothing": plainly,
    "pause": pause,
    "gc": collect,
    "exception": exception,
    "interrupt": interrupt,
    "code": code,
    "removal": removal,
    "greenlet": switch,
    "daemon": daemon,
}


def applies(condition: str, case: Case) -> bool:
    """Whether the case has what the condition needs."""
    if condition == "removal":
        return case.remove is not None
    if condition == "pause":
        return case.is_paused
    return condition != "code" or case.function is not None
