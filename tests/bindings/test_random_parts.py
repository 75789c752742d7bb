"""Random changes of slots, fields of named tuples, items of lists and tuples: assumed
guards and the same guards that assume nothing must always agree.

GUARDTREE_TEST_STEPS=<n> changes instead of 20,000; GUARDTREE_TEST_SEED=<n> repeats a
run.
"""

from __future__ import annotations

import os
import random
import types
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import guardtree as gt
import pytest


class First:
    __slots__ = ("a", "b")


class Second:
    __slots__ = ("a", "b")


class Below(First):
    __slots__ = ("c",)


class Listed(list):  # type: ignore[type-arg]
    """A list, with attributes."""


class OtherListed(list):  # type: ignore[type-arg]
    """Another class of the same layout."""


Pair = namedtuple("Pair", "a b")  # noqa: PYI024
Triple = namedtuple("Triple", "c a b")  # noqa: PYI024
CLASSES = (First, Second, Below, Pair, Triple)
DESCRIPTORS = {
    owner: {name: vars(owner)[name] for name in "ab" if name in vars(owner)}
    for owner in CLASSES
}


def scope(x: Any = None) -> None: ...


def number(of: int) -> int:
    """An int of its own: what it replaces may lie at the same address."""
    return 10**9 + int(str(of))


