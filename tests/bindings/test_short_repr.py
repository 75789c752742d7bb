"""What an explanation says was found is a repr of which no more is made than is shown.
Where that does not hold, some of these tests do not end."""

from __future__ import annotations

import collections
import dataclasses
import sys
import types
from typing import Any, NamedTuple

import guardtree as gt
import pytest

DEPTH = 60


def function(a: Any) -> None:
    pass


class Never:
    """What a value is compared with that no value is."""


def found(value: Any) -> str:
    guards = gt.GuardManager(function)
    guards.local("a").type_match(Never)
    text: str = guards.explain({"a": value}).failures[0].found
    return text


def shown(value: Any) -> str:
    """The same, from the whole repr."""
    text = repr(value)
    text = text if len(text) <= 120 else text[:117] + "..."
    return f"{text} ({type(value).__name__.rpartition('.')[2]})"


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Config:
    a: Any
    hidden: Any = dataclasses.field(default=1, repr=False)
    b: Any = None
    shared: dataclasses.InitVar[int] = 0


class Plain:
    def __repr__(self) -> str:
        return "<plain>"


class Own(list):  # type: ignore[type-arg]
    def __repr__(self) -> str:
        return "<own>"


class Sub(list):  # type: ignore[type-arg]
    pass


class SubSet(set):  # type: ignore[type-arg]
    pass


loop: list[Any] = [1]
loop.append(loop)
dict_loop: dict[str, Any] = {}
dict_loop["self"] = dict_loop

SHORT: list[Any] = [
    None, True, 3, -(10**30), 1.5, -0.0, 2j, "text", "it's", 'a "b" \'c\'',
    "\u20ac\U0001f600", "\ud800", b"bytes", bytearray(b"x"), ..., [], (), {}, set(),
    frozenset(), [1], (1,), (1, 2), {1: "a", "b": [2]}, {1}, frozenset({"x"}),
    [[], [()]], Sub([1, 2]), SubSet(),
    SubSet({1}), Own(), Plain(), [Plain(), Own()], loop, dict_loop, Point(1, [2]),
    Config(1, 2, "b"), collections.deque([1, 2]), collections.deque([1], maxlen=3),
    collections.defaultdict(int, {"a": 1}), collections.Counter("aab"),
    types.SimpleNamespace(a=1, b="c"), {}.keys(), {1: 2}.values(), {1: 2}.items(),
    types.MappingProxyType({1: 2}), range(3), slice(1), "x" * 118, "x" * 119, "x" * 500,
    b"x" * 500, list(range(100)), ("word",) * 60, {i: i for i in range(100)}, 10**119,
    10**200, [10**200], collections.OrderedDict(), int, len, Ellipsis,
]  # fmt: skip


@pytest.mark.parametrize("value", SHORT, ids=lambda value: repr(value)[:30])
def test_it_is_the_repr_that_python_makes(value: Any) -> None:
    name = type(value).__name__
    told = found(value)
    if isinstance(value, type):
        assert told == repr(value)
    else:
        assert told.rpartition(" (")[0] == shown(value).rpartition(" (")[0]
        assert told.endswith(f"{name})")


def test_an_ordered_dict_is_written_as_new_versions_do() -> None:
    value = collections.OrderedDict(a=1, b=2)
    value.move_to_end("a")
    assert found(value).startswith("OrderedDict({'b': 2, 'a': 1})")


WRAPPERS: dict[str, Any] = {
    "list": lambda v: [v, v],
    "tuple": lambda v: (v, v),
    "dict": lambda v: {1: v, 2: v},
    "ordered dict": lambda v: collections.OrderedDict(a=v, b=v),
    "default dict": lambda v: collections.defaultdict(None, a=v, b=v),
    "deque": lambda v: collections.deque([v, v]),
    "namespace": lambda v: types.SimpleNamespace(a=v, b=v),
    "named tuple": lambda v: Point(v, v),
    "dataclass": lambda v: Config(v, 1, v),
    "values": lambda v: {1: v, 2: v}.values(),
    "proxy": lambda v: types.MappingProxyType({1: v, 2: v}),
    "subclass": lambda v: Sub([v, v]),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_shared_parts_are_not_written_more_often_than_is_shown(wrap: Any) -> None:
    value = 1
    for _ in range(DEPTH):
        value = wrap(value)
    text = found(value).rpartition(" (")[0]
    assert len(text) == 120 and text.endswith("...")


@pytest.mark.parametrize("make", [list, tuple, collections.deque])
def test_no_more_parts_are_asked_than_are_shown(make: Any) -> None:
    asked = []

    class Part:
        def __repr__(self) -> str:
            asked.append(1)
            return "part"

    found(make(Part() for _ in range(10_000)))
    assert 15 <= len(asked) <= 40


def test_a_part_whose_repr_raises_is_told_alone() -> None:
    class Raises:
        def __repr__(self) -> str:
            raise ZeroDivisionError

    assert found([1, Raises()]).startswith("[1, <Raises object, its repr raises>]")


def test_a_repr_may_change_the_container_that_it_is_in() -> None:
    class Robber:
        def __repr__(self) -> str:
            container.clear()
            return "robber"

    container: Any = [Robber(), object(), [1]]
    assert found(container).startswith("[robber, <object object")
    container = {1: Robber(), 2: [3]}
    assert found(container).startswith("{1: robber, 2: [3]}")
    container = {Robber()}
    assert found(container).startswith("{robber}")


@pytest.mark.skipif(not hasattr(sys, "set_int_max_str_digits"), reason="no limit")
def test_a_huge_int_is_told_by_its_size() -> None:
    number = 1 << 1_000_000
    assert found(number) == "<int of 1000001 bits> (int)"
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(0)
        assert found([number]) == "[<int of 1000001 bits>] (list)"
        sys.set_int_max_str_digits(640)
        assert found(10**1000) == "<int of 3322 bits> (int)"
    finally:
        sys.set_int_max_str_digits(before)


def error_of(exception: BaseException) -> str:
    def raises(value: Any) -> bool:
        raise exception

    guards = gt.GuardManager(function)
    guards.local("a").python(raises)
    text: str = guards.explain({"a": 1}).failures[0].error
    return text


def test_the_message_of_an_exception_is_cut() -> None:
    shared: Any = 1
    for _ in range(DEPTH):
        shared = [shared, shared]
    assert error_of(ValueError("short")) == "ValueError: short"
    assert error_of(ValueError()) == "ValueError"
    assert error_of(KeyError("k")) == "KeyError: 'k'"
    assert error_of(ValueError(1, "b")) == "ValueError: (1, 'b')"
    assert error_of(ValueError([1])) == "ValueError: [1]"
    told = error_of(OSError(2, "gone", "file"))
    assert told.startswith("FileNotFoundError: [Errno 2]")
    for exception in (KeyError(shared), ValueError(shared), TypeError(1, shared)):
        assert len(error_of(exception)) < 1100
    assert len(error_of(ValueError("x" * 10_000))) < 1100
