"""What an object has and lacks: an attribute that appears or goes is noticed, in the
object, in its class, in a base, by another class or another dict.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import guardtree as gt
import pytest
from assumed import Assumed, Guards, function_with
from guardtree.semantics import has_static_attr
from hazards import Hazard, Hazards, on

HAZARDS = Hazards()

A, B = 10**9 + 1, 10**9 + 2


class Base:
    pass


class Plain(Base):
    pass


class Slotted(Base):
    __slots__ = ("content",)


class Sized(tuple, Base):  # type: ignore[type-arg]
    """Where its objects keep their dict goes by their length."""


class Other(Base):
    name = kept = 1


def new_class(base: type, *arguments: Any) -> Any:
    made: Any = type("New", (type("NewBase", (base,), {"kept": 1}),), {})
    return made(*arguments)


def with_a_dict(made: Any) -> Any:
    made.there = 1
    vars(made)
    return made


def with_an_empty_dict(made: Any) -> Any:
    vars(made)
    return made


SUBJECTS: dict[str, Callable[[], Any]] = {
    "without a dict": lambda: new_class(Base),
    "with a dict": lambda: with_a_dict(new_class(Base)),
    "with an empty dict": lambda: with_an_empty_dict(new_class(list)),
    "of a slotted class with a dict": lambda: with_a_dict(new_class(Slotted)),
    "of several sizes": lambda: new_class(Sized, (1, 2)),
    "of several sizes with a dict": lambda: with_a_dict(new_class(Sized, (1, 2))),
    "an exception": lambda: new_class(ValueError),
    "a partial": lambda: new_class(functools.partial, print),
    "a module": lambda: new_class(types.ModuleType, "m"),
}


def store(value: Any) -> None:
    value.name = 1


def take_from_the_base(value: Any) -> None:
    del type(value).__mro__[1].kept


def replace_bases(value: Any) -> None:
    base = type(value).__mro__[2]
    type(value).__bases__ = (type("Another", (base,), {"name": 1, "kept": 1}),)


IN_INSTANCE: dict[str, Callable[[Any], Any]] = {
    "stored": store,
    "stored past the class": lambda value: object.__setattr__(value, "name", 1),
    "stored in the dict": lambda value: vars(value).update(name=1),
    "dict replaced": lambda value: setattr(value, "__dict__", {"name": 1}),
}
IN_CLASS: dict[str, Callable[[Any], Any]] = {
    "stored in the class": lambda value: setattr(type(value), "name", 1),
    "stored in a base": lambda value: setattr(type(value).__mro__[1], "name", 1),
    "__bases__ replaced": replace_bases,
}


def change_of(which: str, add: Any, change: Any) -> Callable[[], Iterator[Any]]:
    def begin() -> Iterator[Any]:
        value = SUBJECTS[which]()
        guards, node = on(value)
        add(node)
        yield guards
        change(value)

    return begin


BY_CODE: dict[str, Callable[[Any], Any]] = {
    "__getattr__ added": lambda value: setattr(
        type(value), "__getattr__", lambda self, name: 1
    ),
    "__getattribute__ of a base": lambda value: setattr(
        type(value).__mro__[1], "__getattribute__", lambda self, name: 1
    ),
}
# getattr asks a module's own dict for a __getattr__.
READ_AS_OBJECTS = [which for which in SUBJECTS if which != "a module"]


def add_rows(
    kind: str,
    add: Any,
    changes: dict[str, Callable[[Any], Any]],
    subjects: Iterable[str] = SUBJECTS,
) -> None:
    for which in subjects:
        for how, change in changes.items():
            if how == "dict replaced" and which == "a module":
                continue  # it keeps its own
            begin = change_of(which, add, change)
            HAZARDS.add(Hazard(f"{kind}: {how}", which, begin, reread=None))


add_rows("lacks_instance_attr", lambda a: a.lacks_instance_attr("name"), IN_INSTANCE)
add_rows(
    "lacks_static_attr",
    lambda a: a.lacks_static_attr("name"),
    {**IN_INSTANCE, **IN_CLASS},
)
add_rows(
    "lacks_plain_attr",
    lambda a: a.lacks_plain_attr("name"),
    {**IN_INSTANCE, **IN_CLASS, **BY_CODE},
    READ_AS_OBJECTS,
)
add_rows(
    "has_static_attr",
    lambda a: a.has_static_attr("kept"),
    {"taken from a base": take_from_the_base},
)


@HAZARDS.row("lacks_static_attr: __class__ replaced", reread=None)
def by_one_that_has_it() -> Iterator[Any]:
    value = Plain()
    guards, a = on(value)
    a.lacks_static_attr("name")
    yield guards
    value.__class__ = Other


def with_a_slot(kind: str) -> Callable[[], Iterator[Any]]:
    def begin() -> Iterator[Any]:
        value = Slotted()
        guards, a = on(value)
        getattr(a, kind)("content")
        yield guards
        value.content = 1

    return begin


for kind in ("lacks_static_attr", "lacks_plain_attr"):
    filled = with_a_slot(kind)
    HAZARDS.add(Hazard(f"{kind}: slot filled", "a class with slots", filled, reread=1))


@HAZARDS.row("lacks_static_attr: on a class", reread=1)
def by_its_metaclass() -> Iterator[Any]:
    meta = type("Meta", (type,), {})
    guards, a = on(meta("Made", (), {}))
    a.lacks_static_attr("name")
    yield guards
    meta.name = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("hazard", HAZARDS.rows)
def test_the_next_check_notices(hazard: Hazard) -> None:
    hazard.must_be_noticed()


def test_what_a_tensor_like_object_lacks_is_assumed() -> None:
    """A dict that is not there is one word to compare; its class one for all."""
    values = [new_class(ValueError)]
    values += [type(values[0])() for _ in range(20)]
    guards = Guards(function_with(**{f"v{i}": v for i, v in enumerate(values)}))
    for i in range(len(values)):
        guards.global_(f"v{i}").lacks_static_attr("name")
    assumed = Assumed(guards)
    told = guards.assumed()
    assert (told.assumed, told.reread) == (len(values), 0)
    values[7].name = 1
    assert not assumed.check()


def test_another_object_of_another_size_keeps_its_dict_elsewhere() -> None:
    """Where the longer one had its dict, the shorter one has memory that is not its
    own. Bytes that lay there in between may end with the old dict's address.
    """

    class Number(int):
        pass

    def with_names(number: int, value: int) -> Any:
        made: Any = Number(number)
        made.a = made.b = value
        return made

    met = 0
    for _ in range(50):
        box = [with_names(2**75, A)]
        address, old = id(box[0]), vars(box[0])
        guards = Guards(function_with(box=box))
        node = guards.global_("box").list_item(0)
        node.instance_attr("a").equals(A)
        node.instance_attr("b").equals(A)
        assumed = Assumed(guards)
        before_the_dict = bytes(24)
        dict_address = id(old).to_bytes(8, "little")[:7]  # and a 0, which ends bytes
        box[0] = None  # its dict lives on
        between = before_the_dict + dict_address
        met_both = id(between) == address - 16  # what the collector keeps before it
        del between
        box[0] = with_names(5, B)
        met += met_both and id(box[0]) == address
        assert not assumed.check()
        assert old == {"a": A, "b": A}
    if not met:
        pytest.skip("the allocator gave no address twice")


def test_a_name_that_every_class_lacks_is_found_missing_again_and_again() -> None:
    """More names and classes than what is known of either is kept for."""
    guards = gt.GuardManager(lambda a: None)
    for i in range(600):
        guards.local("a").lacks_static_attr(f"name{i}")
    for i in range(600):
        made: Any = type("Made", (), {})
        assert guards.check({"a": made()})
        setattr(made, f"name{i}", 1)
        assert not guards.check({"a": made()})


def test_what_one_class_lacks_says_nothing_of_another() -> None:
    class Meta(type):
        pass

    first, second = type("First", (list,), {}), type("Second", (list,), {})
    values: list[Any] = [first(), second()]
    values += [Meta("Bare", (), {}), Meta("Full", (), {"a": 1})]
    managers = {name: gt.GuardManager(new_class) for name in "ab"}
    for name, guards in managers.items():
        guards.local("base").lacks_static_attr(name)

    def compare_all() -> None:
        for name, value in itertools.product(managers, values * 2):
            lacks = not has_static_attr(value, name)
            assert managers[name].check({"base": value}) is lacks

    def change(target: Any, name: str) -> None:
        for act in (lambda: setattr(target, name, 1), lambda: delattr(target, name)):
            act()
            compare_all()

    compare_all()
    for value, name in itertools.product([*values[:3], first, second, Meta], "ab"):
        change(value, name)


@pytest.mark.parametrize("names", [(), ("a", "b")], ids=["none", "some"])
def test_a_name_that_another_instance_of_the_class_gets(names: tuple[str, ...]) -> None:
    kind = type("Kind", (), {})
    one, another = kind(), kind()
    for name in names:
        setattr(one, name, 1)
        setattr(another, name, 1)
    lacks = gt.GuardManager(function_with())
    lacks.local("x").lacks_static_attr("late")
    has = gt.GuardManager(function_with())
    has.local("x").has_static_attr("late")

    def say(value: Any, expected: bool) -> None:
        for _ in range(3):
            assert has.check({"x": value}) is expected
            assert lacks.check({"x": value}) is not expected

    say(one, False)
    another.late = 1
    say(another, True)
    say(one, False)
    one.late = 2
    say(one, True)
    del one.late
    say(one, False)
    vars(one)["late"] = 3
    say(one, True)
    one.__dict__ = {}
    say(one, False)
    kind.late = 4
    say(one, True)
    del kind.late
    say(one, False)
    say(another, True)
