"""What is used of torch's internals, and the version each was seen in: to support
another version, go through this page, then run the tests.

Seen in 2.13.0, 2.14.1 and 2.15.0, in `torch._dynamo.guards`:
- the pybind classes of `torch._C._dynamo.guards`, whose methods can be replaced, and
  the arguments of `add_*_guard` and `*_manager`; `GLOBAL_STATE.__getstate__()`;
- `GuardManagerWrapper.__init__`, `guard_manager_testing_hook_fn`, `install_*_guard`;
- `CacheEntry` and `ExtraState`, which `CheckFunctionManager.invalidate` asks for.
New in 2.15: GLOBAL_STATE compares `cuda_matmul_precision`, TENSOR_MATCH may take the
current device for the tensor's, and the guard of a NaN takes the NaN.

In `torch._dynamo.eval_frame` and `torch._dynamo.types`:
- the functions of `REPLACED`, by whatever names modules imported them;
- `compile_wrapper` calls `set_eval_frame(callback)`, then the function, and has the
  callback in its closure; `_torchdynamo_orig_callable`, `innermost_backend`;
- all else that `compile_wrapper` asks and sets: entrances.py has its code replaced,
  and compiled_call.h asks the same of the thread before an entry runs. Since 2.14 it
  also asks `_is_eager_on_nested_compile`, and the symbolic-trace flag belongs to the
  thread, not to the process;
- `OptimizeContext`: `enter_exit_hooks`, `_backend_ctx_ctor`, `export`, `_package`;
- `OptimizedModule.__call__`, which has its code replaced; it asks for hooks of all
  modules, sets `_in_optimized_module`, and calls `forward` of the module's own dict;
- `DisableContext`'s wrapper, which only sets the callback, and the names that graphs.py
  knows in the code of entries. Since 2.15 that code asks for a profiler by itself;
- `ConvertFrameReturn`, `FrameExecStrategy`, `GuardedCode`.

In `torch._logging._internal`: `log_state.is_artifact_enabled`.

In `torch.nn.modules.module`: all that `_wrapped_call_impl` and `_call_impl` ask before
they call `forward`, which modules.py and module_call.h ask too.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
import torch._dynamo.eval_frame as eval_frame
import torch.fx._symbolic_trace

SUPPORTED: dict[tuple[int, ...], tuple[int, int]] = {
    (2, 13): (3, 11),
    (2, 14): (3, 14),
    (2, 15): (3, 11),
}
"""Versions of torch, and the CPython that all tests were run with."""


def parse(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(int(part) for part in version.split(".")[:2])


VERSION = parse(torch.__version__)

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


def flags() -> list[tuple[dict[str, Any], str]]:
    """What the wrapper and the code of entries ask: all False in a usual call."""
    found = [
        (vars(torch.compiler), "_is_exporting_flag"),
        (vars(torch.autograd.profiler), "_is_profiler_enabled"),
    ]
    if VERSION < (2, 14):
        found.append((vars(torch.fx._symbolic_trace), "_is_fx_tracing_flag"))
    return found


def usual_in_threads() -> list[tuple[Any, str, Any]]:
    """What the wrapper asks of each thread: a threading.local, an attribute's name, and
    its usual value, which torch also assumes if the attribute is missing."""
    found: list[tuple[Any, str, Any]] = [(torch._guards._TLS, "tracing_context", None)]
    if VERSION >= (2, 14):
        tracing: Any = vars(torch.fx._symbolic_trace)["_is_fx_tracing_tls"]
        nested: Any = vars(eval_frame)["_force_eager_nested_compile"]
        found += [(tracing, "flag", False), (nested, "depth", 0)]
    return found


class UnsupportedError(RuntimeError):
    """This torch or this CPython is not one that guardtree.torch.dynamo knows."""


def check_version(
    version: str = torch.__version__, python: tuple[int, int] = sys.version_info[:2]
) -> None:
    """UnsupportedError where the internals may be others."""
    if SUPPORTED.get(parse(version)) == python:
        return
    known = [
        f"{a}.{b} on CPython {major}.{minor}"
        for (a, b), (major, minor) in SUPPORTED.items()
    ]
    raise UnsupportedError(
        f"guardtree.torch.dynamo knows the internals of torch {', '.join(known)}; "
        f"this is torch {version} on CPython {python[0]}.{python[1]}. torch.compile "
        "works without it."
    )
