"""The demo's compiler as a whole: from a call that was seen to code made for it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import CO_NEWLOCALS, CO_OPTIMIZED, CO_VARARGS
from types import CodeType
from typing import Any

from ..callbacks import is_generator
from .costs import DEFAULT_COSTS, Costs
from .fold import UNBOUND, Scope
from .source import Located, assigned, is_stable_cell, locate, rebound_from_within
from .statements import Statements
from .values import (
    SCALARS,
    Known,
    Need,
    Value,
    constant,
    equality_need,
    parameter,
    rest_parameter,
)


class Refused(Exception):
    """This code is left as it is; the message says why in a few words."""


@dataclass(frozen=True)
class Specialized:
    """New code, the guards that it rests on, and what was done."""

    code: CodeType
    needs: tuple[Need, ...]
    folds: tuple[str, ...]
    gain: float  # nanoseconds a call, an estimate


def specialize(
    code: CodeType,
    f_globals: dict[str, Any],
    f_builtins: dict[str, Any],
    arguments: Mapping[str, Any],
    closure: tuple[Any, ...] | None = None,
    constants: frozenset[str] = frozenset(),
    costs: Costs = DEFAULT_COSTS,
) -> Specialized:
    """Code for calls like this one; `constants` are arguments whose very value may be
    built in. Raises Refused where there is nothing to gain, or no way."""
    if is_generator(code):
        raise Refused("a generator or coroutine")
    if not code.co_flags & CO_OPTIMIZED or not code.co_flags & CO_NEWLOCALS:
        raise Refused("not a function")
    located = locate(code, f_globals)
    if located is None:
        raise Refused("source not found")
    rebound = frozenset(assigned(located.function.body))
    scope = Scope(code, f_globals, f_builtins, costs=costs, rebound=rebound)
    scope.stable -= rebound_from_within(located.function)
    facts = _arguments(scope, arguments, constants)
    facts.update(_closure(scope, located, closure or ()))
    walk = Statements(scope, dict(facts))
    body = walk.block(located.function.body)
    if any(walk.bundles.values()):
        first, walk = walk, Statements(scope, facts)
        walk.plan = first.bundles
        body = walk.block(located.function.body)
    if not walk.folds:
        raise Refused("nothing to fold")
    needs = _reduced(walk.needs)
    made = _compiled(located, body, scope)
    if made.co_code == code.co_code or len(made.co_code) > 6 * len(code.co_code) + 400:
        raise Refused("nothing to fold")
    by_root = {"global": costs.global_guard}
    spent = [by_root.get(each.root, costs.guard) for each in needs]
    return Specialized(made, needs, tuple(walk.folds), walk.gain - sum(spent))


def _arguments(
    scope: Scope, arguments: Mapping[str, Any], constants: frozenset[str]
) -> dict[str, Value]:
    code = scope.code
    named = code.co_argcount + code.co_kwonlyargcount
    facts = dict.fromkeys(code.co_varnames, UNBOUND)
    for place, name in enumerate(code.co_varnames[: named + 2]):
        is_rest = place == named and code.co_flags & CO_VARARGS
        if place < named or is_rest:
            facts.pop(name)
            if name in scope.stable and name in arguments:
                value = arguments[name]
                known = parameter(name, value, name in constants)
                facts[name] = rest_parameter(name, value) if is_rest else known
        elif name in arguments:
            facts.pop(name)  # **kwargs
    return {name: value for name, value in facts.items() if name in scope.stable}


def _closure(
    scope: Scope, located: Located, closure: tuple[Any, ...]
) -> dict[str, Value]:
    facts = {}
    for name, cell in zip(scope.code.co_freevars, closure, strict=False):
        try:
            value = cell.cell_contents
        except ValueError:  # empty
            continue
        if type(value) in SCALARS and is_stable_cell(located, name):
            need = frozenset({equality_need("closure", name, value)})
            node = ast.Name(name, ast.Load())
            facts[name] = constant(node, value, Known(value, need))
    return facts


def _reduced(needs: set[Need]) -> tuple[Need, ...]:
    """Without what other guards imply; locals first, which are cheapest to check."""
    exact = {"equals", "is_none", "is_true", "is_false"}
    settled = {(each.root, each.name) for each in needs if each.kind in exact}
    typed = {(each.root, each.name) for each in needs if each.kind == "type_match"}
    kept = [
        each
        for each in needs
        if each.kind in exact
        or (
            (each.root, each.name) not in settled
            and not (each.kind == "is_not_none" and (each.root, each.name) in typed)
        )
    ]
    roots = ["local", "closure", "global"]
    return tuple(sorted(kept, key=lambda n: (roots.index(n.root), n.name, n.kind)))


def _compiled(located: Located, body: list[ast.stmt], scope: Scope) -> CodeType:
    code = scope.code
    old = {*code.co_varnames, *code.co_cellvars}
    for whole in (body, [*body, _mentions(located, scope)]):
        try:
            made = located.compiled(whole, code)
        except (SyntaxError, ValueError, RecursionError):
            break
        if made is None:
            break
        new = {*made.co_varnames, *made.co_cellvars}
        if old <= new and set(made.co_freevars) == set(code.co_freevars):
            objects = scope.objects
            consts = [
                objects.get(each, each) if type(each) is str else each
                for each in made.co_consts
            ]
            return made.replace(co_consts=tuple(consts))
    raise Refused("does not compile")


def _mentions(located: Located, scope: Scope) -> ast.stmt:
    """Never runs: keeps a name local, or free, whose uses were all folded away."""
    code = scope.code
    names = [*code.co_varnames, *code.co_cellvars]
    body: list[ast.stmt] = [
        ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in names
    ]
    body += [ast.Expr(ast.Name(name, ast.Load())) for name in code.co_freevars]
    made = ast.If(ast.Constant(False), body or [ast.Pass()], [])
    for each in ast.walk(made):
        if isinstance(each, (ast.stmt, ast.expr)):
            ast.copy_location(each, located.function.body[-1])
    return made
