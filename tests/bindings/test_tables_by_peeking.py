"""A table finds its entries by attributes and items that are read without user code.
Where user code would run, it tries the entries in order, with the same effects."""

from __future__ import annotations

import random
from typing import Any

import guardtree as gt
import pytest

calls: list[str] = []
"""What user code has run."""


class Plain:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("idx", "mode", *(f"a{i}" for i in range(12)))

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


class Computed(Plain):
    @property
    def idx(self) -> Any:
        calls.append("idx")
        return self.__dict__["idx"]


class Moving(Plain):
    """Each read of mode moves idx by one."""

    @property
    def mode(self) -> Any:
        calls.append("mode")
        self.__dict__["idx"] = self.__dict__.get("idx", 0) + 1
        return self.__dict__.get("mode")


class Asked(Plain):
    def __getattr__(self, name: str) -> Any:
        calls.append(name)
        return 3


class Overridden(Plain):
    def __getattribute__(self, name: str) -> Any:
        if name in ("idx", "mode"):
            calls.append(name)
        return super().__getattribute__(name)


class Defaults(Plain):
    idx = 5


class Raising(Plain):
    @property
    def idx(self) -> Any:
        calls.append("idx")
        raise ValueError("no")


CLASSES = [Plain, Slotted, Computed, Moving, Asked, Overridden, Defaults, Raising]
TEXTS = [
    "self.idx == {i}",
    "self.mode == 'a' and self.idx == {i}",
    "self.idx == {i} and self.mode == 'a'",
    "self.mode == 'a' and x == {i}",
    "x == {i} and self.mode == 'a'",
    "self.d['k'] == {i}",
    "self.l[0] == {i} and self.mode == 'a'",
    "self.a == 1 and self.b == 1 and self.c == 1 and self.l[-1] == {i}",
    "self.a == 1 and self.b == 1 and self.c == 1 and self.mode == 'a' and x == {i}",
    "self.inner.idx == {i}",
    "hasattr(self, 'a{i}')",
    "self.mode == 'a' and hasattr(self.inner, 'a{i}')",
    "'a{i}' in self.names",
    "self.inner.mode == 'a' and self.inner.idx == {i} and self.idx == {i}",
]


def subject(self: Any, x: Any) -> Any:
    return self, x


def guards_of(texts: list[str]) -> list[gt.GuardManager]:
    return [gt.parse(text, subject) for text in texts]


def found_in_order(all_guards: list[gt.GuardManager], self: Any, x: Any) -> Any:
    """The oracle: the first whose guards pass, each checked in turn."""
    for index, guards in enumerate(all_guards):
        if guards.check({"self": self, "x": x}):
            return index
    return None


def made(rng: random.Random) -> Any:
    def attributes() -> dict[str, Any]:
        return {
            name: value
            for name, value in {
                "idx": rng.randrange(12),
                "mode": rng.choice(["a", "b"]),
                f"a{rng.randrange(12)}": 1,
            }.items()
            if rng.random() < 0.9
        }

    chosen = rng.choice(CLASSES)
    self = chosen(**attributes())
    if chosen is not Slotted:
        inner = rng.choice(CLASSES)(**attributes())
        key: Any = rng.choice(["k", "k", "other"])
        self.__dict__.update(
            inner=inner,
            d=rng.choice([dict, Missing])({key: rng.randrange(12)}),
            l=rng.choice([list, tuple, Doubled])([rng.randrange(12)]),
            names={f"a{rng.randrange(12)}": 0},
            a=1,
            b=1,
            c=1,
        )
    return self


class Missing(dict):  # type: ignore[type-arg]
    def __missing__(self, key: Any) -> Any:
        calls.append("missing")
        return 4


class Doubled(list):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> Any:
        calls.append("item")
        return 2 * super().__getitem__(index)


@pytest.mark.parametrize("seed", range(40))
def test_the_same_entry_with_the_same_effects(seed: int) -> None:
    rng = random.Random(seed)
    texts = [
        text.format(i=i)
        for text in rng.sample(TEXTS, rng.randint(1, 3))
        for i in range(rng.randint(3, 12))
    ]
    if seed % 3 == 0:
        rng.shuffle(texts)
    all_guards = guards_of(texts)
    table = gt.Table(subject)
    for index, guards in enumerate(all_guards):
        table.add(guards, index)
    for turn in range(60):
        one, other = made(random.Random(turn)), made(random.Random(turn))
        x = rng.randrange(12)
        calls.clear()
        expected = found_in_order(all_guards, one, x)
        expected_calls = calls.copy()
        calls.clear()
        assert table.lookup({"self": other, "x": x}) == expected
        assert calls == expected_calls
        calls.clear()
        assert table.lookup_call(made(random.Random(turn)), x) == expected
        assert calls == expected_calls


