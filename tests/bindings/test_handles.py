"""Handles are compared as handles; what looks like a guard on a value is an error."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

import guardtree as gt


def subject(x: Any, y: Any) -> Any:
    return x, y


@pytest.fixture
def guards() -> gt.GuardManager:
    return gt.GuardManager(subject)


def test_handles_of_one_path_are_equal_and_hash_alike(guards: gt.GuardManager) -> None:
    one, same = guards.local("x").attr("shape"), guards.local("x").attr("shape")
    assert one is not same
    assert one == same
    assert hash(one) == hash(same)
    assert not one != same
    assert len({one, same, guards, guards.local("x")}) == 3


def test_kinds_return_an_equal_handle(guards: gt.GuardManager) -> None:
    handle = guards.local("x")
    assert handle.type_match(int) == handle


def test_handles_of_other_paths_and_other_trees_differ(guards: gt.GuardManager) -> None:
    other = gt.GuardManager(subject)
    assert guards.local("x") != guards.local("y")
    assert guards.local("x") != other.local("x")
    assert guards != other


def test_many_handles_are_keys(guards: gt.GuardManager) -> None:
    handles = [guards.local("x").list_item(i) for i in range(300)]
    assert len({hash(each) for each in handles}) == 300
    assert {each: i for i, each in enumerate(handles)}[handles[7]] == 7


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
@pytest.mark.parametrize("value", [3, None, "x", int, 1.5])
def test_a_comparison_with_a_value_is_an_error(
    guards: gt.GuardManager, compare: Callable[[Any, Any], Any], value: Any
) -> None:
    with pytest.raises(TypeError, match=r"use \.equals\(value\)"):
        compare(guards.local("x"), value)
    with pytest.raises(TypeError, match=type(value).__name__):
        compare(value, guards.local("x"))


@pytest.mark.parametrize("compare", [operator.lt, operator.ge])
def test_handles_have_no_order(
    guards: gt.GuardManager, compare: Callable[[Any, Any], Any]
) -> None:
    for other in (3, guards.local("y")):
        with pytest.raises(TypeError, match="int_range"):
            compare(guards.local("x"), other)


def test_a_handle_has_no_truth_value(guards: gt.GuardManager) -> None:
    with pytest.raises(TypeError, match=r"\.check\(frame_locals\)"):
        bool(guards.local("x"))
