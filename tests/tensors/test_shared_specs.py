"""Specs that say the same are one object while one of them is alive."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import guardtree as gt
import pytest

np = pytest.importorskip("numpy", reason="NumPy is not installed")

from support import matching, step


def spec_objects() -> int:
    """The objects that own specs, which the collector knows."""
    gc.collect()
    return sum(type(each).__name__ == "SharedSpec" for each in gc.get_objects())


def test_guards_that_expect_the_same_share_one_spec() -> None:
    before = spec_objects()
    kept = [matching(np.zeros((2, 3))) for _ in range(5)]
    kept.append(matching(gt.TensorSpec.of(np.ones((2, 3)))))
    assert spec_objects() == before + 1
    kept.append(matching(np.zeros((2, 4))))
    assert spec_objects() == before + 2
    assert [guards.check({"x": np.zeros((2, 3))}) for guards in kept] == [True] * 6 + [
        False
    ]
    kept.clear()
    assert spec_objects() == before


def test_the_last_of_them_that_lives_keeps_it() -> None:
    first, second = matching(np.zeros((2, 3))), matching(np.ones((2, 3)))
    del first
    gc.collect()
    assert second.check({"x": np.zeros((2, 3))})
    assert not second.check({"x": np.zeros((3, 3))})


@pytest.mark.parametrize(
    "other",
    [
        {"type": np.ndarray, "shape": (2, 3), "ndim": 2},
        {"type": np.ndarray, "shape": (2, (3, 4))},
        {"type": np.ndarray, "shape": (2, 3), "writeable": True},
        {"type": np.ndarray, "ndim": 2},
        {"shape": (2, 3)},
    ],
)
def test_specs_that_say_it_in_other_facts_are_others(other: Any) -> None:
    guards = matching({"type": np.ndarray, "shape": (2, 3)})
    others = matching(other)
    assert others.checks()[0].python != guards.checks()[0].python
    assert others.checks()[0].operands == {"spec": other}
    assert others.check({"x": np.zeros((2, 3))})


@pytest.mark.parametrize(
    ("bounds", "plain"),
    [
        (((2, 2), (None, None)), (2, None)),
        (((None, 2**63 - 1), (-(2**63), 4)), (None, (None, 4))),
    ],
)
def test_bounds_are_told_in_one_way(bounds: Any, plain: Any) -> None:
    before = spec_objects()
    kept = [matching({"type": np.ndarray, "shape": each}) for each in (bounds, plain)]
    assert spec_objects() == before + 1
    for guards in kept:
        assert guards.checks()[0].operands["spec"]["shape"] == plain


def test_a_class_with_guards_on_its_own_instances_is_collected() -> None:
    class Own(np.ndarray):
        guards: Any

    example = np.zeros((2, 3)).view(Own)
    Own.guards = [matching(example), matching(example)]
    assert Own.guards[1].check({"x": example})
    alive = weakref.ref(Own)
    before = spec_objects()
    del Own, example
    assert spec_objects() == before - 1
    assert alive() is None


def test_what_is_given_out_is_a_copy() -> None:
    guards = matching(np.zeros((2, 3)))
    facts = guards.checks()[0].operands["spec"]
    before = dict(facts)
    facts.clear()
    assert guards.checks()[0].operands["spec"] == before
    assert matching(np.ones((2, 3))).checks()[0].operands["spec"] == before


def test_a_tree_that_is_built_again_and_again_leaves_nothing() -> None:
    before = spec_objects()
    for size in range(200):
        guards = gt.GuardManager(step)
        guards.local("x").tensor_match(np.zeros((size % 7, 3)))
        assert guards.check({"x": np.zeros((size % 7, 3))})
    del guards
    assert spec_objects() == before
