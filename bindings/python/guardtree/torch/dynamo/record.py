"""Writes down the guard trees that Dynamo builds: every call that makes one.

A tree of PyTorch's engine does not give its operands back, so the methods that build it
are wrapped while programs run. What was written down is then compared with the finished
tree, manager by manager and leaf by leaf: a guard that came by another way is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CellType, CodeType, FunctionType
from typing import Any

import torch
import torch._dynamo.guards as dynamo
from torch._C._dynamo import guards as engine

from .patches import Patches

# What each method says besides source, example and kind of manager.
STEPS: dict[str, tuple[str, ...]] = {
    "call_function_no_args_manager": (),
    "closure_manager": (),
    "code_manager": (),
    "dict_getitem_manager": ("key",),
    "framelocals_manager": ("key",),
    "func_defaults_manager": (),
    "func_kwdefaults_manager": (),
    "generic_getattr_manager": ("attr",),
    "get_generic_dict_manager": (),
    "get_key_manager": ("index",),
    "get_value_manager": ("index",),
    "getattr_manager": ("attr",),
    "getitem_manager": ("key",),
    "global_weakref_manager": ("global_name",),
    "globals_dict_manager": ("f_globals",),
    "grad_manager": (),
    "indexed_manager": ("idx",),
    "lambda_manager": ("python_lambda",),
    "list_getitem_manager": ("key",),
    "set_getitem_manager": ("index",),
    "tensor_property_size_manager": ("idx",),
    "tensor_property_storage_offset_manager": ("idx",),
    "tensor_property_stride_manager": ("idx",),
    "tuple_getitem_manager": ("key",),
    "tuple_iterator_getitem_manager": ("index",),
    "type_dict_manager": (),
    "type_manager": (),
    "type_mro_manager": (),
    "weakref_call_manager": (),
}
LAST = ("source", "example_value", "guard_manager_enum")
RELATIONS = (
    "install_no_tensor_aliasing_guard",
    "install_object_aliasing_guard",
    "install_storage_overlapping_guard",
    "install_symbolic_shape_guard",
)


# The class of a leaf, where it is not the kind in capitals.
CLASSES = {
    "dict_length_check": "DICT_LENGTH",
    "dimension_marking": "DIMENSION_DYNAMIC_MARKING_GUARD",
    "dispatch_key_set": "DISPATCH_KEY_SET_MATCH",
    "lambda": "LAMBDA_GUARD",
    "mapping_keys": "MAPPING_KEYS_MATCH",
    "tuple_iterator_length": "TUPLE_ITERATOR_LEN",
}


class LostError(RuntimeError):
    """The finished tree has something that was not written down."""


@dataclass(eq=False)
class Node:
    """A manager: the step that leads to it, and the leafs that check its value."""

    manager: Any
    """Kept, since nodes are found by its identity."""
    step: str
    operands: tuple[Any, ...]
    source: str
    example: Any
    parent: Node | None
    leafs: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    """Of each its kind and its arguments, the parts that torch prints among them."""
    children: list[Node] = field(default_factory=list)
    is_ordered: bool = field(init=False)
    """Whether it is a manager of a dict by the order of its keys."""

    def __post_init__(self) -> None:
        self.is_ordered = isinstance(self.manager, engine.DictGuardManager)


@dataclass(eq=False)
class Recording:
    """One tree, its frame's scope, and the same tree as torch evaluates it."""

    root: Node
    nodes: dict[int, Node]
    relations: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    epilogue: list[tuple[Any, ...]] = field(default_factory=list)
    """The arguments of the lambdas that run last: shapes and aliases, as text."""
    name: str = ""
    code: CodeType | None = None
    values: dict[str, Any] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)
    """The frame's globals."""
    grad_mode: bool = True
    """What it was when the frame ran; the only fact of the state that programs set."""

    def node_of(self, manager: Any) -> Node:
        """The node of a manager."""
        return self.nodes[id(manager)]

    @cached_property
    def function(self) -> Any:
        """A function of the frame's code and globals: what guardtree's guards are for,
        and which they do not keep alive."""
        if self.code is None:
            raise LostError("the tree was not finished")
        cells = tuple(CellType() for _ in self.code.co_freevars)
        return FunctionType(self.code, self.names, closure=cells)

    def check(self, values: dict[str, Any]) -> bool:
        """PyTorch's verdict."""
        verdict: bool = self.root.manager.check(values)
        return verdict

    def counts(self) -> dict[str, int]:
        """What was written down."""
        leafs = sum(len(node.leafs) for node in self.nodes.values())
        more = len(self.relations) + len(self.epilogue)
        return {"managers": len(self.nodes), "leafs": leafs, "guards": leafs + more}


