"""Defects of the nearest peer's guards; each has a test here, named after it.

Each test shows that guardtree is right where the peer raised or gave a wrong answer;
tests/DEFECTS.md is the table, test_peer_crashes.py has what crashed or hung.
"""

from __future__ import annotations

import copy
from types import MappingProxyType, SimpleNamespace
from typing import Any

import guardtree as gt
import pytest


def step(x: Any, y: Any = 0, z: Any = 0) -> None: ...


def replacement(x: Any, y: Any = 0, z: Any = 0) -> str:
    return "replaced"


def guards_on_x() -> tuple[gt.GuardManager, gt.GuardManager]:
    guards = gt.GuardManager(step)
    return guards, guards.local("x")


def passes(value: Any, kind: str, *operands: Any) -> bool:
    """The kind's answer; evaluating and explaining agree, and nothing is pending."""
    guards, x = guards_on_x()
    getattr(x, kind)(*operands)
    answer = guards.check({"x": value})
    assert bool(guards.explain({"x": value})) is answer
    return answer


def verdict(value: Any, kind: str, *operands: Any) -> str:
    guards, x = guards_on_x()
    getattr(x, kind)(*operands)
    found = guards.explain({"x": value}).verdict
    assert guards.check({"x": value}) is (found == "pass")
    return found


class Explosive:
    """Whatever CPython may ask of it raises; nothing here may be asked."""

    def raise_it(self, *arguments: Any) -> Any:
        raise AssertionError("user code ran")

    __eq__ = __bool__ = __len__ = __contains__ = __iter__ = __getitem__ = raise_it
    __getattr__ = keys = raise_it  # type: ignore[assignment]
    __hash__ = raise_it  # type: ignore[assignment]


# Exceptions left pending behind a normal answer: SystemError.


class NoTruth:
    def __bool__(self) -> bool:
        raise ValueError("no truth")


def test_a_lambda_whose_answer_has_no_truth_passes_with_an_error_pending() -> None:
    guards, x = guards_on_x()
    x.python(lambda value: NoTruth())
    assert guards.check({"x": 1}) is False
    (failure,) = guards.explain({"x": 1}).failures
    assert failure.error == "ValueError: no truth"


class Hashed(Explosive):
    """Hashes as 'a' does; equality may not be asked."""

    def __hash__(self) -> int:
        return hash("a")


class Unhashable(dict):  # type: ignore[type-arg]
    """A dict that cannot be a key."""


@pytest.mark.parametrize("kind", ["dict_contains", "dict_lacks"])
def test_dict_contains_leaves_an_error_pending(kind: str) -> None:
    _, x = guards_on_x()
    for key in ([], {}, Unhashable(), ([],)):
        with pytest.raises(TypeError):
            getattr(x, kind)(key)
    dicts = [{Hashed(): 1}, {float("nan"): 1}, {(): 1}]
    answers = {
        "dict_contains": [False, False, False],
        "dict_lacks": [False, True, True],
    }
    assert [passes(each, kind, "a") for each in dicts] == answers[kind]


class RaisingEq:
    """Hashes as 'a' does; equality raises, and a set does ask it."""

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        raise ValueError("no equality")


@pytest.mark.parametrize("kind", ["set_contains", "set_lacks"])
def test_set_contains_leaves_an_error_pending(kind: str) -> None:
    _, x = guards_on_x()
    for item in ([], set(), ([],)):
        with pytest.raises(TypeError):
            getattr(x, kind)(item)
    for value in ({RaisingEq()}, frozenset({RaisingEq(), 1})):
        assert verdict(value, kind, "a") == "error"


class RaisingKeys:
    def keys(self) -> Any:
        raise ValueError("no keys")


class KeysThatRaise:
    def keys(self) -> Any:
        yield "a"
        raise ValueError("no second key")


class PropertyKeys:
    @property
    def keys(self) -> Any:
        raise ValueError("no keys")


@pytest.mark.parametrize("kind", [RaisingKeys, KeysThatRaise, PropertyKeys])
def test_mapping_keys_leaves_an_error_pending(kind: type) -> None:
    assert verdict(kind(), "mapping_keys", ("a",)) == "error"
    assert verdict(MappingProxyType({"a": 1}), "mapping_keys", ("a",)) == "pass"


# One walk at a time: state in the shared tree.


