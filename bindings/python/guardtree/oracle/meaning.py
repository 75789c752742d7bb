"""The meaning of guard trees in plain Python; imports nothing of what it judges.

A tree is a list of nodes `(step, path, checks, nodes)`: the step's name, the node as a
Python expression, its checks as Python expressions, the nodes below.
"""

from __future__ import annotations

import ast
import collections
import copy
import ctypes
import functools
import struct
import types
import warnings
import weakref
from typing import Any

MISSING = object()


class CannotSay(Exception):
    """The oracle has no opinion: the question is beyond what plain Python can see."""


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
    kind = type(key)
    return any(kind is each for each in SCALARS) or (
        kind is tuple and all(map(is_plain, key))
    )


def plain_dict_item(value: Any, key: Any) -> Any:
    """value[key] of a dict or subclass, without __getitem__, __missing__ and __eq__."""
    rivals = [k for k in dict.keys(value) if hash(k) == hash(key)]
    if not all(k is key or is_plain(k) for k in rivals):
        raise KeyError(key)
    found = dict.get(value, key, MISSING)
    if found is MISSING:
        raise KeyError(key)
    return found


def is_a(value: Any, kind: type) -> bool:
    """The type of value is kind or a subclass; nothing of the user's is asked."""
    return any(each is kind for each in mro_of(type(value)))


def has_len(value: Any) -> bool:
    """len(value) means something: its class or a base has a __len__."""
    return found_in_mro(type(value), "__len__") is not MISSING


def mro_of(kind: Any) -> tuple:
    return type.__dict__["__mro__"].__get__(kind)


def dict_of_type(kind: Any) -> dict:
    return dict(type.__dict__["__dict__"].__get__(kind))


def dict_of_module(module: Any) -> dict:
    return types.ModuleType.__dict__["__dict__"].__get__(module)


def is_a_set(value: Any) -> bool:
    return is_a(value, set) or is_a(value, frozenset)


def is_exact_set(value: Any) -> bool:
    return type(value) is set or type(value) is frozenset


def plain_contains(value: Any, item: Any) -> bool:
    """item in value, by the set's own rules."""
    kind = set if is_a(value, set) else frozenset
    return kind.__contains__(value, item)


def plain_list(value: Any) -> list:
    """The elements of a set, by the set's own rules."""
    kind = set if is_a(value, set) else frozenset
    return list(kind.__iter__(value))


def plain_deque_item(value: Any, index: int) -> Any:
    return list(collections.deque.__iter__(value))[index]


def is_unchanged(value: Any, expected: dict) -> bool:
    """Nothing changes a dict while the oracle is asked."""
    return value is expected


def named(entries: Any, name: str) -> Any:
    """The value of an exact str among keys of any kind, or MISSING."""
    for key, value in dict.items(entries):
        if type(key) is str and key == name:
            return value
    return MISSING


def found_in_mro(kind: type, name: str) -> Any:
    for each in mro_of(kind):
        found = named(dict_of_type(each), name)
        if found is not MISSING:
            return found
    return MISSING


def own_dict(value: Any) -> dict:
    """The dict of an instance, by the descriptor that C gave its type."""
    getters = (types.GetSetDescriptorType, types.MemberDescriptorType)
    for each in mro_of(type(value)):
        found = named(dict_of_type(each), "__dict__")
        if any(type(found) is getter for getter in getters):
            return found.__get__(value, type(value))
    return {}


def has_static(value: Any, name: str) -> bool:
    """The attribute is kept somewhere: in a class, a slot, the instance's dict."""
    is_type = is_a(value, type)
    if is_type and found_in_mro(value, name) is not MISSING:
        return True
    found = found_in_mro(type(value), name)
    if type(found) is types.MemberDescriptorType:
        try:
            found.__get__(value, type(value))
        except AttributeError:
            return False
    if found is not MISSING:
        return True
    return not is_type and named(own_dict(value), name) is not MISSING


def slot_value(value: Any, name: str) -> Any:
    """What a slot holds; numbers in C structs are no slots."""
    found = found_in_mro(type(value), name)
    if type(found) is not types.MemberDescriptorType:
        raise LookupError(name)
    content = found.__get__(value, type(value))
    if type(value) is complex or type(value) is float:
        raise LookupError(name)
    return content


