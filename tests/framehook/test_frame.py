"""The frame that a callback is given: what it says, and when it stops saying it."""

from __future__ import annotations

import builtins
import gc
import inspect
import sys
import types
import weakref
from typing import Any

import guardtree as gt
import pytest

ATTRIBUTES = [
    "f_code",
    "f_locals",
    "f_globals",
    "f_builtins",
    "f_lasti",
    "f_lineno",
    "closure",
    "__module__",
]


def ask(only: Any, function: Any, call: Any, question: Any) -> Any:
    """What `question(frame)` says in the callback for one call."""
    answers: list[Any] = []

    def answer(frame, entry, state):
        answers.append(question(frame))
        return gt.ASK_AGAIN

    with gt.optimize(only(function, answer)):
        call()
    [only_answer] = answers
    return only_answer


def example(a, b=2, *args, k=3, **kw):
    c = a
    return c


def test_the_attributes_are_those_of_a_frame_at_its_first_instruction(only) -> None:
    def question(frame):
        assert isinstance(frame, gt.DynamoFrameType)
        assert frame.f_code is example.__code__
        assert frame.f_globals is globals()
        assert frame.f_builtins is builtins.__dict__
        assert frame.f_lasti in (-1, 0)
        assert frame.f_lineno == example.__code__.co_firstlineno
        assert frame.__module__ == __name__
        assert not frame.closure
        return frame.f_locals

    expected = {"a": 1, "b": 2, "args": (5,), "k": 3, "kw": {"z": 6}}
    assert ask(only, example, lambda: example(1, 2, 5, z=6), question) == expected


def test_f_locals_is_a_dict_so_a_missing_name_is_a_key_error(only) -> None:
    def question(frame):
        with pytest.raises(KeyError):
            frame.f_locals["c"]
        return type(frame.f_locals)

    assert ask(only, example, lambda: example(1), question) is dict


def test_f_locals_holds_the_very_objects_of_the_call(only) -> None:
    value, other = object(), object()
    found = ask(only, example, lambda: example(value, k=other), lambda f: f.f_locals)
    assert found["a"] is value
    assert found["k"] is other


def test_changing_f_locals_changes_no_local(only) -> None:
    def answer(frame, entry, state):
        frame.f_locals["a"] = "changed"
        frame.f_locals.pop("b")
        return gt.ASK_AGAIN

    with gt.optimize(only(example, answer)):
        assert example(1) == 1


def test_the_closure_is_the_functions_cells(only) -> None:
    def outer():
        n, m = 1, [2]

        def f():
            return n, m

        return f

    f = outer()
    cells = ask(only, f, f, lambda frame: frame.closure)
    assert tuple(cells) == f.__closure__
    assert ask(only, f, f, lambda frame: frame.f_locals) == {"n": 1, "m": [2]}


def test_inspect_finds_the_module_of_a_frame(only) -> None:
    assert (
        ask(only, example, lambda: example(1), inspect.getmodule)
        is (sys.modules[__name__])
    )
    json_module = types.ModuleType("guardtree_test_module")
    exec("def f(): return 1", json_module.__dict__)
    f = json_module.__dict__["f"]
    sys.modules[json_module.__name__] = json_module
    try:
        assert ask(only, f, f, inspect.getmodule) is json_module
    finally:
        del sys.modules[json_module.__name__]


def test_globals_without_a_name_have_no_module(only, fresh) -> None:
    f = fresh("def f(): return 1", "f")
    found = ask(only, f, f, lambda frame: getattr(frame, "__module__", None))
    assert found in (None, "builtins")
    assert ask(only, f, f, lambda frame: frame.f_globals) is f.__globals__


def test_builtins_of_its_own_are_what_the_frame_shows(only, fresh) -> None:
    own = {"len": lambda value: 42, "__name__": "own builtins"}
    f = fresh("def f(): return len(())", "f", __builtins__=own)
    assert f() == 42
    assert ask(only, f, f, lambda frame: frame.f_builtins) is own


@pytest.mark.parametrize("name", ATTRIBUTES)
@pytest.mark.parametrize("read_before", [False, True])
def test_a_kept_frame_raises_once_the_callback_has_returned(
    name, read_before, only
) -> None:
    def question(frame):
        if read_before:
            getattr(frame, name)
        return frame

    frame = ask(only, example, lambda: example(1), question)
    with pytest.raises(RuntimeError, match="frame"):
        getattr(frame, name)


def test_a_kept_frame_raises_after_an_exception_of_the_callback_too(only) -> None:
    frames: list[Any] = []

    def answer(frame, entry, state):
        frames.append(frame)
        raise ValueError

    with gt.optimize(only(example, answer)), pytest.raises(ValueError):
        example(1)
    with pytest.raises(RuntimeError):
        getattr(frames[0], "f_locals")  # noqa: B009


