"""Patterns that the torch plugin has functions of their own for: those of Dynamo."""

from __future__ import annotations

import random
from typing import Any

import guardtree as gt
import pytest
from guardtree.semantics.tensors import local_keys_of

torch = pytest.importorskip("torch", reason="torch is not installed")

from support import NAMES, found, matches, matching  # noqa: E402

import guardtree.torch as gtt  # noqa: E402
from torch_values import OTHERS, any_tensor  # noqa: E402

pytestmark = [
    pytest.mark.skipif(
        not gtt.has_plugin(), reason="no plugin: python -m guardtree.torch build"
    ),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def as_of_dynamo(value: Any) -> gt.TensorSpec:
    """What Dynamo's guards say of a tensor: of each rank up to four the plugin has a
    function for these."""
    facts = ("type", "dtype", "device", "shape", "strides", "requires_grad")
    of = gt.TensorSpec.of(value)
    local = local_keys_of(value)
    return gt.TensorSpec(**{n: of[n] for n in facts}, local_dispatch_keys=local)


@pytest.mark.parametrize("name", OTHERS)
def test_what_differs_from_what_dynamo_says_fails(name: str) -> None:
    example, other = torch.zeros(2, 3), OTHERS[name]()
    spec = as_of_dynamo(example)
    assert matches(spec, torch.ones(2, 3))
    assert not matches(spec, other)
    assert found(spec, other)


def test_what_dynamo_says_of_any_rank() -> None:
    values = [torch.zeros((2,) * rank) for rank in range(7)]
    values += [value.detach().requires_grad_() for value in values]
    values += [value.double() for value in values if not value.requires_grad]
    values += [torch.ones(3, 2, 4), torch.ones(3, 4, 2).transpose(1, 2)]
    chosen = random.Random(5)
    values += [any_tensor(chosen) for _ in range(60)]
    answers = [0, 0]
    for example in values:
        spec = as_of_dynamo(example)
        guards = matching(spec)
        for value in values:
            answer = guards.check({"x": value})
            assert answer == NAMES["has_tensor_facts"](value, spec), (spec, value)
            answers[answer] += 1
        assert guards.check({"x": example})
    assert min(answers) > 80


def test_a_wanted_gradient_of_leaves_results_and_views() -> None:
    weight = torch.ones(2, 3, requires_grad=True)
    no_more = torch.ones(2, 3, requires_grad=True).requires_grad_(False)
    base = torch.ones(4, 3)
    view = base[:2]
    assert not matches(as_of_dynamo(weight), view)
    base.mul_(weight.sum())  # the view wants a gradient with its base
    with torch.no_grad():
        of_weight, others = weight[:], [weight * 2, weight.detach(), no_more]
    wanting = [weight, weight * 2, weight[:], of_weight, view]
    assert all(value.requires_grad for value in wanting)
    assert not any(value.requires_grad for value in others)
    for example in (weight, others[0]):
        guards = matching(as_of_dynamo(example))
        for value in wanting + others:
            wanted = value.requires_grad == example.requires_grad
            assert guards.check({"x": value}) == wanted, value
