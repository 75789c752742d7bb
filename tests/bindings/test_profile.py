"""Profiles: what is counted, and that a fail-first copy gives the same answers."""

from __future__ import annotations

import os
import random
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree

TREES = int(os.environ.get("GUARDTREE_TEST_TREES", "400"))


def step(x: Any, y: Any, z: Any = 0) -> None: ...


def rows_by_python(profile: gt.GuardProfile) -> dict[str, gt.ProfileRow]:
    return {f"{row.kind} {row.python}": row for row in profile.rows()}


def test_a_profile_counts_what_ran_failed_and_raised() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x")
    x.type_match(int).note("why")
    x.python(lambda value: 10 // value > 1)
    guards.local("y").item(0).is_true()
    guards.same_object(x, guards.local("z"))
    profile = guards.profile()
    for x_value, y_value in [(1, [True]), ("a", [True]), (0, [True]), (9, [True])]:
        profile.check({"x": x_value, "y": y_value, "z": 1})
    profile.check({"x": 1, "y": [], "z": 1})
    profile.check({"x": 1, "y": [True], "z": 2})
    counts = {
        name.split()[0]: (row.executed, row.failed, row.errors)
        for name, row in rows_by_python(profile).items()
    }
    assert counts == {
        "type_match": (6, 1, 0),
        "python": (5, 1, 1),
        "item": (3, 1, 0),
        "is_true": (2, 0, 0),
        "same_object": (2, 1, 0),
    }
    assert (profile.checks, profile.passed) == (6, 1)
    assert rows_by_python(profile)["type_match type(x) is int"].note == "why"


def test_rows_come_most_expensive_first() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(int)
    guards.local("y").python(lambda value: sum(range(1000)) > 0)
    profile = guards.profile()
    for _ in range(20):
        assert profile.check({"x": 1, "y": 2})
    first, last = profile.rows()
    assert (first.kind, last.kind) == ("python", "type_match")
    assert first.ns > last.ns >= 0
    assert profile.clock_ns > 0


def test_a_profile_prints_as_a_table() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(int)
    profile = guards.profile()
    profile.check({"x": 1})
    head, titles, row, note = str(profile).splitlines()
    assert head == "1 checks, 1 passed"
    assert titles.split()[:3] == ["guard", "kind", "executed"]
    assert row.split()[:5] == ["type(x)", "is", "int", "type_match", "1"]
    assert "the clock's own" in note


def test_items_of_a_block_are_counted_one_by_one() -> None:
    guards = gt.GuardManager(step)
    for i in range(10):
        guards.local("x").list_item(i).type_match(int)
    profile = guards.profile()
    assert profile.check({"x": [0] * 10})
    assert not profile.check({"x": [0] * 4})
    assert len(profile.rows()) == 20
    assert sum(row.executed for row in profile.rows()) == 20 + 9
    assert sum(row.failed for row in profile.rows()) == 1


def test_a_profile_is_of_the_guards_as_they_were() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(int)
    profile = guards.profile()
    guards.local("y").is_none()
    assert profile.check({"x": 1, "y": 2})
    assert not guards.check({"x": 1, "y": 2})
    assert len(profile.rows()) == 1


def test_an_exception_that_must_pass_is_counted_and_raised() -> None:
    guards = gt.GuardManager(step)

    def stop(value: Any) -> bool:
        raise KeyboardInterrupt

    guards.local("x").python(stop)
    profile = guards.profile()
    with pytest.raises(KeyboardInterrupt):
        profile.check({"x": 1})
    (row,) = profile.rows()
    assert (row.executed, row.failed, row.errors) == (1, 0, 1)


def test_a_profile_may_be_used_by_a_guard_that_it_runs() -> None:
    guards = gt.GuardManager(step)
    profiles: list[gt.GuardProfile] = []
    x = guards.local("x")
    x.python(lambda v: v == 0 or profiles[0].check({"x": v - 1, "y": 0})).type_match(
        int
    )
    profiles.append(guards.profile())
    assert profiles[0].check({"x": 5, "y": 0})
    assert {row.executed for row in profiles[0].rows()} == {6}


def test_what_fails_more_often_comes_first_in_a_reordered_copy() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(int).equals(1)
    guards.local("y").is_true()
    guards.local("z").is_none().note("kept")
    before = str(guards)
    profile = guards.profile()
    for _ in range(5):
        profile.check({"x": 1, "y": True, "z": 0})
    profile.check({"x": 2, "y": True, "z": None})
    copy = guards.reordered(profile)
    told = [each.python for each in copy.checks()]
    assert told == [
        "z is None",
        "same_constant(x, 1)",
        "type(x) is int",
        "y is True",
    ]
    assert copy.checks()[0].note == "kept"
    assert str(guards) == before


def test_nothing_moves_across_user_code() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(int)
    guards.local("y").python(lambda value: True)
    guards.local("z").is_none()
    profile = guards.profile()
    for _ in range(5):
        profile.check({"x": 1, "y": 1, "z": 0})
    assert str(guards.reordered(profile)) == str(guards)


def test_a_profile_of_other_guards_is_refused() -> None:
    guards, other = gt.GuardManager(step), gt.GuardManager(step)
    with pytest.raises(ValueError, match="another guard tree"):
        guards.reordered(other.profile())


def profiled(guards: gt.GuardManager) -> gt.GuardProfile:
    """y fails in four of five checks."""
    profile = guards.profile()
    for i in range(20):
        profile.check({"x": ((True,), 1), "y": i % 5, "z": 1})
    return profile


def callable_or_int(value: Any) -> bool:
    return callable(value) or isinstance(value, int)


def paths(guards: gt.GuardManager) -> list[str]:
    return [each.path for each in guards.checks()]


def test_items_and_attributes_of_builtin_values_are_passed() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(tuple).item(0).is_not_none()
    guards.local("y").type_match(int).attr("real").equals(3)
    profile = profiled(guards)
    assert paths(guards.reordered(profile)) == ["y", "y.real", "x", "x[0]"]
    assert guards.order_limits(profile) == []


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda x: x.item(0).is_not_none(), "item of x[0] may run user code"),
        (lambda x: x.type_match(tuple).attr("count").is_not_none(), None),
        (lambda x: x.type_match(dict).item("a").is_not_none(), "item of x['a']"),
        (lambda x: x.type_match(tuple).item(True).is_not_none(), "item of x[True]"),
        (
            lambda x: x.type_match(tuple).item(0).attr("count").is_not_none(),
            "attr of x[0].count",
        ),
        (lambda x: x.is_truthy(), "bool(x) may run user code"),
        (lambda x: x.any_of((("is_none",), ("type_match", tuple))), None),
        (lambda x: x.not_(("python", callable)), "may run user code"),
    ],
)  # fmt: skip
def test_what_stays_behind_user_code_is_told(build: Any, reason: str | None) -> None:
    guards = gt.GuardManager(step)
    build(guards.local("x"))
    guards.local("y").equals(3)
    profile = guards.profile()
    value: Any = {"a": 1} if "dict" in str(guards) else ((True,), 1)
    for i in range(20):
        profile.check({"x": value, "y": i % 5, "z": 1})
    limits = guards.order_limits(profile)
    moved = guards.reordered(profile)
    if reason is None:
        assert (paths(moved)[0], limits) == ("y", [])
    else:
        assert paths(moved)[-1] == "y"
        (told,) = limits
        assert told.startswith("y failed 16 times and stays behind x: ")
        assert reason in told


