"""Expressions of the demo's compiler: visited in evaluation order, folded where known.

What a fold rests on is of three sorts. Facts of arguments and of closure cells that no
code rebinds hold for the whole call, and become guards at the entry. A global's value
becomes a guard too, but only where no user code can have run since the entry (`clean`):
a guard says nothing of what a callee rebinds. Functions, classes and builtins become
checks, an identity comparison where the original would have used them: a compiled
`isinstance is <isinstance>` costs a nanosecond, and whether a builtin's name is hidden by
a new global is no question a guard can ask.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from . import calls
from .source import assigned
from .values import (
    METHODS,
    OPERATORS,
    SCALARS,
    Check,
    Known,
    Need,
    Value,
    computed,
    constant,
    equality_need,
    of_type,
    truth,
)


@dataclass
class Scope:
    """Names of the function that is specialised, and objects its new code refers to."""

    code: CodeType
    globals: dict[str, Any]
    builtins: dict[str, Any]
    objects: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        code = self.code
        self.locals = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        self.stable = set(code.co_varnames)  # locals that no inner function rebinds

    def object_node(self, value: object) -> ast.expr:
        """A constant that stands for an object until the code is made."""
        for text, known in self.objects.items():
            if known is value:
                return ast.Constant(text)
        text = f"\0guardtree {len(self.objects)}"
        self.objects[text] = value
        return ast.Constant(text)


def rebuilt(node: Any, **fields: Any) -> Any:
    """The node itself if the fields are its own, else a copy that has them."""
    if all(_same(getattr(node, name), value) for name, value in fields.items()):
        return node
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one is other


class Folder:
    """The state of one walk through a function, and its expressions."""

    def __init__(self, scope: Scope, facts: dict[str, Value]) -> None:
        self.scope = scope
        self.facts = facts
        self.clean = True  # no user code can have run since the entry ...
        self.because: frozenset[Need] = frozenset()  # ... as these guards say
        self.needs: set[Need] = set()
        self.folds: list[str] = []
        self.gain = 0.0  # estimated nanoseconds
        self.weight = 1.0  # how often this place runs, for the estimate
        self.checks: list[Check] = []  # to compare before this statement
        self.statement_clean = True  # nothing of this statement can have run user code
        self.statement_because: frozenset[Need] = frozenset()
        self.verified: frozenset[str] = frozenset()  # checks made since soil()
        self.conditional = 0  # > 0: the place runs only sometimes
        self.splits = 0
        self.live = True  # control gets here
        self.depth = 0  # of calls being reduced

    def nested(self, scope: Scope, facts: dict[str, Value]) -> Folder:
        """For the body of a function that is called here."""
        inner = Folder(scope, facts)
        inner.clean, inner.because = self.clean, self.because
        inner.verified = self.verified
        inner.depth = self.depth + 1
        return inner

    # State

    def state(self) -> dict[str, Any]:
        """For restore(): all but what the scope holds."""
        return {name: copy.copy(value) for name, value in vars(self).items()}

    def restore(self, state: dict[str, Any]) -> None:
        state["scope"] = self.scope
        vars(self).update(state)

    def soil(self) -> None:
        """User code may have run: globals seen at the entry may be others now."""
        self.clean = self.statement_clean = False
        self.verified = frozenset()

    def lean(self, *known: Known) -> None:
        """Being clean rests on this."""
        needs = frozenset().union(*(each.needs for each in known))
        self.because |= needs
        self.statement_because |= needs

    def bind(self, name: str, value: Value | None) -> None:
        """A local gets a value; losing the old one may run its finalizer."""
        old = self.facts.get(name)
        if old is None or old.type is None or old.type.what not in SCALARS:
            if old is not UNBOUND:
                self.soil()
        elif old.type:
            self.lean(old.type)
        self.facts.pop(name, None)
        if value and (value.type or value.none) and name in self.scope.stable:
            if not any(k and k.checks for k in (value.type, value.const, value.none)):
                self.facts[name] = value.at(ast.Name(name, ast.Load()))

    def kill(self, names: Sequence[str]) -> None:
        for name in names:
            self.facts.pop(name, None)

    def note(self, text: str, gain: float) -> None:
        self.folds.append(text)
        self.gain += gain * self.weight

    def settle(self, original: ast.expr, result: Value, gain: float, *on: Known) -> Value:
        """Replaces an expression by what it is known to be, and takes on the guards and
        checks which that rests on."""
        known = Known(None).and_(*on)
        self.needs |= known.needs
        self.note(f"{ast.unparse(original)} -> {self.text(result)}", gain)
        made = result.node
        if not hasattr(made, "lineno"):
            made = ast.copy_location(made, original)
        checks = {ast.dump(each.node): each for each in known.checks}
        to_make = {text: c for text, c in checks.items() if text not in self.verified}
        if len(to_make) < len(checks):
            self.needs |= self.because
        if not to_make:
            return result.at(made)
        self.gain -= sum(each.cost for each in to_make.values()) * self.weight
        if self.statement_clean and not self.conditional and self.splits < 8:
            self.checks += to_make.values()
            self.verified |= to_make.keys()
            self.needs |= self.statement_because
            return result.at(made)
        # Where the check fails, any code may run; where it holds, none does.
        self.soil()
        test = calls.conjunction(self.scope, list(to_make.values()), original)
        return Value(ast.copy_location(ast.IfExp(test, made, original), original))

    def text(self, value: Value) -> str:
        node = value.node
        if isinstance(node, ast.Constant) and node.value in self.scope.objects:
            return f"<{getattr(self.scope.objects[node.value], '__name__', 'object')}>"
        return ast.unparse(node)

    # Expressions, in the order CPython evaluates their parts

    def visit(self, node: ast.expr) -> Value:
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is not None:
            return method(node)
        self.soil()
        self.kill(assigned([node]))
        return Value(node)

    def sometimes(self, node: ast.expr) -> Value:
        """A part that is evaluated in some runs only."""
        self.conditional += 1
        value = self.visit(node)
        self.conditional -= 1
        return value

    def visit_Constant(self, node: ast.Constant) -> Value:
        return constant(node, node.value) if type(node.value) in SCALARS else Value(node)

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
            needs = self.because | {equality_need("global", name, value)}
            return constant(node, value, Known(value, needs))
        if callable(value):
            known = Known(value, frozenset(), (Check(node, value),))
            return constant(node, value, known, none=False)
        return Value(node)

    def visit_Call(self, node: ast.Call) -> Value:
        return calls.visit_call(self, node)

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        value = self.visit(node.value)
        self.soil()
        return Value(rebuilt(node, value=value.node))

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        value, index = self.visit(node.value), self.visit(node.slice)
        made = rebuilt(node, value=value.node, slice=index.node)
        if value.type and value.type.what is str and index.type:
            if index.type.what in (int, slice):
                self.lean(value.type, index.type)
                return of_type(made, str, value.type, index.type)
        self.soil()
        return Value(made)

    def visit_Slice(self, node: ast.Slice) -> Value:
        ends = [each and self.visit(each) for each in (node.lower, node.upper, node.step)]
        nodes = [each and each.node for each in ends]
        made = rebuilt(node, lower=nodes[0], upper=nodes[1], step=nodes[2])
        types = [each.type for each in ends if each]
        if all(each and each.what in (int, type(None)) for each in types):
            return of_type(made, slice, *(each for each in types if each))
        return Value(made)

    def visit_Tuple(self, node: ast.Tuple) -> Value:
        made = rebuilt(node, elts=[self.visit(each).node for each in node.elts])
        return of_type(made, tuple)

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
            if known and _is_droppable(value.node):
                result = constant(ast.Constant(not known.what), not known.what)
                return self.settle(node, result, 1.0, known)
            self.demand_truth(value)
            return of_type(made, bool)
        if value.const and isinstance(node.op, ast.USub) and type(value.const.what) is int:
            return constant(made, -value.const.what, value.const)
        if value.type and value.type.what in SCALARS:
            self.lean(value.type)
        else:
            self.soil()
        return Value(made)

    def demand_truth(self, value: Value) -> None:
        """The value is tested: user code may run, unless its type is known."""
        if value.type and not value.type.checks and value.type.what in (*SCALARS, tuple):
            self.lean(value.type)
        else:
            self.soil()

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        stops_at = isinstance(node.op, ast.Or)
        kept: list[Value] = []
        for place, each in enumerate(node.values):
            value = self.sometimes(each) if kept else self.visit(each)
            known = truth(value) if _is_droppable(value.node) else None
            is_last = place == len(node.values) - 1
            if known is not None and not is_last:
                self.needs |= known.needs
                self.note(f"{ast.unparse(each)} is {known.what}", 1.5)
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

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        test = self.visit(node.test)
        known = truth(test) if _is_droppable(test.node) else None
        if known is not None:
            self.needs |= known.needs
            self.note(f"{ast.unparse(node.test)} is {known.what}", 1.5)
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
                return self.settle(node, constant(ast.Constant(what), what), 15.0, both)
        types = {each.type.what if each.type else None for each in (left, right)}
        if types <= {int} or types <= {str} and isinstance(node.op, ast.Add):
            assert left.type and right.type
            self.lean(left.type, right.type)
            if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
                return of_type(made, types.pop(), left.type, right.type)  # type: ignore
            return Value(made)
        self.soil()
        return Value(made)

    def visit_Compare(self, node: ast.Compare) -> Value:
        values = [self.visit(node.left)]
        results: list[Known | None] = []
        for operation, each in zip(node.ops, node.comparators, strict=True):
            certain = all(known and known.what for known in results)
            if not certain:
                self.soil()
            values.append(self.visit(each) if certain else self.sometimes(each))
            results.append(self.compared(operation, *values[-2:]))
        known = [each for each in results if each]
        if len(known) == len(results) and all(_is_droppable(v.node) for v in values):
            what = all(each.what for each in known)
            return self.settle(node, constant(ast.Constant(what), what), 2.0, *known)
        nodes = [each.node for each in values]
        made = rebuilt(node, left=nodes[0], comparators=nodes[1:])
        if all(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops):
            return of_type(made, bool)
        types = [each.type for each in values]
        if all(each and not each.checks and each.what in SCALARS for each in types):
            self.lean(*(each for each in types if each))
            return of_type(made, bool, *(each for each in types if each))
        self.soil()
        return Value(made)

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


def _identical(left: Value, right: Value) -> Known | None:
    """Whether both are one object, where identity does not hang on an implementation."""
    for one, other in ((left, right), (right, left)):
        if one.const and one.const.what is None and other.none:
            return other.none.and_(one.const)
    if left.const and right.const:
        pair = (left.const.what, right.const.what)
        if all(type(each) is bool or type(each) not in SCALARS for each in pair):
            return Known(pair[0] is pair[1]).and_(left.const, right.const)
    return None


def _is_droppable(node: ast.expr) -> bool:
    """Whether not evaluating it changes nothing, when its value is known."""
    return isinstance(node, (ast.Name, ast.Constant))


class Irreducible(Exception):
    """A call cannot be replaced by an expression."""


UNBOUND = Value(ast.Constant(None))
"""The fact of a local that has no value yet."""
