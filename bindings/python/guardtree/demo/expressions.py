"""Expressions of the demo's compiler: one method for each kind that it looks into."""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import Any

from .calls import visit_call
from .fold import UNBOUND, Folder, Irreducible, rebuilt
from .source import assigned
from .values import (
    OPERATORS,
    SCALARS,
    Check,
    Known,
    Need,
    Value,
    computed,
    constant,
    is_atom,
    of_type,
    truth,
)


class Expressions(Folder):
    """Folds expressions, in the order in which CPython evaluates their parts."""

    def visit_Constant(self, node: ast.Constant) -> Value:
        known = type(node.value) in SCALARS
        return constant(node, node.value) if known else Value(node)

    def visit_Name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.facts:
            return self.facts[name].at(self.facts[name].node if self.depth else node)
        if name in self.scope.locals or (name.startswith("__") and name[-2:] != "__"):
            if self.depth:
                raise Irreducible(name)
            return Value(node)
        return self.global_value(node, name)

    def global_value(self, node: ast.Name, name: str) -> Value:
        namespace = self.scope.globals
        if name not in namespace and name not in self.scope.builtins:
            return Value(node)
        value = namespace[name] if name in namespace else self.scope.builtins[name]
        if type(value) in SCALARS and name in namespace and self.clean:
            needs = self.because | {Need("global", name, "id_match", (value,))}
            return constant(node, value, Known(value, needs))
        if callable(value):
            is_builtin = name not in namespace
            check = Check(node, value, self.scope.costs.check, is_builtin)
            known = Known(value, frozenset(), (check,))
            return constant(node, value, known, none=False)
        return Value(node)

    def visit_Call(self, node: ast.Call) -> Value:
        return visit_call(self, node)

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        value = self.visit(node.value)
        self.soil()
        return Value(rebuilt(node, value=value.node))

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        value, index = self.visit(node.value), self.visit(node.slice)
        made = rebuilt(node, value=value.node, slice=index.node)
        by = index.type
        if value.type and value.type.what is str and by and by.what in (int, slice):
            self.lean(value.type, by)
            return of_type(made, str, value.type, by)
        self.soil()
        return Value(made)

    def visit_Slice(self, node: ast.Slice) -> Value:
        parts = (node.lower, node.upper, node.step)
        ends = [each and self.visit(each) for each in parts]
        nodes = [each and each.node for each in ends]
        made = rebuilt(node, lower=nodes[0], upper=nodes[1], step=nodes[2])
        types = [each.type for each in ends if each]
        if all(each and each.what in (int, type(None)) for each in types):
            return of_type(made, slice, *(each for each in types if each))
        return Value(made)

    def visit_Tuple(self, node: ast.Tuple) -> Value:
        items = tuple(self.visit(each) for each in node.elts)
        made = rebuilt(node, elts=[each.node for each in items])
        return replace(of_type(made, tuple), items=items)

    def visit_Starred(self, node: ast.Starred) -> Value:
        value = self.visit(node.value)
        self.soil()
        return Value(rebuilt(node, value=value.node))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.visit(node.value)
        self.bind(node.target.id, None if self.conditional else value)
        return value.at(rebuilt(node, value=value.node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.visit(node.operand)
        made = rebuilt(node, operand=value.node)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            if known and is_atom(value.node):
                result = constant(ast.Constant(not known.what), not known.what)
                return self.settle(node, result, 1.0, known)
            self.demand_truth(value)
            return of_type(made, bool)
        known = value.const
        if known and isinstance(node.op, ast.USub) and type(known.what) is int:
            return constant(made, -known.what, known)
        if value.type and value.type.what in SCALARS:
            self.lean(value.type)
        else:
            self.soil()
        return Value(made)

    def demand_truth(self, value: Value) -> None:
        """The value is tested: user code may run, unless its type is known."""
        known = value.type
        if known and not known.checks and known.what in (*SCALARS, tuple):
            self.lean(known)
        else:
            self.soil()

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        stops_at = isinstance(node.op, ast.Or)
        kept: list[Value] = []
        for place, each in enumerate(node.values):
            value = self.sometimes(each) if kept else self.visit(each)
            known = truth(value) if is_atom(value.node) else None
            is_last = place == len(node.values) - 1
            if known is not None and not is_last:
                self.needs |= known.needs
                self.note(f"{ast.unparse(each)}: {known.what}", self.scope.costs.branch)
                if known.what is stops_at:
                    kept.append(value)
                    break
                continue
            kept.append(value)
            if not is_last:
                self.demand_truth(value)
        if len(kept) == 1:
            return kept[0]
        made = rebuilt(node, values=[each.node for each in kept])
        types = [each.type for each in kept]
        if all(each and each.what is bool for each in types):
            return of_type(made, bool, *(each for each in types if each))
        return Value(made)

    def visit_comprehension(self, node: Any) -> Value:
        """A scope of its own, or run later: what holds there is what always holds, the
        values of arguments that are never bound again."""
        first = self.visit(node.generators[0].iter)
        bound = {*assigned([node]), *self.scope.rebound}
        always = {
            name: Value(ast.Name(name, ast.Load()), const=value.const, none=value.none)
            for name, value in self.facts.items()
            if name not in bound and value is not UNBOUND
        }
        scope = copy.copy(self.scope)
        scope.locals = {*scope.locals, *assigned([node])}
        inner = self.nested(scope, always)
        inner.depth, inner.weight = self.depth, self.often() * 16.0
        inner.conditional = 1
        inner.soil()
        generators = []
        for place, each in enumerate(node.generators):
            iterable = first.node if place == 0 else inner.visit(each.iter).node
            tests = [inner.visit(test).node for test in each.ifs]
            generators.append(rebuilt(each, iter=iterable, ifs=tests))
        parts = [name for name in ("key", "value", "elt") if hasattr(node, name)]
        made = {name: inner.visit(getattr(node, name)).node for name in parts}
        self.needs |= inner.needs
        self.folds += inner.folds
        self.gain += inner.gain
        self.soil()
        self.kill(assigned([node]))
        return Value(rebuilt(node, generators=generators, **made))

    visit_ListComp = visit_SetComp = visit_comprehension
    visit_DictComp = visit_GeneratorExp = visit_comprehension

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        test = self.visit(node.test)
        known = truth(test) if is_atom(test.node) else None
        if known is not None:
            self.needs |= known.needs
            text = f"{ast.unparse(node.test)}: {known.what}"
            self.note(text, self.scope.costs.branch)
            return self.visit(node.body if known.what else node.orelse)
        self.demand_truth(test)
        body, orelse = self.sometimes(node.body), self.sometimes(node.orelse)
        return Value(rebuilt(node, test=test.node, body=body.node, orelse=orelse.node))

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.visit(node.left), self.visit(node.right)
        made = rebuilt(node, left=left.node, right=right.node)
        if left.const and right.const and type(node.op) in OPERATORS:
            both = left.const.and_(right.const)
            try:
                what = computed(node.op, left.const.what, right.const.what)
            except Exception:  # it raises when it runs, too
                pass
            else:
                result = constant(ast.Constant(what), what)
                gain = self.scope.costs.operation
                if type(what) is int:
                    gain *= 1.5 if isinstance(node.op, ast.Pow) else 0.4
                return self.settle(node, result, gain, both)
        types = self.demand_scalars([left, right])
        kind = arithmetic_type(node.op, {each.what for each in types})
        return of_type(made, kind, *types) if kind else Value(made)

    def visit_Compare(self, node: ast.Compare) -> Value:
        values = [self.visit(node.left)]
        results: list[Known | None] = []
        for operation, each in zip(node.ops, node.comparators, strict=True):
            certain = all(known and known.what for known in results)
            if not certain:
                self.demand_scalars(values[-2:])
            values.append(self.visit(each) if certain else self.sometimes(each))
            results.append(self.compared(operation, *values[-2:]))
        known = [each for each in results if each]
        if len(known) == len(results) and all(is_atom(v.node) for v in values):
            what = all(each.what for each in known)
            result = constant(ast.Constant(what), what)
            return self.settle(node, result, self.scope.costs.branch / 2, *known)
        nodes = [each.node for each in values]
        made = rebuilt(node, left=nodes[0], comparators=nodes[1:])
        if all(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops):
            return of_type(made, bool)
        types = self.demand_scalars(values)
        return of_type(made, bool, *types) if types else Value(made)

    def demand_scalars(self, values: list[Value]) -> list[Known]:
        """The values meet an operator: user code may run, unless their types are known;
        these then."""
        types = [each.type for each in values if each.type and not each.type.checks]
        if len(types) == len(values) and {each.what for each in types} <= SCALARS:
            self.lean(*types)
            return types
        self.soil()
        return []

    def compared(self, operation: ast.cmpop, left: Value, right: Value) -> Known | None:
        """The known result of one comparison."""
        if isinstance(operation, (ast.Is, ast.IsNot)):
            known = _identical(left, right)
            if known and isinstance(operation, ast.IsNot):
                known = Known(not known.what, known.needs, known.checks)
            return known
        if not (left.const and right.const and type(operation) in OPERATORS):
            return None
        if not {type(left.const.what), type(right.const.what)} <= SCALARS:
            return None
        try:
            what = computed(operation, left.const.what, right.const.what)
        except Exception:  # it raises when it runs, too
            return None
        return Known(bool(what)).and_(left.const, right.const)


def arithmetic_type(operation: ast.operator, types: set[type]) -> type | None:
    """The type of what an operator makes of values of these types, if it is known."""
    if not isinstance(operation, (ast.Add, ast.Sub, ast.Mult)):
        return None
    if types == {int} or (types == {str} and isinstance(operation, ast.Add)):
        return types.pop()
    return float if types and types <= {int, float} else None


def _identical(left: Value, right: Value) -> Known | None:
    """Whether both are one object, where every implementation would say the same."""
    for one, other in ((left, right), (right, left)):
        if one.const and one.const.what is None and other.none:
            return other.none.and_(one.const)
    if left.const and right.const:
        pair = (left.const.what, right.const.what)
        if all(type(each) is bool or type(each) not in SCALARS for each in pair):
            return Known(pair[0] is pair[1]).and_(left.const, right.const)
    return None
