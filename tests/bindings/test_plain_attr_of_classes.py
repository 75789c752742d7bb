"""`plain_attr` of what a class has: read from instances, and from the class itself."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from assumed import Guards, Thing, armed, function_with
from test_plain_attr import Answers, Binds, Fallback, Meta


def of_a_class(**names: Any) -> tuple[Any, Any]:
    """A class, and an instance without a name of its own."""
    base = type("Base", (Thing,), {})
    kind = Meta("Fresh", (base,), names)
    return kind, kind()


# What happens; whether an instance, and the class, still have the attribute.
OF_CLASSES: dict[str, tuple[Callable[[Any, Any], Any], bool, bool]] = {
    "another value": (lambda kind, x: setattr(kind, "a", 1001), False, False),
    "another one that is equal": (lambda kind, x: setattr(kind, "a", 1000), True, True),
    "no value": (lambda kind, x: delattr(kind, "a"), False, False),
    "a descriptor": (lambda kind, x: setattr(kind, "a", Binds()), False, False),
    "a property": (
        lambda kind, x: setattr(kind, "a", property(lambda x: 1000)), False, False,
    ),
    "a method": (lambda kind, x: setattr(kind, "a", lambda x: 1000), False, False),
    "in a base": (lambda kind, x: setattr(kind.__base__, "a", 7), True, True),
    "an own value": (lambda kind, x: setattr(x, "a", 7), False, True),
    "an own one that is equal": (lambda kind, x: setattr(x, "a", 1000), True, True),
    "a metaclass's property": (
        lambda kind, x: setattr(type(kind), "a", property(lambda x: 1000)), True, False,
    ),
    "a metaclass's value": (lambda kind, x: setattr(type(kind), "a", 7), True, True),
    "a metaclass's getattr": (
        lambda kind, x: setattr(type(kind), "__getattribute__", lambda *_: 1000),
        True, False,
    ),
    "another metaclass": (
        lambda kind, x: setattr(kind, "__class__", Answers), True, False,
    ),
    "other bases": (
        lambda kind, x: setattr(kind, "__bases__", (Fallback,)), True, True,
    ),
    "a dict of another class": (
        lambda kind, x: setattr(x, "__class__", Fallback), False, True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", OF_CLASSES)
def test_the_next_check_notices_changes_of_classes(how: str) -> None:
    change, of_instance, of_class = OF_CLASSES[how]
    former = {*vars(Meta)}
    for is_class in (False, True):
        expected = of_class if is_class else of_instance
        kind, value = of_a_class(a=1000, d=2)
        start = kind if is_class else value
        guards = Guards(function_with(thing=start))
        for root in (guards.global_("thing"), guards.local("x")):
            root.plain_attr("a").equals(1000)
            root.plain_attr("d").equals(2)
        before = armed()
        for _ in range(4):
            assert guards.check({"x": start})
        assert armed() == before + 2
        change(kind, value)
        try:
            for _ in range(4):
                assert guards.check({"x": start}) is expected
        finally:
            for name in {*vars(Meta)} - former:
                delattr(Meta, name)


@pytest.mark.parametrize("is_class", [False, True])
def test_a_value_whose_class_becomes_a_descriptor_is_no_value(is_class: bool) -> None:
    late = type("Late", (), {})
    owner = type("Owner", (Thing,), {"a": late(), "b": 2})
    start: Any = owner if is_class else owner()
    guards = Guards(function_with(thing=start))
    for root in (guards.global_("thing"), guards.local("x")):
        root.plain_attr("a").type_match(late)
        root.plain_attr("b").equals(2)
    before = armed()
    for change in (None, lambda *_: 1000):
        if change:
            late.__get__ = change
        for _ in range(4):
            assert guards.check({"x": start}) is (change is None)
        assert change or armed() == before + 2
    del late.__get__
    assert guards.check({"x": start})
    vars(owner)["a"].__class__ = Binds
    assert not guards.check({"x": start})


def test_a_name_of_a_class_is_not_another_one_at_its_address() -> None:
    kind = type("Kind", (), {})
    kind.__name__ = "".join(["name-", "A"])
    address = id(kind.__name__)
    guards = Guards(function_with(kind=kind))
    guards.global_("kind").plain_attr("__name__").equals("name-A")
    for _ in range(4):
        assert guards.check({})
    for _ in range(200):
        kind.__name__ = "other"
        kind.__name__ = "".join(["name-", "B"])
        if id(kind.__name__) == address:
            break
    assert not guards.check({})


clear_caches = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


class Dies:
    def __init__(self, ask: Callable[[], Any]) -> None:
        self.ask = ask

    def __del__(self) -> None:
        self.ask()


@pytest.mark.parametrize("where", ["the class", "its base", "deleted"])
@pytest.mark.parametrize("of_class", [False, True])
def test_a_finalizer_asks_in_the_middle_of_a_store(where: str, of_class: bool) -> None:
    base = type("Base", (Thing,), {})
    kind = type("Kind", (base,), {"b": 2})
    owner = base if where == "its base" else kind
    start = kind if of_class else kind()
    found = []

    def ask() -> None:
        clear_caches()
        found.append((guards.check({"x": start}), plain.check({"x": start})))

    owner.a = Dies(ask)
    guards, plain = Guards(function_with(thing=start)), Guards(function_with())
    for root in (guards.global_("thing"), guards.local("x"), plain.local("x")):
        root.plain_attr("b").equals(2)
        root.plain_attr("a").type_match(Dies)
    for _ in range(4):
        assert guards.check({"x": start})
    if where == "deleted":
        del owner.a
    else:
        owner.a = 5
    assert found == [(False, False)]
    assert not guards.check({"x": start})


def test_a_class_of_the_mro_that_is_no_base() -> None:
    class Foreign:
        a = 1000

    class Strange(type):
        def mro(cls) -> Any:
            return [cls, Foreign, object]

    kind = Strange("Kind", (), {"b": 2})
    for start in (kind, kind()):
        guards = Guards(function_with(thing=start))
        for root in (guards.global_("thing"), guards.local("x")):
            root.plain_attr("a").equals(1000)
            root.plain_attr("b").equals(2)
            root.lacks_static_attr("d")
        for _ in range(4):
            assert guards.check({"x": start})
        Foreign.a = 3
        assert not guards.check({"x": start})
        Foreign.a = 1000
        Foreign.d = 1  # type: ignore[attr-defined]
        assert not guards.check({"x": start})
        del Foreign.d  # type: ignore[attr-defined]


@pytest.mark.parametrize("is_class", [False, True])
def test_a_module_in_a_class_becomes_a_data_descriptor(is_class: bool) -> None:
    class Late(types.ModuleType):
        def __get__(self, value: Any, kind: Any) -> int:
            return 77

        def __set__(self, value: Any, new: Any) -> None: ...

    module = types.ModuleType("module")
    meta = type("Meta", (type,), {"a": module} if is_class else {})
    kind = meta("Kind", (Thing,), {"a": 5, "b": 2} if is_class else {"a": module})
    start = kind if is_class else kind(a=5, b=2)
    guards = Guards(function_with(thing=start))
    for root in (guards.global_("thing"), guards.local("x")):
        root.plain_attr("a").equals(5)
        root.plain_attr("b").equals(2)
    for _ in range(4):
        assert guards.check({"x": start})
    module.__class__ = Late
    assert start.a == 77
    assert not guards.check({"x": start})


def test_names_of_classes_and_classes_of_objects() -> None:
    kind, value = of_a_class()
    guards = Guards(function_with(kind=kind))
    for root in (guards.global_("kind"), guards.local("x").plain_attr("__class__")):
        root.id_match(kind)
        root.plain_attr("__name__").equals("Fresh")
        root.plain_attr("__class__").id_match(Meta)
    for _ in range(4):
        assert guards.check({"x": value})
    kind.__name__ = "Other"
    assert not guards.check({"x": value})
    kind.__name__ = "".join(["Fre", "sh"])
    assert guards.check({"x": value})
    kind.__bases__ = (type("Says", (Thing,), {"__class__": property(lambda x: kind)}),)
    assert not guards.check({"x": value})
