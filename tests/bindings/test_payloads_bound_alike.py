"""Payloads that bind a call as the guarded function does get the bound arguments.

The oracle is a call of the payload itself, in the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import guardtree as gt
import pytest
from guarded_calls import BY_ENTRY, by_entry, ints, make

PARAMETERS = "a, b=2, c=3"

PAYLOADS = {
    "the same": PARAMETERS,
    "other defaults": "a, b=20, c=30",
    "fewer defaults": "a, b, c=30",
    "no defaults": "a, b, c",
    "other names": "a, c=2, b=3",
    "positional-only": "a, /, b=2, c=3",
    "more": "a, b=2, c=3, d=4",
    "keyword-only": "a, *, b=2, c=3",
    "stars": "a, *rest, **more",
}

CALLS: list[tuple[tuple[int, ...], dict[str, int]]] = [
    ((1,), {}),
    ((1, 5), {}),
    ((1, 5, 6), {}),
    ((1,), {"b": 5}),
    ((1,), {"c": 6}),
    ((1,), {"c": 6, "b": 5}),
    ((1, 5), {"c": 6}),
    ((1,), {"b": 5, "c": 6}),
    ((), {"a": 1}),
    ((), {"a": 1, "b": 5, "c": 6}),
    ((), {"c": 6, "a": 1}),
    ((), {"c": 6, "b": 5, "a": 1}),
]


def of_parameters(parameters: str, answer: str = "payload") -> Any:
    return make(f"def f({parameters}): return ({answer!r}, sorted(locals().items()))")


def outcome(function: Any, args: tuple[int, ...], named: dict[str, int]) -> Any:
    try:
        return function(*args, **named)
    except TypeError as error:
        return str(error)


def guarded(target: Any) -> tuple[Any, Any]:
    """A guarded function, or a Dispatcher where calls are not guarded by the entry,
    and that function."""
    f = of_parameters(PARAMETERS, "plain")
    if BY_ENTRY:
        gt.guard_function(f).add(ints(f), target)
        return f, f
    dispatcher = gt.Dispatcher(f)
    dispatcher.add(ints(f), target)
    return dispatcher, f


@pytest.mark.parametrize("parameters", PAYLOADS.values(), ids=PAYLOADS.keys())
def test_a_payload_gets_what_a_call_of_it_gets(parameters: str) -> None:
    payload = of_parameters(parameters)
    f, plain = guarded(payload)
    dispatcher = gt.Dispatcher(plain)
    dispatcher.add(ints(plain), payload)
    for (args, named), call in itertools.product(CALLS, (f, dispatcher)):
        assert outcome(call, args, named) == outcome(payload, args, named)


class Text(str):
    """A name that is no parameter by its address."""


def copied(name: str) -> str:
    """Another object; CPython keeps one of each text of one letter."""
    return f"{name}."[:-1]


@pytest.mark.parametrize("make_name", [str, copied, Text])
@pytest.mark.parametrize("parameters", ["aa, bb, cc", "aa, /, bb, cc", "aa, bb, /, cc"])
def test_names_in_order_are_bound_as_the_function_binds_them(
    parameters: str, make_name: Callable[[str], str]
) -> None:
    f, oracle = of_parameters(parameters), of_parameters(parameters)
    dispatcher = gt.Dispatcher(f)
    dispatcher.add(ints(f, "aa"), of_parameters(parameters))
    names = ["aa", "bb", "cc"]
    for count, last in itertools.product(range(4), (names, names[:-1], names[::-1])):
        args = tuple(range(count))
        named = {make_name(name): 9 for name in last[count:]}
        assert outcome(dispatcher, args, named) == outcome(oracle, args, named)
    assert dispatcher.stats()["hits"] > 0


@by_entry
def test_names_in_order_find_the_entry_of_their_values() -> None:
    f = of_parameters("a, b, c", "plain")
    payloads = {number: of_parameters("a, b, c", str(number)) for number in range(20)}
    for number, payload in payloads.items():
        guards = ints(f)
        guards.local("c").equals(number)
        gt.guard_function(f).add(guards, payload)
    for number in payloads:
        assert f(1, b=2, c=number)[0] == str(number)
        assert f(a=1, b=2, c=number)[0] == str(number)
    assert f(1, b=2, c=20)[0] == "plain"
    assert f(None, b=2, c=1)[0] == "plain"
    assert gt.guard_function(f).stats()["hits"] == 2 * len(payloads)


def test_code_gets_the_functions_defaults_as_they_are() -> None:
    code = of_parameters(PARAMETERS).__code__
    f, plain = guarded(code)
    for defaults in ((2, 3), (20, 30), (300,), None, (2, 3)):
        plain.__defaults__ = defaults
        like = FunctionType(code, {}, "f", defaults)
        for args, named in CALLS:
            assert outcome(f, args, named) == outcome(like, args, named)


def test_a_payload_whose_code_is_replaced_binds_as_its_new_code_does() -> None:
    payload = of_parameters(PARAMETERS)
    f, _ = guarded(payload)
    for parameters in ("a, c=2, b=3", "a, b=2, c=3, d=4", "a, *, b=0, c=0", PARAMETERS):
        payload.__code__ = of_parameters(parameters).__code__
        for args, named in CALLS:
            assert outcome(f, args, named) == outcome(payload, args, named)


@by_entry
def test_a_payload_that_is_guarded_itself_is_asked() -> None:
    payload, last = of_parameters(PARAMETERS), of_parameters(PARAMETERS, "last")
    guards = ints(payload, "b")
    guards.local("b").equals(5)
    gt.guard_function(payload).add(guards, last)
    f, _ = guarded(payload)
    assert f(1, b=5) == ("last", [("a", 1), ("b", 5), ("c", 3)])
    assert f(1, b=6) == ("payload", [("a", 1), ("b", 6), ("c", 3)])


def test_a_default_lives_though_the_payload_takes_it_from_its_function() -> None:
    class Value:
        pass

    owner: list[Any] = []
    plain = make("def f(a, b=2, c=3): return 'plain'", owner=owner)
    owner.append(plain)
    source = """def f(a, b=2, c=3):
        owner[0].__defaults__ = ()
        return type(b), type(c)"""
    dispatcher = gt.Dispatcher(plain)
    dispatcher.add(ints(plain), make(source).__code__)
    calls: list[dict[str, Any]] = [{}, {"b": Value()}, {"c": Value(), "b": Value()}]
    for named in calls:
        plain.__defaults__ = (Value(), Value())
        assert dispatcher(1, **named) == (Value, Value)


def test_a_default_lives_that_the_payload_shares_with_its_function() -> None:
    class Value:
        pass

    owners: list[Any] = []
    plain = make("def f(a, b=2, c=3): return 'plain'")
    payload = make(
        """def f(a, b=2, c=3):
        for owner in owners:
            owner.__defaults__ = ()
        return type(b), type(c)""",
        owners=owners,
    )
    owners += [plain, payload]
    dispatcher = gt.Dispatcher(plain)
    dispatcher.add(ints(plain), payload)
    for named in ({}, {"b": Value()}, {"c": Value()}):
        plain.__defaults__ = payload.__defaults__ = (Value(), Value())
        assert dispatcher(1, **named) == (Value, Value)


class Name(str):
    """A keyword that equals no parameter, or raises when it is compared."""

    answer: Any = False
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if self.answer:
            raise self.answer
        return False


@by_entry
@pytest.mark.parametrize("error", [TypeError, ValueError])
def test_a_keyword_of_a_subclass_is_compared_as_it_says(error: type) -> None:
    name = Name("b")
    name.answer = error if error is ValueError else False
    f, _ = guarded(of_parameters(PARAMETERS))
    with pytest.raises(error):
        f(1, **{name: 5})


@by_entry
def test_a_payload_whose_defaults_are_replaced_uses_its_new_ones() -> None:
    payload = of_parameters(PARAMETERS)
    f, _ = guarded(payload)
    for defaults in ((7, 8), (9,), (2, 3)):
        payload.__defaults__ = defaults
        for args, named in CALLS:
            assert outcome(f, args, named) == outcome(payload, args, named)
