"""Each fact of torch's state that Dynamo's trees guard, flipped for a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import torch
import torch.fx
from torch.autograd import forward_ad
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import BaseTorchFunctionMode
from torch.utils import deterministic


@contextmanager
def set_to(
    get: Callable[[], Any], put: Callable[[Any], Any], new: Callable[[Any], Any]
) -> Iterator[None]:
    """What `put` sets is another value."""
    old = get()
    put(new(old))
    try:
        yield
    finally:
        put(old)


def flip(owner: Any, name: str) -> AbstractContextManager[None]:
    """A flag is flipped."""
    get, put = partial(getattr, owner, name), partial(setattr, owner, name)
    return set_to(get, put, lambda old: not old)


@contextmanager
def deterministic_algorithms(mode: str) -> Iterator[None]:
    """Algorithms are deterministic, or warn."""
    old = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode(mode)
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(old)


@contextmanager
def grad_mode() -> Iterator[None]:
    """Gradients are recorded where they were not, and not where they were."""
    with torch.set_grad_enabled(not torch.is_grad_enabled()):
        yield


@contextmanager
def default_device() -> Iterator[None]:
    """Tensors are made on another device."""
    with torch.device("meta"):
        yield


def plain(value: torch.Tensor) -> torch.Tensor:
    return value


def graph() -> torch.fx.GraphModule:
    return torch.fx.symbolic_trace(plain)


def autocast(device: str) -> AbstractContextManager[None]:
    """Enabled, of a device that need not be there."""
    return set_to(
        lambda: torch.is_autocast_enabled(device),
        lambda value: torch.set_autocast_enabled(device, value),
        lambda old: not old,
    )


def autocast_dtype(device: str) -> AbstractContextManager[None]:
    """Another dtype, where autocast is not enabled."""
    return set_to(
        lambda: torch.get_autocast_dtype(device),
        lambda value: torch.set_autocast_dtype(device, value),
        lambda old: torch.float16 if old == torch.bfloat16 else torch.bfloat16,
    )


def precision(name: str) -> AbstractContextManager[None]:
    """Products of matrices are computed with this precision."""
    owner: Any = torch.backends.cuda.matmul
    return set_to(
        lambda: owner.fp32_precision,
        lambda value: setattr(owner, "fp32_precision", value),
        lambda _: name,
    )


DEVICES = (
    "cpu", "cuda", "mtia", "maia", "xpu", "ipu", "hpu", "xla", "privateuseone", "mps",
)  # fmt: skip
matmul = torch.backends.cuda.matmul

CHANGES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "grad mode": grad_mode,
    "inference mode": torch.inference_mode,
    "autocast of the CPU": lambda: torch.autocast("cpu", torch.bfloat16),
    "autocast of the CPU, float16": lambda: torch.autocast("cpu", torch.float16),
    "autocast's cache": lambda: set_to(
        torch.is_autocast_cache_enabled,
        torch.set_autocast_cache_enabled,
        lambda old: not old,
    ),
    "deterministic": lambda: deterministic_algorithms("error"),
    "deterministic, warns": lambda: deterministic_algorithms("warn"),
    "default dtype": lambda: set_to(
        torch.get_default_dtype, torch.set_default_dtype, lambda _: torch.float64
    ),
    "threads": lambda: set_to(
        torch.get_num_threads, torch.set_num_threads, lambda old: old + 1
    ),
    "default device": default_device,
    "a torch function mode": BaseTorchFunctionMode,
    "no torch function of subclasses": torch._C.DisableTorchFunctionSubclass,
    "no torch function": torch._C.DisableTorchFunction,
    "hooks of saved tensors": lambda: saved_tensors_hooks(plain, plain),
    "hooks of saved tensors that are graphs": lambda: saved_tensors_hooks(
        graph(), graph()
    ),
    "a dual level": forward_ad.dual_level,
    "TF32": lambda: precision("tf32"),
    "IEEE precision": lambda: precision("ieee"),
    "fp16 reductions": lambda: flip(matmul, "allow_fp16_reduced_precision_reduction"),
    "bf16 reductions": lambda: flip(matmul, "allow_bf16_reduced_precision_reduction"),
    "filled memory": lambda: flip(deterministic, "fill_uninitialized_memory"),
}
CHANGES |= {f"autocast of {each}": partial(autocast, each) for each in DEVICES}
CHANGES |= {f"dtype of {each}": partial(autocast_dtype, each) for each in DEVICES}
