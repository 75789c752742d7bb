"""Recorded trees as data: the calls that build guardtree's tree, and what they guard.

    PYTHONPATH=<build>/python python bench/real/keep.py

writes `trees/`. Values are told by their shape alone: a class by its name, bases and
what is looked at of it, a module or an instance by the names in its dict. So
`lookalike.py` can make others of that shape where there is no torch. A tensor becomes
an instance, and its facts become its type; torch's state is left out, and is counted.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
import weakref
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # As a part of the package, beside the modules that it shares with other benchmarks.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import guardtree as gt
import torch
from guardtree import _guardtree, oracle
from guardtree.torch.dynamo import leafs
from real import replay
from guardtree.torch.dynamo.record import Recording
from guardtree.torch.dynamo.translate import Translator

FOLDER = Path(__file__).parent / "trees"
STEPS = {each["name"] for each in _guardtree._steps()} | {"global_"}
NAMES = {**vars(oracle), **oracle.NAMESPACE}
KEPT = (
    "add_one", "constants", "library_calls", "list_of_functions", "configuration",
    "keys_that_are_objects", "nested_fields", "methods", "optional_attribute",
    "replaced_fields", "linear", "self_attention", "list_of_blocks", "sequential_100",
    "encoder_layer", "encoder_12", "adam", "sgd",
)  # fmt: skip
OF_TORCH = (
    "native", "native_pure", "python", "compute", "size", "stride", "storage_offset",
)  # fmt: skip
MODULE = types.ModuleType
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


class Logged:
    """A handle whose calls are written down."""

    def __init__(self, log: Log, handle: Any, place: int) -> None:
        self.log, self.handle, self.place = log, handle, place

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            def bare(value: Any) -> Any:
                return value.handle if isinstance(value, Logged) else value

            given = {key: bare(value) for key, value in named.items()}
            made = getattr(self.handle, name)(*map(bare, args), **given)
            return self.log.add(self, name, args, named, made)

        return call


class Log:
    """The calls of a translation, as data, and the values that they name."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.root = Logged(self, gt.GuardManager(recording.function), 0)
        self.calls: list[list[Any]] = []
        self.nodes = 1
        self.left_out = 0
        self.absent: set[int] = set()
        """Nodes that cannot be had without torch."""
        self.values = Values()
        self.first: dict[str, dict[str, int]] = {}
        """Locals, globals and modules by name."""
        names = recording.names
        self.scope = {**NAMES, **recording.values, "L": recording.values, "G": names}

    def add(self, on: Logged, name: str, args: Any, named: Any, made: Any) -> Any:
        """One call."""
        if name == "note":
            return on
        if name in STEPS:
            return self.step(on, name, args, made)
        places = [each.place for each in (*args, *named.values()) if is_handle(each)]
        is_free = ".shape" in str(args[:1])
        if name in OF_TORCH or is_free or {on.place, *places} & self.absent:
            self.left_out += 1
            return on
        if name == "tensor_match":
            name, args = "type_match", (dict(args[0])["type"],)
        operands = [self.operand(each) for each in args if not is_handle(each)]
        call: list[Any] = [on.place, name, operands]
        self.calls.append([*call, places, [*named]] if places else call)
        return on

    def step(self, on: Logged, name: str, args: Any, made: Any) -> Logged:
        """A step: a new node, whose value is one of what it comes from."""
        new = Logged(self, made, self.nodes)
        self.nodes += 1
        if name in OF_TORCH or on.place in self.absent:
            self.absent.add(new.place)
            name = "absent"
        else:
            self.edge(on, name, args[0] if args else None, eval(made.path, self.scope))
        self.calls.append([on.place, name, [self.operand(each) for each in args]])
        return new

    def edge(self, on: Logged, name: str, operand: Any, value: Any) -> None:
        """Where the value of a step is."""
        if name in ("local", "closure", "global_", "module"):
            place = "globals" if name == "global_" else f"{name}s"
            self.first.setdefault(place, {})[operand] = self.values.place(value)
        else:
            owner = eval(on.handle.path, self.scope)
            self.values.reached(on.handle, owner, name, operand, value, self.scope)

    def operand(self, value: Any) -> Any:
        """A constant by its text, anything else by its place among the values."""
        if leafs.is_constant(value) or type(value) is type(PLAIN) and not value:
            return repr(value)
        if isinstance(value, tuple) and any(isinstance(each, tuple) for each in value):
            return repr(value)
        return self.values.place(value)

    def document(self) -> dict[str, Any]:
        """All of it."""
        code: Any = self.recording.code
        names = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        return {
            "name": self.recording.name,
            "guards": self.recording.counts()["guards"],
            "left_out": self.left_out,
            "names": [each for each in names if each.isidentifier()],
            "first": self.first,
            "values": self.values.documents(),
            "calls": self.calls,
        }


def is_handle(value: Any) -> bool:
    return isinstance(value, Logged)


