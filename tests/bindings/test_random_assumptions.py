"""Random changes of a small world between checks: assumed guards and the same guards
that assume nothing must always agree.

GUARDTREE_TEST_STEPS=<n> changes instead of 20,000; GUARDTREE_TEST_SEED=<n> repeats a
run.
"""

from __future__ import annotations

import os
import random
import sys
import types
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import guardtree as gt
import pytest


class First:
    shared = 1


class Second:
    shared = 1


class Meta(type):
    """The class of classes."""


class Late:
    """A class attribute that becomes a descriptor, and stops being one."""


def bind(self: Any, value: Any, kind: Any) -> Any:
    return 10**9


LATE = Late()


class Module(types.ModuleType):
    """A subclass of module."""


class Sized(tuple):  # type: ignore[type-arg]
    """Objects of several lengths, with attributes."""


def scope_of(z: Any) -> Any:
    def scope(x: Any = None, y: Any = None) -> Any:
        return z

    return scope


scope = scope_of(None)

MODULE = "a_module_of_random_assumptions"


def number(of: int) -> int:
    """An int of its own: what it replaces may lie at the same address."""
    return 10**9 + int(str(of))


def object_getattribute(self: Any, name: str) -> Any:
    return object.__getattribute__(self, name)


# A data descriptor for what the own dict holds.
STORED = property(
    lambda self: vars(self)["a"], lambda self, value: vars(self).update(a=value)
)


def function_with(names: dict[str, Any]) -> Any:
    return types.FunctionType(scope.__code__, names, closure=(types.CellType(),))


