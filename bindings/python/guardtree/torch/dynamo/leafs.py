"""guardtree's checks for the leafs of a recorded tree, and for dicts in order."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import torch

import guardtree.torch as gtt

from . import ambient
from .purity import is_plainly_absent
from .record import Node
from .refused import RefusedError
from .user_stack import UserStack, stack_in

if TYPE_CHECKING:
    from .translate import Translator

Arguments = tuple[Any, ...]

# Leafs that have no operand, and ours.
BARE = {
    "false_match": "is_false",
    "none_match": "is_none",
    "not_none": "is_not_none",
    "true_match": "is_true",
}
CONSTANTS = {type(None), bool, int, float, complex, str, bytes, type(...)}
COLLECTIONS = {tuple, list, set, frozenset}
GRAD_STEPS = ("grad", "getattr")
"""Those that may read a tensor's gradient."""
UNIQUE = (
    type, enum.Enum, torch.dtype, torch.layout, torch.memory_format,
    BuiltinFunctionType, CodeType, FunctionType, ModuleType,
)  # fmt: skip
SIZED = (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, deque)


def is_constant(value: Any) -> bool:
    """Whether a value, or each part of it, is a constant of a builtin type."""
    kind = type(value)
    if kind in CONSTANTS:
        return True
    if kind in COLLECTIONS:
        return all(map(is_constant, value))
    return kind is dict and is_constant([*value, *value.values()])


def in_order(node: Node) -> list[tuple[str, Arguments]]:
    """The leafs of a node, what they say of its type first: where the type is known,
    asking for an attribute that is absent runs no code."""
    if len(node.leafs) < 2 or node.leafs[0][0] == "type_match":
        return node.leafs
    return sorted(node.leafs, key=lambda leaf: leaf[0] != "type_match")


def is_said_by_equals(made: Translator, node: Node, arguments: Arguments) -> bool:
    """Whether a set has an item, where another leaf compares all of the set."""
    if made.literal:
        return False
    yes, item = arguments[:2]
    compared = [given[0] for kind, given in node.leafs if kind == "equals_match"]
    return any(is_constant(all_) and (item in all_) == yes for all_ in compared)


def add(
    made: Translator, node: Node, handle: Any, kind: str, arguments: Arguments
) -> None:
    """One leaf of a node. `handle`: its value; None where no guard needed it yet."""
    if kind in ambient.KINDS:
        ambient.add(made, kind, arguments)
    elif node.step == "root":
        torch_module = made.guards.module("torch")
        ambient.add_lambda(made, torch_module, kind, arguments[0], arguments[-2])
    elif node.step == "globals_dict":
        of_globals(made, kind, arguments)
    elif kind == "dict_contains" and lacks_attribute(made, node, arguments):
        return
    elif not (node.is_ordered and kind in ("type_match", "dict_length_check")):
        if handle is None:
            handle = made.handle(node)
        of_value(made, node, handle, kind, arguments)
        if stack := stack_in(arguments):
            made.guards.note(UserStack(stack))


def says_grad(made: Translator, node: Node) -> bool:
    """Says whether a tensor of a known class has a gradient, if a node of GRAD_STEPS
    asks no more. That makes no Python object of it."""
    is_grad = node.step == "grad" or node.operands[:1] == ("grad",)
    if not is_grad or made.literal or node.children:
        return False
    asked = {kind for kind, _ in node.leafs}
    if len(asked) != 1:
        return False
    parent, (kind,) = node.parent, asked
    if parent is None or kind not in ("none_match", "not_none"):
        return False
    known = {kind for kind, _ in parent.leafs}
    of_class = type(parent.example) in (torch.Tensor, torch.nn.Parameter)
    if not of_class or known.isdisjoint(("id_match", "tensor_match", "type_match")):
        return False
    is_there = kind == "not_none"
    capsule = gtt.plugin().grad_check(type(parent.example), is_there)
    said = "a gradient" if is_there else "no gradient"
    made.handle(parent).native_pure(capsule)
    made.guards.note(UserStack(stack_in(node.leafs[0][1]), said))
    made.say("grad", "native_pure")
    for _ in node.leafs:
        made.leafs += 1
        made.say(kind, "native_pure")
    return True


