"""Constants that have the same part in them many times cost what exists, not what text
would write. Where that does not hold, these tests do not end."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest

DEPTH = 90  # 2**90 ways from the root to the innermost value


def function(a: Any) -> None:
    pass


def pairs(depth: int = DEPTH, leaf: Any = 1) -> Any:
    for _ in range(depth):
        leaf = (leaf, leaf)
    return leaf


def lists(depth: int = DEPTH, leaf: Any = 1) -> Any:
    for _ in range(depth):
        leaf = [leaf, leaf]
    return leaf


def dicts(depth: int = DEPTH, leaf: Any = 1) -> Any:
    for _ in range(depth):
        leaf = {"a": leaf, 2: leaf}
    return leaf


def weave(depth: int = DEPTH) -> Any:
    """Two parts at each level that are equal and are not the same."""
    a, b = [1], [1]
    for _ in range(depth):
        a, b = [a, b], [a, b]
    return a


def equals(constant: Any) -> gt.GuardManager:
    guards = gt.GuardManager(function)
    guards.local("a").equals(constant)
    return guards


@pytest.mark.parametrize("make", [pairs, lists, dicts, weave])
def test_a_shared_part_is_copied_and_compared_once(make: Any) -> None:
    assert equals(make()).check({"a": make()})


@pytest.mark.parametrize("make", [pairs, lists, dicts])
def test_a_difference_in_a_shared_part_is_found(make: Any) -> None:
    assert not equals(make()).check({"a": make(leaf=True)})
    assert not equals(make(leaf=1.0)).check({"a": make()})


def test_parts_may_be_shared_in_the_constant_or_in_the_value_alone() -> None:
    depth = 14  # 2**14 parts of its own each

    def tree(left: int) -> Any:
        return [tree(left - 1), tree(left - 1)] if left else [1]

    whole, shared = tree(depth), lists(depth, [1])
    assert equals(whole).check({"a": shared})
    assert equals(shared).check({"a": whole})


def kept(guards: gt.GuardManager) -> Any:
    return guards.local("a").checks()[0].operands["expected"]


def test_a_tuple_that_nobody_can_change_is_not_copied() -> None:
    constant = (1, ("a", frozenset({2})), None)
    assert kept(equals(constant)) is constant
    changeable = (1, [2])
    guards = equals(changeable)
    assert kept(guards) is not changeable
    changeable[1].append(3)
    assert not guards.check({"a": changeable})
    assert guards.check({"a": (1, [2])})


def test_what_is_shared_is_shared_in_the_copy() -> None:
    part = [1]
    copy = kept(equals([part, part]))
    assert copy[0] is copy[1] and copy[0] is not part


def test_an_equal_check_is_kept_once() -> None:
    guards = gt.GuardManager(function)
    for _ in range(2):
        guards.local("a").equals(lists())
    assert str(guards).count("equals") == 1


def test_a_printed_tree_says_that_the_constant_is_too_long() -> None:
    told = "<a list with the same parts in it millions of times>"
    assert told in str(equals(lists()))


def test_an_explanation_is_short() -> None:
    explanation = equals(lists()).explain({"a": lists(leaf=2)})
    assert len(str(explanation)) < 1000


def test_text_gives_the_constant_a_name() -> None:
    guards = equals(lists())
    text, names = guards.to_text()
    assert len(text) < 100
    assert gt.parse(text, function, names).check({"a": lists()})


def test_json_refuses_the_constant() -> None:
    with pytest.raises(ValueError, match="the same parts in it millions of times"):
        equals(lists()).to_json()


def test_a_long_constant_without_shared_parts_is_written() -> None:
    constant = [[i] for i in range(1000)]
    guards = equals(constant)
    text, names = guards.to_text()
    assert names == {}
    assert gt.parse(text, function).check({"a": constant})
    assert str(constant) in str(guards)


def test_a_nan_is_found_among_the_keys_of_a_shared_part() -> None:
    with pytest.raises(ValueError, match="found a NaN"):
        equals({pairs(16, float("nan"))})


@pytest.mark.parametrize("depth", [99, 100])
def test_the_depth_of_a_shared_part_counts_where_it_lies_deepest(depth: int) -> None:
    part = lists(60)
    chain = part
    for _ in range(depth - 60):
        chain = [chain]
    constant = [part, chain] if depth == 99 else [part, [chain]]
    if depth == 99:
        assert equals(constant).check({"a": constant})
    else:
        with pytest.raises(ValueError, match="at most 100 deep"):
            equals(constant)