class World:
    """Objects that are reached through one another, and what may happen to them."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick
        self.names: dict[str, Any] = {}
        self.function = function_with(self.names)
        self.things = [self.thing(depth) for depth in (0, 0, 1, 1, 2)]
        for name in "abcd":
            self.names[name] = self.value()
        self.names.update(table={"a": 1, "b": number(2)}, order=OrderedDict(a=1))
        self.names.update(thing=self.things[-1], items=[1, number(2)], pair=(1, "k"))
        self.names.update(box=[None], mapping={}, kind=self.kind())
        self.kept: list[Any] = []
        self.x: Any = self.things[2]
        self.put(self.owner())

    def thing(self, depth: int) -> Any:
        made = self.pick.choice((First, Second))()
        if self.pick.random() < 0.7:
            vars(made)  # has a dict from now on
        made.a, made.b = self.value(), self.value()
        if depth:
            made.inner = self.thing(depth - 1)
        return made

    def kind(self) -> Any:
        """A class where the last one may have lain."""
        base = Meta("Base", (), {"a": self.value()})
        return Meta("Kind", (base,), {"b": self.value()})

    def value(self) -> Any:
        at = self.pick.randrange(7)
        if at < 4:
            return number(at // 2)
        return (None, True, "text")[at - 4]

    def some_thing(self) -> Any:
        found = self.pick.choice([*self.things, self.names.get("thing"), self.x])
        while self.pick.random() < 0.5 and hasattr(found, "inner"):
            found = found.inner
        return found if isinstance(found, (First, Second)) else self.things[0]

    def some_dict(self) -> dict[Any, Any]:
        names = [self.names.get("table"), self.names.get("order"), self.names]
        found = self.pick.choice([*names, vars(sys.modules[MODULE])])
        return found if isinstance(found, dict) else {}

    def key(self) -> Any:
        return self.pick.choice(["a", "b", "c", "d", "".join(["a"]), 1, (1, 2)])

    def change(self) -> None:
        self.pick.choice(CHANGES)(self)

    def set_global(self) -> None:
        self.names[self.pick.choice("abcd")] = self.value()

    def delete_global(self) -> None:
        self.names.pop(self.pick.choice("abcd"), None)

    def set_attribute(self) -> None:
        setattr(self.some_thing(), self.pick.choice("ab"), self.value())

    def delete_attribute(self) -> None:
        vars(self.some_thing()).pop(self.pick.choice("ab"), None)

    def set_entry(self) -> None:
        self.some_dict()[self.key()] = self.value()

    def delete_entry(self) -> None:
        self.some_dict().pop(self.key(), None)

    def clear(self) -> None:
        if self.pick.random() < 0.1 and (found := self.some_dict()) is not self.names:
            if found is not vars(sys.modules[MODULE]):
                found.clear()

    def merge(self) -> None:
        self.some_dict().update({self.key(): self.value(), "a": self.value()})

    def change_class(self) -> None:
        thing = self.some_thing()
        thing.__class__ = First if type(thing) is Second else Second

    def change_names_of_a_class(self) -> None:
        owner = self.pick.choice((First, Second, Sized))
        if "c" in vars(owner):
            del owner.c
        else:
            owner.c = self.pick.choice([1, number(1), LATE, property(lambda self: 1)])

    def change_how_a_value_binds(self) -> None:
        if "__get__" in vars(Late):
            del Late.__get__
        else:
            Late.__get__ = bind  # type: ignore[attr-defined]

    def change_kind(self) -> None:
        kind = self.names["kind"]
        owner = self.pick.choice([kind, *kind.__bases__, Meta])
        name = self.pick.choice(["a", "b", "__name__", "__getattribute__"])
        if name == "__name__":
            kind.__name__ = self.pick.choice(["Kind", "Other"])
        elif name == "__getattribute__":
            Meta.__getattribute__ = type.__getattribute__  # type: ignore[assignment]
            if self.pick.random() < 0.7:
                del Meta.__getattribute__
        elif name in vars(owner):
            with suppress(AttributeError):  # Meta has a property of that name
                delattr(owner, name)
        else:
            values = [self.value(), STORED if owner is Meta else LATE, bind]
            with suppress(AttributeError):
                setattr(owner, name, self.pick.choice(values))

    def replace_kind(self) -> None:
        self.names["kind"] = None
        self.names["kind"] = self.kind()

    def change_how_a_class_reads(self) -> None:
        owner = self.pick.choice((First, Second))
        name = self.pick.choice(["a", "__getattribute__"])
        if name in vars(owner):
            delattr(owner, name)
        elif name == "a":
            owner.a = self.pick.choice([1, STORED])
        else:
            owner.__getattribute__ = object_getattribute

    def replace_dict(self) -> None:
        self.some_thing().__dict__ = {"a": self.value(), "b": self.value()}

    def copy_dict(self) -> None:
        thing = self.some_thing()
        thing.__dict__ = dict(vars(thing))

    def replace_thing(self) -> None:
        self.names["thing"] = None
        self.names["thing"] = self.thing(self.pick.randrange(3))

    def replace_inner(self) -> None:
        thing = self.some_thing()
        thing.inner = None
        thing.inner = self.thing(self.pick.randrange(2))

    def replace_table(self) -> None:
        self.names["table"] = None
        self.names["table"] = {"a": 1, "b": number(2)}

    def replace_local(self) -> None:
        self.x = self.pick.choice([*self.things, self.thing(1), None, 3])

    def change_items(self) -> None:
        self.names["items"][:] = [1, number(self.pick.randrange(1, 3))]

    def replace_pair(self) -> None:
        self.names["pair"] = (1, self.pick.choice(["k", "l"]))

    def replace_module(self) -> None:
        module = types.ModuleType(MODULE)
        module.a = self.value()
        sys.modules[MODULE] = module

    def owner(self) -> Any:
        """Something with a dict of its own, where the last one of its sort may have
        lain."""
        names = {"a": self.value(), "b": self.value()}
        sort = self.pick.choice("mmmsfbtdxvv")
        if sort == "v":
            sized = Sized(range(self.pick.randrange(4)))
            vars(sized).update(names)
            return sized
        if sort in "ms":
            made = (Module if sort == "s" else types.ModuleType)("owner")
            vars(made).update(names)
            return made
        if sort == "x":
            made = First()
            made.__dict__ = names
            return made
        if sort == "d":
            return names
        if sort == "t":
            return (names,)
        function = function_with(names)
        return function if sort == "f" else types.MethodType(function, names)

    def put(self, owner: Any) -> None:
        self.names["box"][0] = self.names["mapping"]["k"] = owner

    def replace_owner(self) -> None:
        """What it had may live on, or a part of it."""
        owner = self.names["box"][0]
        if self.pick.random() < 0.5:
            parts = [getattr(owner, "__dict__", None), getattr(owner, "__func__", None)]
            parts += [getattr(owner, "__globals__", None)]
            self.kept = [*self.kept[-50:], parts]
            del parts
        if self.x is owner:
            self.x = None
        del owner
        self.put(None)
        self.put(self.owner())

    def look_at_owner(self) -> None:
        self.x = self.names["box"][0]

    def change_owner(self) -> None:
        owner = self.names["box"][0]
        names = getattr(owner, "__dict__", None) or getattr(owner, "__globals__", {})
        names[self.pick.choice("ab")] = self.value()

    def replace_modules(self) -> None:
        if self.pick.random() < 0.2:
            sys.modules = dict(sys.modules)
        module = types.ModuleType(MODULE)
        module.a = self.value()
        sys.modules[MODULE] = module


CHANGES: list[Callable[[World], None]] = [
    each for name, each in vars(World).items()
    if name in {
        "set_global", "delete_global", "set_attribute", "delete_attribute", "set_entry",
        "delete_entry", "clear", "merge", "change_class", "replace_dict", "copy_dict",
        "replace_thing", "replace_inner", "replace_table", "replace_local",
        "change_items", "replace_pair", "replace_module", "replace_owner",
        "look_at_owner", "change_owner", "replace_modules", "change_names_of_a_class",
        "change_how_a_class_reads", "change_how_a_value_binds", "change_kind",
        "replace_kind",
    }
]  # fmt: skip


def inner_of(node: gt.GuardManager) -> gt.GuardManager:
    return node.instance_attr("inner")


def below(node: gt.GuardManager) -> None:
    node.instance_attr("a").type_match(int)
    node.lacks_instance_attr("c")
    node.lacks_static_attr("c")
    node.lacks_plain_attr("c")
    node.instance_attr("b").int_range(10**9, 10**9 + 1)


def of_owner(root: Any, *steps: Any) -> Callable[[gt.GuardManager], Any]:
    """Two names of what an owner leads to by the steps."""

    def add(guards: gt.GuardManager) -> None:
        node = root(guards)
        *path, last = steps
        for name, *operands in path:
            node = getattr(node, name)(*operands)
        getattr(node, last)("a").type_match(int)
        getattr(node, last)("b").int_range(10**9, 10**9 + 1)

    return add


def absent_in_owner(root: Any) -> Callable[[gt.GuardManager], Any]:
    def add(guards: gt.GuardManager) -> None:
        root(guards).lacks_instance_attr("c")
        root(guards).lacks_static_attr("c")
        root(guards).lacks_plain_attr("c")

    return add


OWNERS: list[Callable[[gt.GuardManager], gt.GuardManager]] = [
    lambda guards: guards.local("x"),
    lambda guards: guards.closure("z"),
    lambda guards: guards.global_("box").list_item(0),
    lambda guards: guards.global_("box").item(0),
    lambda guards: guards.global_("mapping").dict_item("k"),
]
OF_OWNERS: list[list[Any]] = [
    ["module_attr"],
    ["instance_attr"],
    ["plain_attr"],
    ["dict_item"],
    [["tuple_item", 0], "dict_item"],
    [["function_globals"], "dict_item"],
    [["method_self"], "dict_item"],
    [["method_function"], ["function_globals"], "dict_item"],
]

# What relations read is handed over by an assumption; `python` makes the walk own it.
RELATIONS: list[Callable[[gt.GuardManager], Any]] = [
    lambda g: g.integers("a <= b", a=g.global_("a"), b=g.global_("b")),
    lambda g: g.integers(
        "a <= b",
        a=g.global_("thing").instance_attr("a"), b=g.local("x").plain_attr("b"),
    ),
    lambda g: g.integers("0 < a", a=g.global_("mapping").dict_item("k").dict_item("a")),
    lambda g: g.same_object(
        g.global_("thing").plain_attr("a"), g.global_("thing").instance_attr("a")
    ),
    lambda g: g.same_object(g.global_("d"), g.module(MODULE).module_attr("a")),
    lambda g: g.distinct_objects(
        g.global_("items").list_item(1), g.global_("c"), g.local("x"),
        inner_of(g.local("x")), g.global_("table").dict_item("b"),
    ),
    lambda g: g.closure("z").python(lambda value: True),
]  # fmt: skip

ADDERS: list[Callable[[gt.GuardManager], Any]] = [
    lambda g: g.global_("a").equals(number(0)),
    lambda g: g.global_("b").type_match(int),
    lambda g: g.global_("c").not_(("equals", None)),
    lambda g: g.global_("d").is_not_none(),
    lambda g: g.global_("thing").type_match(First),
    lambda g: g.global_("thing").instance_attr("a").int_range(10**9, 10**9 + 1),
    lambda g: g.global_("thing").attr("a").type_match(int),
    lambda g: g.local("x").attr("b").type_match(int),
    lambda g: below(g.local("x").attr("inner")),
    lambda g: below(g.closure("z").attr("inner").attr("inner")),
    lambda g: inner_of(g.global_("thing")).type_match(Second),
    lambda g: inner_of(g.global_("thing")).instance_attr("a").type_match(int),
    lambda g: g.global_("table").dict_item("b").equals(number(2)),
    lambda g: g.global_("table").dict_keys(("a", "b")),
    lambda g: g.global_("table").dict_lacks("c"),
    lambda g: g.global_("table").length(2),
    lambda g: g.global_("order").dict_contains("a"),
    lambda g: g.global_("items").list_item(1).equals(number(2)),
    lambda g: g.global_("pair").tuple_item(1).equals("k"),
    lambda g: g.global_("pair").type().id_match(tuple),
    lambda g: g.builtin("len").id_match(len),
    lambda g: g.module(MODULE).module_attr("a").type_match(int),
    lambda g: g.local("x").type_match(First),
    lambda g: g.local("x").instance_attr("a").type_match(int),
    lambda g: g.local("x").instance_attr("b").is_not_none(),
    lambda g: inner_of(g.local("x")).instance_attr("a").type_match(int),
    lambda g: g.global_("thing").plain_attr("a").type_match(int),
    lambda g: g.global_("thing").plain_attr("inner").plain_attr("b").type_match(int),
    lambda g: g.local("x").plain_attr("a").int_range(10**9, 10**9 + 1),
    lambda g: g.local("x").plain_attr("c").is_not_none(),
    lambda g: g.local("x").plain_attr("shared").equals(1),
    lambda g: g.global_("thing").plain_attr("c").type_match(int),
    lambda g: g.global_("thing").plain_attr("__class__").id_match(First),
    lambda g: g.local("x").plain_attr("__class__").plain_attr("c").is_not_none(),
    lambda g: g.local("x").type().plain_attr("__name__").equals("First"),
    lambda g: g.global_("kind").plain_attr("a").type_match(int),
    lambda g: g.global_("kind").plain_attr("b").is_not_none(),
    lambda g: g.global_("kind").plain_attr("__name__").equals("Kind"),
    lambda g: g.global_("kind").plain_attr("__class__").id_match(Meta),
    lambda g: g.global_("thing").lacks_instance_attr("b"),
    lambda g: g.local("x").lacks_instance_attr("c"),
    lambda g: g.global_("thing").lacks_plain_attr("b"),
    lambda g: g.local("x").lacks_plain_attr("c"),
    lambda g: g.global_("thing").lacks_static_attr("c"),
    lambda g: inner_of(g.local("x")).has_static_attr("b"),
    *(of_owner(root, *steps) for root in OWNERS for steps in OF_OWNERS),
    *(absent_in_owner(root) for root in OWNERS),
    *RELATIONS,
]  # fmt: skip


def trees_of(world: World, count: int, assumed: bool) -> list[gt.GuardManager]:
    """Trees of the same random checks each time, and each check alone."""
    chosen = random.Random(5)
    picks = [[add] for add in ADDERS]
    picks += [chosen.sample(ADDERS, chosen.randrange(2, 4)) for _ in range(count)]
    made = []
    prior = gt.set_assumptions(assumed)
    for adders in picks:
        guards = gt.GuardManager(world.function)
        for add in adders:
            add(guards)
        guards.check({"x": None, "z": None})  # compiles
        made.append(guards)
    gt.set_assumptions(prior)
    return made


@pytest.fixture
def module() -> Any:
    modules = sys.modules
    sys.modules[MODULE] = types.ModuleType(MODULE)
    yield
    sys.modules = modules
    del sys.modules[MODULE]
    for owner in (First, Second, Sized):
        for name in ("a", "c", "__getattribute__"):
            if name in vars(owner):
                delattr(owner, name)


def test_assumed_guards_agree_with_plain_ones(module: Any) -> None:
    steps = int(os.environ.get("GUARDTREE_TEST_STEPS", "20000"))
    seed = int(os.environ.get("GUARDTREE_TEST_SEED", "0")) or random.randrange(2**32)
    pick = random.Random(seed)
    before = gt.assumption_counts()
    passed = done = 0
    while done < steps:
        world = World(pick)
        assumed, plain = (trees_of(world, 30, each) for each in (True, False))
        for _ in range(min(2000, steps - done)):
            done += 1
            world.change()
            for at in pick.sample(range(len(plain)), 6):
                subject = {"x": world.x, "z": world.x}
                expected = plain[at].check(subject)
                assert assumed[at].check(subject) is expected, (
                    f"GUARDTREE_TEST_SEED={seed}, step {done}: plain guards say "
                    f"{expected}\n{plain[at]}"
                )
                passed += expected
    after = gt.assumption_counts()
    print(f"GUARDTREE_TEST_SEED={seed}: {done} changes, {passed} checks passed", after)
    assert passed > steps
    assert after["arms"] - before["arms"] > steps // 20
