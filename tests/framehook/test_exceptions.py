"""Exceptions in a replacement leave it as they leave any function, on both paths."""

from __future__ import annotations

import sys
import traceback
import warnings
import weakref
from typing import Any

import guardtree as gt
import pytest


def names_of(error: BaseException) -> list[str]:
    return [entry.name for entry in traceback.extract_tb(error.__traceback__)]


def test_a_traceback_names_the_replacement_once(path, swap) -> None:
    def old(a):
        return a

    def new(a):
        local = a + 1
        raise ValueError(local)

    def caller():
        old(1)

    with gt.optimize(swap(old, new)):
        for _ in range(3):
            with pytest.raises(ValueError) as caught:
                caller()
            assert names_of(caught.value)[-2:] == ["caller", "new"]
            assert "old" not in names_of(caught.value)
            last = caught.tb
            while last.tb_next:
                last = last.tb_next
            assert last.tb_frame.f_locals == {"a": 1, "local": 2}
            assert last.tb_lineno == new.__code__.co_firstlineno + 2


def test_a_traceback_survives_a_deep_recursion_of_replacements(path, swap) -> None:
    def old(n):
        return n, old

    def new(n):
        if n == 0:
            raise KeyError("bottom")
        return old(n - 1)

    with gt.optimize(swap(old, new)), pytest.raises(KeyError) as caught:
        old(100)
    assert names_of(caught.value).count("new") == 101


def test_handlers_of_the_replacement_run(path, swap) -> None:
    log: list[str] = []

    class Manager:
        def __enter__(self):
            log.append("enter")

        def __exit__(self, *details):
            log.append("exit")

    def old(a):
        return a, Manager, log

    def new(a):
        try:
            with Manager():
                raise KeyError(a)
        except KeyError as error:
            log.append(repr(error))
        finally:
            log.append("finally")
        return sys.exc_info()

    with gt.optimize(swap(old, new)):
        for _ in range(2):
            assert old(1) == (None, None, None)
    assert log == ["enter", "exit", "KeyError(1)", "finally"] * 2


def test_the_exception_being_handled_is_seen_and_becomes_the_context(
    path, swap
) -> None:
    def old():
        return None

    def new():
        assert isinstance(sys.exc_info()[1], KeyError)
        raise ValueError

    with gt.optimize(swap(old, new)):
        for _ in range(2):
            try:
                raise KeyError("outer")
            except KeyError as outer:
                with pytest.raises(ValueError) as caught:
                    old()
                assert caught.value.__context__ is outer
                assert sys.exc_info()[1] is outer
    assert sys.exc_info() == (None, None, None)


@pytest.mark.parametrize("kind", [StopIteration, KeyboardInterrupt, SystemExit])
def test_any_kind_of_exception_passes_through(kind, path, swap) -> None:
    def old():
        return kind

    def new():
        raise kind("why")

    callback = swap(old, new)
    with gt.optimize(callback):
        for _ in range(2):
            with pytest.raises(kind) as caught:
                old()
            assert caught.value.args == ("why",)
    assert callback.calls == 1


def test_arguments_are_released_once_the_exception_is_gone(path, swap) -> None:
    class Thing:
        pass

    def old(a, *args, **kw):
        return None

    def new(a, *args, **kw):
        local = [a, args, kw]
        raise ValueError(local)

    with gt.optimize(swap(old, new)):
        for _ in range(3):
            things = [Thing(), Thing(), Thing()]
            alive = [weakref.ref(thing) for thing in things]
            try:
                old(things[0], things[1], z=things[2])
            except ValueError as error:
                assert error.args[0][0] is things[0]
            del things
            assert [ref() for ref in alive] == [None] * 3


def test_exceptions_leave_every_reference_count_as_it_was(path, swap) -> None:
    def old(a):
        return a

    def new(a):
        b = [a]
        raise ValueError(b)

    o = object()

    def fail() -> None:
        try:
            old(o)
        except ValueError:
            pass

    with gt.optimize(swap(old, new)):
        fail()
        watched = (o, old.__code__, new.__code__, old, ValueError)
        before = [sys.getrefcount(x) for x in watched]
        for _ in range(2000):
            fail()
        assert [sys.getrefcount(x) for x in watched] == before


def test_an_unbound_local_of_the_replacement_is_named(path, swap) -> None:
    def old(a):
        return a

    def new(a):
        if a is None:
            never = 1
        return never

    with gt.optimize(swap(old, new)):
        for _ in range(2):
            with pytest.raises(UnboundLocalError, match="never"):
                old(1)


def test_an_unbound_free_variable_of_the_replacement_is_named(path, swap) -> None:
    def outer():
        def old(a):
            return (a, late)

        def new(a):
            return [a, late]

        pair = old, new
        if not pair:
            late = 1
        return pair

    old, new = outer()
    with gt.optimize(swap(old, new)):
        for _ in range(2):
            with pytest.raises(NameError, match="late"):
                old(1)


def test_a_call_that_does_not_bind_never_reaches_the_hook(only) -> None:
    def f(a, *, b):
        return a

    callback = only(f, lambda *_: gt.ASK_AGAIN)
    with gt.optimize(callback):
        for arguments, keywords in [((), {}), ((1, 2), {"b": 1}), ((1,), {})]:
            with pytest.raises(TypeError):
                f(*arguments, **keywords)
    assert callback.calls == 0


def test_an_error_in_the_frame_is_printed_with_the_replacements_lines(
    run_python,
) -> None:
    done = run_python(
        """
        import guardtree as gt

        def old(a):
            return a

        def new(a):
            return 1 // a

        def callback(frame, entry, state):
            if frame.f_code is old.__code__:
                return gt.GuardedCode(new.__code__, lambda f_locals: True)
            return gt.ASK_AGAIN

        gt.set_eval_frame(callback)
        old(1)
        old(0)
        """,
        status=1,
    )
    assert "in new" in done.stderr
    assert "in old" not in done.stderr
    assert "ZeroDivisionError" in done.stderr.splitlines()[-1]


def test_warnings_point_at_the_caller_of_the_replacement(path, swap) -> None:
    def old():
        return None

    def new():
        warnings.warn("careful", stacklevel=2)

    def call() -> Any:
        old()

    with gt.optimize(swap(old, new)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
            call()
    assert [w.lineno for w in caught] == [call.__code__.co_firstlineno + 1] * 2
