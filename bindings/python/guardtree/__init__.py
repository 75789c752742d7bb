"""Guards for Python JITs: a tree of checks decides whether compiled code may run.

``GuardManager`` builds guards, ``set_eval_frame`` and ``optimize`` hook the frames of
the current thread, ``GuardedCode`` is what a callback gives back. See the README.
"""

from __future__ import annotations

from ._host import check_host as _check_host

_check_host()

import atexit as _atexit

from ._guardtree import (
    ASK_AGAIN,
    CacheEntry,
    Explanation,
    Failure,
    Frame,
    GuardedCode,
    GuardManager,
    GuardProfile,
    __version__,
    _shut_down,
    cache_entries,
    code_stats,
    features,
    from_json,
    get_eval_frame,
    parse,
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
from .descriptions import (
    GuardCheck,
    GuardCounts,
    GuardRelation,
    ProfileRow,
    Simplification,
)
from .explanations import CacheExplanation, EntryExplanation, explain
from .tensors import TensorSpec

# Frames of a finalizing interpreter run plain.
_atexit.register(_shut_down)

__all__ = [
    "ASK_AGAIN",
    "CacheEntry",
    "CacheExplanation",
    "Callback",
    "DynamoFrameType",
    "EntryExplanation",
    "Explanation",
    "Failure",
    "Frame",
    "FrameState",
    "GuardCheck",
    "GuardCounts",
    "GuardFn",
    "GuardManager",
    "GuardProfile",
    "GuardRelation",
    "GuardedCode",
    "ProfileRow",
    "Simplification",
    "TensorSpec",
    "__version__",
    "cache_entries",
    "code_stats",
    "explain",
    "features",
    "from_json",
    "get_eval_frame",
    "is_generator",
    "optimize",
    "parse",
    "reset_code",
    "set_entry_limit",
    "set_eval_frame",
    "skip_code",
]
