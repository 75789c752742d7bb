"""Defects of the nearest peer that concern tensors, by name (tests/DEFECTS.md)."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from support import matches, matching, step  # noqa: E402

import guardtree.torch as gtt  # noqa: E402

needs_plugin = pytest.mark.skipif(
    not gtt.has_plugin(), reason="no plugin: python -m guardtree.torch build"
)


def test_tensor_match_after_a_failed_constructor_crashes() -> None:
    guards = gt.GuardManager(step)
    with pytest.raises(TypeError):
        guards.local("x").tensor_match(object())
    with pytest.raises(TypeError):
        guards.local("x").tensor_match({"shape": object()})
    assert guards.checks() == []
    assert guards.check({"x": torch.zeros(2)})
    guards.local("x").tensor_match(torch.zeros(2))
    assert guards.check({"x": torch.zeros(2)})


def test_tensor_match_of_a_non_tensor_raises_or_passes() -> None:
    guards = matching(torch.zeros(2))
    for value in (None, 3, torch.Tensor, object(), [], torch.Size([2])):
        assert not guards.check({"x": value})
        assert "type" in guards.explain({"x": value}).failures[0].found


def test_storage_overlapping_of_a_non_tensor_raises() -> None:
    guards = gt.GuardManager(step)
    guards.overlapping_memory((), guards.local("x"), guards.local("y"))
    assert not guards.check({"x": torch.zeros(2), "y": 3})
    assert guards.explain({"x": torch.zeros(2), "y": 3}).verdict == "fail"


def test_sizes_of_symbolic_or_short_tensors_raise() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").size(2).equals(3)
    for value in (torch.zeros(3), torch.zeros(()), 3):
        assert not guards.check({"x": value})
        assert guards.explain({"x": value}).verdict == "fail"


def test_sizes_are_boxed_for_each_check() -> None:
    """Relations read the number itself: no int is made, whatever the size."""
    guards = gt.GuardManager(step)
    x, y = guards.local("x"), guards.local("y")
    guards.integers("a.shape[0] == b.shape[0] * 2", a=x, b=y)
    values = {"x": torch.zeros(2_000_000), "y": torch.zeros(1_000_000)}
    assert guards.check(values)
    before = sys.getallocatedblocks()
    for _ in range(1000):
        assert guards.check(values)
    assert sys.getallocatedblocks() - before < 20


@needs_plugin
def test_tensor_match_does_not_see_the_storage_offset() -> None:
    whole = torch.zeros(8)
    guards = matching(gt.TensorSpec.of(whole[2:4], storage_offset=2))
    assert guards.check({"x": whole[2:4]})
    assert not guards.check({"x": whole[3:5]})


@needs_plugin
def test_the_type_of_the_device_is_seen_through_keys_only() -> None:
    assert not matches(gt.TensorSpec(device="meta"), torch.zeros(2))
    assert matches(gt.TensorSpec(device="meta"), torch.zeros(2, device="meta"))
    assert not matches(gt.TensorSpec(device="cuda:0"), torch.zeros(2))


@needs_plugin
def test_sparse_strides_leave_a_dangling_view() -> None:
    sparse = torch.eye(3).to_sparse()
    guards = matching(sparse)
    for _ in range(3):
        assert guards.check({"x": torch.eye(3).to_sparse()})
        assert not guards.check({"x": torch.eye(3)})
    assert not matches(torch.eye(3), sparse)


def test_stale_metadata_is_accepted_under_an_unchanged_dict() -> None:
    values = {"w": torch.zeros(2, 3)}
    guards = gt.GuardManager(step)
    guards.local("x").dict_item("w").tensor_match(values["w"])
    for _ in range(3):
        assert guards.check({"x": values})
    values["w"].resize_(3, 2)
    assert not guards.check({"x": values})
    values["w"].resize_(2, 3)
    assert guards.check({"x": values})


def test_aliasing_guards_of_parameters_are_skipped_by_default() -> None:
    one, two = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(2))
    guards = gt.GuardManager(step)
    guards.distinct_objects(guards.local("x"), guards.local("y"))
    assert guards.check({"x": one, "y": two})
    assert not guards.check({"x": one, "y": one})


@needs_plugin
def test_torch_functions_stay_switched_off_after_an_exception() -> None:
    def raises(_: Any) -> Any:
        raise ZeroDivisionError

    before = gtt.state()["torch_function"]
    guards = gt.GuardManager(step)
    guards.local("x").python(raises)
    assert not guards.check({"x": torch.zeros(2)})
    assert guards.explain({"x": torch.zeros(2)}).verdict == "error"
    assert gtt.state()["torch_function"] == before


def test_marked_dimensions_leave_an_error_pending() -> None:
    """What is marked on a tensor is an attribute like any other."""
    value = torch.zeros(2, 3)
    guards = gt.GuardManager(step)
    guards.local("x").lacks_static_attr("_dynamo_dynamic_indices")
    assert guards.check({"x": value})
    value._dynamo_dynamic_indices = {0}
    assert not guards.check({"x": value})


def test_freed_tensors_are_read() -> None:
    """A guard holds no tensor, and reads none that its path does not lead to."""
    held = [torch.zeros(2)]
    guards = gt.GuardManager(step)
    guards.local("x").list_item(0).tensor_match(held[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert guards.check({"x": held})
        held[:] = []
        assert not guards.check({"x": held})
