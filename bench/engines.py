"""The engines that a workload is measured in, as variants: one line adds another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import guardtree as gt
import plans
from guardtree import _guardtree
from guardtree.bench.rounds import Switch, nothing
from peer import build_peer, peer_counts, peer_plan_of
from plans import Plan
from workloads import Workload


@dataclass(frozen=True)
class Engine:
    """How one engine plans and builds a tree. `enter` and `leave` switch a mode of the
    process; they stand around all that the engine does, building included."""

    name: str
    plan: Callable[[Workload], Plan]
    build: Callable[[Workload, Plan], Any]
    """Gives a root with a `check`."""
    counts: Callable[[Any], dict[str, int]]
    """What is in a tree: `guards`, by facts, and more."""
    time_in_cpp: Callable[[Any, dict[str, Any], int], float] | None = None
    """ns of one evaluation without Python's call of it, where that can be had."""
    can_have: Callable[[Any], bool] = lambda root: True
    """Whether a built tree is what the variant is named for."""
    enter: Switch = nothing
    leave: Switch = nothing


def our_counts(guards: gt.GuardManager) -> dict[str, int]:
    """Checks and relations, and the values that are fetched."""
    counts = guards.counts()
    return {"guards": counts.checks + counts.relations, "nodes": counts.nodes}


def assume(enabled: bool) -> None:
    """Whether trees that are compiled from now on assume what lies in dicts."""
    gt.set_assumptions(enabled)


PLAIN = Engine(
    "plain",
    plans.plan_of,
    plans.build,
    our_counts,
    _guardtree._time_evaluations,
    enter=partial(assume, False),
    leave=partial(assume, True),
)

OURS = (PLAIN, replace(PLAIN, name="guardtree", enter=nothing, leave=nothing))

COMPARED = OURS[-1]
"""The variant of ours that ratios are to."""

PEERS = (
    Engine("peer", peer_plan_of, lambda workload, plan: build_peer(plan), peer_counts),
    Engine(
        "peer, tags",
        peer_plan_of,
        lambda workload, plan: build_peer(plan, recursive=True),
        peer_counts,
        can_have=lambda root: peer_counts(root)["tag_roots"] > 0,
    ),
)

ENGINES = (*OURS, *PEERS)
