"""The state of the demo's compiler on its way through a function: what holds, and why.

What a fold rests on is of three sorts. Facts of arguments and of closure cells that no
code rebinds hold for the whole call, and become guards at the entry. A global's value
becomes a guard too, but only where no user code can have run since the entry (`clean`):
a guard says nothing of what a callee rebinds. Functions, classes and builtins become
checks, identity comparisons where the original would have used them. (That a builtin's
name is not hidden by a new global is nothing that a guard can ask, either.)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from .costs import DEFAULT_COSTS, Costs
from .source import assigned
from .values import SCALARS, Check, Known, Need, Value


@dataclass
class Scope:
    """Names of the function that is specialised, and objects its new code refers to."""

    code: CodeType
    globals: dict[str, Any]
    builtins: dict[str, Any]
    objects: dict[str, object] = field(default_factory=dict)
    costs: Costs = DEFAULT_COSTS
    rebound: frozenset[str] = frozenset()  # names that the function binds somewhere

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


def conjunction(
    scope: Scope, checks: Sequence[Check], where: ast.expr | ast.stmt
) -> ast.expr:
    """`a is A and b is B ...` as an expression at the place of `where`."""
    tests: list[ast.expr] = [
        ast.Compare(each.node, [ast.Is()], [scope.object_node(each.expected)])
        for each in checks
    ]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    return relocated(test, where)


def relocated(node: ast.expr, where: ast.AST) -> Any:
    """A copy that says it comes from the lines of `where`."""
    made = copy.deepcopy(node)
    for each in ast.walk(made):
        if isinstance(each, ast.expr):
            ast.copy_location(each, where)
    return made


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
        self.level = 0  # of the block
        self.here = 0  # the statement, by its id
        self.leader: tuple[int, int] | None = None  # where checks began: here, level
        self.bundles: dict[int, dict[str, Check]] = {}  # checks by their leader
        self.plan: dict[int, dict[str, Check]] = {}  # the bundles of an earlier walk

    def nested(self, scope: Scope, facts: dict[str, Value]) -> Folder:
        """For the body of a function that is called here."""
        inner = type(self)(scope, facts)
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
        self.leader = None

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
        self.kill([name])
        if value is None or name not in self.scope.stable:
            return
        if any(k and k.checks for k in (value.type, value.const, value.none)):
            return
        if value.type or value.none:
            node = ast.Name(name, ast.Load())
            self.facts[name] = replace(value, node=node, safe=False)

    def kill(self, names: Sequence[str]) -> None:
        for name in names:
            self.facts.pop(name, None)

    def note(self, text: str, gain: float) -> None:
        self.folds.append(text)
        self.gain += gain * self.often()

    def often(self) -> float:
        """How often this place runs in a call, a guess."""
        return self.weight * 0.5**self.conditional

    def settle(
        self, original: ast.expr, result: Value, gain: float, *on: Known
    ) -> Value:
        """Replaces an expression by what it is known to be, and takes on the guards and
        checks which that rests on."""
        known = Known(None).and_(*on)
        new = [x for x in known.needs - self.needs if x.root == "global"]
        if len(new) * self.scope.costs.global_guard > gain * self.often():
            self.soil()
            return Value(original)
        self.needs |= known.needs
        if gain:
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
        can_hoist = self.statement_clean and not self.conditional and self.splits < 8
        if can_hoist:
            to_make = self.bundled(to_make)
        self.gain -= sum(each.cost for each in to_make.values()) * self.often()
        if can_hoist:
            self.checks += to_make.values()
            self.verified |= to_make.keys()
            self.needs |= self.statement_because
            return result.at(made)
        # Where the check fails, any code may run; where it holds, none does.
        self.soil()
        test = conjunction(self.scope, list(to_make.values()), original)
        return Value(ast.copy_location(ast.IfExp(test, made, original), original))

    def bundled(self, checks: dict[str, Check]) -> dict[str, Check]:
        """With the checks of builtins that an earlier walk made later on, up to where
        user code may run: one test for all, and one way out."""
        leader, level = self.leader or (self.here, self.level)
        self.leader = leader, level
        if level == self.level:
            builtins = {text: each for text, each in checks.items() if each.is_builtin}
            self.bundles.setdefault(leader, {}).update(builtins)
        if leader != self.here:
            return checks
        planned = self.plan.get(leader, {}).items()
        return {**checks, **{t: c for t, c in planned if t not in self.verified}}

    def text(self, value: Value) -> str:
        node = value.node
        if isinstance(node, ast.Constant) and node.value in self.scope.objects:
            return f"<{getattr(self.scope.objects[node.value], '__name__', 'object')}>"
        return ast.unparse(node)

    def visit(self, node: ast.expr) -> Value:
        """An expression, its parts in the order in which CPython evaluates them."""
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


class Irreducible(Exception):
    """A call cannot be replaced by an expression."""


UNBOUND = Value(ast.Constant(None))
"""The fact of a local that has no value yet."""