def test_state_of_relations_survives_an_exception() -> None:
    guards, x = guards_on_x()
    y = guards.local("y")

    def stop(value: Any) -> bool:
        if value == "stop":
            raise KeyboardInterrupt
        return True

    y.python(stop)
    guards.distinct_objects(x, y)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            guards.check({"x": 1, "y": "stop"})
        assert guards.check({"x": 1, "y": 2})
        assert not guards.check({"x": 1, "y": 1})


def test_a_clone_shares_the_state_of_relations() -> None:
    guards, x = guards_on_x()
    clones: list[gt.GuardManager] = []
    y = guards.local("y")
    y.python(lambda v: all(c.check({"x": v, "y": step}) for c in clones if v != step))
    guards.distinct_objects(x, y)
    clones.append(guards.clone())
    assert guards.check({"x": 1, "y": 2})
    assert not guards.check({"x": 2, "y": 2})


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_exception_that_must_pass_is_swallowed(kind: Any) -> None:
    def stop(value: Any) -> bool:
        raise kind

    guards, x = guards_on_x()
    x.python(stop)
    for ask in (guards.check, guards.explain, guards.profile().check):
        with pytest.raises(kind):
            ask({"x": 1})


def test_an_exception_leaves_thread_state_switched_off(swap, hook) -> None:
    guards, x = guards_on_x()

    def stop(value: Any) -> bool:
        if value == "stop":
            raise KeyboardInterrupt
        return True

    x.python(stop)
    callback = swap(step, replacement, guards)
    with gt.optimize(callback):
        step(1)
        with pytest.raises(KeyboardInterrupt):
            step("stop")
        assert gt.get_eval_frame() is callback
        assert step(2) == "replaced"


def test_an_exception_in_a_guard_reaches_the_caller(swap, hook) -> None:
    guards, x = guards_on_x()
    x.attr("a").is_none()
    other = SimpleNamespace(a=None)
    with gt.optimize(swap(step, replacement, guards)):
        step(other)
        assert step(PropertyRaises()) == "replaced", "a miss, which makes an entry"
        assert step(other) == "replaced"
    errors = [entry.last_error for entry in gt.cache_entries(step)]
    assert [type(each) for each in errors] == [ZeroDivisionError, type(None)]
    gt.reset_code(step.__code__)


class PropertyRaises:
    @property
    def a(self) -> Any:
        return 1 / 0


def test_another_type_than_the_example_raises_out_of_a_check() -> None:
    guards, x = guards_on_x()
    x.item("a").item("b").is_none()
    x.dict_item("a").dict_item("b").is_none()
    assert guards.check({"x": {"a": {"b": None}}})
    for value in (None, 3, [], {"a": 3}, {"a": []}, {}, "a"):
        assert not guards.check({"x": value})
        assert not guards.explain({"x": value})


@pytest.mark.parametrize("subject", [None, 3, [], (), "x", {1}, object()])
def test_a_check_of_a_non_dict_raises_an_odd_error(subject: Any) -> None:
    guards, x = guards_on_x()
    x.is_none()
    guards.local("y").is_none()
    for ask in (guards.check, guards.explain, guards.profile().check):
        with pytest.raises(TypeError, match="a mapping of local names"):
            ask(subject)


# Aliasing.


class Fresh:
    @property
    def n(self) -> Any:
        return object()


def test_aliasing_is_true_of_distinct_temporaries() -> None:
    guards, x = guards_on_x()
    guards.same_object(x.attr("n"), guards.local("y").attr("n"))
    other = gt.GuardManager(step)
    other.distinct_objects(other.local("x").attr("n"), other.local("y").attr("n"))
    for _ in range(200):
        subject = {"x": Fresh(), "y": Fresh()}
        assert not guards.check(subject)
        assert other.check(subject)


def test_a_skipped_dict_child_hides_its_aliasing_guard() -> None:
    guards, x = guards_on_x()
    value = (1, 2)
    guards.same_object(x.dict_item("value"), guards.local("y"))
    container = {"value": value}
    for _ in range(3):
        assert guards.check({"x": container, "y": value})
        assert not guards.check({"x": container, "y": tuple([1, 2][:])})


