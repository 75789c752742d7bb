"""What a guard goes through dies, and another object lies at its address: noticed.

Each link of an assumption begins at an object. Here that object dies between two checks
while what it led to lives on, or dies too; what is made then lies where it did.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import guardtree as gt
import pytest
from assumed import Guards, Thing, function_with, scope

A, B = 10**9 + 1, 10**9 + 2  # made once, so that parts of them are told by address


class Module(types.ModuleType):
    """A subclass of module."""


class Mapping(dict):  # type: ignore[type-arg]
    """A subclass of dict."""


class Slotted:
    __slots__ = ("a",)


def module_with(make: Any = types.ModuleType, **names: Any) -> Any:
    made = make("of_deaths")
    vars(made).update(names)
    return made


def module_of_a_new_class(**names: Any) -> Any:
    return module_with(type("New", (types.ModuleType,), {}), **names)


def thing_with(**names: Any) -> Any:
    made = Thing()
    made.__dict__ = dict(names)
    return made


def method_with(**names: Any) -> Any:
    return types.MethodType(function_with(**names), names)


def slotted_with(**names: Any) -> Any:
    made = Slotted()
    made.a = dict(names)
    return made


def closure_with(**names: Any) -> Any:
    return lambda: names


def class_with(**names: Any) -> Any:
    return type("Class", (), names)


def attributes(node: Any) -> None:
    node.instance_attr("a").equals(A)
    node.instance_attr("b").equals(B)


def names_of_module(node: Any) -> None:
    node.module_attr("a").equals(A)
    node.module_attr("b").equals(B)


def items(node: Any) -> None:
    node.dict_item("a").equals(A)
    node.dict_item("b").equals(B)


@dataclass(frozen=True)
class Link:
    """A step from an object that dies. `make(a=A, b=B)` makes one that passes."""

    make: Callable[..., Any]
    add: Callable[[Any], Any]
    parts: Callable[[Any], Any]  # what it leads to
    is_cyclic: bool = False  # the collector destroys it


LINKS = {
    "a module's dict": Link(module_with, names_of_module, vars),
    "a module of a subclass": Link(
        lambda **names: module_with(Module, **names), names_of_module, vars
    ),
    "a module of a class of its own": Link(
        module_of_a_new_class, names_of_module, vars, is_cyclic=True
    ),
    "a module whose type is asked": Link(
        module_with,
        lambda x: (x.type_match(types.ModuleType), names_of_module(x)),
        vars,
    ),
    "an instance's dict": Link(thing_with, attributes, vars),
    "a dict": Link(dict, items, lambda d: list(d.values())),
    "a dict's keys": Link(
        lambda **names: dict.fromkeys(names),
        lambda x: (x.dict_keys(("a", "b")), x.dict_key(0).equals("a"), x.length(2)),
        list,
    ),
    "what a dict has and lacks": Link(
        dict, lambda x: (x.dict_contains("a"), x.dict_lacks("c"), x.length(2)), list
    ),
    "a dict of a subclass": Link(Mapping, items, lambda d: list(d.values())),
    "a function's globals": Link(
        function_with, lambda x: items(x.function_globals()), lambda f: f.__globals__
    ),
    "a method's object": Link(
        method_with, lambda x: items(x.method_self()), lambda m: m.__self__
    ),
    "a method's function": Link(
        method_with,
        lambda x: items(x.method_function().function_globals()),
        lambda m: m.__func__,
    ),
    "a tuple's item": Link(
        lambda **names: (names,), lambda x: items(x.tuple_item(0)), list
    ),
    "a list's item": Link(
        lambda **names: [names], lambda x: items(x.list_item(0)), list
    ),
    "a slot": Link(slotted_with, lambda x: items(x.slot("a")), lambda s: s.a),
    "a cell": Link(
        closure_with,
        lambda x: items(x.closure_cell(0)),
        lambda f: f.__closure__[0].cell_contents,
    ),
    "a function's kwdefaults": Link(
        lambda **names: keyword_function(names),
        lambda x: items(x.kwdefaults()),
        lambda f: f.__kwdefaults__,
    ),
    "a class's dict": Link(
        class_with,
        lambda x: items(x.type_dict()),
        lambda c: vars(c)["a"],
        is_cyclic=True,
    ),
    "a class of a class": Link(
        class_with,
        lambda x: (x.type().id_match(type), items(x.type_dict())),
        lambda c: vars(c)["a"],
        is_cyclic=True,
    ),
}


def keyword_function(names: dict[str, Any]) -> Any:
    made = function_with()
    made.__kwdefaults__ = names
    return made


ROOTS: dict[str, Callable[[Any], Any]] = {
    "a local": lambda guards: guards.local("x"),
    "a list": lambda guards: guards.global_("box").list_item(0),
    "a dict": lambda guards: guards.global_("names").dict_item("x"),
}


class Place:
    """Where the object lies that guards begin at, and nothing else refers to it."""

    def __init__(self) -> None:
        self.function = function_with(box=[None], names={"x": None})

    def put(self, value: Any) -> None:
        names = self.function.__globals__
        names["box"][0] = names["names"]["x"] = value

    def guards(self, root: Any, add: Any) -> Guards:
        made = Guards(self.function)
        add(root(made))
        return made

    def subject(self) -> dict[str, Any]:
        return {"x": self.function.__globals__["box"][0]}


class Successors:
    """Makes things until one lies at an address that was given back. It has what it
    needs before, so that nothing of its own lies there."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.others: list[Any] = [None] * 300

    def at(self, address: int) -> Any:
        for i in range(len(self.others)):
            made = self.make()
            if id(made) == address:
                return made
            self.others[i] = made
        pytest.skip("nothing else lies at the address of what died")


