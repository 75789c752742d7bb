"""``GuardManager.specialize``: guards made from an example, as a JIT's key wants them.

A plan (``KeyPlan``) says which facts of the example count. They are guarded both ways:
where the example is divisible by 16 the guards demand that, and where it is not they
demand that it is not. So two calls pass the same guards only if they agree in every
fact of the plan.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from . import _guardtree
from ._guardtree import GuardManager
from .demands import Demand, Demands
from .key_plans import KeyPlan


def add_to(handle: GuardManager, demands: list[Demand], note: str) -> None:
    """Adds the checks, with the note on each."""
    for demand in demands:
        at = handle
        for name, *operands in demand.steps:
            at = getattr(at, name)(*operands)
        getattr(at, demand.kind)(*demand.operands).note(note)


def plans_by_name(
    example: Any, plan: KeyPlan, plans: Mapping[str, KeyPlan | None] | None
) -> Iterator[tuple[str, Any, KeyPlan]]:
    """Each local of a root's example with its plan."""
    if not isinstance(example, Mapping):
        raise TypeError(
            "specialize: on the root expected a mapping of locals by name, such as "
            f"call.arguments, found {type(example).__name__}; for one value take its "
            "handle: guards.local('x').specialize(x)"
        )
    plans = plans or {}
    if unknown := sorted(plans.keys() - example.keys()):
        raise ValueError(f"specialize(plans): no such local in the example: {unknown}")
    for name, value in example.items():
        chosen = plans.get(name, plan)
        if chosen is not None:
            yield name, value, chosen


def specialize(
    handle: GuardManager,
    example: Any,
    plan: KeyPlan | None = None,
    *,
    plans: Mapping[str, KeyPlan | None] | None = None,
    **facts: Any,
) -> GuardManager:
    """What ``GuardManager.specialize`` does; all of it, or nothing."""
    plan = dataclasses.replace(plan or KeyPlan(), **facts)
    is_root = handle.parent is None
    made: list[tuple[list[Demand], str]] = []
    if is_root:
        for name, value, each in plans_by_name(example, plan, plans):
            made.append(([*Demands(each).of(value, (("local", name),))], str(each)))
    elif plans is not None:
        raise TypeError("specialize(plans): plans are for a mapping, on the root")
    else:
        made.append(([*Demands(plan).of(example, ())], str(plan)))

    def add() -> None:
        for demands, note in made:
            add_to(handle, demands, note)

    _guardtree._all_or_none(handle, add)
    return handle
