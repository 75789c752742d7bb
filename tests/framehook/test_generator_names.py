"""Generators and coroutines that an entry's code makes have their function's names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

SOURCE = {
    "generator": "def {name}(a, b=2):\n    {local}yield a",
    "coroutine": "async def {name}(a, b=2):\n    {local}return a",
    "async generator": "async def {name}(a, b=2):\n    {local}yield a",
    "generator-based coroutine": (
        "import types\n@types.coroutine\ndef {name}(a, b=2):\n    {local}yield a"
    ),
}


@pytest.fixture(params=SOURCE)
def pair(request: pytest.FixtureRequest, fresh: Callable[..., Any]) -> tuple[Any, Any]:
    """A function and another one, whose code is an entry's."""
    source = SOURCE[request.param]
    return (
        fresh(source.format(name="f", local="y = [a, b]; "), "f"),
        fresh(source.format(name="new", local="x = [a]; "), "new"),
    )


def names(made: Any) -> tuple[str, str]:
    found = made.__name__, made.__qualname__
    if hasattr(made, "close"):
        made.close()
    return found


def test_they_have_the_functions_under_the_hook(
    path: str, swap: Any, pair: tuple[Any, Any]
) -> None:
    f, new = pair
    f.__name__, f.__qualname__ = "its", "its.own"
    with gt.optimize(swap(f, new)):
        assert [names(f(1)) for _ in range(3)] == [("its", "its.own")] * 3
        f.__name__, f.__qualname__ = "later", "later.own"
        assert names(f(1)) == names(f(a=1)) == ("later", "later.own")
    assert gt.code_stats(f)[path] == 5


def guarded(f: Any, new: Any) -> Any:
    made = gt.guard_function(f)
    guards = gt.GuardManager(f)
    guards.local("a").type_match(int)
    made.add(guards, new.__code__)
    return made


@pytest.fixture
def hook_of_311(hook: None) -> Any:
    yield
    if sys.version_info < (3, 12):
        gt.set_eval_frame(None)


def test_they_have_those_of_a_guarded_function(
    pair: tuple[Any, Any], hook_of_311: None
) -> None:
    f, new = pair
    f.__name__, f.__qualname__ = "its", "its.own"
    guard = guarded(f, new)
    assert names(f(1)) == names(f(1, 2)) == names(f(a=1)) == ("its", "its.own")
    f.__name__, f.__qualname__ = "later", "later.own"
    assert names(f(1, 2)) == names(f(1)) == names(f(b=1, a=1)) == ("later", "later.own")
    f.__name__ = "last"
    assert names(f(1, 2)) == ("last", "later.own")
    assert guard.stats()["hits"] == 7


def test_they_have_them_though_entries_are_added_and_names_come_back(
    pair: tuple[Any, Any], hook_of_311: None
) -> None:
    f, new = pair
    guard = guarded(f, new)
    one = guard.entries()[0]
    assert names(f(1, 2))[0] == "f"
    f.__name__ = "second"
    text = gt.GuardManager(f)
    text.local("a").type_match(str)
    guard.add(text, new.__code__)
    f.__name__ = "f"
    assert names(f("text", 2))[0] == names(f(1, 2))[0] == "f"
    f.__name__ = "third"
    rest = gt.GuardManager(f)
    guard.add(rest, new.__code__)
    assert names(f(None, 2))[0] == names(f(1, 2))[0] == names(f("", 2))[0] == "third"
    guard.remove(one)
    assert names(f(1, 2))[0] == "third"


def test_an_entry_that_gets_values_has_them(
    pair: tuple[Any, Any], hook_of_311: None
) -> None:
    f, new = pair
    f.__name__, f.__qualname__ = "its", "its.own"
    guard = gt.guard_function(f)
    guards = gt.GuardManager(f)
    guard.add(guards, new.__code__, captures={"x": guards.local("a")})
    assert names(f(1)) == ("its", "its.own")
    f.__name__ = "later"
    assert names(f(1)) == ("later", "its.own")


def test_defaults_are_followed_as_ever(hook_of_311: None) -> None:
    def f(a, b=2, *, k=3):
        yield a, b, k

    def new(a, b, *, k):
        yield "new", a, b, k

    gt.guard_function(f).add(gt.GuardManager(f), new.__code__)
    assert list(f(1)) == [("new", 1, 2, 3)]
    f.__defaults__, f.__kwdefaults__ = (20,), {"k": 30}
    assert list(f(1)) == [("new", 1, 20, 30)]
    f.__kwdefaults__["k"] = 31
    assert list(f(1, 5)) == [("new", 1, 5, 31)]
