"""GuardManager.specialize: what each plan demands of values like an example."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import random
from collections import OrderedDict, namedtuple
from typing import Any

import guardtree as gt
import pytest

KeyPlan = gt.KeyPlan


def scope(x: Any, n: Any = 1) -> None: ...


def guards_of(example: Any, plan: KeyPlan | None = None, **facts: Any) -> Any:
    guards = gt.GuardManager(scope)
    at = guards.local("x")
    assert at.specialize(example, plan, **facts) is at
    assert guards.check({"x": example}), str(guards.explain({"x": example}))
    return lambda value: guards.check({"x": value})


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1


Point = namedtuple("Point", "a b")


@dataclasses.dataclass
class Config:
    size: int
    name: str = "n"


@dataclasses.dataclass(slots=True)
class Slotted:
    size: int


def function() -> None: ...


class Owner:
    def method(self) -> None: ...


OWNER = Owner()


@pytest.mark.parametrize(
    ("example", "same", "others"),
    [
        (3, [3], [4, 3.0, True, "3", None]),
        (True, [True], [False, 1]),
        (None, [None], [0, False]),
        (..., [...], [None]),
        (1.5, [2.5, math.nan], [1, "1.5", 1j]),
        (1j, [2j], [1.0]),
        ("a", ["a"], ["b", b"a"]),
        (b"a", [b"a"], ["a"]),
        (Color.RED, [Color.RED], [Color.BLUE, 1]),
        (Level.LOW, [Level.LOW], [1, True]),
        (int, [int], [bool, 3]),
        (math, [math], [enum]),
        (function, [function], [scope, len]),
        (len, [len], [max]),
        (OWNER.method, [OWNER.method], [Owner().method, Owner.method]),
        ((1, "a"), [(1, "a")], [(1, "b"), (1,), [1, "a"], (True, "a")]),
        (Point(1, 2), [Point(1, 2)], [(1, 2), Point(1, 3)]),
        ([1, [2]], [[1, [2]]], [[1, [3]], [1, 2], (1, [2])]),
        ({"a": 1, 2: (3,)}, [{"a": 1, 2: (3,)}],
         [{2: (3,), "a": 1}, {"a": 1}, {"a": 2, 2: (3,)}, OrderedDict(a=1)]),
        ({1, "a"}, [{"a", 1}], [{1}, frozenset({1, "a"})]),
        (frozenset({1}), [frozenset({1})], [{1}, frozenset({True})]),
        (Config(3), [Config(3)], [Config(4), Config(3, "m"), Slotted(3)]),
        (Slotted(3), [Slotted(3)], [Slotted(4), Config(3)]),
        (functools.partial(max, 1, key=len), [functools.partial(max, 1, key=len)],
         [functools.partial(max, 2, key=len), functools.partial(min, 1, key=len), max]),
    ],
    ids=repr,
)  # fmt: skip
def test_by_value_what_equals_the_example_passes(
    example: Any, same: list[Any], others: list[Any]
) -> None:
    check = guards_of(example)
    for value in same:
        assert check(value), value
    for value in others:
        assert not check(value), value


@pytest.mark.parametrize(
    ("facts", "example", "same", "others"),
    [
        ({"ints": "free"}, 3, [4, 2**99], [True, 3.0]),
        ({"bools": "free"}, True, [False], [1]),
        ({"floats": "exact"}, 1.5, [1.5], [2.5, 1]),
        ({"floats": "exact"}, 0.0, [0.0], [-0.0]),
        ({"strings": "free"}, "a", ["b"], [b"a"]),
        ({"ints": ("one",)}, 1, [1], [2, True]),
        ({"ints": ("one",)}, 7, [0, 16, 2**99], [1, True]),
        ({"ints": ("divisible",)}, 32, [0, -16, 2**40], [1, 2**70, 8]),
        ({"ints": ("divisible",)}, 8, [1, 2**70], [16, 0]),
        ({"ints": ("divisible",), "divisor": 8}, 8, [16, 24], [4]),
        ({"ints": ("one", "divisible")}, 1, [1], [16, 3]),
        ({"ints": ("width",)}, 5, [-(2**31), 2**31 - 1], [2**31, 2**63, -(2**63)]),
        ({"ints": ("width",)}, 2**31, [2**63 - 1, -(2**63)], [5, 2**63, 2**64]),
        ({"ints": ("width",)}, 2**63, [2**64 - 1], [5, 2**31, 2**64]),
        ({"ints": ("width",)}, 2**64, [2**99, -(2**64)], [5, 2**31, 2**63]),
        ({"callables": "type"}, function, [scope], [len]),
        ({"callables": "type"}, OWNER.method, [Owner().method], [function]),
        ({"others": "type"}, OWNER, [Owner()], [function]),
        ({"others": "identity"}, OWNER, [OWNER], [Owner()]),
        ({"ints": "free"}, (1, [2]), [(5, [6])], [(1, 2)]),
    ],
)  # fmt: skip
def test_a_plan_says_which_facts_count(
    facts: Any, example: Any, same: list[Any], others: list[Any]
) -> None:
    for check in (guards_of(example, **facts), guards_of(example, KeyPlan(**facts))):
        for value in same:
            assert check(value), value
        for value in others:
            assert not check(value), value


def test_containers_by_identity() -> None:
    for example in ((1, 2), [1], {"a": 1}, {1}, Config(3)):
        check = guards_of(example, containers="identity")
        assert check(example)
        assert not check(type(example)(example) if example != Config(3) else Config(3)
                         ) or type(example) is tuple  # fmt: skip


FACTS = ("one", "divisible", "width")
EDGES = [0, 1, -1, 15, 16, 17, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1]
EDGES += [2**63 - 1, 2**63, 2**63 + 16, 2**64 - 16, 2**64, 2**80]
EDGES += [-(2**63), -(2**63) - 1]


def key_of(value: int) -> Any:
    """The class of an int by all facts, said in Python."""
    width = next(
        (name for name, low, high in (
            ("i32", -(2**31), 2**31), ("i64", -(2**63), 2**63), ("u64", 2**63, 2**64)
        ) if low <= value < high), "more",
    )  # fmt: skip
    divisible = -(2**63) <= value < 2**63 and value % 16 == 0
    return "one" if value == 1 else (divisible, width)


@pytest.mark.parametrize("example", EDGES)
def test_two_ints_pass_the_same_guards_if_they_agree_in_all_facts(example: int) -> None:
    check = guards_of(example, ints=FACTS)
    numbers = random.Random(example)
    values = EDGES + [numbers.choice(EDGES) + numbers.randrange(-40, 40) for _ in EDGES]
    for value in values:
        assert check(value) is (key_of(value) == key_of(example)), value


# --- All arguments of a call.


def test_the_root_takes_a_mapping_of_locals() -> None:
    guards = gt.GuardManager(scope)
    plans = {"n": KeyPlan(ints=("divisible",))}
    assert guards.specialize({"x": 3, "n": 32}, plans=plans) is guards
    assert guards.check({"x": 3, "n": 64})
    assert not guards.check({"x": 3, "n": 65})
    assert not guards.check({"x": 4, "n": 64})
    free = gt.GuardManager(scope)
    free.specialize({"x": OWNER, "n": 1}, plans={"x": None})
    assert free.check({"x": 5, "n": 1})


def test_a_dispatcher_specialises_in_one_line() -> None:
    def on_miss(call: gt.MissedCall) -> Any:
        call.guards.specialize(call.arguments, ints=("one", "divisible"))
        key = call.arguments["x"], call.arguments["n"]
        return lambda *args, **kwargs: key

    dispatcher = gt.Dispatcher(scope, on_miss)
    assert dispatcher("a", 32) == dispatcher("a", n=64) == ("a", 32)
    assert dispatcher("a", 3) == ("a", 3)
    assert dispatcher("a") == dispatcher("a", 1) == ("a", 1)
    assert len(dispatcher) == 3


def test_explanations_tell_the_plan() -> None:
    guards = gt.GuardManager(scope)
    guards.specialize({"x": 3, "n": 32}, ints=("divisible",))
    told = str(guards.explain({"x": 3, "n": 5}))
    assert "n: expected divisible_by(16)" in told
    assert "(note: KeyPlan(ints=('divisible',)))" in told


def test_a_plan_is_data() -> None:
    plan = KeyPlan(ints=("one",), shape=("free", "exact"), alignment=16)
    assert str(plan) == "KeyPlan(ints=('one',), shape=('free', 'exact'), alignment=16)"
    assert eval(str(plan)) == plan
    assert hash(plan) == hash(eval(repr(plan)))
    assert str(KeyPlan()) == "KeyPlan()"
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.divisor = 8  # type: ignore[misc]


# --- What is refused, with nothing added.


def nested(depth: int) -> Any:
    return (nested(depth - 1),) if depth else ()


def cyclic() -> Any:
    made: list[Any] = [1]
    made.append(made)
    return made


@pytest.mark.parametrize(
    ("example", "facts", "error", "says"),
    [
        (OWNER, {}, TypeError, "nothing is known of Owner objects"),
        ((1, {"k": OWNER}), {}, TypeError, r"\[1\]\['k'\].*others='type'"),
        (Config(OWNER), {}, TypeError, "such as size"),
        (cyclic(), {}, ValueError, "contains itself.*containers='identity'"),
        ({OWNER: 1}, {}, (TypeError, ValueError), "."),
        (3, {"ints": "some"}, ValueError, r"KeyPlan\(ints\): expected 'exact' or"),
        (3, {"ints": ("two",)}, ValueError, "a tuple of one, divisible, width"),
        (3, {"ints": ()}, ValueError, "found \\(\\)"),
        (3, {"shape": ("free", "some")}, ValueError, r"KeyPlan\(shape\)"),
        (3, {"divisor": 0}, ValueError, "a positive int"),
        (3, {"alignment": "16"}, ValueError, "a positive int"),
        (3, {"floats": True}, ValueError, "'exact' or 'free'"),
        (3, {"nothing": 1}, TypeError, "nothing"),
        (3, {"plans": {}}, TypeError, "on the root"),
    ],
)
def test_what_cannot_be_a_key_is_refused(
    example: Any, facts: Any, error: Any, says: str
) -> None:
    guards = gt.GuardManager(scope)
    with pytest.raises(error, match=says):
        guards.local("x").specialize(example, **facts)
    assert not guards.checks()


def test_a_root_refuses_what_is_no_mapping_of_its_locals() -> None:
    guards = gt.GuardManager(scope)
    with pytest.raises(TypeError, match="a mapping of locals by name"):
        guards.specialize(3)
    with pytest.raises(NameError, match="missing"):
        guards.specialize({"x": 1, "missing": 2})
    with pytest.raises(ValueError, match=r"no such local in the example: \['y'\]"):
        guards.specialize({"x": 1}, plans={"y": None})
    assert not guards.checks()


def test_deep_containers_are_served() -> None:
    check = guards_of(nested(50))
    assert not check(nested(49))