def managers_of(manager: Any) -> Iterator[Any]:
    """A manager and all below it, as torch gives them."""
    yield manager
    if isinstance(manager, engine.DictGuardManager):
        for pair in manager.get_key_value_managers().values():
            for child in pair:
                if child is not None:
                    yield from managers_of(child)
    for child in manager.get_child_managers():
        yield from managers_of(child)


# Torch's stub of the module has none of them.
RELATIONAL = tuple(
    getattr(engine, name)
    for name in ("NO_TENSOR_ALIASING", "OBJECT_ALIASING", "STORAGE_OVERLAPPING")
)


def leafs_of(manager: Any) -> list[Any]:
    """Its leafs, without its part in relations."""
    return [leaf for leaf in manager.get_leaf_guards() if not is_relational(leaf)]


def is_relational(leaf: Any) -> bool:
    """Whether a leaf is shared by several managers."""
    return isinstance(leaf, RELATIONAL) or "SHAPE" in type(leaf).__name__


def members_of(recording: Recording) -> Iterator[Any]:
    """The managers of each relation that was written down."""
    for _, arguments in recording.relations:
        for each in arguments:
            if isinstance(each, engine.GuardManager):
                yield each
            elif isinstance(each, list):
                yield from (e for e in each if isinstance(e, engine.GuardManager))


def compare(recording: Recording) -> None:
    """LostError, if the finished tree has other managers, leafs or relations."""
    seen = set()
    members = [id(each) for each in members_of(recording)]
    for manager in managers_of(recording.root.manager):
        node = recording.nodes.get(id(manager))
        if node is None:
            raise LostError(f"the manager of {manager.get_source()}")
        seen.add(id(manager))
        found = [type(leaf).__name__ for leaf in leafs_of(manager)]
        written = [CLASSES.get(kind, kind.upper()) for kind, _ in node.leafs]
        if found != written:
            raise LostError(f"leafs of {node.source}: {found}, written down {written}")
        shared = len(manager.get_leaf_guards()) - len(found)
        if shared != members.count(id(manager)):
            raise LostError(f"a relation of {node.source}")
    if gone := set(recording.nodes) - seen:
        raise LostError(f"{recording.nodes[gone.pop()].source} is not in the tree")
    if len(recording.root.manager.get_epilogue_lambda_guards()) != len(
        recording.epilogue
    ):
        raise LostError("a lambda of the epilogue")


def keywords_name(code: CodeType) -> str:
    """The name of the argument that takes all other keywords; empty without one."""
    if not code.co_flags & CO_VARKEYWORDS:
        return ""
    place = code.co_argcount + code.co_kwonlyargcount
    return code.co_varnames[place + bool(code.co_flags & CO_VARARGS)]


