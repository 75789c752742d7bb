"""Tables whose entries differ in one operand, for each kind and step that can tell
many values apart.

`python flat_tables.py [name ...]` finds the last entry of tables with 1 entry and with
64 (GUARDTREE_TEST_LONG=1: and with 1,024). Callgrind, told to write its counts before
each call of `os.getloadavg`, counts what lies between two.
"""

from __future__ import annotations

import contextvars
import gc
import os
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import guardtree as gt

SIZES = (1, 64, 1024) if "GUARDTREE_TEST_LONG" in os.environ else (1, 64)

REPEATS = 3
"""The allocator of CPython does more at some calls; the fewest instructions count."""

Add = Callable[[Any, int, Any], object]
"""Adds the guards of one entry to the node of `x`: (node, number, value)."""
Value = Callable[[int], Any]
"""What passes the guards of an entry, by its number."""

KINDS: dict[str, tuple[Add, Value]] = {}
"""By the name of the kind, with what the operand is where there are several."""
STEPS: dict[str, tuple[Callable[[Any], Any], Value, Callable[[Any], Any] | None]] = {}
"""The step, values, and what it fetches from a value (None: the entry's number)."""
ROOTS: dict[str, tuple[Add, Callable[[int], None]]] = {}
"""Steps from the root, and what makes an entry pass."""

NOT_FLAT = {
    "there are three signs": "int_sign",
    "it passes all values but few": """
        dict_lacks lacks_attr lacks_instance_attr lacks_plain_attr lacks_static_attr
        not_ set_lacks""",
    "a number has many divisors, and no key that tells which": """
        data_aligned divisible_by""",
    "it calls a function of the user": """
        call compute mapping_keys native native_get native_pure python""",
    "its dict is made only where a guard needs it": "f_locals",
    "only torch's tensors have one that is not 0": "storage_offset",
    "the module is the same for all entries": "module",
}
"""Kinds and steps whose entries are tried in order, and why. A kind without operands
tells no entries apart."""

kept: list[Any] = []


def held(value: Any) -> Any:
    kept.append(value)
    return value


class Plain:
    def __init__(self, idx: int) -> None:
        self.idx = idx
        self.mode = "a"


class Slotted:
    __slots__ = ("idx",)

    def __init__(self, idx: int) -> None:
        self.idx = idx


def instance_of_own_class(i: int) -> Any:
    return type(f"T{i}", (), {f"a{i}": i})()


def own_class(i: int) -> Any:
    return type(f"T{i}", (), {"c": i})


def function(i: int) -> Any:
    cell = i

    def made(a: int = i, *, k: int = i) -> int:
        return cell

    return made


def function_of_globals(i: int) -> Any:
    return types.FunctionType(function.__code__, {"g": i})


def function_of_code(i: int) -> Any:
    return eval(f"lambda: {i}")


def module_with(i: int) -> types.ModuleType:
    module = types.ModuleType(f"m{i}")
    module.c = i  # type: ignore[attr-defined]
    return module


def tensor(*shape: int) -> Any:
    import numpy

    return numpy.zeros(shape, "f")


