"""Launches with tensors of torch, its reader and Triton's run as the oracle."""

from __future__ import annotations

import os
import random

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
triton = pytest.importorskip("triton", reason="needs triton")
if not triton.__version__.startswith("3.9."):
    pytest.skip("needs Triton 3.9", allow_module_level=True)
pytest.importorskip("guardtree.torch", reason="needs the torch reader")

import kernels
import standin
from guardtree import triton as guarded
from guardtree.tensors import TensorSpec
from guardtree.triton import facts
from standin import chosen_by_triton, is_right

CALLS = 10**6 if os.environ.get("GUARDTREE_TEST_LONG") else 10_000

WHOLE = torch.zeros(4096)  # of memory that begins at a multiple of 64


class Sub(torch.Tensor):
    """A class of tensors of the user's."""


def at(start, count=64, dtype=torch.float32):
    """A view whose first element lies so many bytes behind a multiple of 64."""
    return WHOLE.view(torch.uint8)[start : start + count].view(dtype)


TENSORS = [
    at(0), at(16), at(32), at(4), at(8), at(24), at(0, dtype=torch.int64),
    at(8, dtype=torch.int64), at(16, dtype=torch.float16), at(2, dtype=torch.float16),
    at(1, dtype=torch.int8), at(16, dtype=torch.bool), at(0).reshape(4, 4).t(),
    at(0, 0), at(4, 0), torch.zeros(0), torch.zeros(2, 0), torch.zeros(()),
    torch.zeros(4, requires_grad=True), torch.nn.Parameter(torch.zeros(4)),
    torch.zeros(4).as_subclass(Sub), at(4).as_subclass(Sub),
    torch.empty(4, device="meta"), torch.zeros(4, dtype=torch.complex64).real,
    at(16, dtype=torch.float8_e4m3fn), at(0, dtype=torch.bfloat16),
]  # fmt: skip


@pytest.fixture(autouse=True)
def driver(monkeypatch):
    return standin.stand_in(monkeypatch)


def test_random_tensors_never_find_another_kernel():
    chance = random.Random(29)
    kernel = guarded.install(kernels.fresh())
    for _ in range(CALLS):
        tensors = [chance.choice(TENSORS) for _ in "xy"]
        args = [*tensors, chance.choice([1, 16, 17]), 0.5, 128]
        assert is_right(kernel, args), args
    stats = guarded.dispatcher_of(kernel).stats()
    assert stats["hits"] > CALLS // 2, stats


def test_a_tensor_that_moves_is_read_again():
    kernel, moves = guarded.install(kernels.fresh()), torch.zeros(8)
    first = kernel[1,](moves, at(0), 16, 0.5, 128)
    moves.set_(at(4))
    second = kernel[1,](moves, at(0), 16, 0.5, 128)
    assert second is not first
    assert second is chosen_by_triton(kernel, moves, at(0), 16, 0.5, 128)
    moves.data = at(0)
    assert kernel[1,](moves, at(0), 16, 0.5, 128) is first
    moves.data = torch.zeros(8, dtype=torch.float64)
    assert kernel[1,](moves, at(0), 16, 0.5, 128) not in (first, second)


@pytest.mark.parametrize("fact", ["alignment", "dtype"])
def test_each_fact_of_a_tensor_counts(monkeypatch, fact):
    def all_but_one(**given):
        given.pop(fact, None)
        return Spec(**given)

    class Spec(TensorSpec):
        def replace(self, **changes):
            return all_but_one(**{**self, **changes})

    monkeypatch.setattr(facts, "TensorSpec", all_but_one)
    kernel = guarded.install(kernels.fresh())
    kernel[1,](at(0), at(0), 16, 0.5, 128)
    other = at(4) if fact == "alignment" else at(0, dtype=torch.int32)
    assert not is_right(kernel, (other, at(0), 16, 0.5, 128))
