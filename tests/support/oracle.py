"""The meaning of guard trees in plain Python; imports nothing of what it judges.

A tree is a list of nodes `(step, path, checks, nodes)`: the step's name, the node as a
Python expression, its checks as Python expressions, the nodes below.
"""

from __future__ import annotations

import collections
import struct
import types
import warnings
from typing import Any

# A printed `x is 1` is meant.
warnings.simplefilter("ignore", SyntaxWarning)

MISSING = object()


def same_constant(value: Any, expected: Any) -> bool:
    """Equal, and of equal types at every depth; floats by bits."""
    kind = type(expected)
    if type(value) is not kind:
        return False
    if kind is float:
        return struct.pack("d", value) == struct.pack("d", expected)
    if kind is complex:
        return same_constant(value.real, expected.real) and same_constant(
            value.imag, expected.imag
        )
    if kind in (tuple, list):
        return len(value) == len(expected) and all(map(same_constant, value, expected))
    if kind is dict:
        return len(value) == len(expected) and all(
            any(
                same_constant(k, key) and same_constant(v, item)
                for key, item in expected.items()
            )
            for k, v in value.items()
        )
    if kind in (set, frozenset):
        return len(value) == len(expected) and all(
            any(same_constant(item, other) for other in expected) for item in value
        )
    if kind in (int, str, bytes):
        return value == expected
    return value is expected  # None, True, False, Ellipsis


BUILTIN_LENGTHS = [
    kind.__len__
    for kind in (list, tuple, dict, set, frozenset, str, bytes, bytearray, range,
                 collections.deque)
]  # fmt: skip


def has_builtin_len(value: Any) -> bool:
    """len(value) is computed by CPython itself, for one of the containers listed."""
    found = getattr(type(value), "__len__", None)
    return any(found is known for known in BUILTIN_LENGTHS)


SCALARS = (int, bool, float, complex, str, bytes, types.NoneType, types.EllipsisType)


def is_plain(key: Any) -> bool:
    """Equality with it is CPython's own."""
    return type(key) in SCALARS or (type(key) is tuple and all(map(is_plain, key)))


def plain_dict_item(value: Any, key: Any) -> Any:
    """value[key] of a dict or subclass, without __getitem__, __missing__ and __eq__."""
    rivals = [k for k in dict.keys(value) if hash(k) == hash(key)]
    if not all(k is key or is_plain(k) for k in rivals):
        raise KeyError(key)
    found = dict.get(value, key, MISSING)
    if found is MISSING:
        raise KeyError(key)
    return found


def instance_attr(value: Any, name: str) -> Any:
    """vars(value)[name] as CPython itself finds vars(value)."""
    if isinstance(value, type):
        raise KeyError(name)
    for base in type(value).__mro__:
        found = base.__dict__.get("__dict__")
        if type(found) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            return plain_dict_item(found.__get__(value), name)
    raise KeyError(name)


def has_items(value: Any) -> bool:
    """value[...] means something, even if it raises."""
    return isinstance(value, type) or hasattr(type(value), "__getitem__")


def is_absent(step: str, error: Exception, parent: Any) -> bool:
    """The step fetches nothing, as opposed to an error in user code."""
    if step == "attr":
        return isinstance(error, AttributeError)
    if step == "item":
        return isinstance(error, LookupError) or not has_items(parent)
    if step == "dict_item":
        return not isinstance(parent, dict) or type(error) is KeyError
    if step in ("local", "closure"):
        return isinstance(error, NameError)
    return isinstance(error, (LookupError, TypeError))


NAMESPACE: dict[str, Any] = {
    "same_constant": same_constant,
    "has_builtin_len": has_builtin_len,
    "plain_dict_item": plain_dict_item,
    "instance_attr": instance_attr,
    "nan": float("nan"),
    "inf": float("inf"),
    "NoneType": types.NoneType,
}


def node_verdict(node: tuple, parent: Any, names: dict[str, Any]) -> str:
    """The first answer below and at the node that is not `pass`, else `pass`."""
    step, path, checks, children = node
    try:
        value = eval(path, names)
    except Exception as error:
        return "fail" if is_absent(step, error, parent) else "error"
    for check in checks:
        try:
            if not eval(check, names):
                return "fail"
        except Exception:
            return "error"
    return tree_verdict(children, names, value)


def tree_verdict(nodes: list[tuple], names: dict[str, Any], parent: Any = None) -> str:
    """`pass`, `fail` or `error`, evaluated in order, stopping at the first non-pass."""
    for node in nodes:
        answer = node_verdict(node, parent, names)
        if answer != "pass":
            return answer
    return "pass"


def verdict(
    nodes: list[tuple],
    f_locals: dict[str, Any],
    f_globals: dict[str, Any],
    f_builtins: dict[str, Any],
) -> str:
    """The answer of a tree; names of `f_globals` serve operands too."""
    names = {**f_globals, **NAMESPACE, **f_locals}
    names.update(G=f_globals, B=f_builtins, L=f_locals)
    return tree_verdict(nodes, names)
