"""What is kept of each compiled entry, and what Dynamo asks of its own cache."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import guardtree as gt


@dataclass(eq=False)
class Entry:
    """What Dynamo reads of its `_CacheEntry`, and what reports tell."""

    original: weakref.ref[CodeType]
    code: CodeType | None
    guard_manager: Any
    compile_id: Any
    trace_annotation: str
    callback: Any
    """Dynamo's, of the call of torch.compile that compiled it."""
    backend: Any
    isolate_recompiles_id: int
    guards: gt.GuardManager
    """guardtree's, or a call of torch's where the tree was refused."""
    refused: str = ""
    """Why torch's own tree checks this entry; empty where guardtree's does."""
    python: list[str] = field(default_factory=list)
    """Guards that are asked of Python."""
    checked: Any = None
    """The GuardManager that the hook walks: with the key of the entry."""
    graph: str = ""
    """The name of the one graph that its code calls, where it does nothing else."""
    at_entrance: gt.GuardManager | None = None
    """Its guards without the key, for calls that are to find it without the hook."""
    comparing: Callable[[Any, Any], Any] | None = None
    """Of dual mode: gives for a runner and its function what asks torch's guards."""
    entrances: list[weakref.ref[Any]] = field(default_factory=list)
    """Of compiled functions whose calls find it without the hook."""
    compile_seconds: float = 0.0
    """How long Dynamo and the backend took."""
    guard_ns: int = 0
    """How long one check of the guards took when it was made."""
    found: int = 0
    """Hits there that are counted nowhere else any more."""

    def update_diff_guard_root_manager(self) -> None:
        """guardtree has no second tree for skip_guard_eval_unsafe."""

    def hits(self) -> int:
        """How often this entry's code ran for a call."""
        hooked, original = 0, self.original()
        for each in gt.cache_entries(original) if original is not None else ():
            if each.check_fn is self.checked:
                hooked = each.hits
        return hooked + self.entrance_hits()

    def entrance_hits(self) -> int:
        """How often without the hook."""
        found: int = sum(each.hits(self) for each in self.ways_in())
        return self.found + found

    def ways_in(self) -> list[Any]:
        """The entrances that are still there."""
        found = [reference() for reference in self.entrances]
        return [each for each in found if each is not None]

    def close_entrances(self) -> None:
        """Only the hook finds it from now on."""
        self.at_entrance = None
        for each in self.ways_in():
            each.remove(self)


class Cache:
    """The entries of all codes, oldest first."""

    def __init__(self) -> None:
        self.lists: dict[int, tuple[weakref.ref[CodeType], list[Entry]]] = {}
        self.lock = threading.RLock()

    def of(self, code: CodeType) -> list[Entry]:
        """The entries of a code, the newest first, as torch lists them."""
        found = self.lists.get(id(code))
        return found[1][::-1] if found else []

    def add(self, code: CodeType, entry: Entry) -> None:
        """A new entry. Codes that are equal are not the same code."""
        number = id(code)

        def forget(_: object) -> None:
            self.forget(number)

        with self.lock:
            if number not in self.lists:
                self.lists[number] = weakref.ref(code, forget), []
            self.lists[number][1].append(entry)

    def reset(self, code: CodeType) -> None:
        """Forgets the entries of a code."""
        self.forget(id(code))
        gt.reset_code(code)

    def forget(self, number: int) -> None:
        """Nobody is told any more when an object of these entries goes."""
        for entry in self.lists.pop(number, (None, []))[1]:
            entry.guard_manager.cache_entry = entry.guard_manager.extra_state = None
            entry.close_entrances()

    def codes(self) -> list[CodeType]:
        """The codes that have entries."""
        found = [reference() for reference, _ in list(self.lists.values())]
        return [code for code in found if code is not None]

    def reset_all(self) -> None:
        """Forgets all entries."""
        for code in self.codes():
            self.reset(code)

    def invalidate(self, entry: Entry, deleted: Any) -> None:
        """Dynamo says that an object that an entry was compiled for is gone."""
        code = entry.original()
        entry.close_entrances()
        entry.guard_manager, entry.code = deleted, None
        if code is None:
            return
        for each in gt.cache_entries(code):
            if each.check_fn is entry.checked:
                gt.invalidate(code, each, deleted.invalidation_reason)
                break