@pytest.fixture(autouse=True)
def _nothing_is_collected_meanwhile() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("lives", [True, False], ids=["parts live", "parts die"])
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_another_object_at_the_address_is_noticed(
    link: Link, root: Any, lives: bool
) -> None:
    place = Place()
    guards = place.guards(root, link.add)
    for _ in range(5):  # whose dict, or class, may lie where the last one did
        place.put(link.make(a=A, b=B))
        assert all(guards.check(place.subject()) for _ in range(5))
        address = id(place.subject()["x"])
        kept = link.parts(place.subject()["x"]) if lives else None
        successors = Successors(functools.partial(link.make, b=B, c=3))
        spare = [{} for _ in range(90)]  # the free list of dicts is full when it dies
        del spare
        place.put(None)
        if link.is_cyclic:
            gc.collect()
        place.put(successors.at(address))
        assert not guards.check(place.subject())
        assert guards.explain(place.subject()).verdict == "fail"
        del kept, successors


@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_another_object_at_the_address_that_is_the_same_passes(link: Link) -> None:
    place = Place()
    guards = place.guards(ROOTS["a local"], link.add)
    for _ in range(5):
        place.put(link.make(a=A, b=B))
        assert all(guards.check(place.subject()) for _ in range(5))


def test_a_table_finds_no_entry_of_a_module_that_died() -> None:
    table = gt.Table(scope)
    guards = gt.GuardManager(scope)
    names_of_module(guards.local("x"))
    table.add(guards, "hit")
    module = module_with(a=A, b=B)
    for _ in range(5):
        assert table.lookup({"x": module}) == "hit"
    kept, address = vars(module), id(module)
    successors = Successors(module_with)
    del module
    assert table.lookup({"x": successors.at(address)}) is None
    del kept


def test_a_guarded_function_forgets_a_module_that_was_loaded_anew() -> None:
    def f(module: Any) -> Any:
        return "plain"

    def load(value: int) -> Any:
        made = types.ModuleType("plugin")
        made.x = value  # type: ignore[attr-defined]
        exec("def helper(): return x", vars(made))
        return made

    guarded = gt.guard_function(f)
    guards = gt.GuardManager(f)
    for name in ("x", "helper"):
        guards.local("module").module_attr(name).is_not_none()
    guards.local("module").module_attr("x").equals(1)
    guarded.add(guards, lambda module: "compiled for 1")
    module: Any = load(1)
    assert [f(module) for _ in range(5)] == ["compiled for 1"] * 5
    helper, address = module.helper, id(module)  # keeps the module's dict
    successors = Successors(lambda: load(2))
    del module
    try:
        found = f(successors.at(address))  # skips where the address is not met
    finally:
        guarded.restore()
    assert (found, helper()) == ("plain", 1)


def test_globals_and_builtins_that_died_are_noticed() -> None:
    def f() -> Any:
        return flag, max  # noqa: F821

    def function(flag: int, longest: Any) -> Any:
        names = {"__builtins__": {"max": longest}, "flag": flag}
        return types.FunctionType(f.__code__, names)

    guards = Guards(function(A, max))
    guards.global_("flag").equals(A)
    guards.builtin("max").id_match(max)
    gt.add_entry(f, gt.GuardedCode((lambda: "compiled").__code__, guards))
    with gt.optimize(False):
        for _ in range(5):
            assert [each() for each in [function(A, max)] * 5] == ["compiled"] * 5
            assert function(A, min)() == (A, min)
            assert [each() for each in [function(A, max)] * 5] == ["compiled"] * 5
            assert function(B, max)() == (B, max)


def test_an_operand_that_died_is_not_another_at_its_address() -> None:
    place = Place()
    for _ in range(5):
        place.put(function_with())
        guards = place.guards(
            ROOTS["a dict"], lambda node: node.id_match(place.subject()["x"])
        )
        assert all(guards.check(place.subject()) for _ in range(5))
        address = id(place.subject()["x"])
        successors = Successors(function_with)
        place.put(None)
        place.put(successors.at(address))
        assert not guards.check(place.subject())


def destroyed_by_the_collector(value: Any) -> None:
    """What the collector does with each part of a cycle, which others may still see."""
    place_of_tp_clear = id(type(value)) + 24 * ctypes.sizeof(ctypes.c_void_p)
    tp_clear = ctypes.c_void_p.from_address(place_of_tp_clear).value
    ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(tp_clear)(value)


DESTROYED = {"a function": LINKS["a function's globals"]}
if not gt.features()["dict_watcher"]:
    DESTROYED["a module"] = LINKS["a module's dict"]


@pytest.mark.parametrize("lives", [True, False], ids=["parts live", "parts die"])
@pytest.mark.parametrize("link", DESTROYED.values(), ids=DESTROYED)
def test_the_dict_of_what_the_collector_destroys_is_not_read(
    link: Link, lives: bool
) -> None:
    guards = gt.GuardManager(scope)
    link.add(guards.local("x").dict_item("inner").dict_item("x"))
    x = {"inner": {"x": link.make(a=A, b=B)}}
    assert all(guards.check({"x": x}) for _ in range(5))
    kept = link.parts(x["inner"]["x"]) if lives else None
    destroyed_by_the_collector(x["inner"]["x"])
    assert not guards.check({"x": x})
    del kept