def test_a_check_that_stays_behind_user_code_is_told() -> None:
    guards = gt.GuardManager(step)
    guards.local("y").python(callable_or_int).equals(3)
    profile = profiled(guards)
    asks = "test_profile.callable_or_int(y)"
    assert guards.order_limits(profile) == [
        f"same_constant(y, 3) failed 16 times and stays behind {asks}: "
        f"{asks} may run user code"
    ]


def test_guarded_code_of_a_reordered_tree_uses_its_order(only: Any, hook: None) -> None:
    def old(x: Any, y: Any) -> str:
        return "old"

    def new(x: Any, y: Any) -> str:
        return "new"

    guards = gt.GuardManager(old)
    guards.local("x").type_match(int)
    guards.local("y").is_none()
    profile = guards.profile()
    for _ in range(3):
        profile.check({"x": 1, "y": 1})
    copy = guards.reordered(profile)
    with gt.optimize(only(old, lambda *_: gt.GuardedCode(new.__code__, copy))):
        old(1, None)
        assert old(2, None) == "new"
    failures = gt.explain(old, {"x": "a", "y": 1}).entries[0].failures
    assert [each.path for each in failures] == ["y", "x"]


class Hostile:
    """What random trees meet: attributes that raise, a lying equality."""

    real = 3

    def __eq__(self, other: object) -> bool:
        raise ValueError

    __hash__ = None  # type: ignore[assignment]

    @property
    def a(self) -> Any:
        raise RuntimeError


def raises(value: Any) -> bool:
    raise LookupError(str(value)[:20])


def operand_sets(entry: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The operands of the documented examples that plain Python can say."""
    found = []
    for example in entry["examples"]:
        try:
            found.append(eval(f"({example[0]},)" if example[0] else "()"))
        except Exception:
            continue
    return found


def calls(entries: list[dict[str, Any]]) -> list[tuple[str, tuple[Any, ...]]]:
    return [(e["method"], operands) for e in entries for operands in operand_sets(e)]


KINDS = calls(_guardtree._kinds()) + [("python", (raises,)), ("is_not_none", ())] * 8
STEPS = calls([entry for entry in _guardtree._steps() if not entry["is_root"]])
VALUES = [
    None,
    True,
    0,
    3,
    1.5,
    "a",
    (1, "b"),
    [3, [4]],
    {"a": {"a": 1}},
    int,
    Hostile(),
]


def random_tree(chance: random.Random) -> gt.GuardManager:
    guards = gt.GuardManager(step)
    nodes = [guards.local(name) for name in "xyz"]
    for _ in range(chance.randrange(1, 9)):
        node = chance.choice(nodes)
        for _ in range(chance.randrange(3)):
            name, operands = chance.choice(STEPS)
            node = getattr(node, name)(*operands)
            nodes.append(node)
        name, operands = chance.choice(KINDS)
        getattr(node, name)(*operands)
    if chance.random() < 0.3:
        guards.distinct_objects(*chance.sample(nodes, 2))
    return guards


def test_a_reordered_tree_gives_the_same_answers() -> None:
    seed = int(os.environ.get("GUARDTREE_TEST_SEED", random.randrange(2**32)))
    chance = random.Random(seed)
    for _ in range(TREES):
        guards = random_tree(chance)
        profile = guards.profile()
        subjects = [
            {name: chance.choice(VALUES) for name in "xyz" if chance.random() < 0.9}
            for _ in range(8)
        ]
        for subject in subjects[:4]:
            assert profile.check(subject) == guards.check(subject)
        copy = guards.reordered(profile)
        for subject in subjects:
            expected = guards.explain(subject)
            found = copy.explain(subject)
            told = f"GUARDTREE_TEST_SEED={seed} repeats it\n{guards}\n{copy}{subject}"
            assert found.verdict == expected.verdict, told
            assert copy.check(subject) == guards.check(subject) == bool(expected), told
            assert len(found.failures) == len(expected.failures), told
