"""Guards for Python JITs: build a tree of checks, let it decide whether compiled code runs.

``GuardManager`` builds guards, ``set_eval_frame`` and ``optimize`` hook the frames of the
current thread, ``GuardedCode`` is what a callback gives back. See the project's README.
"""

from __future__ import annotations

import sys as _sys
import sysconfig as _sysconfig

if not (3, 11) <= _sys.version_info[:2] <= (3, 15):
    raise ImportError(
        "guardtree supports CPython 3.11 to 3.15, this is "
        f"{_sys.version.split()[0]}; use one of those"
    )
if _sys.implementation.name != "cpython":
    raise ImportError(
        f"guardtree reads CPython's frames, this is {_sys.implementation.name}"
    )
if _sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError(
        "guardtree does not support free-threaded CPython yet; "
        "use a GIL build of 3.11 to 3.15"
    )

import atexit as _atexit

from ._guardtree import (
    ASK_AGAIN,
    CacheEntry,
    Explanation,
    Failure,
    Frame,
    GuardedCode,
    GuardManager,
    __version__,
    _shut_down,
    cache_entries,
    code_stats,
    features,
    get_eval_frame,
    reset_code,
    set_entry_limit,
    set_eval_frame,
    skip_code,
)
from .callbacks import (
    Callback,
    DynamoFrameType,
    FrameState,
    GuardFn,
    is_generator,
    optimize,
)

# Frames of a finalizing interpreter run plain.
_atexit.register(_shut_down)

__all__ = [
    "ASK_AGAIN",
    "CacheEntry",
    "Callback",
    "DynamoFrameType",
    "Explanation",
    "Failure",
    "Frame",
    "FrameState",
    "GuardFn",
    "GuardManager",
    "GuardedCode",
    "__version__",
    "cache_entries",
    "code_stats",
    "features",
    "get_eval_frame",
    "is_generator",
    "optimize",
    "reset_code",
    "set_entry_limit",
    "set_eval_frame",
    "skip_code",
]
