"""Dispatcher: hits call payloads, misses ask on_miss, and no hook is set."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from dispatching import Compiler, exact, fast, ints, numbered, plain


def test_a_miss_asks_and_the_next_call_is_a_hit() -> None:
    compiler = Compiler()
    dispatcher = gt.Dispatcher(plain, compiler)
    assert dispatcher(1) == ("fast", (1,), {})
    assert dispatcher(2, factor=5) == ("fast", (2,), {"factor": 5})
    assert dispatcher(x=3) == ("fast", (), {"x": 3})
    assert len(compiler.calls) == 1
    assert dispatcher(1.5) == ("fast", (1.5,), {})
    assert len(compiler.calls) == len(dispatcher) == 2
    counts = dispatcher.stats()
    assert (counts["hits"], counts["misses"], counts["compiled"]) == (2, 2, 2)
    assert gt.get_eval_frame() is None


def test_on_miss_gets_the_bound_arguments_and_those_of_the_call() -> None:
    def f(a: Any, /, b: Any = 2, *rest: Any, k: Any = 3, **more: Any) -> None: ...

    compiler = Compiler()
    dispatcher = gt.Dispatcher(f, compiler)
    dispatcher(1, 4, 5, z=6)
    (call,) = compiler.calls
    assert call.arguments == {"a": 1, "b": 4, "k": 3, "rest": (5,), "more": {"z": 6}}
    assert (call.args, call.kwargs) == ((1, 4, 5), {"z": 6})
    assert call.dispatcher is dispatcher
    assert call.original is f
    assert "a, b, k" in repr(call)


def test_native_payloads_get_the_call_as_it_is() -> None:
    dispatcher = gt.Dispatcher(lambda a, b: None)
    dispatcher.add(ints(dispatcher.original, "a"), operator.add)
    assert dispatcher(2, 3) == 5
    assert list(map(dispatcher, [1, 2], [3, 4])) == [4, 6]
    assert functools.reduce(dispatcher, [1, 2, 3]) == 6


class Box:
    def __init__(self, pointer: int) -> None:
        self.pointer = pointer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and other.pointer == self.pointer


def test_captures_are_the_payloads_arguments_in_their_order() -> None:
    guards = gt.GuardManager(plain)
    pointer = guards.local("x").type_match(Box).attr("pointer").type_match(int)
    dispatcher = gt.Dispatcher(plain)
    dispatcher.add(guards, fast, captures=[guards.local("factor"), pointer, pointer])
    assert dispatcher(Box(7)) == ("fast", (2, 7, 7), {})
    assert dispatcher(factor=3, x=Box(8)) == ("fast", (3, 8, 8), {})
    assert dispatcher(7) == ("plain", 7, 2)


def test_named_captures_are_further_keywords() -> None:
    guards = gt.GuardManager(plain)
    pointer = guards.local("x").attr("pointer")
    dispatcher = gt.Dispatcher(plain)
    dispatcher.add(guards, fast, captures={"pointer": pointer})
    box = Box(7)
    assert dispatcher(box, factor=1) == ("fast", (box,), {"factor": 1, "pointer": 7})
    assert dispatcher(box) == ("fast", (box,), {"pointer": 7})


@pytest.mark.parametrize("named", [True, False])
def test_on_miss_may_ask_for_captured_values(named: bool) -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        path = call.guards.local("x").attr("pointer").type_match(int)
        call.captures = {"p": path} if named else [path]
        return fast

    dispatcher = gt.Dispatcher(plain, on_miss)
    box = Box(7)
    right = ("fast", (box,), {"p": 7}) if named else ("fast", (7,), {})
    assert dispatcher(box) == right
    assert dispatcher(box) == right
    assert len(dispatcher) == 1


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({"captures": []}, ValueError, "one path at least"),
        ({"captures": 5}, TypeError, "a list or tuple of paths"),
        ({"captures": ["x"]}, TypeError, r"captures\[0\]: expected a path"),
        ({"captures": {"x": None}}, TypeError, r"captures\['x'\]: expected a path"),
    ],
)
def test_captures_that_are_no_paths_are_refused(
    more: Any, error: type[Exception], says: str
) -> None:
    dispatcher = gt.Dispatcher(plain)
    with pytest.raises(error, match=says):
        dispatcher.add(ints(plain), fast, **more)
    assert len(dispatcher) == 0


# --- What a Dispatcher is made of.


def test_a_signature_binds_as_a_function_would() -> None:
    def f(a: Any, /, b: Any = 2, *rest: Any, k: Any, m: Any = 5, **more: Any) -> None:
        """Binds."""

    compiler = Compiler()
    dispatcher = gt.Dispatcher(inspect.signature(f), compiler)
    dispatcher(1, k=3)
    dispatcher(2.0, 4, 5, k=3, a=9)
    bound = [call.arguments for call in compiler.calls]
    assert bound == [
        {"a": 1, "b": 2, "k": 3, "m": 5, "rest": (), "more": {}},
        {"a": 2.0, "b": 4, "k": 3, "m": 5, "rest": (5,), "more": {"a": 9}},
    ]
    assert inspect.signature(dispatcher) == inspect.signature(f)
    assert dispatcher.original is None
    with pytest.raises(TypeError, match=r"do not fit call\(a, /, b=2, \*rest"):
        dispatcher()


def test_code_binds_without_defaults() -> None:
    compiler = Compiler()
    dispatcher = gt.Dispatcher(plain.__code__, compiler)
    assert dispatcher(1, 2) == ("fast", (1, 2), {})
    with pytest.raises(TypeError, match="do not fit"):
        dispatcher(1)


class Called:
    def __call__(self, x: Any) -> Any:
        return "called", x

    def method(self, x: Any) -> Any:
        return "method", x


@pytest.mark.parametrize(
    "called",
    [
        functools.partial(plain, factor=3),
        Called(),
        Called().method,
        staticmethod(plain),
        abs,
        Box,
    ],
    ids=["partial", "instance", "method", "staticmethod", "builtin", "class"],
)
def test_other_callables_run_plain_and_bind_by_their_signature(called: Any) -> None:
    compiler = Compiler(gt.ASK_AGAIN)
    dispatcher = gt.Dispatcher(called, compiler)
    assert dispatcher(-5) == called(-5)
    assert dispatcher.original is called
    assert next(iter(compiler.calls[0].arguments.values())) == -5
    dispatcher.add(compiler.calls[0].guards, fast)
    assert dispatcher(-6) == ("fast", (-6,), {})


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        (5, TypeError, "expected a Python function or another callable"),
        (classmethod(plain), TypeError, "give its __func__"),
        (getattr, ValueError, "tells no signature"),
    ],
)
def test_what_has_no_signature_is_refused(
    given: Any, error: type[Exception], says: str
) -> None:
    if given is getattr and sys.version_info >= (3, 13):
        pytest.skip("this CPython tells its signature")
    with pytest.raises(error, match=says):
        gt.Dispatcher(given)


@pytest.mark.parametrize(
    ("more", "error", "says"),
    [
        ({"on_miss": 5}, TypeError, "on_miss.*a callable"),
        ({"entry_limit": 0}, ValueError, "entry_limit: expected a positive int"),
        ({"entry_limit": "x"}, TypeError, "a positive int"),
        ({"when_full": "x"}, ValueError, "'evict' or 'keep'"),
    ],
)
def test_wrong_settings_are_refused(more: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        gt.Dispatcher(plain, **more)


def test_one_that_was_not_initialised_is_refused() -> None:
    made = gt.Dispatcher.__new__(gt.Dispatcher)
    for use in (made, made.stats, lambda: made.original, lambda: len(made)):
        with pytest.raises(TypeError, match="not initialised"):
            use()
    with pytest.raises(TypeError, match="initialised already"):
        gt.Dispatcher(plain).__init__(plain)


def test_it_has_the_functions_names_and_is_pickled_as_a_global() -> None:
    assert (GLOBAL.__name__, GLOBAL.__doc__) == ("plain", "Doc of plain.")
    assert GLOBAL.__wrapped__ is plain
    assert inspect.signature(GLOBAL) == inspect.signature(plain)
    assert repr(GLOBAL) == "<guardtree.Dispatcher of plain: 0 entries>"
    GLOBAL.__qualname__, GLOBAL.__module__ = "GLOBAL", __name__
    assert pickle.loads(pickle.dumps(GLOBAL)) is GLOBAL
    assert copy.copy(GLOBAL) is GLOBAL
    with pytest.raises(TypeError, match="pickled as the global"):
        pickle.dumps(gt.Dispatcher(inspect.signature(plain)))


GLOBAL = gt.Dispatcher(plain)


def test_it_binds_as_a_method() -> None:
    class Owner:
        @gt.Dispatcher
        def method(self, x: Any) -> Any:
            return self, x

    owner = Owner()
    assert owner.method(3) == (owner, 3)
    assert Owner.method(owner, 3) == (owner, 3)
    assert isinstance(Owner.method, gt.Dispatcher)
    guards = gt.GuardManager(Owner.method.original)
    guards.local("x").type_match(str)
    Owner.method.add(guards, fast)
    assert owner.method("s") == ("fast", (owner, "s"), {})


# --- What on_miss returns.


def test_code_runs_with_the_functions_defaults_of_now() -> None:
    def f(x: Any, factor: Any = 2) -> Any:
        return "plain", x, factor

    def g(x: Any, factor: Any = 2) -> Any:
        return "code", x, factor

    dispatcher = gt.Dispatcher(f, Compiler(g.__code__))
    assert dispatcher(1) == ("code", 1, 2)
    f.__defaults__ = (9,)
    assert dispatcher(1) == ("code", 1, 9)
    assert dispatcher(x=1) == ("code", 1, 9)


@pytest.mark.parametrize(
    "made_of",
    [inspect.signature(plain), plain.__code__, functools.partial(plain)],
    ids=["signature", "code", "partial"],
)
def test_code_needs_a_function_below(made_of: Any) -> None:
    dispatcher = gt.Dispatcher(made_of, Compiler(plain.__code__))
    with pytest.raises(TypeError, match="none below this Dispatcher"):
        dispatcher(1, 2)
    assert len(dispatcher) == 0


def test_plain_this_time_asks_again() -> None:
    compiler = Compiler(gt.ASK_AGAIN)
    dispatcher = gt.Dispatcher(plain, compiler)
    assert dispatcher(1) == dispatcher(1) == ("plain", 1, 2)
    assert (len(compiler.calls), len(dispatcher)) == (2, 0)


def test_what_was_compiled_in_the_background_serves_the_next_call() -> None:
    compiler = Compiler(gt.ASK_AGAIN)
    dispatcher = gt.Dispatcher(plain, compiler)
    assert dispatcher(1) == ("plain", 1, 2)
    dispatcher.add(compiler.calls[0].guards, fast)
    assert dispatcher(2) == ("fast", (2,), {})


def test_on_miss_may_add_the_entry_itself() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        assert call.find() is None
        entry = call.dispatcher.add(call.guards, fast)
        assert call.find() is not None
        return entry

    dispatcher = gt.Dispatcher(plain, on_miss)
    assert dispatcher(1) == ("fast", (1,), {})
    assert (len(dispatcher), dispatcher.stats()["compiled"]) == (1, 0)


@pytest.mark.parametrize("answer", [None, 5, "x"])
def test_other_answers_are_refused(answer: Any) -> None:
    dispatcher = gt.Dispatcher(plain, Compiler(answer))
    with pytest.raises(TypeError, match="a code object, ASK_AGAIN .* found"):
        dispatcher(1)
    assert len(dispatcher) == 0
    bare = gt.Dispatcher(inspect.signature(plain), Compiler(gt.ASK_AGAIN))
    with pytest.raises(TypeError, match="could run plain"):
        bare(1)


def test_an_entry_that_serves_no_call_is_no_answer() -> None:
    other = gt.Dispatcher(plain)
    entry = other.add(ints(plain), fast)
    dispatcher = gt.Dispatcher(plain, lambda call: entry)
    with pytest.raises(ValueError, match="no entry serves the call"):
        dispatcher(1)


def test_guards_that_fail_on_their_own_call_are_refused() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        call.guards.local("x").equals(7)
        return fast

    dispatcher = gt.Dispatcher(plain, on_miss)
    with pytest.raises(ValueError, match=r"expected equals\(7\).*found 1"):
        dispatcher(1)
    assert len(dispatcher) == 0
    assert dispatcher(7) == ("fast", (7,), {})


def test_without_on_miss_a_miss_runs_plain_or_raises() -> None:
    assert gt.Dispatcher(plain)(1) == ("plain", 1, 2)
    bare = gt.Dispatcher(inspect.signature(plain))
    with pytest.raises(gt.GuardMiss, match="call: no entries"):
        bare(1)
    guards = gt.GuardManager(plain)
    guards.local("x").type_match(int)
    bare.add(guards, fast)
    assert bare(1) == ("fast", (1,), {})
    with pytest.raises(gt.GuardMiss, match="expected type_match"):
        bare("a")


def test_calls_that_do_not_fit_raise_what_the_function_raises() -> None:
    compiler = Compiler()
    dispatcher = gt.Dispatcher(plain, compiler)
    calls: list[Callable[[], Any]] = [
        lambda: dispatcher(),
        lambda: dispatcher(1, 2, 3),
        lambda: dispatcher(1, x=2),
        lambda: dispatcher(1, z=2),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"plain\(\)"):
            call()
    assert not compiler.calls


# --- Reports.


def test_entries_are_told_explained_and_compared() -> None:
    dispatcher = gt.Dispatcher(plain, numbered)
    for value in (8, 16, 24):
        assert dispatcher(value) == ("for", value)
    assert dispatcher.differences() == {"x": ["8", "16", "24"]}
    report = dispatcher.report()
    assert report.startswith("<guardtree.Dispatcher of plain: 3 entries>: 0 hits, 3 mi")
    assert "entry 1 (0 hits) runs <function numbered" in report
    assert "entries differ only in x: 8, 16, 24" in report
    explained = dispatcher.explain(9)
    assert [len(each.failures) for each in explained.entries] == [1, 1, 1]
    assert "expected equals(8)" in str(explained)
    assert dispatcher.find(16).payload(1) == ("for", 16)
    assert dispatcher.find(9) is None
    assert dispatcher.stats()["misses"] == 3
    with pytest.raises(TypeError, match="do not fit"):
        dispatcher.explain()


def test_a_removed_entry_serves_nobody() -> None:
    dispatcher = gt.Dispatcher(plain)
    entry = dispatcher.add(ints(plain), fast)
    assert dispatcher(1) == ("fast", (1,), {})
    dispatcher.remove(entry)
    assert dispatcher(1) == ("plain", 1, 2)
    assert (dispatcher.entries(), dispatcher.stats()["hits"]) == ([], 1)
    with pytest.raises(ValueError, match="not in the table"):
        dispatcher.remove(entry)


def test_strict_mode_judges_its_look_ups() -> None:
    dispatcher = gt.Dispatcher(plain, Compiler())
    gt.strict()
    try:
        assert dispatcher(1) == dispatcher(1) == ("fast", (1,), {})
        assert dispatcher("s") == ("fast", ("s",), {})
    finally:
        gt.strict(False)
