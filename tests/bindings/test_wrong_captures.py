"""Captures that cannot be: each is refused with what was expected, and adds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import guardtree as gt
import pytest
from guarded_calls import let_go, make


@pytest.fixture(autouse=True)
def no_hook_left() -> Iterator[None]:
    yield
    let_go()


def step(x: Any = 0, y: Any = 0, *, k: Any = 3) -> None: ...


def test_wrong_captures_are_refused() -> None:
    table, guards = gt.Table(step), gt.GuardManager(step)
    x = guards.local("x")
    other = gt.GuardManager(step).local("x")
    a_path = r"a path of these guards, such as guards.local\('x'\), found"
    for wrong, error, text in [
        ({"a": guards}, ValueError, r"captures\['a'\]: expected " + a_path),
        ({"a": other}, ValueError, a_path),
        ({"a": "x"}, TypeError, a_path),
        ({3: x}, TypeError, "expected a str for each name, found 3"),
        ([x], TypeError, "expected a dict of names to paths"),
    ]:
        with pytest.raises(error, match=text):
            table.add(guards, 1, captures=wrong)  # type: ignore[arg-type]
    assert len(table) == 0
    with pytest.raises(NameError):
        missing = gt.GuardManager(step)
        table.add(missing, 1, captures={"a": missing.local("zz")})
    with pytest.raises(TypeError, match="callable guard has no paths"):
        gt.GuardedCode(step.__code__, lambda f: True, captures={"a": x})
    with pytest.raises(ValueError, match="has no local variable 'weight'"):
        gt.GuardedCode(step.__code__, guards, captures={"weight": x})
    with pytest.raises(ValueError, match="'k' is an argument of it"):
        gt.GuardedCode(step.__code__, guards, captures={"k": x})


def test_names_that_a_guarded_call_could_use_are_refused() -> None:
    f = make("def f(a, b=2): return a")
    guarded, guards = gt.guard_function(f), gt.GuardManager(f)
    with pytest.raises(ValueError, match="'b' is an argument of 'f'"):
        guarded.add(guards, max, captures={"b": guards.local("a")})
    with pytest.raises(ValueError, match="no local variable 'c'"):
        guarded.add(guards, f.__code__, captures={"c": guards.local("a")})
    g = make("def g(a, **more): return a")
    guarded_g, guards = gt.guard_function(g), gt.GuardManager(g)
    for target in (max, make("def g(a, **more): b = a").__code__):
        with pytest.raises(ValueError, match="could be among them"):
            guarded_g.add(guards, target, captures={"b": guards.local("a")})
    assert len(guarded) == len(guarded_g) == 0


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda path: {"class": path}, ValueError, "names of keyword arguments"),
        (lambda path: {"a b": path}, ValueError, "names of keyword arguments"),
        (lambda path: {1: path}, TypeError, "a str for each name"),
        (lambda path: 5, TypeError, "a dict of names to paths"),
    ],
)
def test_wrong_names_for_guarded_calls_are_refused(
    wrong: Any, error: type[Exception], text: str
) -> None:
    f = make("def f(a, b=2): return a")
    guarded, guards = gt.guard_function(f), gt.GuardManager(f)
    with pytest.raises(error, match=text):
        guarded.add(guards, max, captures=wrong(guards.local("a")))
    assert len(guarded) == 0
