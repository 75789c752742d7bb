"""What the demo's compiler knows of an expression's value, and what that rests on."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

SCALARS = frozenset({str, bytes, int, float, bool, type(None)})
"""Types whose values never change and whose operators run no user code."""

IMMUTABLE_TYPE = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE: neither the type nor an instance's type can change."""

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}

_FINDING = {"startswith": bool, "endswith": bool, "find": int, "rfind": int}
METHODS: Mapping[type, dict[str, type]] = MappingProxyType(
    {
        str: {**_FINDING, "lower": str, "upper": str, "strip": str, "rstrip": str},
        bytes: {**_FINDING, "lower": bytes, "strip": bytes, "rstrip": bytes},
    }
)
"""Methods that run no user code when all arguments are scalars: name -> result."""


@dataclass(frozen=True)
class Need:
    """A guard at the function's entry: one kind on one root."""

    root: str  # "local", "closure" or "global"
    name: str
    kind: str
    operand: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Check:
    """An identity that the new code compares where it uses it: `node is expected`."""

    node: ast.expr
    expected: object
    cost: float
    is_builtin: bool = False


@dataclass(frozen=True)
class Known:
    """A property of a value, with the guards and checks that make it true."""

    what: Any
    needs: frozenset[Need] = frozenset()
    checks: tuple[Check, ...] = ()

    def and_(self, *others: Known) -> Known:
        """The same property, resting on what the others rest on too."""
        needs = self.needs.union(*(other.needs for other in others))
        checks = sum((other.checks for other in others), self.checks)
        return Known(self.what, needs, checks)


@dataclass(frozen=True)
class Value:
    """An expression and the properties known of it; None where nothing is known."""

    node: ast.expr
    type: Known | None = None  # its exact type
    const: Known | None = None  # the value itself
    none: Known | None = None  # whether it is None
    length: Known | None = None
    items: tuple[Value, ...] | None = None  # what unpacking it gives
    safe: bool = False  # evaluating it cannot raise and runs no user code

    def at(self, node: ast.expr) -> Value:
        """The same properties, for another expression."""
        return replace(self, node=node)


def constant(
    node: ast.expr, value: Any, known: Known | None = None, none: bool = True
) -> Value:
    """An expression of known value."""
    base = known or Known(value)
    return Value(
        node,
        type=replace(base, what=type(value)),
        const=replace(base, what=value),
        none=replace(base, what=value is None) if none else None,
    )


def of_type(node: ast.expr, type_: type, *rests_on: Known) -> Value:
    """An expression of known type."""
    known = Known(type_).and_(*rests_on)
    return Value(node, type=known, none=replace(known, what=type_ is type(None)))


def equality_need(root: str, name: str, value: Any) -> Need:
    """The cheapest guard which says that a root is this scalar."""
    if value is None:
        return Need(root, name, "is_none")
    if type(value) is bool:
        return Need(root, name, "is_true" if value else "is_false")
    return Need(root, name, "equals", (value,))


def parameter(name: str, value: Any, as_constant: bool) -> Value:
    """An argument that was seen with `value`, which the compiler may hold on to."""
    node = ast.Name(name, ast.Load())
    exact = type(value)
    by_type = Known(exact, frozenset({Need("local", name, "type_match", (exact,))}))
    need = Need("local", name, "is_none" if value is None else "is_not_none")
    none = Known(value is None, frozenset({need}))
    if as_constant and exact in SCALARS:
        by_value = Known(value, frozenset({equality_need("local", name, value)}))
        return Value(node, type=by_type, const=by_value, none=none)
    length = None
    if exact is tuple and len(value) <= 3:
        need = Need("local", name, "length", (len(value),))
        length = Known(len(value), frozenset({need, *by_type.needs}))
    return Value(node, type=by_type, none=none, length=length)


def rest_parameter(name: str, value: tuple[Any, ...]) -> Value:
    """The tuple of `*name`: a tuple whoever calls, of the length that was seen."""
    need = frozenset({Need("local", name, "length", (len(value),))})
    length = Known(len(value), need) if len(value) <= 3 else None
    node = ast.Name(name, ast.Load())
    return Value(node, type=Known(tuple), none=Known(False), length=length)


def is_atom(node: ast.expr) -> bool:
    """A name or a constant: if its value is known, it need not be evaluated."""
    return isinstance(node, (ast.Name, ast.Constant))


def truth(value: Value) -> Known | None:
    """Whether the expression is true, where that is known without a check."""
    for known in (value.const, value.length, value.none):
        if known is None or known.checks:
            continue
        if known is value.const and type(known.what) in SCALARS:
            return replace(known, what=bool(known.what))
        if known is value.length:
            return replace(known, what=known.what > 0)
        if known is value.none and known.what:
            return replace(known, what=False)
    return None


def computed(operation: ast.AST, left: Any, right: Any) -> Any:
    """What an operator makes of two scalars; raises if that is not a small scalar."""
    if isinstance(operation, ast.Pow) and not (
        type(left) is int and type(right) is int and 0 <= right <= 64 and left < 1 << 16
    ):
        raise ValueError("a power that may be large")
    numbers = {type(left), type(right)} <= {int, float, bool}
    if isinstance(operation, ast.Mult) and not numbers:
        raise ValueError("a repetition that may be long")
    return small(OPERATORS[type(operation)](left, right))


def small(result: Any) -> Any:
    """The result itself, if it is a scalar that a code object should carry."""
    if type(result) not in SCALARS:
        raise ValueError("not a scalar")
    if type(result) in (str, bytes) and len(result) > 4096:
        raise ValueError("too long")
    return result


def is_instance(exact: type, classes: tuple[Any, ...]) -> bool | None:
    """isinstance() for a value of that exact type, if nothing can change the answer."""
    if not all(_is_plain_class(each) or each is exact for each in classes):
        return None
    if exact in classes:
        return (
            True  # CPython asks for identity first; others before it run no user code
        )
    return issubclass(exact, classes) if _is_plain_class(exact) else None


def _is_plain_class(value: Any) -> bool:
    return type(value) is type and bool(value.__flags__ & IMMUTABLE_TYPE)


def join(one: Value, other: Value) -> Value:
    """What is known of a value that came one way or the other."""
    return Value(
        one.node,
        type=_agree(one.type, other.type),
        const=_agree(one.const, other.const),
        none=_agree(one.none, other.none),
        length=_agree(one.length, other.length),
    )


def _agree(one: Known | None, other: Known | None) -> Known | None:
    if one is None or other is None:
        return None
    same = one.what is other.what or (
        type(one.what) is type(other.what)
        and type(one.what) in (int, bool, str, bytes)
        and one.what == other.what
    )
    return one.and_(other) if same else None
