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
import types
from collections.abc import Iterator
from typing import Any

import guardtree as gt
import pytest

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
made = pytest.importorskip("guard_strategies")
pools = pytest.importorskip("guard_values")

STEP, NAMES = pools.STEP, pools.NAMES
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
        checks = [
            told(each.python) for each in child.checks() if each.path == child.path
        ]
        below = rows(child, used)
        if checks or below or child.path in used:
            found.append((child.step, told(child.path), checks, below))
    return found


def stand_in(relation: gt.GuardRelation) -> tuple[str, list[str]]:
    """The relation's text over v0, v1, ..., as a tree of its own says it; its paths."""
    names = [f"v{i}" for i in range(len(relation.paths))]
    space: dict[str, Any] = {}
    exec(f"def f({', '.join(names)}): ...", space)  # noqa: S102
    guards = gt.GuardManager(space["f"])
    locals_ = [guards.local(name) for name in names]
    getattr(guards, relation.kind)(*relation.operands.values(), *locals_)
    return guards.relations()[0].python, [told(path) for path in relation.paths]


def by_python(
    guards: gt.GuardManager, subject: dict[str, Any], more: dict[str, Any]
) -> str:
    """`pass`, `fail` or `error`, by the texts alone, which may use more names."""
    relations = guards.relations()
    used = {path for relation in relations for path in relation.paths}
    builtins = vars(sys.modules["builtins"])
    names = {**NAMES, **more}
    stated = [stand_in(each) for each in relations]
    return NAMES["verdict"](rows(guards, used), stated, subject, names, builtins)


def texts_of(guards: gt.GuardManager) -> list[str]:
    return [each.python for each in (*guards.checks(), *guards.relations())]


def demand(guards: gt.GuardManager, subject: dict[str, Any], **more: Any) -> str:
    """Every way to ask gives the oracle's answer, which is returned."""
    text = f"{guards!s}{str(guards)!a}"
    expected = by_python(guards, subject, more)
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
    assert texts_of(guards.clone()) == texts_of(guards)
    return expected


given = hypothesis.given


@examples
@given(made.cases())
def test_random_trees_agree_with_python(case: Any) -> None:
    for subject in case.subjects:
        hypothesis.event(demand(case.guards, subject))


def replacement(x: Any, y: Any = 0, z: Any = 0) -> str:
    return "replaced"


def is_hit(guards: gt.GuardManager, subject: dict[str, Any]) -> bool:
    """Whether a call with these arguments runs the code of an entry with the guards."""
    waiting = [gt.GuardedCode(replacement.__code__, guards)]

    def answer(frame: Any, entry: Any, state: Any) -> Any:
        mine = frame.f_code is STEP.__code__
        return waiting.pop() if mine and waiting else gt.ASK_AGAIN

    try:
        with gt.optimize(answer):
            assert (
                STEP(None, 0, 0) == "replaced"
            )  # the entry's first run is not checked
            return STEP(**subject) == "replaced"
    finally:
        gt.reset_code(STEP)


@pytest.mark.usefixtures("hook")
@examples
@given(made.cases())
def test_random_trees_in_a_hook_agree_with_python(case: Any) -> None:
    for subject in case.subjects:
        bound = {"x": None, "y": 0, "z": 0, **subject}
        expected = by_python(case.guards, bound, {})
        assert is_hit(case.guards, bound) is (expected == "pass")
        hypothesis.event(expected)


@examples
@given(made.one_kind_cases())
def test_random_kinds_agree_with_python(case: Any) -> None:
    for subject in case.subjects:
        hypothesis.event(demand(case.guards, subject))


@examples
@given(made.expression_cases())
def test_random_expressions_agree_with_python(case: Any) -> None:
    for subject in case.subjects:
        hypothesis.event(demand(case.guards, subject))


