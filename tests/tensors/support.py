"""What the tensor tests share: a guarded function, and the oracle's words."""

from __future__ import annotations

import sys
from typing import Any

import guardtree as gt
from guardtree import oracle

try:
    import numpy
except ImportError:
    numpy = None

NAMES = {**vars(oracle), **oracle.NAMESPACE, "numpy": numpy}


def step(x: Any, y: Any = None, z: Any = None) -> None: ...


def matching(spec: Any) -> gt.GuardManager:
    """Guards that local x is as a tensor or a spec says."""
    guards = gt.GuardManager(step)
    guards.local("x").tensor_match(spec)
    return guards


def matches(spec: Any, value: Any) -> bool:
    return matching(spec).check({"x": value})


def found(spec: Any, value: Any) -> str:
    """What explain says of the value; the verdict is the check's."""
    guards = matching(spec)
    explanation = guards.explain({"x": value})
    assert bool(explanation) == guards.check({"x": value})
    return explanation.failures[0].found if explanation.failures else ""


def agreed(guards: gt.GuardManager, value: Any) -> bool:
    """The verdict on a value, which is also that of the guards' own Python text."""
    answer = guards.check({"x": value})
    names = dict(NAMES, x=value, torch=sys.modules.get("torch"))
    texts = [check.python for check in guards.checks()]
    texts += [relation.python for relation in guards.relations()]
    for text in texts:
        assert NAMES["holds"](text, names) == answer, text
    return answer


def integers(text: str, **values: Any) -> bool:
    """An integer relation over locals."""
    guards = gt.GuardManager(step)
    nodes = {name: guards.local(name) for name in values}
    guards.integers(text, **nodes)
    return guards.check(values)