def test_a_kept_frame_may_be_printed_compared_and_hashed(only) -> None:
    frame = ask(only, example, lambda: example(1), lambda frame: frame)
    assert isinstance(repr(frame), str)
    assert frame == frame
    assert hash(frame) == hash(frame)


def test_values_taken_from_a_frame_outlive_it(only) -> None:
    def question(frame):
        return frame.f_locals, frame.f_code, frame.f_globals

    value = [1]
    call = lambda: example(value)  # noqa: E731, F821
    namespace, code, names = ask(only, example, call, question)
    del value
    gc.collect()
    assert namespace["a"] == [1]
    assert code is example.__code__
    assert names is globals()


def test_a_kept_frame_keeps_no_argument_alive(only) -> None:
    class Thing:
        pass

    kept: list[Any] = []

    def answer(frame, entry, state):
        assert frame.f_locals["a"] is not None
        kept.append(frame)
        return gt.ASK_AGAIN

    thing = Thing()
    alive = weakref.ref(thing)
    with gt.optimize(only(example, answer)):
        example(thing)
        del thing
        assert alive() is None
    assert len(kept) == 1


def test_a_frame_cannot_be_made_or_changed_by_hand(only) -> None:
    def question(frame):
        for name in ("f_code", "f_globals", "closure"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(frame, name, None)
        with pytest.raises(TypeError):
            type(frame)()
        return True

    assert ask(only, example, lambda: example(1), question)


def test_guards_may_check_the_frame_itself_while_the_callback_runs(only) -> None:
    def question(frame):
        passing, failing = gt.GuardManager(frame), gt.GuardManager(frame)
        passing.local("a").type_match(int).equals(1)
        failing.local("a").type_match(str)
        return passing.check(frame), failing.check(frame), frame, passing

    good, bad, frame, guards = ask(only, example, lambda: example(1), question)
    assert (good, bad) == (True, False)
    with pytest.raises(RuntimeError):
        guards.check(frame)


def test_each_call_gets_a_frame_of_its_own(only) -> None:
    frames: list[Any] = []
    values: list[Any] = []

    def answer(frame, entry, state):
        frames.append(frame)
        values.append(frame.f_locals["a"])
        return gt.ASK_AGAIN

    with gt.optimize(only(example, answer)):
        for n in range(5):
            example(n)
    assert values == list(range(5))
    assert len({id(frame) for frame in frames}) == 5


def frames_of(error: BaseException) -> list[Any]:
    """The guardtree frames among the locals of a traceback."""
    found = []
    entry = error.__traceback__
    while entry is not None:
        locals_ = list(entry.tb_frame.f_locals.values())
        found += [each for each in locals_ if isinstance(each, gt.Frame)]
        entry = entry.tb_next
    return found


def assert_closed(frames: list[Any]) -> None:
    assert frames
    for frame in frames:
        assert "is over" in repr(frame)
        for name in ATTRIBUTES[:-1]:
            with pytest.raises(RuntimeError, match="is over"):
                getattr(frame, name)


class Interrupt(BaseException):
    """What is no Exception, as Ctrl-C."""


def test_a_frame_closes_though_explaining_its_miss_raises(swap) -> None:
    def f(a):
        return a

    checks = []

    def check(a):
        checks.append(a)
        if len(checks) % 2 == 0:  # the look-up's own check passes
            raise Interrupt
        return False

    guards = gt.GuardManager(f)
    guards.local("a").python(check)
    with gt.optimize(swap(f, f, guards)):
        f(1)
    checks.clear()
    with gt.optimize(gt.RAISE_ON_MISS), pytest.raises(Interrupt) as raised:
        f(2)
    assert len(checks) == 2
    assert_closed(frames_of(raised.value))


def test_a_frame_closes_though_its_listener_raises(swap, monkeypatch) -> None:
    def f(a):
        return a

    frames = []

    def listen(frame):
        frames.append(frame)
        raise Interrupt

    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    guards = gt.GuardManager(f)
    guards.local("a").type_match(int)
    with gt.optimize(swap(f, f, guards)):
        f(1)
    gt._guardtree._observe(None, listen)
    with gt.optimize(False):
        f("miss")
    gt._guardtree._observe(None, None)
    assert len(unraisable) == 1
    assert_closed(frames)


def test_a_frame_closes_though_its_callback_raises(only) -> None:
    def f(a):
        return a

    def fail(frame, entry, state):
        raise Interrupt

    with gt.optimize(only(f, fail)), pytest.raises(Interrupt) as raised:
        f(1)
    assert_closed(frames_of(raised.value))
