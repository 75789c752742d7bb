"""Torch tensors that tests compare."""

from __future__ import annotations

import random
from typing import Any

import torch


class Sub(torch.Tensor):
    """A plain subclass."""


OTHERS: dict[str, Any] = {
    "dtype": lambda: torch.zeros(2, 3, dtype=torch.float64),
    "shape": lambda: torch.zeros(3, 2),
    "strides": lambda: torch.zeros(3, 2).t(),
    "rank": lambda: torch.zeros(2, 3, 1),
    "requires_grad": lambda: torch.zeros(2, 3, requires_grad=True),
    "meta": lambda: torch.zeros(2, 3, device="meta"),
    "sparse": lambda: torch.eye(3)[:2].to_sparse(),
    "csr": lambda: torch.eye(3)[:2].to_sparse_csr(),
    "quantised": lambda: torch.quantize_per_tensor(
        torch.zeros(2, 3), 1.0, 0, torch.quint8
    ),
    "negative": lambda: torch._neg_view(torch.zeros(2, 3)),
    "conjugate": lambda: torch.zeros(2, 3, dtype=torch.complex64).conj(),
    "expanded": lambda: torch.zeros(3).expand(2, 3),
    "nested": lambda: torch.nested.nested_tensor([torch.zeros(3), torch.zeros(2)]),
    "mkldnn": lambda: torch.zeros(2, 3).to_mkldnn(),
    "subclass": lambda: torch.zeros(2, 3).as_subclass(Sub),
    "parameter": lambda: torch.nn.Parameter(torch.zeros(2, 3), requires_grad=False),
    "inference": lambda: made_in_inference_mode(),
    "list": lambda: [[0.0] * 3] * 2,
    "none": lambda: None,
    "class": lambda: torch.Tensor,
}


def made_in_inference_mode() -> Any:
    with torch.inference_mode():
        return torch.zeros(2, 3)


def any_tensor(chosen: random.Random) -> Any:
    """Views of small tensors, of any dtype, with and without gradients."""
    dtypes = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64)
    shape = [chosen.choice((0, 1, 2, 3)) for _ in range(chosen.randrange(4))]
    value = torch.zeros(shape, dtype=chosen.choice(dtypes))
    for _ in range(chosen.randrange(3)):
        if value.dim() == 0:
            break
        at = chosen.randrange(value.dim())
        change = chosen.randrange(5)
        if change == 0:
            value = value.transpose(at, chosen.randrange(value.dim()))
        elif change == 1 and value.shape[at]:
            value = value.narrow(at, 1, value.shape[at] - 1)
        elif change == 2:
            value = value.unsqueeze(at)
        elif change == 3 and value.shape[at] == 1:
            value = value.expand(*[3 if i == at else -1 for i in range(value.dim())])
        elif value.is_floating_point():
            value = value.detach().requires_grad_(chosen.random() < 0.5)
    return value
