"""Functions and targets for tests of guard_function."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest
from guardtree.functions import hooked_here

BY_ENTRY = gt.features()["guards_calls_by"] == "entry"
by_entry = pytest.mark.skipif(not BY_ENTRY, reason="CPython 3.11 guards by the hook")


def make(source: str = "def f(a, b=2): return ('plain', a, b)", **names: Any) -> Any:
    """A function of its own code, defined by the source."""
    exec(source, names)
    return next(each for each in names.values() if isinstance(each, type(make)))


def ints(function: Any, name: str = "a") -> gt.GuardManager:
    guards = gt.GuardManager(function)
    guards.local(name).type_match(int)
    return guards


def fast(*args: Any, **kwargs: Any) -> Any:
    return ("fast", args, kwargs)


def let_go() -> None:
    """Leaves no hook behind, nor anything that is counted on to leave it."""
    for each in [*hooked_here()]:
        each.restore()
    gt.set_eval_frame(None)


def is_fast(answer: Any) -> bool:
    return answer[0] == "fast"
