"""guard_function with on_miss, called and as a decorator, on functions and others."""

from __future__ import annotations

import functools
import gc
import threading
import weakref
from typing import Any

import guardtree as gt
import pytest
from dispatching import Compiler, exact, fast, ints, numbered
from guarded_calls import BY_ENTRY, by_entry, let_go, make


@pytest.fixture(autouse=True)
def no_hook_left() -> Any:
    yield
    let_go()


def decorated(on_miss: Any, source: str = "def f(x, factor=2): return 'plain', x",
              **more: Any) -> Any:  # fmt: skip
    return gt.guard_function(on_miss=on_miss, **more)(make(source))


def test_a_decorated_function_compiles_on_its_first_call_of_a_kind() -> None:
    compiler = Compiler()
    f = decorated(compiler)
    assert f(1) == ("fast", (1,), {})
    assert f(x=2) == ("fast", (), {"x": 2})
    assert f(2.5, factor=3) == ("fast", (2.5,), {"factor": 3})
    assert [call.arguments for call in compiler.calls] == [
        {"x": 1, "factor": 2},
        {"x": 2.5, "factor": 3},
    ]
    guarded = gt.guard_function(f)
    assert (guarded.stats()["compiled"], len(guarded)) == (2, 2)
    assert guarded.original(1) == ("plain", 1)
    assert compiler.calls[0].original(1) == ("plain", 1)
    assert compiler.calls[0].dispatcher is guarded
    assert gt.get_eval_frame() is None


def test_it_works_in_every_thread() -> None:
    f = decorated(numbered)
    assert f(1) == ("for", 1)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda i=i: found.append(f(i % 3) == ("for", i % 3)))
        for i in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [True] * 8


def test_a_target_may_call_the_original() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        return lambda x: ("over", call.original(x))

    f = decorated(on_miss)
    assert f(1) == f(1) == ("over", ("plain", 1))


def test_calls_inside_on_miss_run_plain() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        value = f(call.arguments["x"])
        return lambda x: ("compiled from", value)

    f = decorated(on_miss)
    assert f(1) == ("compiled from", ("plain", 1))


def test_what_on_miss_raises_comes_out() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        raise ValueError("by on_miss")

    f = decorated(on_miss)
    for _ in range(2):
        with pytest.raises(ValueError, match="by on_miss"):
            f(1)
    assert len(gt.guard_function(f)) == 0


def test_plain_this_time_and_the_limits() -> None:
    f = decorated(lambda call: gt.ASK_AGAIN)
    assert f(1) == ("plain", 1)
    f = decorated(numbered, entry_limit=1)
    assert [f(value) for value in (1, 2, 2)] == [("for", 1), ("for", 2), ("for", 2)]
    assert gt.guard_function(f).stats()["evicted"] == 1
    f = decorated(numbered, entry_limit=1, when_full="keep")
    assert [f(1), f(2)] == [("for", 1), ("plain", 2)]


def test_code_runs_as_the_function() -> None:
    code = make("def f(x, factor=2): return 'code', x, factor").__code__
    f = decorated(Compiler(code))
    assert f(1) == f(1) == ("code", 1, 2)


def test_the_function_and_its_guards_go_together() -> None:
    f = decorated(Compiler())
    f(1)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


# --- The call form.


@by_entry
def test_the_functions_own_calls_ask() -> None:
    f = make()
    before = f
    guarded = gt.guard_function(f, Compiler())
    assert gt.guard_function(f) is guarded
    assert f is before
    assert f(1) == ("fast", (1,), {})
    assert f(a=2, b=3) == ("fast", (), {"a": 2, "b": 3})
    assert guarded.report().startswith("<guardtree.GuardedFunction of f: 1 entry>: 1 h")
    assert guarded.explain("x").entries[0].failures[0].found == "'x' (str)"
    assert guarded.find(5).hits == 1
    assert guarded.original(1) == ("plain", 1, 2)


@by_entry
def test_another_on_miss_takes_the_place_and_restore_ends_it() -> None:
    f = make()
    guarded = gt.guard_function(f, Compiler())
    f(1)
    gt.guard_function(f, Compiler(gt.ASK_AGAIN))
    assert f("x") == ("plain", "x", 2)
    assert f(1) == ("fast", (1,), {})
    guarded.restore()
    assert f(1) == ("plain", 1, 2)
    assert guarded.on_miss is None
    with pytest.raises(ValueError, match="guards no function any more"):
        guarded.add(ints(f, "a"), fast)