KINDS.update({
    "any_of": (
        lambda node, i, _: node.any_of((("equals", i), ("equals", -i - 1))),
        lambda i: i,
    ),
    "any_of, containers": (
        lambda node, i, _: node.any_of((("equals", [i]), ("equals", (i, -1)))),
        lambda i: (i, -1),
    ),
    "dict_contains": (lambda node, i, _: node.dict_contains(i), lambda i: {i: 0}),
    "dict_key_set": (lambda node, i, _: node.dict_key_set({i}), lambda i: {i: 0}),
    "dict_keys": (lambda node, i, _: node.dict_keys((i,)), lambda i: {i: 0}),
    "dict_version": (lambda node, _, value: node.dict_version(value), lambda i: {i: 0}),
    "equals": (lambda node, i, _: node.equals(i), lambda i: i),
    "equals, bytes": (lambda node, i, value: node.equals(value), lambda i: b"%d" % i),
    "equals, dict": (lambda node, i, value: node.equals(value), lambda i: {"a": i}),
    "equals, float": (lambda node, i, value: node.equals(value), lambda i: i + 0.5),
    "equals, large int": (lambda node, i, v: node.equals(v), lambda i: 2**70 + i),
    "equals, list": (lambda node, i, value: node.equals(value), lambda i: [i, "a"]),
    "equals, set": (lambda node, i, value: node.equals(value), lambda i: {i, "a"}),
    "equals, str": (lambda node, i, value: node.equals(value), str),
    "equals, tuple": (lambda node, i, value: node.equals(value), lambda i: (i, "a")),
    "function_match": (lambda node, _, v: node.function_match(v), function_of_code),
    "has_attr": (lambda node, i, _: node.has_attr(f"a{i}"), instance_of_own_class),
    "has_attr, instance": (
        lambda node, i, _: node.has_attr(f"a{i}"),
        lambda i: types.SimpleNamespace(**{f"a{i}": 1}),
    ),
    "has_static_attr": (
        lambda node, i, _: node.has_static_attr(f"a{i}"),
        instance_of_own_class,
    ),
    "id_match": (lambda node, _, value: node.id_match(value), Plain),
    "id_match_held": (lambda node, _, value: node.id_match_held(value), Plain),
    "instance_of": (
        lambda node, _, value: node.instance_of(type(value)),
        instance_of_own_class,
    ),
    "int_range": (lambda node, i, _: node.int_range(9 * i, 9 * i + 5), lambda i: 9 * i),
    "int_range, one": (lambda node, i, _: node.int_range(i, i), lambda i: i),
    "length": (lambda node, i, _: node.length(i), lambda i: [0] * i),
    "one_of": (lambda node, i, _: node.one_of((i, -i - 1)), lambda i: i),
    "range_iterator": (
        lambda node, i, _: node.range_iterator(range(i, 2 * i + 1)),
        lambda i: iter(range(i, 2 * i + 1)),
    ),
    "set_contains": (lambda node, i, _: node.set_contains(i), lambda i: {i}),
    "set_equals": (lambda node, i, _: node.set_equals({i}), lambda i: {i}),
    "str_prefix": (lambda n, i, _: n.str_prefix(f"{i:04}"), lambda i: f"{i:04}x"),
    "tensor_match": (lambda node, _, v: node.tensor_match(v), lambda i: tensor(i, 2)),
    "tuple_iterator_length": (
        lambda node, i, _: node.tuple_iterator_length(i),
        lambda i: iter((0,) * i),
    ),
    "type_match": (lambda node, _, v: node.type_match(type(v)), instance_of_own_class),
    "type_version": (lambda node, _, value: node.type_version(value), own_class),
    "user_length": (lambda node, i, _: node.user_length(i), lambda i: [0] * i),
})  # fmt: skip

STEPS.update({
    "attr": (lambda node: node.attr("idx"), Plain, None),
    "attr, slot": (lambda node: node.attr("idx"), Slotted, None),
    "closure_cell": (lambda node: node.closure_cell(0), function, None),
    "code": (lambda node: node.code(), function_of_code, lambda v: v.__code__),
    "defaults": (lambda node: node.defaults().tuple_item(0), function, None),
    "deque_item": (lambda node: node.deque_item(0), lambda i: deque([i]), None),
    "dict_item": (lambda node: node.dict_item("k"), lambda i: {"k": i}, None),
    "dict_key": (lambda node: node.dict_key(0), lambda i: {i: 0}, None),
    "dict_value": (lambda node: node.dict_value(0), lambda i: {0: i}, None),
    "function_globals": (
        lambda node: node.function_globals().dict_item("g"),
        function_of_globals,
        None,
    ),
    "generic_attr": (lambda node: node.generic_attr("idx"), Plain, None),
    "instance_attr": (lambda node: node.instance_attr("idx"), Plain, None),
    "item": (lambda node: node.item(0), lambda i: [i], None),
    "item, dict": (lambda node: node.item("k"), lambda i: {"k": i}, None),
    "kwdefaults": (lambda node: node.kwdefaults().dict_item("k"), function, None),
    "list_item": (lambda node: node.list_item(0), lambda i: [i], None),
    "method_function": (
        lambda node: node.method_function(),
        lambda i: types.MethodType(function(i), 3),
        lambda value: value.__func__,
    ),
    "method_self": (
        lambda node: node.method_self().instance_attr("idx"),
        lambda i: types.MethodType(function(0), Plain(i)),
        None,
    ),
    "module_attr": (lambda node: node.module_attr("c"), module_with, None),
    "mro": (lambda node: node.mro().tuple_item(0), own_class, lambda value: value),
    "plain_attr": (lambda node: node.plain_attr("idx"), Plain, None),
    "referent": (
        lambda node: node.referent().instance_attr("idx"),
        lambda i: weakref.ref(held(Plain(i))),
        None,
    ),
    "set_item": (lambda node: node.set_item(0), lambda i: {i}, None),
    "size": (lambda node: node.size(0), lambda i: tensor(i), None),
    "slot": (lambda node: node.slot("idx"), Slotted, None),
    "stride": (
        lambda node: node.stride(0),
        lambda i: tensor(2, i),
        lambda value: value.strides[0],
    ),
    "tuple_item": (lambda node: node.tuple_item(0), lambda i: (i,), None),
    "tuple_iterator_item": (
        lambda node: node.tuple_iterator_item(0),
        lambda i: iter((i,)),
        None,
    ),
    "type": (lambda node: node.type(), instance_of_own_class, type),
    "type_dict": (lambda node: node.type_dict().dict_item("c"), own_class, None),
})  # fmt: skip