@examples
@given(pools.constants, pools.constants)
def test_random_constants_agree_with_python(one: Any, other: Any) -> None:
    guards = gt.GuardManager(STEP)
    x, y = guards.local("x"), guards.local("y")
    x.equals(one).one_of((other, one))
    y.not_(("equals", one)).any_of((("equals", other), ("equals", (one, other))))
    for x_value in (one, other):
        for y_value in (one, other, (one, other), [one, other]):
            hypothesis.event(demand(guards, {"x": x_value, "y": y_value}))
    assert guards.check({"x": pools.fresh(one), "y": (one, pools.fresh(other))})


def test_random_trees_draw_every_kind() -> None:
    drawn = {*made.PLAIN_KINDS, *" ".join(made.OTHER_KINDS.values()).split()}
    every = {each["method"] for each in gt._guardtree._kinds()}
    assert drawn == every, "add it to PLAIN_KINDS or OTHER_KINDS of guard_strategies.py"


def test_a_local_of_relations_alone_is_read_by_them() -> None:
    """Behind all else, which may raise before the local is found not to be there."""
    for asked_of, answer in (("is_big", "error"), ("is_list", "fail")):
        guards = gt.GuardManager(lambda x: x)
        x = guards.local("x")
        guards.f_locals().compute(NAMES[asked_of]).is_not_none()
        guards.same_object(x, x)
        assert demand(guards, {}) == answer


@examples
@given(made.cases(), st.integers(0, 2**16 - 1))
def test_random_clones_keep_what_they_were_asked_to(case: Any, kept: int) -> None:
    bits = [bool(kept >> i & 1) for i in range(16)]
    answers = iter(bits * 8)
    kept_texts: list[str] = []

    def keep(each: gt.GuardCheck | gt.GuardRelation) -> bool:
        answer = next(answers)
        if answer:
            kept_texts.append(each.python)
        return answer

    clone = case.guards.clone(keep)
    assert texts_of(clone) == kept_texts
    for subject in case.subjects:
        hypothesis.event(demand(clone, subject))


# Values that change between checks.

KEYS = ["a", "b", 0, 1, True, 1.0, (1, 2), "key", pools.IntWithEq(1)]
keys = pools.any_of(KEYS)
plain_keys = pools.any_of(KEYS[:-1])
changes = st.lists(
    st.tuples(st.just("set"), keys, pools.scalars)
    | st.tuples(st.just("delete"), keys, st.none())
    | st.tuples(st.sampled_from(["clear", "popitem", "grow"]), st.none(), st.none()),
    max_size=12,
)


def change(target: dict[Any, Any], how: str, key: Any, value: Any) -> None:
    if how == "set":
        target[key] = value
    elif how == "delete":
        target.pop(key, None)
    elif how == "clear":
        target.clear()
    elif how == "popitem" and target:
        target.popitem()
    elif how == "grow":
        target.update((f"more{n}", n) for n in range(20))


def addresses(target: dict[Any, Any]) -> list[tuple[int, int]]:
    return [(id(key), id(value)) for key, value in target.items()]


@examples
@given(
    st.dictionaries(keys, pools.scalars, max_size=4), plain_keys, plain_keys, changes
)
def test_dict_guards_follow_the_changes_of_a_dict(
    target: dict[Any, Any], one: Any, other: Any, steps: list[Any]
) -> None:
    guards = gt.GuardManager(STEP)
    x, y = guards.local("x"), guards.local("y")
    x.dict_item(one).is_not_none()
    y.any_of((("dict_contains", other), ("dict_lacks", one), ("length", 1)))
    version = gt.GuardManager(STEP)
    version.local("x").dict_version(target)
    items = gt.GuardManager(STEP)
    keys_now = tuple(key for key in target if type(key) is not pools.IntWithEq)
    items.local("x").any_of((("dict_keys", keys_now), ("dict_key_set", set(keys_now))))
    before, kept = addresses(target), [*target, *target.values()]
    assert version.check({"x": target})
    for each in steps:
        change(target, *each)
        hypothesis.event(demand(guards, {"x": target, "y": target}))
        demand(items, {"x": target})
        if addresses(target) != before:
            assert not version.check({"x": target})
    assert not version.check({"x": dict(target)})
    assert len(kept) == 2 * len(before)


