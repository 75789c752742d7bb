"""What a workload's guards cost in each engine: warm, cold, hit, missed, built.

All variants run in turn within a round, and so do the engines' empty checks, which are
subtracted within the round; a number is the median over the rounds that the machine was
not slow in (README.md, Method).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import repeat
from operator import truediv
from statistics import median
from time import perf_counter_ns, thread_time_ns
from typing import Any

import torch
from changes import Change, changes_of
from engines import COMPARED, ENGINES, PEERS, Engine
from guardtree.bench.building import allocated_bytes
from guardtree.bench.rounds import Batch, Variant, empty_loop
from plans import Plan
from workloads import Workload


@dataclass(frozen=True)
class Effort:
    """How much to run. `loop_ns` is how long a variant runs in one round."""

    rounds: int
    loop_ns: int
    singles: int
    built_guards: int
    """About so many guards are built to time the building of one."""


FULL = Effort(rounds=25, loop_ns=2_000_000, singles=31, built_guards=4000)
SMOKE = Effort(rounds=2, loop_ns=20_000, singles=2, built_guards=1)

FLUSHED_MIB = 256
"""Written through to empty the caches. 64 are too few for a last level of 32: checking
a 48-layer encoder took 270 us after them where it takes 550 after 256."""

Costs = dict[str, float]


@dataclass
class Measured:
    """A workload's numbers by engine: ns a check, ns and bytes a guard. An engine that
    cannot have the workload is not among them."""

    workload: str
    guards: int
    counts: dict[str, dict[str, int]]
    rechecked: int = 0
    """Guards that guardtree looks at in each hit; on the others it relies."""
    compared: int = 0
    """Words that it compares for those others."""
    cpp: Costs = field(default_factory=dict)
    costs: dict[str, Costs] = field(default_factory=dict)
    """By what was measured: hit, cold, last_miss, ..."""
    ratios: dict[str, Costs] = field(default_factory=dict)
    """Likewise, of the peers: how many times as long as guardtree."""
    build: Costs = field(default_factory=dict)
    bytes: Costs = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@contextmanager
def switched(engine: Engine) -> Iterator[None]:
    """The engine's mode is on."""
    engine.enter()
    try:
        yield
    finally:
        engine.leave()


def loop_of(check: Callable[[Any], bool]) -> Callable[[int, Any], None]:
    """A loop that calls a check, of its own code: the interpreter specialises it. It
    makes no ints, as timeit's does not."""
    namespace: dict[str, Any] = {"check": check, "repeat": repeat}
    source = (
        "def loop(times, values):\n"
        "    for _ in repeat(None, times):\n"
        "        check(values)\n"
    )
    exec(source, namespace)
    return namespace["loop"]


