"""Calls that the demo's compiler folds: type tests, conversions, small functions."""

from __future__ import annotations

import ast
import copy
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ..callbacks import is_generator
from .source import locate
from .values import (
    IMMUTABLE_TYPE,
    METHODS,
    SCALARS,
    Check,
    Known,
    Value,
    constant,
    is_instance,
    of_type,
    small,
    truth,
)

if TYPE_CHECKING:
    from .fold import Folder, Scope

CODE_CHECK = 20.0  # nanoseconds: reading `__code__` is a slow attribute load
FINDING = ("startswith", "endswith", "find", "rfind")


def conjunction(
    scope: Scope, checks: Sequence[Check], where: ast.expr | ast.stmt
) -> ast.expr:
    """`a is A and b is B ...` as an expression at the place of `where`."""
    tests: list[ast.expr] = [
        ast.Compare(each.node, [ast.Is()], [scope.object_node(each.expected)])
        for each in checks
    ]
    return relocated(tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests), where)


def relocated(node: ast.expr, where: ast.AST) -> Any:
    """A copy that says it comes from the lines of `where`."""
    made = copy.deepcopy(node)
    for each in ast.walk(made):
        if isinstance(each, ast.expr):
            ast.copy_location(each, where)
    return made


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
        made = each if value is each.value else ast.keyword(each.arg, value)
        keywords.append(made if made is each else ast.copy_location(made, each))
        if each.arg is None:
            folder.soil()
    args = [each.node for each in arguments]
    if function is node.func and args == node.args and keywords == node.keywords:
        made = node
    else:
        made = ast.copy_location(ast.Call(function, args, keywords), node)
    is_method = isinstance(function, ast.Attribute)
    if not is_method:
        folder.soil()
    return Value(made), arguments


def method_call(folder: Folder, node: ast.Call, function: ast.Attribute) -> Value:
    receiver = folder.visit(function.value)
    exact = receiver.type.what if receiver.type and not receiver.type.checks else None
    if exact not in SCALARS:
        folder.soil()  # loading the attribute
    made = function
    if receiver.node is not function.value:
        made = ast.Attribute(receiver.node, function.attr, ast.Load())
        ast.copy_location(made, function)
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
            safe = same and function.attr in FINDING and _is_atom(receiver.node)
            return replace(typed, safe=safe and all(map(_is_atom, node.args)))
    folder.soil()
    return value


def _is_atom(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Constant))


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
        if len(whats) > 3 or not all(w in ok for w, ok in zip(whats[1:], codecs)):
            return None
    elif name not in METHODS[type(whats[0])]:
        return None
    try:
        what = small(getattr(whats[0], name)(*whats[1:]))
    except Exception:  # it raises when it runs, too
        return None
    rests_on = [each for each in known if each]
    return folder.settle(node, constant(ast.Constant(what), what), 40.0, *rests_on)


def resolved(folder: Folder, function: ast.expr) -> Known | None:
    """The global, builtin or member of a module that is called."""
    if isinstance(function, ast.Name):
        return None if folder.facts.get(function.id) else _checked(folder, function)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        name = function.value.id
        module = folder.scope.globals.get(name)
        if name in folder.scope.locals or type(module) is not ModuleType:
            return None
        if function.attr in vars(module):
            member = vars(module)[function.attr]
            on = (Check(function.value, module), Check(function, member))
            return Known(member, frozenset(), on)
    return None


def _checked(folder: Folder, name: ast.Name) -> Known | None:
    if name.id in folder.scope.locals:
        return None
    known = folder.visit_Name(name).const
    return known if known and known.checks else None


def folded(folder: Folder, node: ast.Call, target: Known) -> Value | None:
    """The call's value if it is known, or a cheaper expression for it."""
    function = target.what
    if isinstance(function, FunctionType):
        return reduced(folder, node, target)
    try:
        rule = RULES.get(function)
    except TypeError:  # a callable that is not hashable
        return None
    if rule is None or len(node.args) != (2 if function is isinstance else 1):
        return None
    return rule(folder, node, target, folder.visit(node.args[0]))


Rule = Callable[["Folder", ast.Call, Known, Value], "Value | None"]


def exact_type(folder: Folder, value: Value) -> Known | None:
    """The type of an atom, if it cannot have changed since the entry."""
    known = value.type
    if known is None or known.checks or not _is_atom(value.node):
        return None
    if known.what.__flags__ & IMMUTABLE_TYPE:
        return known
    needs = known.needs | folder.because  # `value.__class__ = other` is user code
    return Known(known.what, needs) if folder.clean else None


