"""Trials of every kind and step by itself: made, checked, printed and written."""

from __future__ import annotations

import contextvars
import math
import sys
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import guardtree as gt
from guardtree.semantics import pure_is_int
from trials import of, plain

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

VARIABLE = contextvars.ContextVar("VARIABLE", default=1)
GLOBAL = 1


def enclosing() -> Any:
    cell = 1

    def scope(a: Any, b: Any = 2, *, k: Any = 3) -> Any:
        return a, b, k, cell

    return scope


SCOPE = enclosing()


class Slotted:
    __slots__ = ("__weakref__", "slot")
    constant = 1

    def __init__(self) -> None:
        self.slot = 1

    def method(self) -> None: ...


class Plain:
    constant = 1

    def __init__(self) -> None:
        self.name = 1


SLOTTED, PLAIN = Slotted(), Plain()
REFERENCE = weakref.ref(SLOTTED)


def advanced() -> Any:
    iterator = iter((1, 2, 3))
    next(iterator)
    return iterator


# A path from `a`, or from the root, and what it starts from.
STEPS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "builtin": (lambda g: g.builtin("len"), 0),
    "closure": (lambda g: g.closure("cell"), 0),
    "closure_cell": (lambda g: g.local("a").closure_cell(0), SCOPE),
    "code": (lambda g: g.local("a").code(), SCOPE),
    "context_var": (lambda g: g.context_var(VARIABLE), 0),
    "defaults": (lambda g: g.local("a").defaults(), SCOPE),
    "function_globals": (lambda g: g.local("a").function_globals(), SCOPE),
    "global_": (lambda g: g.global_("GLOBAL"), 0),
    "instance_attr": (lambda g: g.local("a").instance_attr("name"), PLAIN),
    "kwdefaults": (lambda g: g.local("a").kwdefaults(), SCOPE),
    "method_function": (lambda g: g.local("a").method_function(), SLOTTED.method),
    "method_self": (lambda g: g.local("a").method_self(), SLOTTED.method),
    "module": (lambda g: g.module("sys"), 0),
    "module_attr": (lambda g: g.local("a").module_attr("path"), sys),
    "mro": (lambda g: g.local("a").mro(), Plain),
    "plain_attr": (lambda g: g.local("a").plain_attr("name"), PLAIN),
    "referent": (lambda g: g.local("a").referent(), REFERENCE),
    "slot": (lambda g: g.local("a").slot("slot"), SLOTTED),
    "tuple_iterator_item": (lambda g: g.local("a").tuple_iterator_item(0), advanced),
    "type": (lambda g: g.local("a").type(), PLAIN),
    "type_dict": (lambda g: g.local("a").type_dict(), Plain),
}
KINDS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "complex_is_nan": ((), complex(math.nan, 1)),
    "divisible_by": ((3,), 9),
    "exists": ((), 1),
    "float_is_nan": ((), math.nan),
    "function_match": ((SCOPE,), SCOPE),
    "has_static_attr": (("constant",), PLAIN),
    "id_match": ((PLAIN,), PLAIN),
    "instance_of": ((Plain,), PLAIN),
    "int_range": ((1, 5), 3),
    "int_sign": ((1,), 3),
    "is_false": ((), False),
    "is_none": ((), None),
    "is_not_none": ((), 1),
    "is_true": ((), True),
    "lacks_instance_attr": (("missing",), PLAIN),
    "lacks_plain_attr": (("missing",), PLAIN),
    "lacks_static_attr": (("missing",), PLAIN),
    "length": ((2,), [1, 2]),
    "native_pure": ((pure_is_int,), 1),
    "range_iterator": ((range(1, 9),), lambda: iter(range(1, 9))),
    "tuple_iterator_length": ((2,), advanced),
    "type_version": ((Plain,), Plain),
    "weakref_alive": ((), REFERENCE),
    "type_match": ((Plain,), PLAIN),
    "python": ((bool,), 1),
}


def looked(guards: gt.GuardManager, value: Any) -> Any:
    value = value() if isinstance(value, FunctionType) and (
        value.__name__ in ("advanced", "<lambda>")
    ) else value  # fmt: skip
    return [guards.check({"a": value}), str(guards), plain(guards)]


for name, (path, value) in STEPS.items():

    def step(path: Any = path, value: Any = value) -> Any:
        guards = gt.GuardManager(SCOPE)
        found = path(guards).is_not_none()
        return [looked(guards, value), found.path, found.step]

    of(f"GuardManager.{name}", step)
for name, (operands, value) in KINDS.items():

    def kind(name: str = name, operands: Any = operands, value: Any = value) -> Any:
        guards = gt.GuardManager(SCOPE)
        getattr(guards.local("a"), name)(*operands)
        return [looked(guards, value), plain(guards.checks()[0].operands)]

    of(f"GuardManager.{name}", kind)


def integers() -> Any:
    guards = gt.GuardManager(SCOPE)
    guards.integers("x < y + 1", x=guards.local("a"), y=guards.local("b"))
    return [guards.check({"a": 1, "b": 2}), str(guards.explain({"a": 5, "b": 2}))]


of("GuardManager.integers", integers)


# Tensors.


def of_arrays() -> Any:
    assert numpy is not None
    array = ARRAYS[0]
    guards = gt.GuardManager(SCOPE)
    guards.local("a").tensor_match(gt.TensorSpec.of(array).replace(shape=(2, None)))
    guards.local("a").data_aligned(8).size(0).equals(2)
    guards.local("a").stride(0).equals(24)
    guards.overlapping_memory(((0, 1),), guards.local("a"), guards.local("b"))
    values = {"a": array, "b": array}
    return [guards.check(values), str(guards)]


if numpy is not None:
    ARRAYS = [numpy.zeros((2, 3))]
    of("tensors of NumPy", of_arrays)