@by_entry
def test_on_miss_may_restore_the_function() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        exact(call)
        call.dispatcher.restore()
        return fast

    f = make()
    guarded = gt.guard_function(f, on_miss)
    assert f(1) == ("fast", (1,), {})
    assert f(1) == ("plain", 1, 2)
    assert len(guarded) == 0


@pytest.mark.skipif(BY_ENTRY, reason="functions are entered natively")
def test_the_call_form_is_refused_where_calls_cannot_be_entered() -> None:
    with pytest.raises(NotImplementedError, match="what the decorator returns"):
        gt.guard_function(make(), Compiler())


def test_original_runs_past_the_guards() -> None:
    f = make("def f(x, k=2, *, m=3): return 'plain', x, k, m")
    guarded = gt.guard_function(f)

    def over(*args: Any, **more: Any) -> Any:
        return "over", guarded.original(*args, **more)

    guarded.add(ints(f), over)
    assert f(1) == ("over", ("plain", 1, 2, 3))
    f.__defaults__, f.__kwdefaults__ = (4,), {"m": 5}
    assert f(1) == ("over", ("plain", 1, 4, 5))
    assert "expected type_match(int)" in str(guarded.explain("s"))
    assert guarded.differences() == {}


# --- What is decorated.


def test_methods_class_methods_and_static_methods_are_served() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        name = [*call.arguments][-1]
        call.guards.local(name).type_match(type(call.arguments[name]))
        return fast

    class Owner:
        @gt.guard_function(on_miss=on_miss)
        def method(self, x: Any) -> Any:
            return "plain", x

        @gt.guard_function(on_miss=on_miss)
        @classmethod
        def of_class(cls, x: Any) -> Any:
            return "plain", x

        @staticmethod
        @gt.guard_function(on_miss=on_miss)
        def below_static(x: Any) -> Any:
            return "plain", x

        @gt.guard_function(on_miss=on_miss)
        @staticmethod
        def static(x: Any) -> Any:
            return "plain", x

    class Below(Owner):
        def method(self, x: Any) -> Any:
            return "below", super().method(x)

    owner = Owner()
    for _ in range(2):
        assert owner.method(1) == ("fast", (owner, 1), {})
        assert Owner.method(owner, 1) == ("fast", (owner, 1), {})
        assert Owner.of_class(1) == owner.of_class(1) == ("fast", (Owner, 1), {})
        assert Owner.static(1) == owner.static(1) == ("fast", (1,), {})
        assert Owner.below_static(1) == ("fast", (1,), {})
        below = Below()
        assert below.method(1) == ("below", ("fast", (below, 1), {}))


class Adder:
    def __call__(self, x: Any) -> Any:
        return "plain", x

    def method(self, x: Any) -> Any:
        return "plain", x


@pytest.mark.parametrize(
    "made",
    [functools.partial(Adder().method), Adder(), Adder().method],
    ids=["partial", "instance", "method"],
)
def test_other_callables_become_dispatchers(made: Any) -> None:
    f = gt.guard_function(on_miss=Compiler())(made)
    assert isinstance(f, gt.Dispatcher)
    assert f(1) == f(1) == ("fast", (1,), {})
    assert f.original is made
    assert gt.guard_function(f) is f
    with pytest.raises(TypeError, match="make another"):
        gt.guard_function(f, Compiler())


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (Adder, "would no longer be a class"),
        (property(len), "below @property"),
        (5, "expected a Python function or another callable"),
    ],
)
def test_others_are_refused_with_the_reason(made: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        gt.guard_function(on_miss=Compiler())(made)
    with pytest.raises(TypeError, match="on_miss"):
        gt.guard_function(on_miss=5)(make())
    with pytest.raises(TypeError, match="for a decorator"):
        gt.guard_function()


def test_generators_and_coroutines_are_decorated() -> None:
    compiled = make("def f(x):\n    yield 'fast'\n    yield x")
    f = decorated(Compiler(compiled), "def f(x):\n    yield x")
    assert list(f(1)) == list(f(1)) == ["fast", 1]
    f = decorated(Compiler(gt.ASK_AGAIN), "def f(x):\n    yield x")
    assert list(f(1)) == [1]