def test_a_class_that_changes() -> None:
    class Changing(Plain):
        pass

    table = gt.Table(subject)
    for index, guards in enumerate(guards_of([f"self.idx == {i}" for i in range(64)])):
        table.add(guards, index)
    value = Changing(idx=63)
    assert table.lookup_call(value, 0) == 63
    Changing.idx = property(lambda self: calls.append("changed") or 9)  # type: ignore
    calls.clear()
    assert table.lookup_call(value, 0) == 9
    assert calls == ["changed"] * 10
    del Changing.idx
    assert table.lookup_call(value, 0) == 63
    del value.idx
    assert table.lookup_call(value, 0) is None


def test_entries_that_are_added_and_removed_later() -> None:
    table = gt.Table(subject)
    entries = []
    for i in range(200):
        entries.append(table.add(gt.parse(f"self.idx == {i}", subject), i))
        assert table.lookup_call(Computed(idx=i), 0) == i
        assert table.lookup_call(Plain(idx=i), 0) == i
    for i in range(0, 200, 3):
        table.remove(entries[i])
    for i in range(200):
        expected = None if i % 3 == 0 else i
        assert table.lookup_call(Computed(idx=i), 0) == expected
        assert table.lookup_call(Slotted(idx=i), 0) == expected


def key() -> tuple[str, int]:
    """An equal key at another address each time."""
    return ("".join(["a", "b"]), int("7" * 6))


@pytest.mark.parametrize("step", ["dict_item", "item"])
def test_entries_are_found_when_those_that_asked_first_are_gone(step: str) -> None:
    table = gt.Table(subject)
    entries = []
    for i in range(24):
        guards = gt.GuardManager(subject)
        getattr(guards.local("x"), step)(key()).equals(i)
        entries.append(table.add(guards, i))
    del guards
    for removed in range(23):
        table.remove(entries.pop(0))
        garbage = [key() for _ in range(100)]
        assert table.lookup_call(None, {key(): 23}) == 23, (removed, len(garbage))
        assert table.lookup_call(None, {key(): removed}) is None


def test_a_nan_among_keys_is_found_by_its_bits() -> None:
    table = gt.Table(subject)
    for i in range(20):
        guards = gt.GuardManager(subject)
        guards.local("x").dict_keys((i,))
        table.add(guards, i)
    last = [(float("nan"),), ((1, float("nan")),), (complex("nan"),), ([1],)]
    for i, keys in enumerate(last):
        guards = gt.GuardManager(subject)
        guards.local("x").dict_keys(keys)
        table.add(guards, 20 + i)
    assert table.lookup_call(None, {float("nan"): 0}) == 20
    assert table.lookup_call(None, {(1, float("nan")): 0}) == 21
    assert table.lookup_call(None, {complex("nan"): 0}) == 22
    assert table.lookup_call(None, {7: 0}) == 7


def test_a_container_that_was_large_is_found() -> None:
    table = gt.Table(subject)
    for i in range(24):
        guards = gt.GuardManager(subject)
        guards.local("x").dict_contains(i)
        guards.local("self").set_contains(i)
        table.add(guards, i)
    shrunk = dict.fromkeys(range(10_000))
    shrunk_set = set(shrunk)
    for i in range(1, 10_000):
        del shrunk[10_000 - i]
        shrunk_set.remove(10_000 - i)
    assert table.lookup_call(shrunk_set, shrunk) == 0
    assert table.lookup_call({5}, {5: 0}) == 5
    assert table.lookup_call({5}, shrunk) is None


def test_an_entry_that_several_keys_of_a_value_lead_to_is_tried_once() -> None:
    table = gt.Table(subject)
    tried: list[int] = []
    for i in range(24):
        guards = gt.GuardManager(subject)
        keys = tuple(("set_contains", (i + more) % 24) for more in range(4))
        guards.local("x").any_of(keys).python(lambda _, i=i: tried.append(i))
        table.add(guards, i)
    assert table.lookup_call(None, set(range(7))) is None
    assert tried == [*range(7), 21, 22, 23]
