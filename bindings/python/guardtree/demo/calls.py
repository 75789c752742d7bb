"""Calls that the demo's compiler folds: type tests, conversions, small functions."""

from __future__ import annotations

import ast
import operator
import os
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from .fold import Folder, rebuilt
from .inline import reduced
from .values import (
    IMMUTABLE_TYPE,
    METHODS,
    SCALARS,
    Check,
    Known,
    Value,
    constant,
    is_atom,
    is_instance,
    of_type,
    small,
)

FINDING = ("startswith", "endswith", "find", "rfind")


def visit_call(folder: Folder, node: ast.Call) -> Value:
    target = resolved(folder, node.func)
    if target and not node.keywords and not any(map(_is_starred, node.args)):
        before = folder.state()
        result = folded(folder, node, target)
        if result is not None:
            return result
        folder.restore(before)
    if isinstance(node.func, ast.Attribute):
        return method_call(folder, node, node.func)
    function = folder.visit(node.func)
    return any_call(folder, node, function.node)[0]


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def any_call(
    folder: Folder, node: ast.Call, function: ast.expr
) -> tuple[Value, list[Value]]:
    """A call of which nothing is known, and its positional arguments."""
    arguments = [folder.visit(each) for each in node.args]
    keywords = []
    for each in node.keywords:
        value = folder.visit(each.value).node
        keywords.append(rebuilt(each, value=value))
        if each.arg is None:
            folder.soil()
    args = [each.node for each in arguments]
    made = rebuilt(node, func=function, args=args, keywords=keywords)
    is_method = isinstance(function, ast.Attribute)
    if not is_method:
        folder.soil()
    return Value(made), arguments


def method_call(folder: Folder, node: ast.Call, function: ast.Attribute) -> Value:
    receiver = folder.visit(function.value)
    exact = receiver.type.what if receiver.type and not receiver.type.checks else None
    if exact not in SCALARS:
        folder.soil()  # loading the attribute
    made = rebuilt(function, value=receiver.node)
    value, arguments = any_call(folder, node, made)
    types = [each.type for each in arguments if each.type and not each.type.checks]
    returns = METHODS.get(exact, {}).get(function.attr) if exact else None
    if len(types) == len(node.args) and not node.keywords and receiver.type:
        result = _constant_method(folder, node, receiver, arguments)
        if result is not None:
            return result
        if returns and {each.what for each in types} <= SCALARS:
            folder.lean(receiver.type, *types)
            typed = of_type(value.node, returns, receiver.type, *types)
            same = {each.what for each in types} <= {exact}
            safe = same and function.attr in FINDING and is_atom(receiver.node)
            return replace(typed, safe=safe and all(map(is_atom, node.args)))
    folder.soil()
    return value


def _constant_method(
    folder: Folder, node: ast.Call, receiver: Value, arguments: list[Value]
) -> Value | None:
    """A method of a known scalar with known scalars; only those that hang on nothing
    but their arguments."""
    assert isinstance(node.func, ast.Attribute)
    known = [each.const for each in (receiver, *arguments)]
    whats = [each.what for each in known if each]
    if len(whats) != len(known) or type(whats[0]) not in (str, bytes):
        return None
    name = node.func.attr
    codecs = {"ascii", "utf-8", "utf8", "latin-1"}, {"strict", "ignore"}
    if name in ("encode", "decode"):
        if len(whats) > 3 or not all(
            w in ok for w, ok in zip(whats[1:], codecs, strict=False)
        ):
            return None
    elif name not in METHODS[type(whats[0])]:
        return None
    try:
        what = small(getattr(whats[0], name)(*whats[1:]))
    except Exception:  # it raises when it runs, too
        return None
    rests_on = [each for each in known if each]
    gain = folder.scope.costs.method_call
    return folder.settle(node, constant(ast.Constant(what), what), gain, *rests_on)


def resolved(folder: Folder, function: ast.expr) -> Known | None:
    """The global, builtin or member of a module that is called."""
    if isinstance(function, ast.Name):
        fact = folder.facts.get(function.id)
        if fact is None:
            return _checked(folder, function)
        return fact.const if fact.const and not fact.const.checks else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        name = function.value.id
        module = folder.scope.globals.get(name)
        if name in folder.scope.locals or type(module) is not ModuleType:
            return None
        if function.attr in vars(module):
            member = vars(module)[function.attr]
            check = Check(function, member, folder.scope.costs.member_check)
            return Known(member, frozenset(), (check,))
    return None


def _checked(folder: Folder, name: ast.Name) -> Known | None:
    if name.id in folder.scope.locals:
        return None
    known = folder.visit(name).const
    return known if known and known.checks else None


