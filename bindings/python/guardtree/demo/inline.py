"""Small functions of the same module, whose calls the demo's compiler replaces."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType

from ..callbacks import is_generator
from .fold import Folder, Irreducible, relocated
from .source import assigned, locate
from .values import Check, Known, Value, constant, is_atom, truth


def reduced(folder: Folder, node: ast.Call, target: Known) -> Value | None:
    """A call of a small function of the same module, as an expression: a constant, an
    argument, or something else that cannot raise, so that no traceback misses it."""
    function: FunctionType = target.what
    code = function.__code__
    is_plain = (
        not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) and not code.co_freevars
    )
    if not is_plain or is_generator(code) or code.co_kwonlyargcount or folder.depth > 2:
        return None
    if code.co_argcount != len(node.args) or function.__globals__ is not (
        folder.scope.globals
    ):
        return None
    located = locate(code, folder.scope.globals)
    arguments = [folder.visit(each) for each in node.args]
    if located is None or not all(is_atom(each.node) for each in arguments):
        return None
    rebound = frozenset(assigned(located.function.body))
    scope = replace(folder.scope, code=code, rebound=rebound)
    inner = folder.nested(scope, dict(zip(code.co_varnames, arguments, strict=False)))
    try:
        value = result_of(inner, located.function.body)
    except Irreducible:
        return None
    if not inner.statement_clean:
        return None
    names = {
        each.id
        for check in inner.checks
        for each in ast.walk(check.node)
        if isinstance(each, ast.Name)
    }
    if names & folder.scope.locals or not (value.safe or is_atom(value.node)):
        return None
    code_node = ast.Attribute(node.func, "__code__", ast.Load())
    costs = folder.scope.costs
    code_check = Check(code_node, code, costs.code_check)
    checks = (*target.checks, code_check, *inner.checks)
    rests_on = Known(None, target.needs | inner.because | inner.needs, checks)
    made = value.at(relocated(value.node, node))
    gain = (
        costs.function_call
        + costs.hook
        + inner.gain
        + sum(each.cost for each in inner.checks)
    )
    return folder.settle(node, made, gain, rests_on)


def result_of(inner: Folder, body: Sequence[ast.stmt]) -> Value:
    """What the statements return."""
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Return) and statement.value:
            return inner.visit(statement.value)
        if isinstance(statement, ast.Assign) and isinstance(
            target := statement.targets[0], ast.Name
        ):
            value = inner.visit(statement.value)
            if len(statement.targets) > 1 or not is_atom(value.node):
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
    return constant(ast.Constant(None), None)
