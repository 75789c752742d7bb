"""Dispatchers and answers of on_miss for their tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import guardtree as gt


def plain(x: Any, factor: Any = 2) -> Any:
    """Doc of plain."""
    return "plain", x, factor


def fast(*args: Any, **kwargs: Any) -> Any:
    return "fast", args, kwargs


class Compiler:
    """An on_miss that guards the type of the first argument and counts its calls."""

    def __init__(self, answer: Any = fast) -> None:
        self.answer = answer
        self.calls: list[gt.MissedCall] = []

    def __call__(self, call: gt.MissedCall) -> Any:
        self.calls.append(call)
        name, value = next(iter(call.arguments.items()))
        call.guards.local(name).type_match(type(value))
        return self.answer


def exact(call: gt.MissedCall) -> gt.GuardManager:
    """Guards that pass for equal first arguments alone."""
    name, value = next(iter(call.arguments.items()))
    return call.guards.local(name).equals(value)


def numbered(call: gt.MissedCall) -> Callable[..., Any]:
    """Compiles for each value of its own."""
    exact(call)
    value = next(iter(call.arguments.values()))
    return lambda *args, **kwargs: ("for", value)


def ints(scope: Any, name: str = "x") -> gt.GuardManager:
    guards = gt.GuardManager(scope)
    guards.local(name).type_match(int)
    return guards