class Recorder:
    """What is being written down, newest last; `done` has the finished trees."""

    def __init__(self) -> None:
        self.open: list[Recording] = []
        self.done: list[Recording] = []

    def begin(self, root: Any) -> None:
        """A root was made."""
        node = Node(root, "root", (), "L", None, None)
        self.open.append(Recording(node, {id(root): node}))

    def find(self, manager: Any) -> Recording | None:
        """The recording that a manager belongs to."""
        for recording in reversed(self.open):
            if id(manager) in recording.nodes:
                return recording
        return None

    def finish(self, wrapper: Any, values: dict[str, Any], builder: Any) -> None:
        """Dynamo is done with a tree, and the tree passes."""
        recording = self.find(wrapper.root)
        if recording is None:
            raise LostError("a whole tree")
        recording.code = builder.f_code
        recording.values = dict(values)
        if (name := keywords_name(builder.f_code)) in values:
            # The call's own dict, which the program may write to.
            recording.values[name] = dict(values[name])
        recording.names = builder.scope["G"]
        recording.grad_mode = torch.is_grad_enabled()
        compare(recording)
        self.open.clear()
        self.keep(wrapper, recording)

    def keep(self, wrapper: Any, recording: Recording) -> None:
        """A tree is written down and compared with the finished one."""
        self.done.append(recording)

    def step(self, method: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """A method that gives a manager, wrapped."""
        order = (*STEPS[method], *LAST)

        def wrapped(manager: Any, *args: Any, **named: Any) -> Any:
            child = original(manager, *args, **named)
            recording = self.find(manager)
            if recording is not None and id(child) not in recording.nodes:
                given = dict(zip(order, args)) | named
                operands = tuple(given[each] for each in STEPS[method])
                parent = recording.node_of(manager)
                node = Node(
                    child,
                    method.removesuffix("_manager"),
                    operands,
                    given["source"],
                    given["example_value"],
                    parent,
                )
                recording.nodes[id(child)] = node
                parent.children.append(node)
            return child

        return wrapped

    def leaf(self, method: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """A method that adds a leaf, wrapped. Torch ignores a second one of a kind."""
        kind = method.removeprefix("add_").removesuffix("_guard")

        def wrapped(manager: Any, *args: Any) -> None:
            recording = self.find(manager)
            if kind == "epilogue_lambda":
                if recording is not None:
                    recording.epilogue.append(args)
                original(manager, *args)
                return
            before = len(manager.get_leaf_guards())
            original(manager, *args)
            if recording is not None and len(manager.get_leaf_guards()) > before:
                recording.node_of(manager).leafs.append((kind, args))

        return wrapped

    def relation(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that installs a relation, wrapped."""
        kind = name.removeprefix("install_").removesuffix("_guard")

        def wrapped(*args: Any) -> None:
            original(*args)
            first = args[0][0] if isinstance(args[0], list) else args[0]
            if (recording := self.find(first)) is not None:
                recording.relations.append((kind, args))

        return wrapped


def install(recorder: Recorder, patches: Patches) -> None:
    """From now on each tree that Dynamo builds is written down."""
    for kind in (engine.GuardManager, engine.DictGuardManager, engine.RootGuardManager):
        for name, original in list(vars(kind).items()):
            if name in STEPS:
                patches.set(kind, name, recorder.step(name, original))
            elif name.startswith("add_") and name.endswith("_guard"):
                patches.set(kind, name, recorder.leaf(name, original))
            elif name.endswith("_manager") and name != "clone_manager":
                raise LostError(f"{kind.__name__}.{name} is not known")
    for name in RELATIONS:
        patches.set(dynamo, name, recorder.relation(name, getattr(dynamo, name)))
    init = dynamo.GuardManagerWrapper.__init__
    chained = dynamo.guard_manager_testing_hook_fn

    def begin(self: Any, root: Any = None, *args: Any, **named: Any) -> None:
        init(self, root, *args, **named)
        if root is None:
            recorder.begin(self.root)

    def finish(*args: Any) -> None:
        recorder.finish(*args)
        if chained is not None:
            chained(*args)

    patches.set(dynamo.GuardManagerWrapper, "__init__", begin)
    patches.set(dynamo, "guard_manager_testing_hook_fn", finish)


@contextmanager
def recording() -> Iterator[Recorder]:
    """While this runs, each tree that Dynamo builds is written down."""
    recorder, patches = Recorder(), Patches()
    try:
        install(recorder, patches)
        yield recorder
    finally:
        patches.undo()
