"""What is used of torch's internals, and the version each was seen in: to support
another version, go through this page, then run the tests.

Seen in 2.13.0, in `torch._dynamo.guards`:
- the pybind classes of `torch._C._dynamo.guards`, whose methods can be replaced, and
  the arguments of `add_*_guard` and `*_manager`; `GLOBAL_STATE.__getstate__()`;
- `GuardManagerWrapper.__init__`, `guard_manager_testing_hook_fn`, `install_*_guard`;
- `CacheEntry` and `ExtraState`, which `CheckFunctionManager.invalidate` asks for.

In `torch._dynamo.eval_frame` and `torch._dynamo.types`:
- the functions of `REPLACED`, by whatever names modules imported them;
- `compile_wrapper` calls `set_eval_frame(callback)`, then the function, and has the
  callback in its closure; `_torchdynamo_orig_callable`, `innermost_backend`;
- all else that `compile_wrapper` asks and sets: entrances.py has its code replaced,
  and compiled_call.h asks the same of the thread before an entry runs;
- `OptimizeContext`: `enter_exit_hooks`, `_backend_ctx_ctor`, `export`, `_package`;
- `OptimizedModule.__call__`, which has its code replaced; it asks for hooks of all
  modules, sets `_in_optimized_module`, and calls `forward` of the module's own dict;
- `DisableContext`'s wrapper, which only sets the callback, and the names that graphs.py
  knows in the code of entries;
- `ConvertFrameReturn`, `FrameExecStrategy`, `GuardedCode`.

In `torch._logging._internal`: `log_state.is_artifact_enabled`.

In `torch.nn.modules.module`: all that `_wrapped_call_impl` and `_call_impl` ask before
they call `forward`, which modules.py and module_call.h ask too.
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
