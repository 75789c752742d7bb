"""Changes of classes: of what they hold, of their bases, of objects' classes.

Watchers of types tell once, and nothing of a type without a version tag; assumptions
listen to the dicts of classes, and compare.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import guardtree as gt
import pytest
from assumed import on_global
from hazards import Hazard, Hazards, change_of, on

HAZARDS = Hazards()
row = HAZARDS.row


def made_class(**attributes: Any) -> Any:
    return type("Made", (), {"a": 1000, **attributes})


def used_up() -> Any:
    """From 3.13 on a class has 1000 version tags; this one has none any more."""
    made = made_class()
    for i in range(1100):
        made.counter = i
        assert made.counter == i  # a look-up takes a tag
    return made


def not_looked_up() -> Any:
    """No tag is valid since the last change: no watcher of types would be told."""
    made = made_class()
    made.a = 1001
    made.a = 1000
    return made


def hot_stores(made: Any) -> None:
    for i in range(1300):
        made.a = 1000 if i < 1299 else 3


CLASSES = {
    "class": made_class,
    "class without a version tag": used_up,
    "class that nobody looked into": not_looked_up,
    "class with a metaclass": lambda: type("Meta", (type,), {})("M", (), {"a": 1000}),
}
CLASS_CHANGES: dict[str, Callable[[Any], Any]] = {
    "stored": lambda made: setattr(made, "a", 3),
    "deleted": lambda made: delattr(made, "a"),
    "past the metaclass": lambda made: type.__setattr__(made, "a", 3),
    "stored in a loop": hot_stores,
}
WAYS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "itself": (lambda made: made, lambda a: a.type_dict()),
    "the class of": (lambda made: made(), lambda a: a.type().type_dict()),
    "the base of": (
        lambda made: type(made)("Sub", (made,), {}),
        lambda a: a.mro().tuple_item(1).type_dict(),
    ),
}


def change_of_class(which: str, way: str, how: str) -> Callable[[], Iterator[Any]]:
    def begin() -> Iterator[Any]:
        made = CLASSES[which]()
        reach, step = WAYS[way]
        guards, a = on(reach(made))
        step(a).dict_item("a").equals(1000)
        yield guards
        CLASS_CHANGES[how](made)

    return begin


for which in CLASSES:
    for way in WAYS:
        for how in CLASS_CHANGES:
            begin = change_of_class(which, way, how)
            HAZARDS.add(Hazard(which, f"{way} what is guarded: {how}", begin))


@row("__bases__ replaced")
def and_an_attribute_comes_from_another() -> Iterator[Any]:
    made = type("Sub", (made_class(),), {})
    guards, a = on(made)
    a.mro().tuple_item(1).type_dict().dict_item("a").equals(1000)
    yield guards
    made.__bases__ = (made_class(a=3),)


@row("version tag of a type", reread=1)
def that_is_itself_guarded() -> Iterator[Any]:
    made = made_class()
    guards, a = on(made)
    a.type_version(made)
    yield guards
    made.a = 3


@row("attributes looked up in a type", reread=1)
def and_deleted_there() -> Iterator[Any]:
    made = made_class()
    guards, a = on(made())
    a.has_static_attr("a")
    yield guards
    del made.a


@row("attributes looked up in a type", reread=1)
def and_added_to_a_base() -> Iterator[Any]:
    base = made_class()
    guards, a = on(type("Sub", (base,), {})())
    a.lacks_static_attr("b")
    yield guards
    base.b = 3


def array_of_another_class(says_type: bool) -> Iterator[Any]:
    """Where an array's check says its type, no word is compared for that."""
    numpy = pytest.importorskip("numpy")
    made, other = (type("Made", (numpy.ndarray,), each) for each in ({}, {"b": 1}))
    value = numpy.zeros(3).view(made)
    guards, a = on(value)
    a.tensor_match(gt.TensorSpec(shape=(3,), **({"type": made} if says_type else {})))
    a.lacks_static_attr("b")
    yield guards
    value.__class__ = other


for says_type in (False, True):
    begin = functools.partial(array_of_another_class, says_type)
    name = "said by its check" if says_type else "not said by its check"
    HAZARDS.add(Hazard("__class__ of an array", name, begin, reread=None))


class SubModule(types.ModuleType):
    """Modules may be given another class, though theirs is immutable."""


MODULE_CLASS: dict[str, Callable[[Any], Any]] = {
    "type_match": lambda a: a.type_match(types.ModuleType),
    "type as a step": lambda a: a.type().id_match(types.ModuleType),
}
for name, add in MODULE_CLASS.items():
    begin = change_of(
        lambda: types.ModuleType("m"), add, lambda m: setattr(m, "__class__", SubModule)
    )
    HAZARDS.add(Hazard("__class__ of a module", name, begin))


class Meta(type):
    """Classes have classes too."""


class Meta2(type):
    """Another of the same layout."""


@row("__class__ of a class")
def is_another() -> Iterator[Any]:
    made = Meta("Made", (), {})
    guards, a = on(made)
    a.type_match(Meta)
    yield guards
    made.__class__ = Meta2


@pytest.mark.parametrize("hazard", HAZARDS.rows)
def test_a_change_of_a_class_is_noticed(hazard: Hazard) -> None:
    hazard.must_be_noticed()


class Sized(dict):  # type: ignore[type-arg]
    """A dict whose class may be given a length."""


class Liar(dict):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 7


def test_the_length_that_a_subclass_tells() -> None:
    sized = Sized(a=1, b=2)
    assumed, _ = on_global(sized, ("length", 2))
    sized.__class__ = Liar
    assert not assumed.check()
    sized.__class__ = Sized
    assert assumed.check()
    Sized.__len__ = lambda self: 7  # type: ignore[method-assign]
    try:
        assert not assumed.check()
    finally:
        del Sized.__len__