def lacks_attribute(made: Translator, node: Node, arguments: Arguments) -> bool:
    """Says that the `__dict__` of what is no class lacks a name, if a leaf does."""
    yes, name = arguments[:2]
    is_own = node.step == "get_generic_dict" and type(name) is str
    owner = node.parent
    if yes or not is_own or made.literal or owner is None:
        return False
    if isinstance(owner.example, type):
        return False
    made.say("dict_contains of instance dict", "lacks_instance_attr")
    made.handle(owner).lacks_instance_attr(name)
    return True


def of_globals(made: Translator, kind: str, arguments: Arguments) -> None:
    """A leaf of the dict of globals, which is always the same one."""
    if kind == "type_match":
        return
    if kind != "dict_contains":
        raise RefusedError(f"leaf {kind} of globals")
    yes, name = arguments[:2]
    if yes:
        made.say("dict_contains of globals", "global_")
        made.guards.global_(name).exists()
        return
    names = made.recording.names
    python(made, made.guards.module("torch"), kind, name, lambda _: name not in names)


Predicate = Callable[..., Any]


def python(
    made: Translator, handle: Any, kind: str, what: object, predicate: Predicate
) -> None:
    """What only Python can be asked."""
    made.say(kind, "python")
    made.made.python.append(f"{kind} {what!r:.60}")
    handle.python(predicate)


def of_value(
    made: Translator, node: Node, handle: Any, kind: str, arguments: Arguments
) -> None:
    """A leaf that checks the value of its node."""
    first = arguments[0]
    if kind in BARE:
        made.say(kind, BARE[kind])
        getattr(handle, BARE[kind])()
        return
    match kind:  # the most frequent ones first
        case "type_match" | "id_match":
            made.say(kind, kind)
            getattr(handle, kind)(made.object_at(first))
        case "tensor_match":
            made.say(kind, kind)
            handle.tensor_match(spec_of(arguments, made.key_sets))
        case "dimension_marking":
            marking(made, handle, arguments)
        case "equals_match":
            equals(made, handle, first)
        case "dict_contains" | "set_contains":
            contains(made, handle, kind, arguments)
        case "length_check":
            length_of = type(node.example).__len__
            is_builtin = any(length_of == each.__len__ for each in SIZED)
            ours = "length" if is_builtin else "user_length"
            made.say(kind, ours)
            getattr(handle, ours)(first)
        case "dict_length_check":
            made.say(kind, "length")
            if not any(other == "type_match" for other, _ in node.leafs):
                handle.instance_of(dict)
            handle.length(first)
        case "no_hasattr":
            no_hasattr(made, node, handle, first)
        case "range_iterator_match":
            made.say(kind, "range_iterator")
            handle.range_iterator(range(*arguments[:3]))
        case "tuple_iterator_length" | "dict_version":
            made.say(kind, kind)
            getattr(handle, kind)(first)
        case "mapping_keys":
            mapping_keys(made, handle, list(first))
        case "lambda":
            python(made, handle, kind, arguments[-2], first)
        case "dispatch_key_set":
            raw = first.raw_repr()
            python(made, handle, kind, raw, lambda keys: keys.raw_repr() == raw)
        case "float_is_nan" | "complex_is_nan":
            if isinstance(first, (float, complex)):  # this NaN alone, since torch 2.15
                made.say(kind, "equals")
                handle.equals(first)
            else:
                made.say(kind, kind)
                getattr(handle, kind)()
        case _:
            raise RefusedError(f"leaf {kind} of {node.source}")


def no_hasattr(made: Translator, node: Node, handle: Any, name: str) -> None:
    """That `hasattr` says no; without running code, where nothing but another class
    could make it say something else."""
    if is_plainly_absent(node.example, name):
        made.say("no_hasattr", "lacks_plain_attr")
        handle.lacks_plain_attr(name)
    else:
        made.say("no_hasattr", "lacks_attr")
        made.note_reading(node.example, name, f"no {node.source}.{name}")
        handle.lacks_attr(name)