def folded(folder: Folder, node: ast.Call, target: Known) -> Value | None:
    """The call's value if it is known, or a cheaper expression for it."""
    if isinstance(target.what, FunctionType):
        return reduced(folder, node, target)
    count, rule = RULES.get(id(target.what), (-1, fold_same))
    if count != len(node.args):
        return None
    if rule is fold_isinstance:
        return rule(folder, node, target, [folder.visit(node.args[0])])
    return rule(folder, node, target, [folder.visit(each) for each in node.args])


Rule = Callable[[Folder, ast.Call, Known, list[Value]], "Value | None"]


def exact_type(folder: Folder, value: Value) -> Known | None:
    """The type of an atom, if it cannot have changed since the entry."""
    known = value.type
    if known is None or known.checks or not is_atom(value.node):
        return None
    if known.what.__flags__ & IMMUTABLE_TYPE:
        return known
    needs = known.needs | folder.because  # `value.__class__ = other` is user code
    return Known(known.what, needs) if folder.clean else None


def fold_isinstance(
    folder: Folder, node: ast.Call, target: Known, values: list[Value]
) -> Value | None:
    exact = exact_type(folder, values[0])
    wanted = node.args[1]
    classes = [resolved(folder, each) for each in _elements(wanted)]
    known = [each for each in classes if each]
    if exact is None or len(known) != len(classes):
        return None
    what = is_instance(exact.what, tuple(each.what for each in known))
    if what is None:
        return None
    result = constant(ast.Constant(what), what)
    gain = folder.scope.costs.isinstance_call + 10.0 * (len(known) - 1)
    return folder.settle(node, result, gain, exact, target, *known)


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def fold_type(
    folder: Folder, node: ast.Call, target: Known, values: list[Value]
) -> Value | None:
    exact = exact_type(folder, values[0])
    if exact is None:
        return None
    result = folder.scope.object_node(exact.what)
    value = constant(result, exact.what, none=False)
    return folder.settle(node, value, folder.scope.costs.conversion, exact, target)


def fold_length(
    folder: Folder, node: ast.Call, target: Known, values: list[Value]
) -> Value | None:
    (value,) = values
    if value.length is None or not is_atom(value.node):
        return None
    what = value.length.what
    result = constant(ast.Constant(what), what)
    return folder.settle(
        node, result, folder.scope.costs.conversion, value.length, target
    )


def fold_same(
    folder: Folder, node: ast.Call, target: Known, values: list[Value]
) -> Value | None:
    """A conversion of what is converted already."""
    (value,) = values
    kept = KEPT.get(id(target.what), (target.what,))
    if value.type is None or value.type.checks or value.type.what not in kept:
        return None
    return folder.settle(node, value, folder.scope.costs.conversion, value.type, target)


def literal(what: Any) -> Value:
    """A number, or a tuple of numbers, as an expression."""
    if type(what) is not tuple:
        return constant(ast.Constant(what), what)
    items = tuple(literal(each) for each in what)
    made = of_type(ast.Tuple([each.node for each in items], ast.Load()), tuple)
    return replace(made, items=items)


def fold_arithmetic(
    folder: Folder, node: ast.Call, target: Known, values: list[Value]
) -> Value | None:
    """abs, round, divmod of numbers: computed if they are known; if their types are, no
    user code runs and the result's type is known."""
    types = [each.type for each in values if each.type and not each.type.checks]
    kinds = {each.what for each in types}
    if len(types) < len(values) or not kinds <= {int, float}:
        return None
    consts = [each.const for each in values if each.const and not each.const.checks]
    cost = folder.scope.costs.conversion
    if len(consts) == len(values):
        try:
            what = target.what(*(each.what for each in consts))
        except Exception:  # it raises when it runs, too
            return None
        return folder.settle(node, literal(what), cost, target, *consts)
    made = rebuilt(node, args=[each.node for each in values])
    kind = float if float in kinds and target.what is not round else int
    folder.lean(*types)
    if target.what is divmod:
        items = (of_type(made, kind, *types), of_type(made, kind, *types))
        return folder.settle(node, Value(made, items=items), 0.0, target)
    return folder.settle(node, of_type(made, kind, *types), 0.0, target)


KEPT = {id(os.fspath): (str, bytes), id(operator.index): (int,)}
SAME = (os.fspath, operator.index, int, str, float, tuple)

RULES: dict[int, tuple[int, Rule]] = {
    id(isinstance): (2, fold_isinstance),
    id(type): (1, fold_type),
    id(len): (1, fold_length),
    id(divmod): (2, fold_arithmetic),
    **{id(each): (1, fold_same) for each in SAME},
    **{id(each): (1, fold_arithmetic) for each in (abs, round)},
}
"""How calls are folded, by the identity of what is called: arguments, and the rule."""