# Constants.


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ((1,), (True,)),
        ((1,), (1.0,)),
        ([0], [False]),
        ({"a": 1}, {"a": True}),
        ({1: "a"}, {True: "a"}),
        ({1}, {1.0}),
        (frozenset({0}), frozenset({False})),
        ([[{"k": (1,)}]], [[{"k": (True,)}]]),
    ],
)
def test_equals_confuses_nested_numbers(expected: Any, value: Any) -> None:
    assert expected == value
    assert passes(copy.deepcopy(expected), "equals", expected)
    assert not passes(value, "equals", expected)


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        (0.0, -0.0),
        (0j, -0j),
        (0j, complex(0.0, -0.0)),
        ((0.0,), (-0.0,)),
        ({"a": [0.0]}, {"a": [-0.0]}),
        ({0.0}, {-0.0}),
    ],
)
def test_equals_takes_negative_zero_for_zero(expected: Any, value: Any) -> None:
    for one, other in ((expected, value), (value, expected)):
        assert not passes(one, "equals", other)
        assert passes(copy.deepcopy(one), "equals", one)


@pytest.mark.parametrize("inside", [lambda n: n, lambda n: (n,), lambda n: [{"a": n}]])
def test_equals_of_a_nan_depends_on_the_object(inside: Any) -> None:
    nan = float("nan")
    assert passes(inside(nan), "equals", inside(nan))
    assert passes(inside(float("nan")), "equals", inside(nan))
    assert not passes(inside(-nan), "equals", inside(nan)), "by bits"


@pytest.mark.parametrize("kind", ["equals", "one_of", "not_"])
def test_equals_passes_for_the_same_list_after_a_change(kind: str) -> None:
    held: list[Any] = [1, [2]]
    operand = {"equals": held, "one_of": (held,), "not_": ("equals", held)}[kind]
    guards, x = guards_on_x()
    getattr(x, kind)(operand)
    assert guards.check({"x": held}) is (kind != "not_")
    held[1].append(3)
    assert guards.check({"x": held}) is (kind == "not_")
    assert guards.check({"x": [1, [2]]}) is (kind != "not_")


class Text(str):
    """A str that equals any."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("user code ran")

    __hash__ = str.__hash__


def test_equals_calls_an_eq_that_raises() -> None:
    for expected in (1, "a", (1,), {"a": 1}, {1}, 1.0, None, b""):
        for value in (Explosive(), Text("a"), (Explosive(),), [Explosive()]):
            assert verdict(value, "equals", expected) == "fail"
            assert verdict({"a": value}, "equals", {"a": expected}) == "fail"


# De-duplication while building.


class Both:
    """An attribute and an item of one name."""

    x = "attribute"

    def __getitem__(self, key: Any) -> Any:
        return type(key).__name__


def test_steps_of_another_class_give_the_same_child() -> None:
    guards, x = guards_on_x()
    steps = ["attr", "item", "dict_item", "instance_attr", "generic_attr", "slot"]
    children = [getattr(x, each)("x") for each in steps]
    assert len({child.path for child in children}) == len(steps)
    guards, x = guards_on_x()
    x.attr("x").equals("attribute")
    x.item("x").equals("str")
    assert guards.check({"x": Both()})
    assert x.item("x").path == x.item("x").path
    assert guards.counts().nodes == 3


def test_keys_that_are_equal_give_the_same_child() -> None:
    guards, x = guards_on_x()
    keys = (1, True, 1.0, 0.0, -0.0, "1", (1,), (True,))
    for key in keys:
        x.item(key).equals(type(key).__name__)
    assert len(x.children()) == len(keys)
    assert guards.check({"x": Both()})


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("type_match", int, bool),
        ("equals", 1, True),
        ("equals", 0.0, -0.0),
        ("id_match", int, str),
        ("length", 1, 2),
        ("tuple_iterator_length", 1, 2),
        ("range_iterator", range(2), range(3)),
        ("mapping_keys", ("a",), ("b",)),
        ("mapping_keys", (1,), (True,)),
        ("dict_contains", "a", "b"),
    ],
)
def test_a_second_check_of_a_kind_is_ignored(
    kind: str, first: Any, second: Any
) -> None:
    guards, x = guards_on_x()
    getattr(x, kind)(first)
    getattr(x, kind)(second)
    assert guards.counts().checks == 2
    assert guards.counts().kinds == {kind: 2}


def test_checks_on_a_dict_are_accepted_and_ignored() -> None:
    guards, x = guards_on_x()
    x.length(0).type_match(dict).python(lambda value: False)
    assert not guards.check({"x": {}})
    assert len(guards.explain({"x": {}}).failures) == 1