def equals(made: Translator, handle: Any, value: Any) -> None:
    """Of the same type and equal; objects that equal only themselves by identity."""
    kind = "equals_match"
    if isinstance(value, UNIQUE):
        made.say(kind, "id_match_held")
        handle.id_match_held(value)
        return
    try:
        handle.equals(value)
    except (TypeError, ValueError):
        if isinstance(value, (tuple, list)):
            made.say(kind, "its items")
            handle.type_match(type(value)).length(len(value))
            step = handle.tuple_item if isinstance(value, tuple) else handle.list_item
            for place, item in enumerate(value):
                equals(made, step(place), item)
            return
        python(made, handle, kind, value, same_as(value))
        return
    made.say(kind, "equals")


def same_as(value: Any) -> Callable[[Any], bool]:
    return lambda x: x is value or (type(x) is type(value) and x == value)


def contains(made: Translator, handle: Any, kind: str, arguments: Arguments) -> None:
    """A key or an item is there, or is not."""
    yes, key = arguments[:2]
    ours = f"{kind.split('_')[0]}_{'contains' if yes else 'lacks'}"
    try:
        getattr(handle, ours)(key)
    except (TypeError, ValueError):
        python(made, handle, kind, key, lambda value: (key in value) == yes)
        return
    made.say(kind, ours)


def mapping_keys(made: Translator, handle: Any, keys: list[Any]) -> None:
    """The keys of any mapping, in order."""
    try:
        handle.mapping_keys(tuple(keys))
    except (TypeError, ValueError):
        python(made, handle, "mapping_keys", keys, lambda x: [*x.keys()] == keys)
        return
    made.say("mapping_keys", "mapping_keys")


def spec_of(arguments: Arguments, key_sets: dict[int, int]) -> dict[str, Any]:
    """The facts of a tensor that torch's leaf compares; None is a size or stride that
    is free. `key_sets` keeps what this thread makes of dispatch keys."""
    if isinstance(arguments[-1], bool):  # since torch 2.15
        if arguments[-1]:
            raise RefusedError("a tensor on whichever device is the current one")
        arguments = arguments[:-1]
    value, sizes, strides, *_, kind, keys = arguments
    spec = {
        "type": kind,
        "dtype": value.dtype,
        "device": text_of(value.device),
        "ndim": len(sizes),
        "shape": tuple(sizes),
        "requires_grad": value.requires_grad,
        "local_dispatch_keys": local_keys(keys, key_sets),
    }
    if strides is not None and value.layout is torch.strided:
        spec["strides"] = tuple(strides)
    return spec


def local_keys(keys: Any, known: dict[int, int]) -> int:
    """Dispatch keys with those that this thread adds, without those it removes."""
    own = keys.raw_repr()
    if own not in known:
        included = torch._C._dispatch_tls_local_include_set()
        excluded = torch._C._dispatch_tls_local_exclude_set()
        known[own] = ((keys | included) - excluded).raw_repr()
    return known[own]


@lru_cache(256)
def text_of(device: torch.device) -> str:
    """What a device is called."""
    return str(device)


def marked_as(expected: Any, absent: Any, dependent: Any) -> Predicate:
    """What torch's leaf compares of a tensor with marked dimensions."""

    def check(value: Any) -> bool:
        for name, marks in expected.items():
            if hasattr(value, name) and not getattr(value, name).issubset(marks):
                return False
        if any(hasattr(value, name) for name in absent):
            return False
        return all(
            getattr(value, name, None) == wanted
            for name, (wanted, gate) in dependent.items()
            if hasattr(value, gate)
        )

    return check


def marking(made: Translator, handle: Any, arguments: Arguments) -> None:
    """Nobody marked a dimension of the tensor as dynamic."""
    kind, (expected, absent, dependent) = "dimension_marking", arguments[:3]
    if expected or dependent:
        python(made, handle, kind, expected, marked_as(expected, absent, dependent))
        return
    made.say(kind, "lacks_static_attr")
    handle.lacks_static_attr("_has_dynamo_dim_marking")


def ordered(made: Translator, node: Node) -> tuple[Any, ...] | None:
    """A dict in order: its exact type, and its keys or their number."""
    handle, keys = made.handle(node), made.constant_keys(node)
    handle.type_match(type(node.example))
    if keys is None:
        made.say("ordered dict", "length")
        handle.length(len(node.example))
    else:
        made.say("ordered dict", "dict_keys")
        handle.dict_keys(keys)
    return keys