def left_of(iterator: Any) -> list:
    """What a tuple's iterator will still give; it is not advanced."""
    if type(iterator) is not type(iter(())):
        raise TypeError(iterator)
    return list(copy.copy(iterator))


def is_left(iterator: Any, expected: range) -> bool:
    """A range's iterator will give what the other range has."""
    is_iterator = type(iterator) is type(iter(range(0)))
    return is_iterator and list(copy.copy(iterator)) == list(expected)


def plain_function(value: Any) -> types.FunctionType:
    if type(value) is not types.FunctionType:
        raise TypeError(value)
    return value


def bound_method(value: Any) -> types.MethodType:
    if type(value) is not types.MethodType:
        raise TypeError(value)
    return value


def cell_content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def parts_of(function: types.FunctionType) -> list:
    """What a function is made of; separators keep the groups apart."""
    keywords = (function.__kwdefaults__ or {}).items()
    return [
        function.__code__,
        *map(cell_content, function.__closure__ or ()), tuple,
        *(function.__defaults__ or ()), dict,
        *(part for pair in keywords for part in pair),
    ]  # fmt: skip


def is_same_function(value: Any, expected: types.FunctionType) -> bool:
    if type(value) is not types.FunctionType:
        return False
    parts, others = parts_of(value), parts_of(expected)
    return len(parts) == len(others) and all(a is b for a, b in zip(parts, others))


def live_referent(value: Any) -> Any:
    found = weakref.ref.__call__(value)
    if found is None:
        raise LookupError(value)
    return found


def nan_of_bits(bits: int) -> float:
    return struct.unpack("d", struct.pack("Q", bits))[0]


# C functions of the signatures that native and native_get take.
NativeCheck = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
NativeGet = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)


def pointer_in(capsule: Any, name: bytes) -> Any:
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype = ctypes.c_void_p
    read.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return read(capsule, name)


def call_native(capsule: Any, value: Any) -> bool:
    return NativeCheck(pointer_in(capsule, b"guardtree.native_check"))(value, None) > 0


def get_native(capsule: Any, value: Any) -> Any:
    return NativeGet(pointer_in(capsule, b"guardtree.native_get"))(value, None)


def dict_has(value: Any, key: Any) -> bool | None:
    """Whether a dict has a key; None where its __eq__ or another value would say."""
    if not is_a(value, dict):
        return None
    rivals = [k for k in dict.keys(value) if hash(k) == hash(key)]
    if not all(k is key or is_plain(k) for k in rivals):
        return None
    return dict.__contains__(value, key)


def instance_attr(value: Any, name: str) -> Any:
    """An entry of the value's own dict, found as CPython itself finds the dict."""
    if is_a(value, type):
        raise KeyError(name)
    return plain_dict_item(own_dict(value), name)


def has_instance_attr(value: Any, name: str) -> bool | None:
    """dict_has of the value's own dict; classes have none."""
    return not is_a(value, type) and dict_has(own_dict(value), name)


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
    if step == "generic_attr":
        return isinstance(error, AttributeError)
    if step == "slot":
        return isinstance(error, (AttributeError, LookupError))
    if step == "call":
        return not callable(parent)
    if step in ("compute", "native_get"):
        return False
    if step in ("size", "storage_offset"):
        return isinstance(error, (AttributeError, LookupError, TypeError))
    if step == "closure_cell":
        return isinstance(error, (LookupError, TypeError, ValueError))
    return isinstance(error, (LookupError, TypeError))


# The types that CPython gives no name in builtins, by the names they print.
UNNAMED = {
    kind.__name__: kind
    for kind in (*vars(types).values(), type(iter(())), type(iter(range(0))))
    if isinstance(kind, type)
}

