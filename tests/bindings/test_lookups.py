"""One protocol for all look-ups: what user code may do while guards are asked."""

from __future__ import annotations

import collections
import functools
import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest

import guardtree as gt

ENTRIES = sys.version_info >= (3, 12)
"""Calls of guarded functions are looked up at the function's entry."""


def helper(value: Any) -> bool:
    return True


def guard(value: Any) -> bool:
    return helper(value)


def kernel(x: Any, /, *rest: Any, k: Any = None, **more: Any) -> Any:
    return x


class Mapping(collections.UserDict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        helper(key)
        return super().__getitem__(key)


class Text(str):
    def __hash__(self) -> int:
        helper(self)
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)


class Shown:
    def __repr__(self) -> str:
        helper(self)
        return "shown"


class Property:
    @property
    def x(self) -> bool:
        return helper(self)


def guards_of(function: Any, path: str | None = None) -> Any:
    guards = gt.GuardManager(function)
    if path:
        guards.local("x").attr(path).is_true()
    else:
        guards.local("x").python(guard)
    return guards


def table_of(guards: Any) -> Any:
    table = gt.Table(kernel)
    table.add(guards, "payload")
    return table


def capturing(guards: Any) -> Any:
    table = gt.Table(kernel)
    table.add(guards, "payload", captures={"seen": guards.local("x")})
    return table


def ways() -> dict[str, Callable[[], Any]]:
    guards = guards_of(kernel)
    types = gt.GuardManager(kernel)
    types.local("x").type_match(int)
    attribute = guards_of(kernel, "x")
    table = table_of(guards)
    profile = guards.profile()
    keywords = {Text("m"): 1}
    return {
        "check": lambda: guards.check({"x": 1}),
        "call": lambda: guards({"x": 1}),
        "check a property": lambda: attribute.check({"x": Property()}),
        "check a mapping": lambda: types.check(Mapping(x=1)),
        "profile": lambda: profile.check({"x": 1}),
        "explain": lambda: guards.explain({"x": 1}),
        "explain by repr": lambda: types.explain({"x": Shown()}),
        "explain a mapping": lambda: types.explain(Mapping(x=1)),
        "lookup": lambda: table.lookup({"x": 1}),
        "lookup a property": lambda: table_of(attribute).lookup({"x": Property()}),
        "lookup a mapping": lambda: table_of(types).lookup(Mapping(x=1)),
        "lookup, captured values": lambda: capturing(guards).lookup({"x": 1}),
        "find": lambda: table.find({"x": 1}),
        "lookup_call": lambda: table.lookup_call(1),
        "lookup_call by keys": lambda: table.lookup_call(1, **keywords),
        "lookup_call, captured values": lambda: capturing(guards).lookup_call(1),
        "explain a look-up": lambda: table.explain({"x": 1}),
    }


@pytest.mark.parametrize("way", ways())
@pytest.mark.parametrize("strict", [False, True])
def test_user_code_of_a_lookup_is_never_offered_to_the_callback(
    way, strict, hook
) -> None:
    asked: list[str] = []
    ours = {guard.__code__, helper.__code__, Mapping.__getitem__.__code__}
    ours |= {Text.__hash__.__code__, Shown.__repr__.__code__}
    ours |= {Property.x.fget.__code__}  # type: ignore[attr-defined]
    ask = ways()[way]

    def callback(frame: Any, entry: Any, state: Any) -> Any:
        if frame.f_code in ours:
            asked.append(frame.f_code.co_name)
        return gt.ASK_AGAIN

    ask()
    was_strict = gt.strict(strict)
    prior = gt.set_eval_frame(callback)
    try:
        ask()
        helper(1)
    finally:
        gt.set_eval_frame(prior)
        gt.strict(was_strict)
    assert asked == ["helper"]


@pytest.mark.skipif(not ENTRIES, reason="3.11 guards calls by the hook")
@pytest.mark.parametrize("how", ["nothing", "remove", "restore", "add", "defaults"])
@pytest.mark.parametrize("by_position", [False, True])
def test_an_entry_that_goes_during_its_lookup_runs_with_the_defaults(
    how, by_position
) -> None:
    def f(a: Any, b: Any = 1, *, k: Any = 2) -> Any:
        return "plain", a, b, k

    def g(a: Any, b: Any = 0, *, k: Any = 0) -> Any:
        return "new", a, b, k

    guarded = gt.guard_function(f)
    guards = gt.GuardManager(f)

    def guard(a: Any) -> bool:
        if how == "remove":
            guarded.remove(entry)
        elif how == "restore":
            guarded.restore()
        elif how == "add":
            guarded.add(gt.GuardManager(f), g.__code__)
        elif how == "defaults":
            f.__defaults__ = (3,)
            f.__kwdefaults__ = {"k": 4}
        return True

    guards.local("a").python(guard)
    entry = guarded.add(guards, g.__code__)
    expected = ("new", 5, 3, 4) if how == "defaults" else ("new", 5, 1, 2)
    assert (f(5) if by_position else f(a=5)) == expected


@pytest.mark.skipif(not ENTRIES, reason="3.11 guards calls by the hook")
def test_each_entry_of_code_follows_the_defaults_of_each_call() -> None:
    def f(a: Any, b: Any = 1, *, k: Any = 2) -> Any:
        return "plain", a, b, k

    guarded = gt.guard_function(f)
    for kind in (int, str):
        guards = gt.GuardManager(f)
        guards.local("a").type_match(kind)
        guarded.add(guards, (lambda a, b=0, *, k=0: (a, b, k)).__code__)
    assert f(5) == (5, 1, 2)
    f.__defaults__ = (3,)
    assert f("a") == ("a", 3, 2)
    assert f(5) == (5, 3, 2)
    f.__kwdefaults__ = {"k": 4}
    assert f(a="a") == ("a", 3, 4)
    assert f(5, 6) == (5, 6, 4)
    f.__defaults__ = None
    with pytest.raises(TypeError, match="required positional argument"):
        f(5)


