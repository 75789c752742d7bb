"""Integer relations that follow one another are evaluated as one: with the verdict, and
the explanation, of each by itself.

GUARDTREE_TEST_STEPS=<n> trees instead of 1,500; GUARDTREE_TEST_SEED=<n> repeats a run.
"""

from __future__ import annotations

import os
import random
import re
from typing import Any

import guardtree as gt
import pytest

numpy = pytest.importorskip("numpy")

LEAFS = (
    "a", "b", "len(xs)", "t.shape[0]", "t.shape[1]", "t.ndim", "u.shape[0]",
    "stride_of(t, 0)", "stride_of(t, -1)", "stride_of(u, 0)",
)  # fmt: skip
NAMES = ("a", "b", "xs", "t", "u")
EXTREMES = (2**63 - 1, -(2**63), 2**62, 3037000500)


def subject(a: Any, b: Any, xs: Any, t: Any, u: Any) -> None: ...


class Conditions:
    """Conditions that have parts in common."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick
        self.parts: list[str] = []
        # More than the results that an evaluation keeps, or few.
        self.parts = [self.number(2) for _ in range(pick.choice([3, 3, 3, 25]))]

    def number(self, depth: int) -> str:
        kind = self.pick.random()
        if depth == 0 or kind < 0.25:
            return self.pick.choice([*LEAFS, "2", "3", str(self.pick.choice(EXTREMES))])
        if kind < 0.5 and self.parts:
            return self.pick.choice(self.parts)
        if kind < 0.55:
            return f"-({self.number(depth - 1)})"
        operator = self.pick.choice(["+", "-", "*", "*", "//", "%"])
        return f"({self.number(depth - 1)} {operator} {self.number(depth - 1)})"

    def condition(self, depth: int = 1) -> str:
        kind = self.pick.random()
        if depth and kind < 0.3:
            word = self.pick.choice(["and", "or"])
            return f"({self.condition(depth - 1)} {word} {self.condition(depth - 1)})"
        if depth and kind < 0.4:
            return f"not {self.condition(depth - 1)}"
        order = self.pick.choice(["==", "!=", "<", "<=", ">", ">=", "!=", "<="])
        text = f"{self.number(2)} {order} {self.number(2)}"
        if kind > 0.9:
            text = f"{self.number(1)} <= {text}"
        return text


def add(guards: gt.GuardManager, text: str) -> bool:
    """Adds a condition; False if it reads no value."""
    words = re.split(r"\W+", text)
    spoken = {name: guards.local(name) for name in NAMES if name in words}
    if spoken:
        guards.integers(text, **spoken)
    return bool(spoken)


def values(pick: random.Random) -> dict[str, Any]:
    """Values of which few have another type than conditions take."""

    def int_() -> Any:
        return pick.choice([*range(-3, 5), *range(1, 9), 10**9, 2**40, *EXTREMES])

    found = {
        "a": int_(), "b": int_(), "xs": "x" * pick.randrange(5),
        "t": numpy.zeros((pick.randrange(5), pick.randrange(1, 4))),
        "u": numpy.zeros(pick.randrange(1, 5)),
    }  # fmt: skip
    if pick.random() < 0.1:
        found[pick.choice(NAMES)] = pick.choice([2**70, True, None, numpy.zeros(()), 1])
    return found


def test_joined_relations_agree_with_each_alone() -> None:
    steps = int(os.environ.get("GUARDTREE_TEST_STEPS", "1500"))
    seed = int(os.environ.get("GUARDTREE_TEST_SEED", "0")) or random.randrange(2**32)
    pick = random.Random(seed)
    passed = failed = 0
    for _ in range(steps):
        made = Conditions(pick)
        joined = gt.GuardManager(subject)
        count = pick.randrange(2, 7) if pick.random() < 0.95 else 80
        texts, alone = [], []
        for text in dict.fromkeys(made.condition() for _ in range(count)):
            one = gt.GuardManager(subject)
            if add(one, text):
                add(joined, text)
                texts.append(text)
                alone.append(one)
            if pick.random() < 0.05:  # the run ends there
                joined.distinct_objects(joined.local("t"), joined.local("u"))
        for _ in range(12):
            given = values(pick)
            expected = [each.check(given) for each in alone]
            said = f"GUARDTREE_TEST_SEED={seed}: {texts} {given}"
            assert joined.check(given) is all(expected), said
            told = joined.explain(given).failures
            assert len(told) == expected.count(False), said
            passed += all(expected)
            failed += not all(expected)
    assert min(passed, failed) > steps // 4, (passed, failed)


def test_conditions_over_more_values_than_one_evaluation_takes() -> None:
    names = [f"n{i}" for i in range(200)]
    scope: dict[str, Any] = {}
    exec(f"def many({', '.join(names)}): ...", scope)
    guards = gt.GuardManager(scope["many"])
    for one, other in zip(names, names[1:]):
        text = "(a * b) % 7 < 7 and (a * b) // 2 <= a * b"
        guards.integers(text, a=guards.local(one), b=guards.local(other))
    given = dict.fromkeys(names, 3)
    assert guards.check(given)
    for name in names:
        assert not guards.check({**given, name: 3.0})
        assert not guards.check({**given, name: 2**63 - 1})


def test_what_may_be_skipped_is_not_used_later() -> None:
    """The division is evaluated in the second condition alone."""
    guards = gt.GuardManager(subject)
    a, b = guards.local("a"), guards.local("b")
    guards.integers("a == 0 or (8 // a) * b > 1", a=a, b=b)
    guards.integers("b == 0 or (8 // a) * b > 1", a=a, b=b)
    guards.integers("(8 // a) * b < 100", a=a, b=b)
    for given, answer in (((2, 3), True), ((0, 0), False), ((2, 0), False)):
        assert guards.check(dict(zip("ab", given))) is answer
    only = gt.GuardManager(subject)
    only.integers("a == 0 or (8 // a) * b > 1", a=only.local("a"), b=only.local("b"))
    only.integers("b == 0 or (8 // a) * b > 1", a=only.local("a"), b=only.local("b"))
    assert only.check({"a": 0, "b": 0})
    assert not only.check({"a": 0, "b": 1})
