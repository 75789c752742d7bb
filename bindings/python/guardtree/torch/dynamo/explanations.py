"""Why calls miss: every guard that fails, with the lines of the user's code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import CodeType
from typing import Any

import guardtree as gt

from .entries import Cache
from .user_stack import UserStack


@dataclass(frozen=True)
class Explanations:
    """Why a call would recompile: the explanations of the entries of a function."""

    name: str
    entries: list[tuple[int, int, gt.Explanation]]
    """Of each the index, the hits and what its guards say; those with the fewest
    failures come first."""

    @classmethod
    def of(cls, code: CodeType, cache: Cache, subject: Any) -> Explanations:
        """Of a code's entries for its locals, or for a frame of it."""
        found = [
            (index, entry.hits(), entry.guards.explain(subject))
            for index, entry in enumerate(reversed(cache.of(code)))
        ]
        found.sort(key=lambda each: len(each[2].failures))
        return cls(code.co_name, found)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; the note of a guard is its user stack, the innermost first.
        That of a tensor's gradient begins with what is expected."""
        entries = [
            {"index": index, "hits": hits, **said.to_dict()}
            for index, hits, said in self.entries
        ]
        for entry in entries:
            for failure in entry["failures"]:
                if isinstance(note := failure["note"], UserStack):
                    failure["note"] = note.all_lines()
        return {"name": self.name, "entries": entries}

    def to_json(self) -> str:
        """to_dict() as JSON."""
        return json.dumps(self.to_dict(), indent=1, default=repr)

    def __str__(self) -> str:
        if not self.entries:
            return f"{self.name}: no entry"
        return "\n".join([f"{self.name}:", *map(text_of, self.entries)])


def text_of(entry: tuple[int, int, gt.Explanation]) -> str:
    """One entry's failures, each with the lines of the user's code it is there for."""
    index, hits, said = entry
    count = len(said.failures)
    lines = [f"entry {index} ({hits} hits): all guards pass"]
    if count:
        plural = "guard does" if count == 1 else "guards do"
        lines = [f"entry {index} ({hits} hits): {count} {plural} not pass"]
    for each in said.failures:
        lines += lines_of(each)
    return "\n".join(lines)


def lines_of(failure: gt.Failure) -> list[str]:
    """A guard that fails, then the lines of the user's code."""
    note, found = failure.note, f"found {failure.found}"
    expected, stack = failure.python, [note]
    if failure.kind == "native_pure" and isinstance(note, str):  # A key or a state.
        return [f"  {note.partition(':')[0]}: {found}"]
    if isinstance(note, UserStack):
        expected, stack = note.said or expected, note.lines()
    if failure.error:
        found += f", raised {failure.error}"
    first = f"  {failure.path}: expected {expected}; {found}"
    return [first, *(f"    {line}" for line in stack if line)]
