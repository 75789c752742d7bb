"""Guards that are asked until they are assumed."""

from __future__ import annotations

import types
from typing import Any

import guardtree as gt


def scope(x: Any = None, y: Any = None) -> None: ...


def function_with(**names: Any) -> Any:
    """`scope` with globals of its own."""
    return types.FunctionType(scope.__code__, names)


class Thing:
    """Has attributes, in a dict that was asked for."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


class Other(Thing):
    """Another class of the same layout."""


class Slotted:
    __slots__ = ("a", "b")


def armed() -> int:
    return gt.assumption_counts()["armed"]


class Assumed:
    """Guards that were checked until they are assumed."""

    def __init__(self, guards: gt.GuardManager, **subject: Any) -> None:
        before = armed()
        self.guards, self.subject = guards, subject
        for _ in range(3):
            assert self.check()
        assert armed() == before + 1

    def check(self) -> bool:
        answer = self.guards.check(self.subject)
        assert (self.guards.explain(self.subject).verdict == "pass") is answer
        return answer


class Guards(gt.GuardManager):
    """Keeps its function."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self.function = function


def on_global(value: Any, *checks: tuple[Any, ...]) -> tuple[Assumed, dict[str, Any]]:
    """Checks of the global `a`, assumed; and the globals."""
    names = {"a": value, "other": 1}
    guards = Guards(types.FunctionType(scope.__code__, names))
    for name, *operands in checks:
        getattr(guards.global_("a"), name)(*operands)
    return Assumed(guards), names
