"""What is used of torch's internals, and the version each was seen in: to support
another version, go through this page, then run the tests.

| used | seen in 2.13.0 |
|---|---|
| pybind classes of guards, whose methods can be replaced | `torch._C._dynamo.guards` |
| `GuardManagerWrapper.__init__`, `guard_manager_testing_hook_fn`, `install_*_guard` | `torch._dynamo.guards` |
| arguments of `add_*_guard` and `*_manager` | `torch/csrc/dynamo/guards.cpp` |
| `GLOBAL_STATE`'s fields by `__getstate__()` | `torch/csrc/dynamo/guards.cpp` |
| the functions of `REPLACED`, by whatever name a module imported them | `torch._C._dynamo.eval_frame` |
| `ConvertFrameReturn`, `FrameExecStrategy`, `GuardedCode` | `torch._dynamo.types` |
| `CacheEntry` and `ExtraState` in `CheckFunctionManager.invalidate` | `torch._dynamo.guards` |
| `innermost_backend`, `OptimizedModule` | `torch._dynamo.eval_frame` |
| `compile_wrapper` calls `set_eval_frame(callback)`, then the function | `torch._dynamo.eval_frame` |
"""

from __future__ import annotations

import sys

import torch

SUPPORTED = ("2.13",)
"""Versions of torch, of which the tests pass."""
PYTHONS = ((3, 11),)
"""Versions of CPython that the tests were run with."""

REPLACED = (
    "_debug_get_cache_entry_list",
    "_get_cache_entries_for_region",
    "_get_total_cache_entry_count",
    "get_eval_frame_callback",
    "get_eval_frame_isolate_recompiles_id",
    "reset_code",
    "set_code_exec_strategy",
    "set_eval_frame",
    "set_eval_frame_isolate_recompiles_id",
    "set_fullgraph_compiled_frame_count",
    "set_guard_complete_hook",
    "set_skip_guard_eval_unsafe",
)
"""Functions of `torch._C._dynamo.eval_frame` that are guardtree's while installed."""


class UnsupportedError(RuntimeError):
    """This torch or this CPython is not one that guardtree.torch.dynamo knows."""


def check_version(version: str = torch.__version__) -> None:
    """UnsupportedError where the internals may be others."""
    found = ".".join(version.split("+")[0].split(".")[:2])
    if found not in SUPPORTED:
        raise UnsupportedError(
            f"guardtree.torch.dynamo knows the internals of torch "
            f"{', '.join(SUPPORTED)}; this is torch {version}. torch.compile works "
            "without it."
        )
    if sys.version_info[:2] not in PYTHONS:
        known = ", ".join(f"{a}.{b}" for a, b in PYTHONS)
        raise UnsupportedError(
            f"guardtree.torch.dynamo is tested on CPython {known}; this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}. torch.compile works "
            "without it."
        )
