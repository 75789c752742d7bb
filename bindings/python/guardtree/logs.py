"""Logs guards, misses and code through Python's ``logging``.

There are three loggers, which are off by default:

- ``guardtree.guards``: the guards of each new entry (INFO)
- ``guardtree.misses``: why no entry passed for a call, guard by guard (INFO)
- ``guardtree.code``: the bytecode before and after, for each entry (DEBUG)

They log entries and calls of the frame hook. Calls that ``guard_function`` guards
without the hook, from CPython 3.12 on, are only counted: ``stats()``.

``set_logs("guards", "misses")`` or the environment variable
``GUARDTREE_LOGS=guards,misses`` turns them on. They cost nothing while they are off.
The hook is off during logging, so the logging code is not guarded.
"""

from __future__ import annotations

import dis
import io
import logging
import os
from types import CodeType

from ._guardtree import CacheEntry, Frame, GuardManager
from .explanations import explain
from .listeners import listen

NAMES = ("guards", "misses", "code")
"""The names that ``set_logs`` accepts."""

_guards, _misses, _code = (logging.getLogger(f"guardtree.{name}") for name in NAMES)


def _dis_text(code: CodeType) -> str:
    to = io.StringIO()
    dis.dis(code, file=to)
    return to.getvalue()


def _entry_made(code: CodeType, entry: CacheEntry) -> None:
    if _guards.isEnabledFor(logging.INFO):
        made_with: object = entry.check_fn
        if not isinstance(made_with, GuardManager):
            made_with = f"a callable: {made_with!r}"
        _guards.info("%s: an entry was made\n%s", code.co_qualname, made_with)
    if _code.isEnabledFor(logging.DEBUG):
        _code.debug(
            "%s: an entry was made\nbefore\n%s\nafter\n%s",
            code.co_qualname,
            _dis_text(code),
            _dis_text(entry.code),
        )


def _missed(frame: Frame) -> None:
    if _misses.isEnabledFor(logging.INFO):
        _misses.info("no entry served a call of %s", explain(frame.f_code, frame))


def set_logs(*names: str) -> None:
    """Log the given ones of "guards", "misses" and "code", and no others.

    A logger without a handler writes to stderr. Raises ValueError for other names.
    """
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ValueError(
            f"expected names among {', '.join(NAMES)}, found {', '.join(unknown)}"
        )
    for name, logger in zip(NAMES, (_guards, _misses, _code)):
        logger.setLevel(logging.DEBUG if name in names else logging.CRITICAL + 1)
        if name in names and not logger.hasHandlers():
            logger.addHandler(logging.StreamHandler())
    makes = {"guards", "code"} & set(names)
    misses = "misses" in names
    listen("logs", _entry_made if makes else None, _missed if misses else None)


def set_logs_of_environment() -> None:
    """Applies GUARDTREE_LOGS. Warns about unknown names."""
    asked = [each.strip() for each in os.environ.get("GUARDTREE_LOGS", "").split(",")]
    asked = [each for each in asked if each]
    known = [each for each in asked if each in NAMES]
    if known:
        set_logs(*known)
    if len(known) < len(asked):
        import warnings

        others = ", ".join(each for each in asked if each not in NAMES)
        warnings.warn(
            f"GUARDTREE_LOGS: expected names among {', '.join(NAMES)}, found {others}",
            stacklevel=2,
        )
