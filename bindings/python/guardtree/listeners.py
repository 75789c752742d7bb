"""The listeners for new entries and misses: logs and recordings."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType

from ._guardtree import CacheEntry, Frame, _observe

Made = Callable[[CodeType, CacheEntry], None]
Missed = Callable[[Frame], None]

_made: dict[object, Made] = {}
_missed: dict[object, Missed] = {}


def _tell_made(code: CodeType, entry: CacheEntry) -> None:
    for each in list(_made.values()):
        each(code, entry)


def _tell_missed(frame: Frame) -> None:
    for each in list(_missed.values()):
        each(frame)


def listen(who: object, made: Made | None, missed: Missed | None) -> None:
    """Sets the functions that `who` has called for new entries and for misses."""
    _made.pop(who, None)
    _missed.pop(who, None)
    if made is not None:
        _made[who] = made
    if missed is not None:
        _missed[who] = missed
    _observe(_tell_made if _made else None, _tell_missed if _missed else None)