class Values:
    """Objects by their places, and what is looked at of each."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}
        self.objects: list[Any] = []
        self.looked_at: dict[int, dict[Any, int]] = {}
        """By the place of an owner: names of attributes, keys of items; values."""
        self.slots: dict[int, dict[str, int]] = {}
        """Likewise of what lies in slots."""

    def place(self, value: Any) -> int:
        """The place of an object; a new one for one that is new."""
        if id(value) not in self.known:
            self.known[id(value)] = len(self.objects)
            self.objects.append(value)
        return self.known[id(value)]

    def note(self, owner: Any, name: Any, value: Any) -> None:
        """An owner has a value by a name."""
        found = self.looked_at.setdefault(self.place(owner), {})
        found[self.key(name)] = self.place(value)

    def reached(
        self, on: Any, owner: Any, step: str, operand: Any, value: Any, scope: Any
    ) -> None:
        """What a step from an owner says of the owner."""
        if step in ("mro", "type", "type_dict", "tuple_iterator_item"):
            self.place(value)
        elif step == "generic_attr":
            self.place(owner)  # its dict is told with it
        elif on.step in ("generic_attr", "type_dict"):
            self.note(eval(on.parent.path, scope), operand, value)
        elif step in ("dict_value", "dict_key"):
            pair = [*dict.items(owner)][operand]
            self.note(owner, pair[0], pair[1])
        elif step in ("code", "defaults", "kwdefaults"):
            self.note(owner, f"__{step}__", value)
        elif step == "method_function":
            self.note(owner, "__func__", value)
        elif step == "referent":
            self.note(owner, "to", value)
        elif step == "closure_cell":
            cells = owner.__closure__
            self.note(owner, "__closure__", cells)
            self.note(cells, operand, cells[operand])
            self.note(cells[operand], "cell_contents", value)
        elif step in ("attr", "instance_attr", "module_attr", "plain_attr", "slot"):
            own = getattr(owner, "__dict__", {})
            slot = inspect.getattr_static(type(owner), operand, None)
            special = isinstance(owner, (type, types.FunctionType, types.CellType))
            if isinstance(slot, types.MemberDescriptorType) and not special:
                slots = self.slots.setdefault(self.place(owner), {})
                slots[operand] = self.place(value)
                return
            at = owner if operand in own or special else type(owner)
            if operand != "__class__":
                self.note(at, operand, value)
        else:
            self.note(owner, operand, value)

    def documents(self) -> list[dict[str, Any]]:
        """All values; the list grows while they are told."""
        told: list[dict[str, Any]] = []
        while len(told) < len(self.objects):
            value = self.objects[len(told)]
            found = [*map(list, self.looked_at.get(len(told), {}).items())]
            slots = self.slots.get(len(told))
            made = self.document(value, found)
            told.append(made | {"slots": slots} if slots else made)
        return told

    def document(self, value: Any, found: list[Any]) -> dict[str, Any]:
        """What another object has to have to look like this one."""
        kind = type(value)
        made: dict[str, Any]
        if kind in PLAIN or kind in (tuple, frozenset) and leafs.is_constant(value):
            return {"is": "constant", "repr": repr(value)}
        if isinstance(value, type):
            return self.of_type(value, found)
        if isinstance(value, MODULE):
            names = {name for name, _ in found}
            fill = sum(repr(name) not in names for name in vars(value))
            made = {"is": "module", "name": value.__name__, "at": found, "fill": fill}
            return made if kind is MODULE else made | {"type": self.place(kind)}
        if isinstance(value, (types.FunctionType, types.MethodType, types.CellType)):
            return {"is": kind.__name__, "at": found}
        if isinstance(value, types.CodeType):
            free = len(value.co_freevars)
            return {"is": "code", "name": value.co_name, "free": free}
        if isinstance(value, weakref.ref):
            return {"is": "weakref", "at": found}
        made = {"is": "object", "type": self.place(kind), "at": found}
        if isinstance(value, dict):
            made["keys"] = [self.key(each) for each in dict.keys(value)]
        elif isinstance(value, (list, tuple, set, frozenset)):
            made["length"] = len(value)
        own = getattr(value, "__dict__", None)
        if isinstance(own, dict):
            made["own"] = [each for each in own if isinstance(each, str)]
        return made

    def key(self, key: Any) -> Any:
        """A key of a dict: a constant's text, or a place."""
        return repr(key) if leafs.is_constant(key) else self.place(key)

    def of_type(self, kind: type, found: list[Any]) -> dict[str, Any]:
        """A type of the standard library by its name, another by what it is made of."""
        if kind is MODULE:  # builtins do not name it
            return {"is": "type", "of": "types", "name": "ModuleType"}
        if kind.__module__ in sys.stdlib_module_names and "." not in kind.__qualname__:
            module = sys.modules.get(kind.__module__)
            if getattr(module, kind.__name__, None) is kind:
                return {"is": "type", "of": kind.__module__, "name": kind.__name__}
        return {
            "is": "class",
            "name": kind.__name__,
            "bases": [self.place(each) for each in kind.__bases__],
            "at": found,
            "getattr": "__getattr__" in vars(kind),
        }


def without_addresses(text: str) -> str:
    """Names of Dynamo's own have addresses in them, which another run has not."""
    known: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return known.setdefault(found[0], str(len(known)))

    return re.sub(r"(?<=_)\d{9,}", number, text)


def main() -> int:
    """Writes the files."""
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    for tree in replay.trees(set(KEPT)):
        recording = tree.recording
        with torch.set_grad_enabled(recording.grad_mode):
            log = Log(recording)
            Translator(recording, guards=log.root).run()
        name = recording.name.replace(", part ", "_")
        text = json.dumps(log.document(), separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(without_addresses(text) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
