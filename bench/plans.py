"""A guard tree as a list of calls, made from a workload's facts and then run.

The calls are worked out beforehand, so that the time that building takes is the
engine's own. This file makes guardtree's calls; `peer.py` makes the peer's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import guardtree as gt
from workloads import Fact, Path, Workload

Call = tuple[int, str, tuple[Any, ...], bool]
"""The node that is called, the method, its arguments, whether it gives a node."""


@dataclass
class Plan:
    """Calls on the root, which is node 0, and on the nodes that calls gave; then what
    is said about several nodes."""

    calls: list[Call] = field(default_factory=list)
    distinct: list[tuple[int, ...]] = field(default_factory=list)
    nodes: dict[Any, int] = field(default_factory=lambda: {(): 0})

    def node(self, key: Any, parent: int, method: str, *arguments: Any) -> int:
        """The node of that key; its call is added when it is new."""
        if key not in self.nodes:
            self.nodes[key] = len(self.nodes)
            self.calls.append((parent, method, arguments, True))
        return self.nodes[key]

    def check(self, node: int, method: str, *arguments: Any) -> None:
        """A check of that node."""
        self.calls.append((node, method, arguments, False))

    def run(self, root: Any) -> list[Any]:
        """Makes all calls; the nodes."""
        nodes = [root]
        add = nodes.append
        for node, method, arguments, is_node in self.calls:
            made = getattr(nodes[node], method)(*arguments)
            if is_node:
                add(made)
        return nodes


def plan_of(workload: Workload) -> Plan:
    """guardtree's calls: a step is a method, and so is a check."""
    plan = Plan()

    def node_of(path: Path) -> int:
        node = 0
        for depth, (name, operand) in enumerate(path, 1):
            arguments = () if operand is None else (operand,)
            node = plan.node(path[:depth], node, name, *arguments)
        return node

    for fact in workload.facts:
        if fact.kind == "distinct_objects":
            plan.distinct.append(tuple(map(node_of, fact.operand)))
        else:
            plan.check(node_of(fact.path), fact.kind, *operands_of(fact))
    return plan


def operands_of(fact: Fact) -> tuple[Any, ...]:
    """A fact's operand as arguments."""
    bare = fact.kind in ("is_none", "is_true", "is_false")
    return () if bare else (fact.operand,)


def build(workload: Workload, plan: Plan) -> gt.GuardManager:
    """guardtree's tree."""
    guards = gt.GuardManager(workload.function)
    nodes = plan.run(guards)
    for places in plan.distinct:
        guards.distinct_objects(*(nodes[place] for place in places))
    return guards
