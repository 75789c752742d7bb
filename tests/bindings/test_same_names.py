"""A name that is an argument and a free variable, as in Dynamo's resume functions."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import guardtree as gt
import pytest


def made() -> Any:
    """A function whose argument `inp` has the name of its free variable, which is 1."""
    inp = 1

    def inner(a: Any) -> Any:
        return inp + a

    both = inner.__code__.replace(co_varnames=("inp",))
    return FunctionType(both, globals(), "both", None, inner.__closure__)


def tree(function: Any, argument: int, free: int) -> gt.GuardManager:
    guards = gt.GuardManager(function)
    guards.local("inp").equals(argument)
    guards.closure("inp").equals(free)
    return guards


def test_each_is_reached_by_its_own_step() -> None:
    function = made()
    assert tree(function, 7, 1).check({"inp": 7})
    assert not tree(function, 1, 7).check({"inp": 7})
    assert not tree(function, 7, 7).check({"inp": 7})


def test_a_frame_gives_both(hook: None, only: Any) -> None:
    function = made()
    seen: list[tuple[Any, bool, bool]] = []

    def answer(frame: Any, entry: Any, state: Any) -> Any:
        right = tree(function, 7, 1).check(frame)
        seen.append((frame.f_locals, right, tree(function, 7, 7).check(frame)))
        return gt.ASK_AGAIN

    with gt.optimize(only(function, answer)):
        assert function(7) == 8
    assert seen == [({"inp": 7}, True, False)]


def test_a_hit_goes_by_both(hook: None, only: Any) -> None:
    function = made()
    guards = tree(function, 7, 1)
    add = only(function, lambda *_: gt.GuardedCode(function.__code__, guards))
    with gt.optimize(add):
        function(7)
        function(7)
    assert gt.code_stats(function)["hits"] == 1
    assert gt.explain(function, {"inp": 7}).entries[0].failures == []


def test_text_and_json_keep_them_apart() -> None:
    function = made()
    guards = tree(function, 7, 1)
    text, names = guards.to_text()
    assert "guard.closure('inp')" in text
    for again in (
        gt.parse(text, function, names),
        gt.from_json(guards.to_json(), function),
    ):
        assert again.check({"inp": 7})
        assert str(again) == str(guards)


def test_a_name_that_is_only_an_argument_is_no_free_variable() -> None:
    function = made()
    with pytest.raises(NameError, match="its free variables are 'inp'"):
        gt.GuardManager(function).closure("other").equals(1)