class_changes = st.lists(
    st.tuples(
        st.sampled_from(["Base", "Derived"]), st.sampled_from("abc"), pools.scalars
    ),
    min_size=1,
    max_size=5,
)


@examples
@given(class_changes)
def test_a_type_version_notices_every_change_of_a_class(steps: list[Any]) -> None:
    class Base:
        a = 1

    class Derived(Base):
        """Inherits, and has what it is given."""

    classes = {"Base": Base, "Derived": Derived}
    for owner, name, value in steps:
        guards = gt.GuardManager(STEP)
        guards.local("x").type_version(Derived)
        assert guards.check({"x": Derived})
        assert not guards.check({"x": Base})
        setattr(classes[owner], name, value)
        assert not guards.check({"x": Derived})


# Operands that die.


class Mortal:
    """An instance that nothing but the test keeps alive; prints as its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"mortals.{self.name}"


def mortal_objects() -> dict[str, Any]:
    """Fresh instances, types and functions, by the name that they print as."""
    found: dict[str, Any] = {"one": Mortal("one"), "two": Mortal("two")}
    for name in ("One", "Two"):
        found[name] = type(name, (), {"__module__": "mortals"})
    for name, value in (("f", 1), ("g", 2)):
        space: dict[str, Any] = {"__name__": "mortals"}
        exec(f"def {name}(): return {value}", space)  # noqa: S102
        found[name] = space.pop(name)
    return found


MORTAL_KINDS = {
    **dict.fromkeys(["one", "two"], ("id_match",)),
    **dict.fromkeys(["One", "Two"], ("id_match", "type_match", "instance_of")),
    **dict.fromkeys(["f", "g"], ("id_match", "function_match")),
}
mortal_kinds = pools.nested(
    st.sampled_from([(k, name) for name, ks in MORTAL_KINDS.items() for k in ks])
    | st.just(("is_none", None)),
    lambda inner: (
        st.tuples(st.just("not_"), inner)
        | st.tuples(st.just("any_of"), st.lists(inner, max_size=3).map(tuple))
    ),
)


def with_mortals(kind: tuple[Any, ...], mortals: dict[str, Any]) -> tuple[Any, ...]:
    """A kind of mortal_kinds with objects for names."""
    name, operand = kind
    if name == "not_":
        return name, with_mortals(operand, mortals)
    if name == "any_of":
        return name, tuple(with_mortals(each, mortals) for each in operand)
    return (name,) if operand is None else (name, mortals[operand])


@pytest.fixture
def quick_collections() -> Iterator[None]:
    """Leaves what is there already out of collections."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("quick_collections")
@examples
@given(
    st.lists(mortal_kinds, min_size=1, max_size=4),
    st.sets(st.sampled_from(sorted(MORTAL_KINDS))),
    st.sampled_from(sorted(MORTAL_KINDS)),
    st.booleans(),
)
def test_operands_may_die_between_building_and_checking(
    kinds: list[Any], dying: set[str], asked: str, is_copied: bool
) -> None:
    mortals = mortal_objects()
    guards = gt.GuardManager(STEP)
    x, y = guards.local("x"), guards.local("y")
    for name, *operands in (with_mortals(each, mortals) for each in kinds):
        getattr(x, name)(*operands)
        y.not_((name, *operands))
    # Frees what was made above, but for what the tree holds, which is nothing.
    operands = []
    for name in dying:
        del mortals[name]
    gc.collect()
    guards = guards.clone() if is_copied else guards
    again = mortal_objects()  # perhaps at the same addresses
    alive = types.SimpleNamespace(**mortals)
    values = [mortals.get(asked), again[asked], None]
    values += [value() for value in values if isinstance(value, type)]
    for x_value in values:
        for y_value in values:
            subject = {"x": x_value, "y": y_value}
            hypothesis.event(demand(guards, subject, mortals=alive))
