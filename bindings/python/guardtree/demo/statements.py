"""Statements of the demo's compiler: what is known flows along them, as far as it does.

Checks (see fold.py) are compared right before the statement that needs them, and where
one fails the rest of the block runs as it was written:

    sep = _get_sep(p)       if _get_sep is <_get_sep> and ...:
    return p.rfind(sep)         sep = '/'
                                return p.rfind(sep)
                            else:
                                sep = _get_sep(p)
                                return p.rfind(sep)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .expressions import Expressions, arithmetic_type
from .fold import conjunction, rebuilt
from .source import assigned
from .values import Check, Value, is_atom, join, of_type, truth

EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
Checks = Sequence[Check]


def _is_idle(node: ast.stmt) -> bool:
    """`x = x`, which is left of `x = int(x)`."""
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.value, ast.Name)
        and isinstance(target := node.targets[0], ast.Name)
        and target.id == node.value.id
    )


class Statements(Expressions):
    """A folder that walks through blocks of statements."""

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        rest = list(statements)
        weight = self.weight
        while rest and self.live:
            whole = list(rest)
            self.statement_clean, self.statement_because = True, frozenset()
            self.checks = []
            self.here = id(whole[0])
            before = self.state()
            made, chosen, checks = self.statement(rest.pop(0))
            rest = [*chosen, *rest]
            if not checks:
                done += made
                continue
            self.splits += 1
            test = conjunction(self.scope, checks, whole[0])
            fast = made + self.block(rest)
            split = ast.If(test, fast or [ast.Pass()], whole)
            done.append(ast.copy_location(split, whole[0]))
            if not isinstance(whole[-1], EXITS):
                self.merge(before, assigned(whole))
            break
        self.weight = weight
        return done

    def statement(
        self, node: ast.stmt
    ) -> tuple[list[ast.stmt], Sequence[ast.stmt], Checks]:
        """What replaces a statement, statements that are to follow it, and checks to
        compare before it."""
        if isinstance(node, ast.If):
            test = self.visit(node.test)
            known = truth(test)
            checks = self.checks
            if known is not None and isinstance(test.node, (ast.Constant, ast.Name)):
                self.needs |= known.needs
                text = f"if {ast.unparse(node.test)}: {known.what}"
                self.note(text, self.scope.costs.branch)
                return [], node.body if known.what else node.orelse, checks
            self.demand_truth(test)
            return [self.branches(node, test.node)], [], checks
        simple = getattr(self, f"do_{type(node).__name__}", None)
        if simple is not None:
            made = simple(node)
            return [] if made is None or _is_idle(made) else [made], [], self.checks
        compound = getattr(self, f"around_{type(node).__name__}", None)
        if compound is not None:
            made, checks = compound(node)
            return [made], [], checks
        self.forget([node])
        return [node], [], []

    def forget(self, nodes: Sequence[ast.AST]) -> None:
        """The nodes may run any code and bind what they bind."""
        self.kill(assigned(nodes))
        self.soil()

    def merge(self, other: dict[str, Any], killed: Sequence[str] | None = None) -> None:
        """After two ways that meet here: this one, and one that ended in the state
        `other`. With names killed, the other way ran unknown code from there on."""
        if not other["live"]:
            return
        there = {n: v for n, v in other["facts"].items() if n not in (killed or ())}
        if not self.live:
            self.facts, self.live = there, True
            self.clean, self.because = other["clean"], other["because"]
            self.verified = other["verified"]
        else:
            self.facts = {
                name: value if value is there[name] else join(value, there[name])
                for name, value in self.facts.items()
                if name in there
            }
            self.clean = self.clean and other["clean"]
            self.verified &= other["verified"]
            self.because |= other["because"]
        if killed is not None:
            self.soil()

    def branches(self, node: ast.If, test: ast.expr) -> ast.stmt:
        start = self.state()
        self.weight *= 0.5
        self.level += 1
        body = self.block(node.body)
        after = self.state()
        self.facts, self.live = dict(start["facts"]), True
        self.clean, self.because = start["clean"], start["because"]
        self.verified = start["verified"]
        orelse = self.block(node.orelse)
        self.level -= 1
        # Early exits are mostly for the rare cases.
        self.weight *= 2.0 if self.live and after["live"] else 1.6
        self.merge(after)
        return rebuilt(node, test=test, body=body or [ast.Pass()], orelse=orelse)

    def inside(
        self, statements: Sequence[ast.stmt], kills: Sequence[ast.AST], factor: float
    ) -> list[ast.stmt]:
        """A block that is entered with what survives `kills`, in unknown state."""
        self.forget(kills)
        self.weight *= factor
        self.level += 1
        made = self.block(statements)
        self.level -= 1
        self.weight /= factor
        self.live = True
        self.soil()
        return made

    # Simple statements

    def do_Expr(self, node: ast.Expr) -> ast.stmt:
        value = self.visit(node.value)
        if value.type is None:
            self.soil()  # the value is dropped
        return rebuilt(node, value=value.node)

    def do_Pass(self, node: ast.Pass) -> ast.stmt:
        return node

    def do_Return(self, node: ast.Return) -> ast.stmt:
        made = rebuilt(node, value=self.visit(node.value).node) if node.value else node
        self.live = False
        return made

    def do_Raise(self, node: ast.Raise) -> ast.stmt:
        made = rebuilt(node, exc=self.visit(node.exc).node) if node.exc else node
        self.live = False
        return made

    def do_Continue(self, node: ast.Continue) -> ast.stmt:
        self.live = False
        return node

    def do_Break(self, node: ast.Break) -> ast.stmt:
        self.live = False
        return node

    def do_Assert(self, node: ast.Assert) -> ast.stmt | None:
        test = self.visit(node.test)
        known = truth(test)
        if known is not None and known.what and is_atom(test.node):
            self.needs |= known.needs
            self.note(f"assert {ast.unparse(node.test)}: True", self.scope.costs.branch)
            return None
        self.demand_truth(test)
        return rebuilt(node, test=test.node)

    def do_Assign(self, node: ast.Assign) -> ast.stmt:
        value = self.visit(node.value)
        for target in node.targets:
            self.assign(target, value)
        return rebuilt(node, value=value.node)

    def assign(self, target: ast.expr, value: Value) -> None:
        items = value.items
        if isinstance(target, ast.Name) and target.id in self.scope.locals:
            self.bind(target.id, value)
        elif isinstance(target, ast.Tuple) and items and len(items) == len(target.elts):
            for each, item in zip(target.elts, items, strict=True):
                # Not by name: `a, b = b, a` binds a before b's value is looked at.
                self.assign(each, replace(item, node=ast.Constant(None)))
        else:
            self.forget([target])

    def do_AugAssign(self, node: ast.AugAssign) -> ast.stmt | None:
        target = node.target
        if not isinstance(target, ast.Name) or target.id not in self.scope.locals:
            self.forget([node])
            return node
        load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        old, value = self.visit(load), self.visit(node.value)
        made = rebuilt(node, value=value.node)
        types = self.demand_scalars([old, value])
        kind = arithmetic_type(node.op, {each.what for each in types})
        if kind is None:
            self.forget([node])
            return made
        zero = value.const if kind is int and is_atom(value.node) else None
        adds = isinstance(node.op, (ast.Add, ast.Sub))
        if adds and zero and zero.what == 0 and not zero.checks:
            self.needs |= zero.needs.union(*(each.needs for each in types))
            self.note(f"{ast.unparse(node)}: nothing", self.scope.costs.branch)
            return None
        self.bind(target.id, of_type(load, kind, *types))
        return made

    def do_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None or not isinstance(node.target, ast.Name):
            self.forget([node])
            return node
        value = self.visit(node.value)
        self.bind(node.target.id, value)
        return rebuilt(node, value=value.node)

    # Compound statements: what replaces them, and the checks of what runs first

    def around_While(self, node: ast.While) -> tuple[ast.stmt, Checks]:
        self.forget([node])
        self.conditional += 1  # the test runs again: nothing may be compared before it
        test = self.visit(node.test)
        self.conditional -= 1
        start = dict(self.facts)
        body = self.inside(node.body, [node], 4.0)
        self.facts = dict(start)
        orelse = self.inside(node.orelse, [node], 1.0)
        self.facts = start
        made = rebuilt(node, test=test.node, body=body or [ast.Pass()], orelse=orelse)
        return made, []

    def around_For(self, node: ast.For) -> tuple[ast.stmt, Checks]:
        iterable, checks = self.visit(node.iter), self.checks
        self.forget([node])
        start = dict(self.facts)
        body = self.inside(node.body, [node], 4.0)
        self.facts = dict(start)
        orelse = self.inside(node.orelse, [node], 1.0)
        self.facts = start
        made = rebuilt(
            node, iter=iterable.node, body=body or [ast.Pass()], orelse=orelse
        )
        return made, checks

    def around_With(self, node: ast.With) -> tuple[ast.stmt, Checks]:
        first, checks = self.visit(node.items[0].context_expr), self.checks
        items = [rebuilt(node.items[0], context_expr=first.node), *node.items[1:]]
        body = self.inside(node.body, node.items, 1.0)
        self.forget([node])  # an exception may have been swallowed anywhere
        return rebuilt(node, items=items, body=body or [ast.Pass()]), checks

    def around_Try(self, node: ast.Try) -> tuple[ast.stmt, Checks]:
        start = dict(self.facts)
        body = self.inside(node.body, [], 1.0)
        self.facts = dict(start)
        orelse = self.inside(node.orelse, node.body, 1.0)
        handlers = []
        for each in node.handlers:
            self.facts = dict(start)
            block = self.inside(each.body, [*node.body, each], 0.1)
            handlers.append(rebuilt(each, body=block or [ast.Pass()]))
        self.facts = dict(start)
        final = self.inside(node.finalbody, [node], 1.0)
        self.facts = start
        self.forget([node])
        made = rebuilt(
            node,
            body=body or [ast.Pass()],
            handlers=handlers,
            orelse=orelse,
            finalbody=final or (node.finalbody and [ast.Pass()]),
        )
        return made, []
