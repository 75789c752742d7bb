"""Sets and dicts of constants are compared by looking their keys up, type by type, and
no key is asked. What collides is compared with what it collides with."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import guardtree as gt
import pytest
from guardtree.semantics import same_constant

MODULUS = (1 << 61) - 1  # of CPython's hashes of ints

KEYS: list[Any] = [
    0, 1, -1, -2, True, False, 0.0, -0.0, 1.0, 2.5, 1j, 1 + 0j, None, ..., "a", "",
    b"a", b"", (), (1,), (True,), (1.0,), ("a", (2, None)), frozenset(), frozenset({1}),
    frozenset({1.0}), MODULUS, MODULUS + 1, 2 * MODULUS + 1, 10**40, float(10**20),
    10**20, "\u20ac", (-1,), (-2,),
]  # fmt: skip


def function(a: Any) -> None:
    pass


def guard(kind: str, operand: Any) -> gt.GuardManager:
    guards = gt.GuardManager(function)
    getattr(guards.local("a"), kind)(operand)
    return guards


def subsets(seed: int, count: int, most: int) -> list[list[Any]]:
    chosen = random.Random(seed)
    return [chosen.sample(KEYS, chosen.randint(0, most)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_the_oracle_agrees(seed: int) -> None:
    sides = subsets(seed, 24, 4)
    for one in sides:
        expected = set(one)
        tables = {key: 1 for key in one}
        by_kind = [
            guard("equals", expected),
            guard("equals", frozenset(expected)),
            guard("set_equals", expected),
            guard("equals", tables),
            guard("dict_key_set", expected),
        ]
        for other in sides:
            value = set(other)
            table = {key: 1 for key in other}
            same = same_constant(value, expected)
            assert by_kind[0].check({"a": value}) is same
            assert by_kind[1].check({"a": frozenset(value)}) is same
            assert by_kind[2].check({"a": value}) is same
            assert by_kind[3].check({"a": table}) is same_constant(table, tables)
            assert by_kind[4].check({"a": table}) is same_constant(
                frozenset(table), frozenset(expected)
            )


@pytest.mark.parametrize("count", [5, 8, 21, 60, 1000, 70_000])
@pytest.mark.parametrize("make", [int, float, str, lambda i: (i, "x"), lambda i: -i])
def test_tables_of_all_sizes_are_searched(count: int, make: Any) -> None:
    if count > 1000 and make is not int:
        pytest.skip("one sort of key is enough for tables of 32-bit places")
    members = [make(i) for i in range(count)]
    shuffled = random.Random(count).sample(members, count)
    missing = [*shuffled[1:], make(count + 1)]
    table = dict.fromkeys(members, 0)
    assert guard("set_equals", set(members)).check({"a": set(shuffled)})
    assert not guard("set_equals", set(members)).check({"a": set(missing)})
    assert guard("equals", table).check({"a": dict.fromkeys(shuffled, 0)})
    assert not guard("equals", table).check({"a": dict.fromkeys(missing, 0)})
    assert guard("dict_key_set", set(members)).check({"a": table})


def test_tables_that_elements_have_left_are_searched() -> None:
    value = set(range(1000)) - set(range(3, 900))
    constant = set(range(2000)) - set(range(1000, 2000)) - set(range(3, 900))
    assert guard("set_equals", constant).check({"a": value})
    table = dict.fromkeys(range(1000), 0)
    for key in range(3, 900):
        del table[key]
    assert guard("equals", table).check({"a": dict.fromkeys(sorted(value), 0)})


def test_keys_of_users_are_not_asked() -> None:
    asked: list[str] = []

    class Spy:
        def __hash__(self) -> int:
            asked.append("hash")
            return 1

        def __eq__(self, other: object) -> bool:
            asked.append("eq")
            return True

    class Number(int):
        def __eq__(self, other: object) -> bool:
            asked.append("eq")
            return True

        __hash__ = int.__hash__

    values: list[Any] = [Spy(), Number(1), (Spy(),), Fraction(1)]
    for value in values:
        tables = {value: 0}, {value}
        asked.clear()
        assert not guard("equals", {1: 0}).check({"a": tables[0]})
        assert not guard("set_equals", {1}).check({"a": tables[1]})
        assert not guard("dict_key_set", {1}).check({"a": tables[0]})
        assert asked == []


def test_the_dict_of_an_instance_is_a_constant_too() -> None:
    class C:
        def __init__(self, **values: Any) -> None:
            self.__dict__.update(values)

    one, other = C(a=1, b=2), C(b=2, a=1)
    C(a=1, b=2, c=3)
    assert guard("equals", one.__dict__).check({"a": other.__dict__})
    assert not guard("equals", {"c": 1, "d": 2}).check({"a": one.__dict__})
    assert not guard("equals", one.__dict__).check({"a": {"a": 1, "c": 2}})
