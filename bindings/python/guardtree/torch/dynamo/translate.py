"""guardtree's guards for a recorded tree, node by node: the walk, and the steps.

What has no counterpart is refused by its name. What can only be asked of Python is, and
is counted: `ambient` has what Dynamo asks of its own state in every tree, `python` what
a tree asks besides, `user` the attributes that no engine reads without Python code.
"""

from __future__ import annotations

import ctypes
import sys
from collections import Counter
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType
from typing import Any

import guardtree as gt

from . import ambient, attributes, leafs, shapes
from .purity import is_plain, reads_as_module, runs_python
from .record import Node, Recording
from .refused import RefusedError


@dataclass
class Translation:
    """The guards, and how they came about."""

    guards: gt.GuardManager
    said: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often torch's name became ours; leafs, steps and relations."""
    ambient: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
    """What only Python can be asked."""
    user: list[str] = field(default_factory=list)
    """Attributes that are read by Python code of their owner's type, in any engine."""


# Torch's step and ours, which takes the same operand.
SAME = {
    "dict_getitem": "dict_item",
    "generic_getattr": "generic_attr",
    "get_key": "dict_key",
    "get_value": "dict_value",
    "getattr": "attr",
    "getitem": "item",
    "list_getitem": "list_item",
    "set_getitem": "set_item",
    "tensor_property_size": "size",
    "tensor_property_stride": "stride",
    "tuple_getitem": "tuple_item",
    "tuple_iterator_getitem": "tuple_iterator_item",
}
DIRECT = SAME.keys() - {"getattr", "getitem", "get_value"}
"""Those that mean the same whatever the value is."""
# Those without an operand.
BARE = {
    "call_function_no_args": "call",
    "tensor_property_storage_offset": "storage_offset",
    "type": "type",
    "type_dict": "type_dict",
    "type_mro": "mro",
    "weakref_call": "referent",
}
OF_FUNCTIONS = {
    "code": ("code", "__code__"),
    "func_defaults": ("defaults", "__defaults__"),
    "func_kwdefaults": ("kwdefaults", "__kwdefaults__"),
}
# Steps that read an attribute, and which one where they do not say.
ATTRIBUTES = {"getattr": "", "closure": "__closure__"}


