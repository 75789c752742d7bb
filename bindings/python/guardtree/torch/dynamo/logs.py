"""Lines of guardtree's in torch's own logs: TORCH_LOGS="recompiles,guards"."""

from __future__ import annotations

from collections.abc import Callable

import torch._dynamo.guards as dynamo
from torch._logging import _internal

import guardtree as gt

from .entries import Cache, Entry
from .explanations import Explanations

RECOMPILES = ("recompiles", "recompiles_verbose")
is_logged: Callable[[str], bool] = _internal.log_state.is_artifact_enabled


def missed(frame: gt.Frame, cache: Cache) -> None:
    """Every guard that fails, of all entries, before Dynamo compiles another one."""
    code = frame.f_code
    if not any(map(is_logged, RECOMPILES)) or not cache.of(code):
        return
    log = dynamo.recompiles_log
    if is_logged("recompiles_verbose"):
        log = dynamo.recompiles_verbose_log
    said = Explanations.of(code, cache, frame)
    log.debug("guardtree: %s:%s %s", code.co_filename, code.co_firstlineno, said)


def made(frame: gt.Frame, entry: Entry) -> None:
    """The guards of a new entry, as guardtree has them."""
    if is_logged("guards"):
        why = f" (torch's own: {entry.refused})" if entry.refused else ""
        dynamo.guards_log.debug(
            "guardtree's guards of %s%s:\n%s", frame.f_code.co_name, why, entry.guards
        )
