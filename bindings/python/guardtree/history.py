"""``record_history``: misses, new entries and removed entries, in chronological order.

It records events of the frame hook. Look-ups of a Table, and calls that
``guard_function`` guards without the hook, are only counted.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import asdict, dataclass
from types import CodeType
from typing import Any

from . import _guardtree
from ._guardtree import CacheEntry, Frame
from .explanations import explain
from .listeners import listen


@dataclass(frozen=True)
class Event:
    """One event of the entries of a code object."""

    seconds: float
    """Time since the recording began."""
    code: str
    """The qualified name of the code object."""
    what: str
    """``miss``, ``entry`` (an entry was added) or ``removed``."""
    text: str
    """For a miss, the guards that did not pass in the nearest entry. For a removed
    entry, the reason."""

    def to_dict(self) -> dict[str, Any]:
        """The event as plain data."""
        return asdict(self)


class History:
    """The result of ``record_history``. It records while its ``with`` block runs."""

    def __init__(self, most: int = 1000) -> None:
        self._events: deque[Event] = deque(maxlen=most)
        self._removed: dict[CodeType, int] = {}
        self._begin = time.perf_counter()

    def __repr__(self) -> str:
        return f"<guardtree.History: {len(self._events)} events>"

    @property
    def events(self) -> list[Event]:
        """The last events, the oldest first."""
        return list(self._events)

    def __enter__(self) -> History:
        self._begin = time.perf_counter()
        listen(self, self._entry_made, self._missed)
        return self

    def __exit__(self, *_: object) -> None:
        listen(self, None, None)

    def _add(self, code: CodeType, what: str, text: str) -> None:
        seconds = round(time.perf_counter() - self._begin, 6)
        self._events.append(Event(seconds, code.co_qualname, what, text))

    def _entry_made(self, code: CodeType, entry: CacheEntry) -> None:
        self._note_removed(code)
        self._add(code, "entry", f"runs {entry.code.co_qualname}")

    def _missed(self, frame: Frame) -> None:
        self._note_removed(frame.f_code)
        explained = explain(frame.f_code, frame).entries
        nearest = str(explained[0]) if explained else "no entries"
        self._add(frame.f_code, "miss", nearest)

    def _note_removed(self, code: CodeType) -> None:
        """Adds the entries that were removed since the last event of this code."""
        stats = _guardtree.code_stats(code)
        count = int(stats["evicted"]) + int(stats["invalidated"])
        new = count - self._removed.get(code, 0)
        self._removed[code] = count
        gone = _guardtree.removed_entries(code)[-new:] if new > 0 else []
        for hits, reason in gone:
            self._add(code, "removed", f"{reason} ({hits} hits)")


def record_history(most: int = 1000) -> History:
    """Record misses and changes of entries: ``with record_history() as history: ...``.

    It keeps the last ``most`` events of all threads. Each miss is explained, so calls
    that miss take longer during recording. ``report(f, history=history)`` shows them.
    """
    return History(most)
