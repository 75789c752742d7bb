"""Kept trees, and objects of the shape that they guard: needs no torch.

A class has the name and the bases of the one that was guarded, a module or an instance
as many names in its dict. What no guard looks at is None. Guards of identity are on the
objects made here, so a tree passes and does the same work, but for tensors' own facts.
"""

from __future__ import annotations

import json
import sys
import types
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import guardtree as gt

FOLDER = Path(__file__).parent / "trees"


class Kept:
    """A tree built anew from its data, for a function of its own."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.name: str = document["name"]
        self.guards_of_peer: int = document["guards"]
        self.left_out: int = document["left_out"]
        self.values = Lookalikes(document["values"])
        first = {
            where: {name: self.values[place] for name, place in found.items()}
            for where, found in document["first"].items()
        }
        self.modules: dict[str, Any] = first.get("modules", {})
        namespace = dict(first.get("globals", {}))
        names = [*dict.fromkeys(document["names"])]
        self.function = function_of(names, [*first.get("closures", {})], namespace)
        self.locals = first.get("locals", {}) | first.get("closures", {})
        self.build(document["calls"])

    def build(self, calls: list[list[Any]]) -> None:
        """Makes the calls again."""
        self.guards = gt.GuardManager(self.function)
        nodes: list[Any] = [self.guards]
        steps = {each["name"] for each in gt._guardtree._steps()} | {"global_"}
        for place, name, operands, *rest in calls:
            if name == "absent":
                nodes.append(None)
                continue
            given = [self.operand(each) for each in operands]
            named: dict[str, Any] = {}
            if rest:
                handles = [nodes[each] for each in rest[0]]
                if rest[1]:
                    named = dict(zip(rest[1], handles))
                else:
                    given += handles
            made = getattr(nodes[place], name)(*given, **named)
            if name in steps:
                nodes.append(made)

    def operand(self, told: Any) -> Any:
        """A constant, or a value of this tree."""
        return constant(told) if isinstance(told, str) else self.values[told]

    @contextmanager
    def modules_in_place(self) -> Iterator[None]:
        """A scope in which the modules that the tree names are those made here."""
        with_modules = {**sys.modules}
        sys.modules.update(self.modules)
        try:
            yield
        finally:
            for name in self.modules:
                if name in with_modules:
                    sys.modules[name] = with_modules[name]
                else:
                    del sys.modules[name]

    def check(self) -> bool:
        """The verdict on the objects made here, with their modules in place."""
        with self.modules_in_place():
            return self.guards.check(self.locals)


def constant(text: str) -> Any:
    """The value of a constant's text."""
    return eval(text, {"nan": float("nan"), "inf": float("inf")})


def function_of(names: list[str], free: list[str], namespace: dict[str, Any]) -> Any:
    """A function of these locals, some of them free variables, and globals."""
    own = ", ".join(each for each in names if each not in free)
    uses = ", ".join(free) or "None"
    source = f"def run({own}): return {uses}\n"
    if free:
        outer = ", ".join(free)
        nones = ", ".join("None" for _ in free)
        source = f"def outer({outer}):\n    {source}    return run\n"
        source += f"run = outer({nones})\n"
    made: dict[str, Any] = {}
    exec(source, namespace, made)
    return made["run"]