def calls_for(loop: Callable[[int, Any], object], values: Any, ns: int) -> int:
    """So many calls last about so long."""
    loop(3, values)
    start = thread_time_ns()
    loop(3, values)
    return max(3, 3 * ns // max(1, thread_time_ns() - start))


def time_once(variant: Variant, calls: int) -> float:
    """ns of a call, of the thread's own time."""
    variant.enter()
    try:
        variant.loop(1, variant.argument)
        start = thread_time_ns()
        variant.loop(calls, variant.argument)
        return (thread_time_ns() - start) / calls
    finally:
        variant.leave()


def in_turn(variants: Sequence[Variant], effort: Effort) -> Batch:
    """All variants in every round, each as often as fills its time."""
    order = [Variant("empty", empty_loop), *variants]
    calls = {}
    for each in order:
        each.enter()
        calls[each.name] = calls_for(each.loop, each.argument, effort.loop_ns)
        each.leave()
    batch = Batch({each.name: [] for each in order})
    for number in range(effort.rounds):
        start = number % len(order)
        for each in order[start:] + order[:start]:
            batch.times[each.name].append(time_once(each, calls[each.name]))
    return batch


class Trees:
    """A workload's trees in all engines that can have it, each with an empty one."""

    def __init__(self, workload: Workload) -> None:
        nothing_guarded = Workload("", workload.function, workload.values, [])
        self.workload = workload
        self.plans: dict[str, Plan] = {}
        self.engines: list[Engine] = []
        for engine in ENGINES:
            plan = engine.plan(workload)
            with switched(engine):
                if engine.can_have(engine.build(workload, plan)):
                    self.engines.append(engine)
                    self.plans[engine.name] = plan
        self.roots = {each.name: self.build(each) for each in self.engines}
        self.empty = {}
        for engine in self.engines:
            with switched(engine):
                self.empty[engine.name] = engine.build(nothing_guarded, Plan())

    def build(self, engine: Engine) -> Any:
        """A new tree."""
        with switched(engine):
            return engine.build(self.workload, self.plans[engine.name])

    def check_all(self, expected: bool) -> None:
        """Every engine says so, three times: what is kept between checks settles."""
        for engine in self.engines:
            with switched(engine):
                root = self.roots[engine.name]
                said = [root.check(self.workload.values) for _ in range(3)]
            if said != [expected] * 3:
                raise RuntimeError(f"{engine.name}, {self.workload.name}: {said}")

    def variants(self) -> list[Variant]:
        """The checks, and the empty ones."""
        return [
            Variant(f"{kind} {each.name}", loop_of(roots[each.name].check),
                    self.workload.values, each.enter, each.leave)
            for each in self.engines
            for kind, roots in (("check", self.roots), ("none", self.empty))
        ]  # fmt: skip

    def warm(self, effort: Effort) -> tuple[Costs, Costs]:
        """ns of a check over the empty one; how many times ours the others take."""
        batch = in_turn(self.variants(), effort)
        costs = {
            each.name: batch.difference(f"check {each.name}", f"none {each.name}")
            for each in self.engines
        }
        return costs, self.ratios(batch)

    def ratios(self, batch: Batch) -> Costs:
        """The medians of the rounds' own ratios, to ours that is compared."""

        def over_empty(engine: Engine, number: int) -> float:
            full = batch.times[f"check {engine.name}"][number]
            return full - batch.times[f"none {engine.name}"][number]

        return {
            each.name: median(
                over_empty(each, number) / max(1.0, over_empty(COMPARED, number))
                for number in batch.kept()
            )
            for each in self.engines
            if each in PEERS
        }

    def single(
        self, effort: Effort, is_cold: bool, change: Change | None = None
    ) -> tuple[Costs, Costs]:
        """ns of a single check, after hits or after the caches were flushed, without
        the timer's own; ratios. With a change a tree's first miss: each is a new one,
        since the peer moves what failed to the front."""
        times: dict[str, list[int]] = {each.name: [] for each in self.engines}
        values = self.workload.values
        for _ in range(effort.singles):
            own = time_single(None, values, is_cold)
            for each in self.engines:
                root = self.build(each) if change else self.roots[each.name]
                with switched(each):
                    for _ in range(3):
                        root.check(values)
                    with change.applied() if change else nullcontext():
                        took = time_single(root.check, values, is_cold)
                times[each.name].append(max(1, took - own))
        ours = times[COMPARED.name]
        ratios = {
            each.name: median(map(truediv, times[each.name], ours))
            for each in self.engines
            if each in PEERS
        }
        return {name: median(found) for name, found in times.items()}, ratios

    def cpp(self, effort: Effort) -> Costs:
        """ns of an evaluation inside C++, where it can be had."""
        found: Costs = {}
        values = self.workload.values
        for each in self.engines:
            if not (timer := each.time_in_cpp):
                continue
            root = self.roots[each.name]
            with switched(each):
                once = max(1.0, timer(root, values, 3))
                count = max(3, int(effort.loop_ns / once))
                times = [timer(root, values, count) for _ in range(effort.rounds)]
                found[each.name] = median(times)
        return found

    def building(self, effort: Effort) -> tuple[Costs, Costs]:
        """ns and bytes a guard, of a tree that was built and checked once."""
        guards = len(self.workload.facts)
        copies = -(-effort.built_guards // guards)
        values = self.workload.values
        times: dict[str, list[float]] = {each.name: [] for each in self.engines}
        held: Costs = {}
        for _ in range(max(2, effort.rounds // 4)):
            for each in self.engines:
                gc.collect()
                before = allocated_bytes()
                start = thread_time_ns()
                roots = [self.build(each) for _ in range(copies)]
                with switched(each):
                    for root in roots:
                        root.check(values)
                spent = thread_time_ns() - start
                times[each.name].append(spent / copies / guards)
                gc.collect()
                after = allocated_bytes()
                if before is not None and after is not None:
                    held[each.name] = (after - before) / copies / guards
                del roots, root
        return {name: median(found) for name, found in times.items()}, held


@cache
def flushed() -> torch.Tensor:
    """What is written through; made when it is first needed."""
    return torch.zeros(FLUSHED_MIB << 17, dtype=torch.int64)


def time_single(check: Callable[[Any], bool] | None, values: Any, is_cold: bool) -> int:
    """ns of one check, if cold with nothing of it in the caches; None: the timer's."""
    if is_cold:
        flushed().add_(1)
    if check is None:
        start = perf_counter_ns()
        return perf_counter_ns() - start
    start = perf_counter_ns()
    check(values)
    return perf_counter_ns() - start


def measure(
    workload: Workload, effort: Effort, told: Callable[[str], None]
) -> Measured:
    """All numbers of a workload. `told` hears what is being measured."""
    trees = Trees(workload)
    counts = {each.name: each.counts(trees.roots[each.name]) for each in trees.engines}
    found = Measured(workload.name, len(workload.facts), counts)
    for name, count in counts.items():
        if count["guards"] != found.guards:
            raise RuntimeError(f"{name} has {count} guards of {found.guards}")

    def note(name: str, measured: tuple[Costs, Costs]) -> None:
        found.costs[name], found.ratios[name] = measured

    told(f"{workload.name}: hit")
    trees.check_all(True)
    note("hit", trees.warm(effort))
    note("cold", trees.single(effort, is_cold=True))
    relied_on = trees.roots[COMPARED.name].assumed()
    found.rechecked = found.guards - relied_on.assumed
    found.compared = relied_on.compared
    found.cpp = trees.cpp(effort)
    for place, fact in (("first", workload.facts[0]), ("last", workload.facts[-1])):
        told(f"{workload.name}: {place} guard missed")
        change = next(iter(changes_of(workload, fact)))
        note(f"{place}_miss_once", trees.single(effort, False, change))
        note(f"{place}_miss_cold", trees.single(effort, True, change))
        missing = Trees(workload)
        missing.check_all(True)
        with change.applied():
            missing.check_all(False)
            note(f"{place}_miss", missing.warm(effort))
    told(f"{workload.name}: building")
    found.build, found.bytes = trees.building(effort)
    return found
