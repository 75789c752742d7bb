"""Explains misses: every entry of a code object, the nearest one first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, MethodType
from typing import Any

from ._guardtree import (
    CacheEntry,
    Explanation,
    Failure,
    Frame,
    TableEntry,
    _explain_entry,
    cache_entries,
    differences,
    removed_entries,
)


def _note_for_json(note: Any) -> Any:
    """The note itself if JSON can represent it, otherwise its repr."""
    if note is None or type(note) is str:
        return note
    try:
        json.dumps(note, allow_nan=False)
    except MemoryError:
        raise
    except Exception:  # of user code: a report must not fail
        try:
            return repr(note)
        except MemoryError:
            raise
        except Exception:
            return f"<{type(note).__name__} object, its repr raises>"
    return note


def _for_json(document: Any) -> Any:
    """A to_dict() result in which JSON can represent all notes."""
    if isinstance(document, list):
        return [_for_json(each) for each in document]
    if isinstance(document, dict):
        return {
            key: _note_for_json(value) if key == "note" else _for_json(value)
            for key, value in document.items()
        }
    return document


def json_text(document: dict[str, Any]) -> str:
    """A to_dict() result as JSON text. Never fails."""
    return json.dumps(_for_json(document), indent=1)


@dataclass(frozen=True)
class EntryExplanation:
    """The explanation of one cache entry for a subject."""

    index: int
    """Its index among the entries of the code object; the oldest is 0."""
    hits: int
    """The number of its hits so far."""
    entry: CacheEntry | TableEntry
    explanation: Explanation

    @property
    def failures(self) -> list[Failure]:
        """Every guard that did not pass."""
        return self.explanation.failures

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "index": self.index,
            "hits": self.hits,
            **self.explanation.to_dict(),
        }

    def __str__(self) -> str:
        count = len(self.failures)
        hits = "1 hit" if self.hits == 1 else f"{self.hits} hits"
        if not count:
            return f"entry {self.index} ({hits}): all guards pass"
        which = "1 guard does" if count == 1 else f"{count} guards do"
        lines = str(self.explanation).replace("\n", "\n  ")
        return f"entry {self.index} ({hits}): {which} not pass\n  {lines}"


def _difference_lines(differences: dict[str, list[str]], most: int = 8) -> list[str]:
    """One line per fact, with the first required values."""
    only = "only " if len(differences) == 1 else ""
    lines = []
    for fact, demands in differences.items():
        shown = [demand or "anything" for demand in demands[:most]]
        shown += ["..."] if len(demands) > most else []
        lines.append(f"entries differ {only}in {fact}: {', '.join(shown)}")
    return lines


@dataclass(frozen=True)
class CacheExplanation:
    """The explanations of all entries of code, a function or a Dispatcher."""

    name: str
    """The qualified name of the code or function."""
    entries: tuple[EntryExplanation, ...]
    """The nearest first: fewest failures, then the oldest."""
    differences: dict[str, list[str]]
    """Facts in which the entries differ, with the value each requires, oldest first."""
    removed: tuple[tuple[int, str], ...]
    """(hits, reason) of the last removed entries, the newest last."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data; notes are the objects themselves."""
        return {
            "name": self.name,
            "entries": [entry.to_dict() for entry in self.entries],
            "differences": self.differences,
            "removed": [list(each) for each in self.removed],
        }

    def to_json(self) -> str:
        """to_dict() as JSON. A note that JSON cannot represent becomes its repr."""
        return json_text(self.to_dict())

    def __str__(self) -> str:
        head = f"{self.name}:" if self.entries else f"{self.name}: no entries"
        gone = [f"gone ({hits} hits): {reason}" for hits, reason in self.removed]
        return "\n".join(
            [head, *map(str, self.entries), *_difference_lines(self.differences), *gone]
        )


def explain(
    code: CodeType | Callable[..., object],
    subject: Mapping[str, Any] | Frame,
) -> CacheExplanation:
    """Explain every cache entry of a function or code object on ``subject``.

    ``subject`` is a mapping of locals, or the frame given to a callback. With a
    mapping, globals and closure are those of the function. For a code object, they are
    those of the function that the entry's guards were made for, if there was one.
    """
    function: Any = code.__func__ if isinstance(code, MethodType) else code
    made = [
        EntryExplanation(
            index, entry.hits, entry, _explain_entry(entry, function, subject)
        )
        for index, entry in enumerate(cache_entries(function))
    ]
    name = getattr(function, "__code__", function).co_qualname
    return CacheExplanation(
        name, nearest(made), differences(function), tuple(removed_entries(function))
    )


def nearest(made: list[EntryExplanation]) -> tuple[EntryExplanation, ...]:
    """Fewest failures first, then the oldest."""
    return tuple(sorted(made, key=lambda each: len(each.failures)))


def explanation_of_calls(
    name: str,
    explained: list[tuple[TableEntry, Explanation]],
    differences: dict[str, list[str]],
) -> CacheExplanation:
    """What the entries of a GuardedFunction, Dispatcher or Table say of a call."""
    made = [
        EntryExplanation(index, entry.hits, entry, explanation)
        for index, (entry, explanation) in enumerate(explained)
    ]
    return CacheExplanation(name, nearest(made), differences, ())


def report_of_calls(calls: Any) -> str:
    """The counts of a GuardedFunction or Dispatcher, and each entry with its guards."""
    counts = calls.stats()
    counted = [f"{count} {name}" for name, count in counts.items() if name != "entries"]
    lines = [f"{calls!r}: {', '.join(counted)}"]
    for index, entry in enumerate(calls.entries()):
        hits = "1 hit" if entry.hits == 1 else f"{entry.hits} hits"
        lines.append(f"entry {index} ({hits}) runs {entry.payload!r}")
        lines += [f"  {line}" for line in str(entry.guards).splitlines()]
    return "\n".join([*lines, *_difference_lines(calls.differences())])