class Lookalikes:
    """Objects by their places, made when they are first asked for."""

    def __init__(self, told: list[dict[str, Any]]) -> None:
        self.told = told
        self.made: dict[int, Any] = {}

    def __getitem__(self, place: int) -> Any:
        if place not in self.made:
            told = self.told[place]
            getattr(self, f"make_{told['is']}")(place, told)
        return self.made[place]

    def found(self, told: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Names or items that guards look at, and their values."""
        for name, place in told["at"]:
            yield self.key(name), self[place]

    def key(self, told: Any) -> Any:
        """A name or a constant by its text, another key by its place."""
        return constant(told) if isinstance(told, str) else self[told]

    def make_constant(self, place: int, told: dict[str, Any]) -> None:
        self.made[place] = constant(told["repr"])

    def make_type(self, place: int, told: dict[str, Any]) -> None:
        self.made[place] = getattr(import_module(told["of"]), told["name"])

    def make_class(self, place: int, told: dict[str, Any]) -> None:
        bases = tuple(self[each] for each in told["bases"])
        body: dict[str, Any] = {"__getattr__": absent} if told["getattr"] else {}
        made = self.made[place] = type(told["name"], bases, body)
        for name, value in self.found(told):
            setattr(made, name, value)

    def make_module(self, place: int, told: dict[str, Any]) -> None:
        kind = self[told["type"]] if "type" in told else types.ModuleType
        made = self.made[place] = kind(told["name"])
        own = vars(made)
        own.update((f"filled_{i}", None) for i in range(told["fill"]))
        own.update(self.found(told))

    def make_function(self, place: int, told: dict[str, Any]) -> None:
        found = dict(self.found(told))
        cells = tuple(map(cell_of, found.pop("__closure__", ())))
        code = found.pop("__code__", None) or code_of("run", len(cells))
        if len(cells) != len(code.co_freevars):
            cells = tuple(types.CellType(None) for _ in code.co_freevars)
        made = self.made[place] = types.FunctionType(code, {}, closure=cells or None)
        for name, value in found.items():
            setattr(made, name, value)

    def make_method(self, place: int, told: dict[str, Any]) -> None:
        found = dict(self.found(told))
        function = found.get("__func__") or function_of(["self"], [], {})
        self.made[place] = types.MethodType(function, found.get("__self__", self))

    def make_cell(self, place: int, told: dict[str, Any]) -> None:
        made = self.made[place] = types.CellType()
        made.cell_contents = dict(self.found(told)).get("cell_contents")

    def make_code(self, place: int, told: dict[str, Any]) -> None:
        self.made[place] = code_of(told["name"], told["free"])

    def make_weakref(self, place: int, told: dict[str, Any]) -> None:
        self.made[place] = weakref.ref(dict(self.found(told))["to"])

    def make_object(self, place: int, told: dict[str, Any]) -> None:
        """An instance, with its items where it is a container."""
        kind, found = self[told["type"]], dict(self.found(told))
        if "length" in told:
            items = [found.get(i, i) for i in range(told["length"])]
            given = () if issubclass(kind, list) else (items,)
            made = self.made[place] = kind.__new__(kind, *given)
            if isinstance(made, list):
                list.extend(made, items)
            elif isinstance(made, set):
                set.update(made, items)
        elif "keys" in told:
            made = self.made[place] = kind.__new__(kind)
            for key in map(self.key, told["keys"]):
                dict.__setitem__(made, key, found.get(key))
        else:
            made = self.made[place] = instance_of(kind)
        for name in told.get("own", ()):
            object.__setattr__(made, name, found.get(name))
        for name, where in told.get("slots", {}).items():
            object.__setattr__(made, name, self[where])


def code_of(name: str, free: int) -> types.CodeType:
    """The code of a function of so many free variables."""
    names = [f"v{i}" for i in range(free)]
    return function_of([], names, {}).__code__.replace(co_name=name)


def cell_of(value: Any) -> types.CellType:
    """A cell, one more where no guard looks at it."""
    return value if isinstance(value, types.CellType) else types.CellType(value)


def instance_of(kind: type) -> Any:
    """An instance, or a stand-in where the type makes none without arguments."""
    try:
        return kind.__new__(kind)
    except TypeError:
        return object()


def absent(self: Any, name: str) -> Any:
    """The `__getattr__` of a class that has one."""
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def load(name: str) -> Kept:
    """A kept tree."""
    return Kept(json.loads((FOLDER / f"{name}.json").read_text()))


def names() -> list[str]:
    """The kept trees."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))