class Big:
    """Of a size that the next object of its kind takes over."""

    alive = 0

    def __init__(self) -> None:
        self.value = 3
        Big.alive += 1

    def __del__(self) -> None:
        self.value = -1
        Big.alive -= 1


def lends(callable_: Any, *arguments: Any, **keywords: Any) -> Any:
    """Its call passes what the partial holds, which `drop` takes from it."""
    return functools.partial(callable_, *arguments, **keywords)


def drop(lender: Any) -> list[Any]:
    lender.__setstate__((print, (), {}, {}))
    gc.collect()
    return [Big() for _ in range(3)]


@pytest.mark.skipif(not ENTRIES, reason="3.11 guards calls by the hook")
@pytest.mark.parametrize("form", ["position", "keyword", "default", "stars"])
@pytest.mark.parametrize("passes", [True, False])
def test_the_arguments_of_a_guarded_call_outlive_who_lent_them(form, passes) -> None:
    seen = []

    def make() -> Any:
        def f(a: Any, *rest: Any, b: Any = 5, **more: Any) -> Any:
            return "plain", a.value, [each.value for each in rest], b

        guards = gt.GuardManager(f)
        guards.local("a").python(take)
        guards.local("a").attr("value").equals(3)
        target = lambda a, *rest, b=5, **more: (  # noqa: E731
            "new",
            a.value,
            [each.value for each in rest],
            b,
        )
        gt.guard_function(f).add(guards, target)
        return f

    def take(a: Any) -> bool:
        seen.append(drop(lender))
        return passes

    calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "position": ((Big(),), {}),
        "keyword": ((Big(),), {"b": 5}),
        "default": ((Big(),), {}),
        "stars": ((Big(), Big()), {"more": Big()}),
    }
    arguments, keywords = calls.pop(form)
    lender = lends(make(), *arguments, **keywords)
    del arguments, keywords, calls
    rest = [3] if form == "stars" else []
    assert lender() == ("new" if passes else "plain", 3, rest, 5)
    assert seen
    del seen, lender
    gc.collect()
    assert Big.alive == 0


@pytest.mark.skipif(not ENTRIES, reason="3.11 guards calls by the hook")
def test_arguments_outlive_the_defaults_that_a_call_replaces() -> None:
    class Old:
        def __del__(self) -> None:
            drop(lender)

    def f(a: Any, b: Any = None) -> Any:
        return "plain", a.value, b

    guards = gt.GuardManager(f)
    guards.local("a").type_match(Big)
    guarded = gt.guard_function(f)
    guarded.add(guards, (lambda a, b=None: ("new", a.value, b)).__code__)
    calls = [
        lambda: lends(f, Big()),
        lambda: lends(f, a=Big()),
        lambda: lends(f, Big(), 7),
    ]
    for lent in calls:
        f.__defaults__ = (Old(),)
        f(Big())
        f.__defaults__ = (7,)
        lender = lent()
        assert lender() == ("new", 3, 7)


@pytest.mark.parametrize("by_keyword", [False, True])
def test_the_arguments_of_lookup_call_outlive_who_lent_them(by_keyword) -> None:
    def f(a: Any) -> Any:
        return a

    def take(a: Any) -> bool:
        drop(lender)
        return True

    def lent() -> Any:
        guards = gt.GuardManager(f)
        guards.local("a").python(take)
        guards.local("a").attr("value").equals(3)
        table = gt.Table(f)
        table.add(guards, "payload")
        ask = gt.Table.lookup_call
        return lends(ask, table, a=Big()) if by_keyword else lends(ask, table, Big())

    lender = lent()
    assert lender() == "payload"
    assert Big.alive == 0


@pytest.mark.parametrize("way", ["check", "lookup", "profile", "explain", "mapping"])
def test_who_is_asked_and_the_subject_outlive_who_lent_them(way) -> None:
    def f(a: Any) -> Any:
        return a

    def take(*_: Any) -> bool:
        drop(lender)
        return True

    class Lending(collections.UserDict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            take()
            return super().__getitem__(key)

    def lent() -> Any:
        guards = gt.GuardManager(f)
        guards.local("a").python(take)
        guards.local("a").attr("value").equals(3)
        table = gt.Table(f)
        table.add(guards, "payload")
        subject = {"a": Big()}
        return {
            "check": lambda: lends(gt.GuardManager.check, guards, subject),
            "lookup": lambda: lends(gt.Table.lookup, table, subject, Big()),
            "profile": lambda: lends(gt.GuardProfile.check, guards.profile(), subject),
            "explain": lambda: lends(gt.GuardManager.explain, guards, subject),
            "mapping": lambda: lends(gt.GuardManager.check, guards, Lending(subject)),
        }[way]()

    lender = lent()
    assert lender()
    assert Big.alive == 0


def test_the_default_of_a_lookup_outlives_who_lent_it() -> None:
    def f(a: Any) -> Any:
        return a

    def take(a: Any) -> bool:
        drop(lender)
        return False

    def lent() -> Any:
        guards = gt.GuardManager(f)
        guards.local("a").python(take)
        table = gt.Table(f)
        table.add(guards, "payload")
        return lends(gt.Table.lookup, table, {"a": 1}, Big())

    lender = lent()
    assert lender().value == 3