def fold_isinstance(
    folder: Folder, node: ast.Call, target: Known, value: Value
) -> Value | None:
    exact = exact_type(folder, value)
    wanted = node.args[1]
    classes = [resolved(folder, each) for each in _elements(wanted)]
    known = [each for each in classes if each]
    if exact is None or len(known) != len(classes):
        return None
    what = is_instance(exact.what, tuple(each.what for each in known))
    if what is None:
        return None
    result = constant(ast.Constant(what), what)
    gain = 25.0 + 10.0 * len(known)
    return folder.settle(node, result, gain, exact, target, *known)


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def fold_type(
    folder: Folder, node: ast.Call, target: Known, value: Value
) -> Value | None:
    exact = exact_type(folder, value)
    if exact is None:
        return None
    result = folder.scope.object_node(exact.what)
    return folder.settle(
        node, constant(result, exact.what, none=False), 12.0, exact, target
    )


def fold_length(
    folder: Folder, node: ast.Call, target: Known, value: Value
) -> Value | None:
    if value.length is None or not _is_atom(value.node):
        return None
    what = value.length.what
    result = constant(ast.Constant(what), what)
    return folder.settle(node, result, 12.0, value.length, target)


def fold_same(
    folder: Folder, node: ast.Call, target: Known, value: Value
) -> Value | None:
    """A conversion of what is converted already."""
    kept = (str, bytes) if target.what is os.fspath else (target.what,)
    if value.type is None or value.type.checks or value.type.what not in kept:
        return None
    return folder.settle(node, value, 25.0, value.type, target)


RULES: dict[Any, Rule] = {
    isinstance: fold_isinstance,
    type: fold_type,
    len: fold_length,
    **dict.fromkeys((os.fspath, int, str, float, tuple), fold_same),
}


def reduced(folder: Folder, node: ast.Call, target: Known) -> Value | None:
    """A call of a small function of the same module, as an expression: a constant, an
    argument, or something else that cannot raise, so that no traceback misses it."""
    from .fold import Irreducible, Scope

    function: FunctionType = target.what
    code = function.__code__
    is_plain = not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) and not code.co_freevars
    if not is_plain or is_generator(code) or code.co_kwonlyargcount or folder.depth > 2:
        return None
    if code.co_argcount != len(node.args) or function.__globals__ is not (
        folder.scope.globals
    ):
        return None
    located = locate(code, folder.scope.globals)
    arguments = [folder.visit(each) for each in node.args]
    if located is None or not all(_is_atom(each.node) for each in arguments):
        return None
    scope = Scope(code, function.__globals__, folder.scope.builtins, folder.scope.objects)
    inner = folder.nested(scope, dict(zip(code.co_varnames, arguments)))
    try:
        value = result_of(inner, located.function.body)
    except Irreducible:
        return None
    if value is None or not inner.statement_clean:
        return None
    names = {
        each.id
        for check in inner.checks
        for each in ast.walk(check.node)
        if isinstance(each, ast.Name)
    }
    if names & folder.scope.locals or not (value.safe or _is_atom(value.node)):
        return None
    code_node = ast.Attribute(node.func, "__code__", ast.Load())
    checks = (*target.checks, Check(code_node, code, CODE_CHECK), *inner.checks)
    rests_on = Known(None, inner.because | inner.needs, checks)
    made = value.at(relocated(value.node, node))
    return folder.settle(node, made, 45.0 + inner.gain, rests_on)


def result_of(inner: Folder, body: Sequence[ast.stmt]) -> Value | None:
    """What the statements return; None where they return nothing."""
    from .fold import Irreducible

    for place, statement in enumerate(body):
        if isinstance(statement, ast.Return) and statement.value:
            return inner.visit(statement.value)
        if isinstance(statement, ast.Assign) and isinstance(
            target := statement.targets[0], ast.Name
        ):
            value = inner.visit(statement.value)
            if len(statement.targets) > 1 or not _is_atom(value.node):
                raise Irreducible(target.id)
            inner.facts[target.id] = value
        elif isinstance(statement, ast.If):
            known = truth(inner.visit(statement.test))
            if known is None:
                raise Irreducible("if")
            inner.needs |= known.needs
            chosen = statement.body if known.what else statement.orelse
            return result_of(inner, [*chosen, *body[place + 1 :]])
        elif not isinstance(statement, ast.Expr) or not isinstance(
            statement.value, ast.Constant
        ):
            raise Irreducible(type(statement).__name__)
    return None
