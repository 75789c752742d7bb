"""Guards for Python JITs: a tree of checks decides whether compiled code may run.

``GuardManager`` builds guards. ``set_eval_frame`` and ``optimize`` hook the frames of
the current thread. A callback returns a ``GuardedCode``. See the README.
"""

from __future__ import annotations

from ._host import check_host as _check_host

_check_host()

import atexit as _atexit

from ._guardtree import (
    ASK_AGAIN,
    _C_API as _C_API,
    RAISE_ON_MISS,
    CacheEntry,
    Dispatcher,
    Explanation,
    Failure,
    Frame,
    GuardedCode,
    GuardedFunction,
    GuardManager,
    GuardProfile,
    Table,
    TableEntry,
    __version__,
    _shut_down,
    add_entry,
    assumption_counts,
    cache_entries,
    code_stats,
    differences,
    fail_code,
    features,
    from_json,
    get_eval_frame,
    get_policy,
    invalidate,
    parse,
    removed_entries,
    reset_code,
    run_only,
    set_assumptions,
    set_eval_frame,
    set_policy,
    skip_code,
)
from .callbacks import (
    Answer,
    Callback,
    DynamoFrameType,
    FrameState,
    GuardFn,
    Mode,
    is_generator,
    optimize,
)
from .descriptions import (
    AssumedGuards,
    FactDifference,
    GuardCheck,
    GuardCounts,
    GuardRelation,
    ProfileRow,
    Simplification,
)
from .dispatch import MissedCall
from .explanations import CacheExplanation, EntryExplanation, explain
from .functions import guard_function
from .history import Event, History, record_history
from .installation import get_include
from .key_plans import KeyPlan
from .logs import set_logs, set_logs_of_environment as _set_logs_of_environment
from .misses import GuardMiss
from .reports import Report, report
from .strict_mode import (
    StrictError,
    strict,
    strict_of_environment as _set_strict_of_environment,
)
from .tensors import TensorSpec
from .texts import GuardSyntaxError

_set_logs_of_environment()
_set_strict_of_environment()

# Frames of a finalizing interpreter run without the hook.
_atexit.register(_shut_down)

__all__ = [
    "ASK_AGAIN",
    "Answer",
    "AssumedGuards",
    "CacheEntry",
    "CacheExplanation",
    "Callback",
    "Dispatcher",
    "DynamoFrameType",
    "EntryExplanation",
    "Event",
    "Explanation",
    "FactDifference",
    "Failure",
    "Frame",
    "FrameState",
    "GuardCheck",
    "GuardCounts",
    "GuardFn",
    "GuardManager",
    "GuardMiss",
    "GuardProfile",
    "GuardRelation",
    "GuardSyntaxError",
    "GuardedCode",
    "GuardedFunction",
    "History",
    "KeyPlan",
    "MissedCall",
    "Mode",
    "ProfileRow",
    "RAISE_ON_MISS",
    "Report",
    "Simplification",
    "StrictError",
    "Table",
    "TableEntry",
    "TensorSpec",
    "__version__",
    "add_entry",
    "assumption_counts",
    "cache_entries",
    "code_stats",
    "differences",
    "explain",
    "fail_code",
    "features",
    "from_json",
    "get_eval_frame",
    "get_include",
    "get_policy",
    "guard_function",
    "invalidate",
    "is_generator",
    "optimize",
    "parse",
    "record_history",
    "removed_entries",
    "report",
    "reset_code",
    "run_only",
    "set_assumptions",
    "set_eval_frame",
    "set_logs",
    "set_policy",
    "skip_code",
    "strict",
]
