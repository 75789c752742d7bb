"""Hazards: changes between two checks that an assumption must not sleep through."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import guardtree as gt
import pytest
from assumed import Assumed, Guards, function_with

# Whether CPython tells of changes of dicts at all, by events or by tags.
TELLS = bool(gt.features()["dict_watcher"]) or sys.version_info < (3, 14)

# On 3.13.0 watchers hear nothing of attributes (gh-125608); where there is no watcher,
# nothing tells of them from 3.13 on. What is said of such a dict is read anew.
HIDES_ATTRIBUTES = sys.version_info[:3] == (3, 13, 0) or (
    sys.version_info >= (3, 13) and not gt.features()["dict_watcher"]
)

# Gives guards that pass, or them and their locals. When it goes on it makes the change.
# It may stop once more, and then puts back what other tests need.
Begin = Callable[[], Iterator[Any]]


@dataclass(frozen=True)
class Hazard:
    """One change that must be noticed by the very next check."""

    mechanism: str  # of CPython or of ours that has to tell
    name: str
    begin: Begin
    reread: int | None = 0  # checks made each time; None: the version decides

    def __str__(self) -> str:
        return f"{self.mechanism}: {self.name}"

    def must_be_noticed(self) -> None:
        begun = self.begin()
        try:
            first = next(begun)
            guards, subject = first if isinstance(first, tuple) else (first, {})
            assumed = Assumed(guards, **subject)
            self._must_rely_on_the_mechanism(guards)
            next(begun, None)
            assert not assumed.check()
        finally:
            begun.close()  # type: ignore[attr-defined]

    def _must_rely_on_the_mechanism(self, guards: gt.GuardManager) -> None:
        told = guards.assumed()
        assert told.assumed + told.reread == len(guards.checks())
        if TELLS and self.reread is not None:
            assert told.reread == self.reread


class Hazards:
    """A table of hazards."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def add(self, hazard: Hazard) -> None:
        self.rows.append(pytest.param(hazard, id=str(hazard)))

    def row(self, mechanism: str, **told: Any) -> Callable[[Begin], Begin]:
        """The decorated generator, by its name."""

        def add(begin: Begin) -> Begin:
            name = begin.__name__.replace("_", " ")
            self.add(Hazard(mechanism, name, begin, **told))
            return begin

        return add


def on(value: Any) -> tuple[Guards, Any]:
    """Guards, and their node of the global `a`."""
    guards = Guards(function_with(a=value))
    return guards, guards.global_("a")


def change_of(make: Any, add: Any, change: Any) -> Begin:
    """A change of what `make()` makes, with what `add(node)` says of it."""

    def begin() -> Iterator[Any]:
        made = make()
        guards, a = on(made)
        add(a)
        yield guards
        change(made)

    return begin
