"""Programs: modules of torch.nn, alone, in a row, in a transformer; optimizer steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .programs import made

MODULES, TRANSFORMER, OPTIMIZER = "nn modules", "Transformer", "optimizer step"
SEQUENTIAL = "Sequential(100)"


def flat() -> tuple[Any, ...]:
    return (torch.ones(4, 8),)


def image() -> tuple[Any, ...]:
    return (torch.ones(2, 3, 8, 8),)


def text() -> tuple[Any, ...]:
    return (torch.ones(2, 4, 16),)


def words() -> tuple[Any, ...]:
    return (torch.ones(2, 4, dtype=torch.int64),)


@made(MODULES, flat)
def linear() -> nn.Module:
    return nn.Linear(8, 8)


@made(MODULES, image)
def convolution() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval()


@made(MODULES, image)
def batch_norm_in_training() -> nn.Module:
    return nn.BatchNorm2d(3)


@made(MODULES, flat)
def dropout_and_norm() -> nn.Module:
    return nn.Sequential(nn.LayerNorm(8), nn.Dropout(0.1), nn.GELU())


@made(MODULES, words)
def embedding() -> nn.Module:
    return nn.Embedding(16, 8)


@made(MODULES, lambda: (torch.ones(4, 8), torch.ones(4, 8)))
def recurrent_cell() -> nn.Module:
    return nn.GRUCell(8, 8)


@made(MODULES, text)
def self_attention() -> nn.Module:
    class SelfAttention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

        def forward(self, x: Any) -> Any:
            return self.attention(x, x, x, need_weights=False)[0]

    return SelfAttention().eval()


class Residual(nn.Module):
    """A block with options, a buffer and a child that may be missing."""

    def __init__(self, has_norm: bool) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8) if has_norm else None
        self.register_buffer("gain", torch.ones(8))
        self.rate = 0.5

    def forward(self, x: Any) -> Any:
        out = self.inner(x) * self.gain * self.rate
        return x + (self.norm(out) if self.norm is not None else out)


@made(MODULES, flat)
def list_of_blocks() -> nn.Module:
    class Blocks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList([Residual(i % 2 == 0) for i in range(4)])

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return x

    return Blocks()


@made(MODULES, flat)
def dict_of_branches() -> nn.Module:
    class Branches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            both = {"left": nn.Linear(8, 8), "right": nn.Linear(8, 8)}
            self.branches = nn.ModuleDict(both)
            self.scales = nn.ParameterList([torch.ones(8), torch.ones(8)])

        def forward(self, x: Any) -> Any:
            out = [branch(x) for branch in self.branches.values()]
            return out[0] * self.scales[0] + out[1] * self.scales[1]

    return Branches()


@made(MODULES, flat)
def module_in_a_closure() -> Callable[..., Any]:
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh())

    def run(x: Any) -> Any:
        return model(x).sum()

    return run


@made(MODULES, flat)
def module_with_a_hook() -> nn.Module:
    model = nn.Linear(8, 8)
    model.register_forward_hook(lambda module, args, out: out * 2)
    return model


@made(SEQUENTIAL, flat)
def sequential_100() -> nn.Module:
    return nn.Sequential(*(nn.Linear(8, 8) for _ in range(100)))


def encoder(layers: int) -> nn.Module:
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


@made(TRANSFORMER, text)
def encoder_layer() -> nn.Module:
    return nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)


@made(TRANSFORMER, text)
def encoder_12() -> nn.Module:
    return encoder(12)


@made(TRANSFORMER, text)
def encoder_48() -> nn.Module:
    return encoder(48)


def step_of(kind: Callable[[Any], torch.optim.Optimizer]) -> Callable[..., Any]:
    """One step of an optimizer that has taken one: its state is there."""
    model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(4)))
    optimizer = kind(model.parameters())
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()

    def step() -> None:
        optimizer.step()

    return step


@made(OPTIMIZER, tuple)
def adam() -> Callable[..., Any]:
    return step_of(lambda p: torch.optim.Adam(p, lr=1e-3))


@made(OPTIMIZER, tuple)
def adam_with_decay() -> Callable[..., Any]:
    return step_of(lambda p: torch.optim.AdamW(p, amsgrad=True, foreach=False))


@made(OPTIMIZER, tuple)
def sgd() -> Callable[..., Any]:
    return step_of(lambda p: torch.optim.SGD(p, lr=0.1))


@made(OPTIMIZER, tuple)
def sgd_with_momentum() -> Callable[..., Any]:
    return step_of(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True))
