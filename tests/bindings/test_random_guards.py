"""Random trees on random values, through Python, against the texts that they print.

What a tree says of itself in Python (nodes, checks, relations) is evaluated by the
plain-Python oracle, which imports nothing of guardtree; check, explain, profile, clones
and reordered copies must all agree with it.

GUARDTREE_TEST_EXAMPLES=<n> examples a test instead of 150. A failure prints the line
(reproduce_failure) that repeats it.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import guardtree as gt
import pytest

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
made = pytest.importorskip("guard_strategies")

STEP, NAMES = made.STEP, made.NAMES
NAMES[__name__] = sys.modules[__name__]

examples = hypothesis.settings(
    max_examples=int(os.environ.get("GUARDTREE_TEST_EXAMPLES", "150")),
    deadline=None,
    derandomize=False,
    print_blob=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


# What the oracle says.

DIED_TEXT = "<an object that has died>"


def not_any_object() -> None:
    """Stands for operands that have died: no value is it, its type or its function."""


def told(text: str) -> str:
    return text.replace(DIED_TEXT, f"{__name__}.not_any_object")


def rows(node: gt.GuardManager, used: set[str]) -> list[tuple[Any, ...]]:
    """The nodes below as the oracle reads them, without those nothing is said of."""
    found = []
    for child in node.children():
        checks = [told(each.python) for each in child.checks() if each.path == child.path]
        below = rows(child, used)
        if checks or below or child.path in used:
            found.append((child.step, told(child.path), checks, below))
    return found


def stand_in(relation: gt.GuardRelation) -> tuple[str, list[str]]:
    """The relation's text over v0, v1, ..., said by a tree of its own, and its paths."""
    names = [f"v{i}" for i in range(len(relation.paths))]
    space: dict[str, Any] = {}
    exec(f"def f({', '.join(names)}): ...", space)
    guards = gt.GuardManager(space["f"])
    locals_ = [guards.local(name) for name in names]
    getattr(guards, relation.kind)(*relation.operands.values(), *locals_)
    return guards.relations()[0].python, [told(path) for path in relation.paths]


def by_python(guards: gt.GuardManager, subject: dict[str, Any]) -> str:
    """`pass`, `fail` or `error`, by the texts alone."""
    relations = guards.relations()
    used = {path for relation in relations for path in relation.paths}
    builtins = vars(sys.modules["builtins"])
    stated = [stand_in(each) for each in relations]
    return NAMES["verdict"](rows(guards, used), stated, subject, NAMES, builtins)


def demand(guards: gt.GuardManager, subject: dict[str, Any]) -> str:
    """Every way to ask gives the oracle's answer, which is returned."""
    text = f"{guards!s}{ascii(str(guards))}"
    expected = by_python(guards, subject)
    passes = expected == "pass"
    assert guards.check(subject) is passes, text
    assert guards(subject) is passes, text
    explanation = guards.explain(subject)
    assert explanation.verdict == expected, f"{text}\n{explanation!s}"
    assert (explanation.failures == []) is passes, text
    assert isinstance(explanation.to_json(), str)
    profile = guards.profile()
    assert profile.check(subject) is passes, text
    assert isinstance(str(profile), str)
    for copy in (guards.clone(), guards.reordered(profile)):
        assert copy.check(subject) is passes, f"{text}\n{copy!s}"
        assert copy.explain(subject).verdict == expected, f"{text}\n{copy!s}"
        assert copy.counts().checks == guards.counts().checks
    assert str(guards.clone()) == str(guards)
    return expected


given = hypothesis.given


@examples
@given(made.cases())
def test_random_trees_agree_with_python(case: Any) -> None:
    for subject in case.subjects:
        hypothesis.event(demand(case.guards, subject))


@examples
@given(made.one_kind_cases())
def test_random_kinds_agree_with_python(case: Any) -> None:
    for subject in case.subjects:
        hypothesis.event(demand(case.guards, subject))