HELPERS = [
    same_constant, has_builtin_len, plain_dict_item, instance_attr, is_a, mro_of,
    has_instance_attr,
    dict_has, has_len, is_exact_set, dict_of_type, dict_of_module, is_a_set,
    plain_contains, plain_list, plain_deque_item,
    is_unchanged, has_static, slot_value, left_of, is_left, plain_function,
    bound_method, is_same_function, live_referent, nan_of_bits, call_native, get_native,
]  # fmt: skip

NAMESPACE: dict[str, Any] = {
    **UNNAMED,
    **{helper.__name__: helper for helper in HELPERS},
    "weak_reference": weakref.ref,
    "nan": float("nan"),
    "inf": float("inf"),
}


@functools.lru_cache(maxsize=4096)
def code_of(text: str) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a printed `x is 1` is meant
        return compile(text, "<guard>", "eval")


def is_same_syntax(one: Any, other: Any) -> bool:
    """Equal trees. ast.dump is not asked: it prints integers, and long ones raise."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(
            is_same_syntax(getattr(one, field), getattr(other, field))
            for field in one._fields
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same_syntax, one, other))
    return one == other


class Fetched(ast.NodeTransformer):
    """Puts a name in the place of an expression, wherever it stands in another."""

    def __init__(self, expression: str) -> None:
        self.wanted = ast.parse(expression, mode="eval").body

    def visit(self, node: ast.AST) -> ast.AST:
        if is_same_syntax(node, self.wanted):
            return ast.copy_location(ast.Name("fetched_before", ast.Load()), node)
        return self.generic_visit(node)


@functools.lru_cache(maxsize=4096)
def code_beyond(path: str, parent_path: str) -> types.CodeType:
    """The code of a path that takes what its parent gave from `fetched_before`."""
    tree = Fetched(parent_path).visit(ast.parse(path, mode="eval"))
    return compile(tree, "<guard>", "eval")


def value_of(
    path: str, parent_path: str, names: dict[str, Any], fetched: dict[str, Any]
) -> Any:
    """The value of a path. A step from one that is known starts there: evaluated again
    it might make another object (`array[True]` does)."""
    if not parent_path:
        return eval(code_of(path), names)
    before = {"fetched_before": fetched[parent_path]}
    return eval(code_beyond(path, parent_path), {**names, **before})


def node_verdict(
    node: tuple, parent_path: str, names: dict[str, Any], fetched: dict[str, Any]
) -> str:
    """The first answer below and at the node that is not `pass`, else `pass`."""
    step, path, checks, children = node
    try:
        fetched[path] = value_of(path, parent_path, names, fetched)
    except RecursionError:
        raise  # the oracle's own limit says nothing of the guards
    except Exception as error:
        if not is_absent(step, error, fetched.get(parent_path)):
            return "error"
        # A local is read by what is asked of it: here, by relations alone.
        return "pass" if step == "local" and not checks and not children else "fail"
    for check in checks:
        try:
            if not eval(code_of(check), names):
                return "fail"
        except Exception:
            return "error"
    return tree_verdict(children, names, fetched, path)


def tree_verdict(
    nodes: list[tuple],
    names: dict[str, Any],
    fetched: dict[str, Any],
    parent_path: str = "",
) -> str:
    """`pass`, `fail` or `error`, evaluated in order, stopping at the first non-pass."""
    for node in nodes:
        answer = node_verdict(node, parent_path, names, fetched)
        if answer != "pass":
            return answer
    return "pass"


def verdict(
    nodes: list[tuple],
    relations: list[tuple[str, list[str]]],
    f_locals: dict[str, Any],
    f_globals: dict[str, Any],
    f_builtins: dict[str, Any],
) -> str:
    """The answer of a tree; names of `f_globals` serve operands too."""
    names = {**f_globals, **NAMESPACE, **f_locals}
    names.update(G=f_globals, B=f_builtins, L=f_locals)
    fetched: dict[str, Any] = {}
    answer = tree_verdict(nodes, names, fetched)
    for text, paths in relations if answer == "pass" else ():
        if not fetched.keys() >= set(paths):
            return "fail"
        values = {f"v{i}": fetched[path] for i, path in enumerate(paths)}
        # holds() is of oracle_relations.py: relations cannot raise.
        if not names["holds"](text, {**names, **values}):
            return "fail"
    return answer