TEXTS: dict[str, tuple[str, Value]] = {
    "text: an attribute": ("x.idx == {i}", Plain),
    "text: two attributes": ("x.mode == 'a' and x.idx == {i}", Plain),
    "text: an item": ("x[0] == {i}", lambda i: [i]),
    "text: an attribute and an item": (
        "x.mode == 'a' and x.idx[0] == {i}",
        lambda i: Plain([i]),  # type: ignore[arg-type]
    ),
}

SETTING = 0
variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable")


def subject(x: Any, y: Any = None) -> Any:
    return x, SETTING


def enclosing() -> tuple[Any, Callable[[int], None]]:
    cell = 0

    def inner(x: Any) -> Any:
        return x, cell

    def set_cell(i: int) -> None:
        nonlocal cell
        cell = i

    return inner, set_cell


inner, set_cell = enclosing()


def set_global(i: int) -> None:
    globals()["SETTING"] = i


def set_builtin(i: int) -> None:
    import builtins

    vars(builtins)["_setting"] = i


ROOTS.update({
    "builtin": (
        lambda guards, i, _: guards.builtin("_setting").equals(i),
        set_builtin,
    ),
    "closure": (lambda guards, i, _: guards.closure("cell").equals(i), set_cell),
    "context_var": (
        lambda guards, i, _: guards.context_var(variable).equals(i),
        lambda i: variable.set(i) and None,
    ),
    "global_": (lambda guards, i, _: guards.global_("SETTING").equals(i), set_global),
    "local": (lambda guards, i, _: guards.local("x").equals(i), lambda _: None),
})  # fmt: skip


def of_values() -> dict[str, tuple[Add, Value]]:
    """The kinds, and each step with the key behind it and before it."""
    found = dict(KINDS)
    for name, (step, value, fetched) in STEPS.items():
        found[f"{name}: the key behind it"] = partial(behind, step, fetched), value
        found[f"{name}: the key before it"] = partial(before, step), value
    return found


def behind(step: Any, fetched: Any, node: Any, i: int, value: Any) -> None:
    expected = fetched(value) if fetched else i
    if isinstance(expected, int):
        step(node).equals(expected)
    else:
        step(node).id_match(expected)


def before(step: Any, node: Any, _: int, value: Any) -> None:
    node.id_match(value)
    step(node).is_not_none()


def table_of(entries: Sequence[gt.GuardManager], function: Any, x: Any) -> Any:
    table = gt.Table(function)
    for i, guards in enumerate(entries):
        table.add(guards, i)
    return partial(table.lookup_call, x)


def found_by_value(n: int, add: Add, value: Value) -> Any:
    values = held([value(i) for i in range(n)])
    entries = []
    for i, each in enumerate(values):
        entries.append(gt.GuardManager(subject))
        add(entries[-1].local("x"), i, each)
    return table_of(entries, subject, values[-1])


def found_by_text(n: int, text: str, value: Value) -> Any:
    entries = [gt.parse(text.format(i=i), subject) for i in range(n)]
    return table_of(entries, subject, held(value(n - 1)))


def found_by_root(n: int, function: Any, add: Add, choose: Callable[[int], Any]) -> Any:
    entries = [gt.GuardManager(function) for _ in range(n)]
    for i, guards in enumerate(entries):
        add(guards, i, None)
    choose(n - 1)
    return table_of(entries, function, n - 1)


def cases() -> dict[str, Callable[[int], Callable[[], Any]]]:
    """By name: a function that makes a table of n entries, and returns a look-up that
    finds the last one."""
    made: dict[str, Callable[[int], Callable[[], Any]]] = {}
    for name, (add, value) in of_values().items():
        made[name] = partial(found_by_value, add=add, value=value)
    for name, (text, value) in TEXTS.items():
        made[name] = partial(found_by_text, text=text, value=value)
    for name, (add, choose) in ROOTS.items():
        function = inner if name == "closure" else subject
        made[name] = partial(found_by_root, function=function, add=add, choose=choose)
    return made


def counted(names: list[str]) -> None:
    """First nothing, then each case at each size, each REPEATS times between marks."""
    all_cases = cases()
    for _ in range(REPEATS):
        os.getloadavg()
        os.getloadavg()
    for name in names or all_cases:
        for size in SIZES:
            find = all_cases[name](size)
            for _ in range(4):
                assert find() == size - 1, (name, size, find())
            gc.collect()
            gc.disable()
            for _ in range(REPEATS):
                os.getloadavg()
                find()
                os.getloadavg()
            gc.enable()


if __name__ == "__main__":
    counted(sys.argv[1:])
