"""What a watched dict keeps and what its stores cost, whoever relied on it before."""

from __future__ import annotations

import sys
import types
from typing import Any

import guardtree as gt
import pytest
from assumed import scope
from guardtree.bench.building import allocated_bytes

needs_watchers = pytest.mark.skipif(
    not gt.features()["dict_watcher"], reason="this CPython has no watchers of dicts"
)


def bytes_in_use() -> int:
    allocated = allocated_bytes()
    if allocated is None:
        pytest.skip("malloc does not say what it handed out")
    return allocated


class Names:
    """Globals that somebody relies on all the while."""

    def __init__(self) -> None:
        self.names: dict[Any, Any] = {"stays": 1}
        self.function = types.FunctionType(scope.__code__, self.names)
        self.keeper = self.relying_on("stays")

    def relying_on(self, *names: str) -> gt.GuardManager:
        guards = gt.GuardManager(self.function)
        for name in names:
            guards.global_(name).type_match(int)
        assert all(guards.check({}) for _ in range(3))
        return guards


@pytest.mark.parametrize("change", [True, False], ids=["broken", "released"])
def test_a_key_that_nobody_relies_on_any_more_takes_no_memory(change: bool) -> None:
    names = Names()
    keys = [sys.intern(f"key{i}") for i in range(9000)]  # the table of them grows here

    def relied_on_for_a_while(some_keys: list[str]) -> int:
        for name in some_keys:
            names.names[name] = 1
            guards = names.relying_on(name)
            if change:
                names.names[name] = 2
            del guards
            del names.names[name]
        return bytes_in_use()

    before = relied_on_for_a_while(keys[:3000])
    after = relied_on_for_a_while(keys[3000:])
    assert after - before < 6000 * 10
    assert names.keeper.check({})


def armed() -> int:
    return gt.assumption_counts()["armed"]


@needs_watchers
@pytest.mark.parametrize(
    "key",
    [(1, 2), frozenset((1,)), int, scope, len],
    ids=lambda key: type(key).__name__,
)
def test_a_key_that_equals_no_name_breaks_nobody(key: Any) -> None:
    names = Names()
    guards = names.relying_on("stays")
    before = armed(), gt.assumption_counts()["events"]
    for i in range(50):
        names.names[key] = i
    del names.names[key]
    assert (armed(), gt.assumption_counts()["events"]) == before
    assert guards.check({})


class Pretender:
    """Equals a name, and has its hash."""

    def __hash__(self) -> int:
        return hash("stays")

    def __eq__(self, other: object) -> bool:
        return other == "stays"


@needs_watchers
def test_a_key_of_a_user_s_type_breaks_everybody_once() -> None:
    names = Names()
    many = {f"key{i}": i for i in range(100)}
    names.names.update(many)
    guards = names.relying_on(*many)
    before = armed(), gt.assumption_counts()["events"]
    for i in range(50):
        names.names[Pretender()] = f"value {i}"
    assert armed() == before[0] - 2  # the keeper's too
    assert gt.assumption_counts()["events"] == before[1] + 1
    assert guards.check({})
    assert not names.keeper.check({})


def test_a_tuple_of_the_hash_of_a_name_hides_it_from_no_guard() -> None:
    hashes = (hash((i,)) for i in range(1000))  # an int of this size is its own hash
    at, found = next((i, h) for i, h in enumerate(hashes) if 0 < h < 2**60)
    guards = gt.GuardManager(scope)
    guards.local("x").dict_item(found).equals(1)
    x: dict[Any, int] = {(at,): 2, found: 1}
    assert hash(found) == hash((at,))
    assert guards.check({"x": x})


def test_bits_of_keys_that_went_are_found_again() -> None:
    names = Names()
    first = [f"key{i}" for i in range(200)]
    names.names.update(dict.fromkeys(first, 1))
    guards = names.relying_on(*first)
    del guards
    guards = names.relying_on("key7")
    names.names["key7"] = None
    assert not guards.check({})
    assert names.keeper.check({})
    names.names["stays"] = None
    assert not names.keeper.check({})