class Translator:
    """Walks a recorded tree. With `literal` each step is the one of the same name, even
    where another one says the same and is faster."""

    def __init__(
        self, recording: Recording, literal: bool = False, guards: Any = None
    ) -> None:
        self.recording = recording
        self.literal = literal
        if guards is None:
            guards = gt.GuardManager(recording.function)
        self.guards: Any = guards
        self.made = Translation(self.guards)
        self.facts: dict[str, int | bool] = {}
        self.handles: dict[Node, Any] = {recording.root: self.guards}
        self.leafs = 0
        self.said: list[tuple[str, str]] = []
        self.keys: dict[Node, tuple[Any, ...] | None] = {}
        """Constant keys, by the node of the dict."""
        self.objects: dict[int, Any] = {}
        """Objects that leafs compare, by address."""
        self.key_sets: dict[int, int] = {}
        """Dispatch keys of tensors, and what this thread makes of them."""
        self.sources: dict[str, Node] = {}
        """Nodes by their text, for lambdas that are given as text."""
        self.part = b""
        """The part of a lambda that is being translated. `ast` gives byte offsets."""

    def say(self, theirs: str, ours: str) -> None:
        """One of torch's became one of ours."""
        self.said.append((theirs, ours))

    def object_at(self, address: int) -> Any:
        """What lives there: torch keeps types and objects by address alone."""
        if address not in self.objects:
            self.objects[address] = ctypes.cast(address, ctypes.py_object).value
        return self.objects[address]

    def handle(self, node: Node) -> Any:
        """The value of a node; its step is added when it is first needed."""
        if node not in self.handles:
            self.handles[node] = self.step(node)
        return self.handles[node]

    def run(self) -> Translation:
        """All of it; RefusedError where something has no counterpart."""
        self.visit(self.recording.root)
        if self.facts:
            ambient.guard_state(self)
        for kind, arguments in self.recording.relations:
            self.relation(kind, arguments)
        for arguments in self.recording.epilogue:
            shapes.add(self, arguments)
        counted = sum(len(node.leafs) for node in self.recording.nodes.values())
        if self.leafs != counted:
            raise RefusedError(f"{self.leafs} leafs of {counted} were translated")
        self.made.said.update(self.said)
        return self.made

    def visit(self, node: Node) -> None:
        """A node's leafs, then its children."""
        step = node.step
        if step in leafs.GRAD_STEPS and leafs.says_grad(self, node):
            return
        has_step = step not in shapes.WITHOUT_SOURCE
        is_said = step == "get_key" and self.is_said_by_keys(node)
        handle = self.handle(node) if has_step and not is_said else None
        keys = leafs.ordered(self, node) if node.is_ordered else None
        for kind, arguments in leafs.in_order(node):
            if kind == "set_contains" and leafs.is_said_by_equals(
                self, node, arguments
            ):
                self.say(kind, "equals")
            elif not is_said:
                leafs.add(self, node, handle, kind, arguments)
        self.leafs += len(node.leafs)
        for child in node.children:
            self.visit(child)
        is_implied = step in ("get_key", "get_value", "type") or keys is not None
        if handle is not None and not (node.leafs or node.children or is_implied):
            self.say("presence", "exists")
            handle.exists()

    def is_said_by_keys(self, node: Node) -> bool:
        """Whether a key is one of a dict whose keys one guard compares."""
        return node.parent is not None and self.constant_keys(node.parent) is not None

    def constant_keys(self, node: Node) -> tuple[Any, ...] | None:
        """The keys of an ordered dict, where torch compares each with a constant."""
        if self.literal or not node.is_ordered:
            return None
        if node not in self.keys:
            self.keys[node] = self.find_constant_keys(node)
        return self.keys[node]

    def find_constant_keys(self, node: Node) -> tuple[Any, ...] | None:
        """Compares the keys with what the leafs of their nodes compare."""
        keys = tuple(dict.keys(node.example))
        compared = {
            child.operands[0]
            for child in node.children
            if child.step == "get_key"
            and child.leafs
            and all(kind == "equals_match" for kind, _ in child.leafs)
            and not child.children
        }
        if compared != set(range(len(keys))) or not leafs.is_constant(keys):
            return None
        return keys

    def step(self, node: Node) -> Any:
        """The step of a node, on the handle of its parent."""
        name, parent = node.step, node.parent
        if parent is None:
            return self.guards
        if parent is self.recording.root:
            return self.first_step(node)
        operand: Any = node.operands[0] if node.operands else None
        if parent.step == "globals_dict":
            self.say(f"{name} of globals", "global_")
            found = self.guards.global_(operand)
            return found.referent() if name == "global_weakref" else found
        if name == "get_generic_dict":
            self.say(name, "generic_attr")
            return self.handle(parent).generic_attr("__dict__")
        if parent.step == "get_generic_dict" and self.is_instance_dict(node):
            self.say("item of instance dict", "instance_attr")
            owner: Any = parent.parent
            return self.handle(owner).instance_attr(operand)
        base = self.handle(parent)
        if name in DIRECT:
            return self.same_step(base, node, operand)
        example = parent.example
        if name in ATTRIBUTES and not self.literal:
            found = self.attribute_step(base, node, operand or ATTRIBUTES[name])
            if found is not None:
                return found
        if name == "closure":
            self.say(name, "attr")
            return base.attr("__closure__")
        if name in OF_FUNCTIONS:
            return self.function_step(base, node)
        if name == "getattr":
            self.note_reading(example, operand, node.source)
        if name == "getattr" and self.is_module_attr(example, operand):
            self.say("getattr of module", "module_attr")
            return module_step(base, example, operand)
        keys = self.constant_keys(parent)
        if name == "get_value" and keys is not None:
            self.say(name, "dict_item")
            return base.dict_item(keys[operand])
        if name == "getitem" and isinstance(example, tuple) and not self.literal:
            self.say(name, "tuple_item")
            return base.tuple_item(operand)
        if name == "grad":
            self.say(name, "attr")
            return base.attr("grad")
        if name == "indexed":
            return base
        if name == "lambda":
            return self.compute(node, base, operand)
        if name in BARE:
            self.say(name, BARE[name])
            return getattr(base, BARE[name])()
        if name in SAME:
            return self.same_step(base, node, operand)
        raise RefusedError(f"step {name} of {node.source}")

    def same_step(self, base: Any, node: Node, operand: Any) -> Any:
        """The step of the same meaning, or Python where its operand is no constant."""
        ours = SAME[node.step]
        try:
            found = getattr(base, ours)(operand)
        except (TypeError, ValueError):
            # A key such as a type, which is no constant here.
            return self.compute(node, base, lambda value: value[operand])
        self.say(node.step, ours)
        return found

    def first_step(self, node: Node) -> Any:
        """A step from the frame itself."""
        name, operand = node.step, node.operands[0] if node.operands else None
        if name == "globals_dict":
            if operand is not self.recording.names:
                raise RefusedError("globals of another frame")
            return self.guards
        if name == "framelocals":
            variable = operand[0]  # type: ignore[index]
            code = self.guards_code()
            step = "closure" if variable in code.co_freevars else "local"
            self.say(name, step)
            return getattr(self.guards, step)(variable)
        if name == "lambda":
            module = node.example
            if (
                isinstance(module, ModuleType)
                and sys.modules.get(module.__name__) is module
                and node.source.startswith("__import__(")
            ):
                self.say("lambda of an import", "module")
                return self.guards.module(module.__name__)
            return self.compute(node, self.guards.f_locals(), operand)
        raise RefusedError(f"step {name} of the frame")

    def note_reading(self, value: Any, name: str, source: str) -> None:
        """An attribute is read, or found to be absent."""
        if runs_python(value, name):
            self.made.user.append(f"{source} of a {type(value).__name__}")

    def guards_code(self) -> Any:
        """The frame's code."""
        return self.recording.code

    def compute(self, node: Node, base: Any, function: Any) -> Any:
        """What a Python function gives."""
        self.say(node.step, "compute")
        self.made.python.append(node.source)
        return base.compute(function)

    def is_instance_dict(self, node: Node) -> bool:
        """Whether a node is an item of the `__dict__` of what is no class."""
        owner = node.parent.parent.example  # type: ignore[union-attr]
        if self.literal or node.step != "dict_getitem" or isinstance(owner, type):
            return False
        return leafs.is_constant(node.operands[0])

    def attribute_step(self, base: Any, node: Node, name: str) -> Any:
        """A step to an attribute that runs no code; None without one."""
        if (cell := attributes.cell_of(node, name)) is not None:
            self.say(node.step, "closure_cell")
            return self.handle(cell[0]).closure_cell(cell[1])
        found = attributes.step_of(node, name)
        if found is None:
            return None
        step, operands = found
        self.say(node.step, step)
        return getattr(base, step)(*operands)

    def attribute(self, base: Any, example: Any, name: str) -> Any:
        """An attribute of an example, by the fastest step that reads it as getattr."""
        if self.is_module_attr(example, name):
            return module_step(base, example, name)
        is_quick = not self.literal and is_plain(example, name)
        return base.plain_attr(name) if is_quick else base.attr(name)

    def is_module_attr(self, example: Any, name: Any) -> bool:
        """Whether an attribute is in the dict of a module."""
        kind = type(example)
        if self.literal or not issubclass(kind, ModuleType):
            return False
        is_own = type(name) is str and name in vars(example)
        return is_own and (kind is ModuleType or reads_as_module(kind, name))

    def function_step(self, base: Any, node: Node) -> Any:
        """Code or defaults, of a function or of what a method is bound to."""
        step, attribute = OF_FUNCTIONS[node.step]
        example = node.parent.example  # type: ignore[union-attr]
        if isinstance(example, MethodType):
            base = base.method_function()
        elif not isinstance(example, FunctionType):
            self.say(node.step, "attr")
            return base.attr(attribute)
        self.say(node.step, step)
        return getattr(base, step)()

    def relation(self, kind: str, arguments: tuple[Any, ...]) -> None:
        """What is said about several values."""

        def nodes(managers: Any) -> list[Node]:
            return [self.recording.node_of(each) for each in managers]

        if kind == "no_tensor_aliasing":
            self.say(kind, "distinct_objects")
            self.guards.distinct_objects(*map(self.handle, nodes(arguments[0])))
        elif kind == "object_aliasing":
            self.same_object(kind, *nodes(arguments[:2]))
        else:
            raise RefusedError(f"relation {kind}")

    def same_object(self, kind: str, first: Node, second: Node) -> None:
        """That two values are one object."""
        for known, other in ((first, second), (second, first)):
            if found := self.compared_with(known):
                self.say(kind, "id_match")
                self.handle(other).id_match(*found)
                return
        self.say(kind, "same_object")
        self.guards.same_object(self.handle(first), self.handle(second))

    def compared_with(self, node: Node) -> list[Any]:
        """The object that a leaf compares a node's value with; empty without one. An
        alias of that value is compared with the same object, because a check of one
        value can be assumed, and a relation is evaluated at each call."""
        found = [given[0] for kind, given in node.leafs if kind == "id_match"]
        if node.step == "type" and node.parent is not None:
            of = node.parent.leafs
            found += [given[0] for kind, given in of if kind == "type_match"]
        return [] if self.literal else [*map(self.object_at, found[:1])]


def module_step(base: Any, module: Any, name: str) -> Any:
    """An entry of the dict of a module, which is of the class that it is now."""
    if type(module) is not ModuleType:
        base.type_match(type(module))
    return base.module_attr(name)


def translate(recording: Recording, literal: bool = False) -> Translation:
    """guardtree's guards for a recorded tree."""
    return Translator(recording, literal).run()