class World:
    """Objects with parts, and what may happen to them."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick
        self.names: dict[str, Any] = {}
        self.x: Any = None
        for name in ("slotted", "fields", "items", "pair"):
            self.names[name] = getattr(self, f"some_{name}")()
        self.names["nested"] = [self.some_part()]

    def value(self) -> Any:
        return self.pick.choice([number(0), number(0), number(0), number(1), None])

    def some_slotted(self) -> Any:
        made = self.pick.choice((First, First, Second, Below))()
        for name in "ab":
            if self.pick.random() < 0.9:
                with suppress(AttributeError):  # a property, for now
                    setattr(made, name, self.value())
        return made

    def some_fields(self) -> Any:
        if self.pick.random() < 0.2:
            return tuple.__new__(Pair, [self.value()] * self.pick.randrange(3))
        if self.pick.random() < 0.3:
            return Triple(self.value(), self.value(), self.value())
        return Pair(self.value(), self.value())

    def some_items(self) -> Any:
        kind = self.pick.choice((list, list, Listed, OtherListed))
        size = self.pick.choice((0, 1, 2, 2, 3, 4))
        return kind(self.value() for _ in range(size))

    def some_pair(self) -> Any:
        return tuple(self.value() for _ in range(self.pick.choice((0, 1, 2, 2, 3))))

    def some_part(self) -> Any:
        sort = self.pick.choice(("slotted", "fields", "items", "pair"))
        return getattr(self, f"some_{sort}")()

    def set_slot(self) -> None:
        with suppress(AttributeError):
            setattr(self.names["slotted"], self.pick.choice("ab"), self.value())

    def delete_slot(self) -> None:
        with suppress(AttributeError):
            delattr(self.names["slotted"], self.pick.choice("ab"))

    def change_class(self) -> None:
        with suppress(TypeError):
            self.names["slotted"].__class__ = self.pick.choice((First, Second))
        with suppress(TypeError):
            self.names["items"].__class__ = self.pick.choice((Listed, OtherListed))

    def change_descriptor(self) -> None:
        """A property, the descriptor of the other name, or none."""
        owner = self.pick.choice(CLASSES)
        name = self.pick.choice("ab")
        found = DESCRIPTORS[owner]
        kinds = [*found.values(), property(lambda self: number(0)), None]
        made = self.pick.choice(kinds)
        if made is not None:
            setattr(owner, name, made)
        elif name in vars(owner):
            delattr(owner, name)

    def restore_descriptors(self) -> None:
        restore()

    def replace(self) -> None:
        name = self.pick.choice(("slotted", "fields", "items", "pair"))
        self.names[name] = None
        self.names[name] = getattr(self, f"some_{name}")()

    def replace_nested(self) -> None:
        self.names["nested"][0] = None
        self.names["nested"][0] = self.some_part()

    def change_items(self) -> None:
        items = self.names["items"]
        how = self.pick.choice(("append", "pop", "insert", "clear", "slice", "sort"))
        if how == "append":
            items.extend(self.value() for _ in range(self.pick.choice((1, 20))))
        elif how == "pop" and items:
            items.pop(self.pick.randrange(len(items)))
        elif how == "insert":
            items.insert(0, self.value())
        elif how == "clear":
            items.clear()
        elif how == "slice":
            items[:] = self.some_items()
        else:
            items.sort(key=repr)

    def set_item(self) -> None:
        items = self.names["items"]
        if items:
            items[self.pick.randrange(len(items))] = self.value()

    def look_at(self) -> None:
        self.x = self.pick.choice([*self.names.values(), self.some_part(), None])

    def look_at_another(self) -> None:
        """Where the last one may have lain."""
        self.x = None
        self.x = self.some_part()


CHANGES: list[Callable[[World], None]] = [
    World.set_slot, World.delete_slot, World.change_class, World.change_descriptor,
    World.restore_descriptors, World.restore_descriptors, World.replace,
    World.replace_nested, World.change_items, World.set_item, World.look_at,
    World.look_at_another,
]  # fmt: skip


@pytest.fixture(autouse=True)
def descriptors() -> Iterator[None]:
    yield
    restore()


def restore() -> None:
    for owner, found in DESCRIPTORS.items():
        for name in "ab":
            if name in found:
                setattr(owner, name, found[name])
            elif name in vars(owner):
                delattr(owner, name)


OWNERS: list[Callable[[gt.GuardManager], gt.GuardManager]] = [
    lambda guards: guards.global_("slotted"),
    lambda guards: guards.global_("fields"),
    lambda guards: guards.global_("items"),
    lambda guards: guards.global_("pair"),
    lambda guards: guards.global_("nested").list_item(0),
    lambda guards: guards.local("x"),
]
PARTS = [
    ("plain_attr", "a"), ("plain_attr", "b"), ("list_item", 1), ("list_item", -1),
    ("tuple_item", 0), ("tuple_item", -2),
]  # fmt: skip
KINDS = [("equals", number(0)), ("type_match", int), ("is_not_none",), ("exists",)]


def trees_of(function: Any, assumed: bool) -> list[gt.GuardManager]:
    """Trees of the same random checks each time, of one to three parts."""
    chosen = random.Random(7)
    made = []
    prior = gt.set_assumptions(assumed)
    for _ in range(60):
        guards = gt.GuardManager(function)
        parts = []
        for _ in range(chosen.randrange(1, 4)):
            step, operand = chosen.choice(PARTS)
            part = getattr(chosen.choice(OWNERS)(guards), step)(operand)
            kind, *operands = chosen.choice(KINDS)
            getattr(part, kind)(*operands)
            parts.append(part)
        if len(set(parts)) > 1 and chosen.random() < 0.3:
            getattr(guards, chosen.choice(("same_object", "distinct_objects")))(*parts)
        guards.check({"x": None})  # compiles
        made.append(guards)
    gt.set_assumptions(prior)
    return made


def test_parts_that_change_at_random_are_noticed() -> None:
    steps = int(os.environ.get("GUARDTREE_TEST_STEPS", "20000"))
    seed = int(os.environ.get("GUARDTREE_TEST_SEED", "0")) or random.randrange(2**32)
    pick = random.Random(seed)
    before = gt.assumption_counts()["arms"]
    passed = done = 0
    while done < steps:
        restore()
        world = World(pick)
        function = types.FunctionType(scope.__code__, world.names)
        pairs = list(zip(trees_of(function, True), trees_of(function, False)))
        for _ in range(min(500, steps - done)):  # often broken, they arm less and less
            done += 1
            pick.choice(CHANGES)(world)
            for ours, plain in pick.sample(pairs, 6):
                expected = plain.check({"x": world.x})
                for _ in range(2):  # the second time it may be assumed
                    assert ours.check({"x": world.x}) is expected, (
                        f"GUARDTREE_TEST_SEED={seed}, step {done}: plain guards say "
                        f"{expected}\n{plain}"
                    )
                passed += expected
    arms = gt.assumption_counts()["arms"] - before
    print(f"GUARDTREE_TEST_SEED={seed}: {passed} checks passed, {arms} arms")
    assert passed > steps // 2
    assert arms > steps // 20
