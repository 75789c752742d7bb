"""Interleaved timing: all variants in each round, and medians of paired differences.

A machine may be slow for seconds at a time. Within a round the variants follow each
other in a few milliseconds, so a slow spell hits all of them, and the difference of two
within one round is sound where the difference of two minima is not. Rounds in which
even an empty loop was slow are dropped. Time is the thread's own: being descheduled
costs nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import thread_time_ns
from typing import Any

Loop = Callable[[int, Any], object]
Switch = Callable[[], object]

# A round is dropped when its empty loop took this many times the shortest one.
SLOW_ROUND = 1.15

# Two variants that are compared with each other.
EMPTY_CHECK = "check, empty guard"
TRIVIAL = "lambda: True"


def nothing() -> None:
    """The switch of a variant that needs none."""


@dataclass(frozen=True)
class Variant:
    """A loop ``loop(times, argument)``, timed between ``enter()`` and ``leave()``."""

    name: str
    loop: Loop
    argument: Any = None
    enter: Switch = nothing
    leave: Switch = nothing


@dataclass(frozen=True)
class Plan:
    """How much to run."""

    calls: int
    warm_up: int
    rounds: int
    batches: int


FULL = Plan(calls=20_000, warm_up=500, rounds=25, batches=5)
SMOKE = Plan(calls=20, warm_up=20, rounds=2, batches=1)


@dataclass(frozen=True)
class Spread:
    """The batches' medians, ns: the smallest, the one in the middle, the largest."""

    best: float
    middle: float
    worst: float

    @classmethod
    def of(cls, medians: Sequence[float]) -> Spread:
        """The spread of the batches' medians."""
        return cls(min(medians), median(medians), max(medians))


def empty_loop(times: int, argument: Any) -> None:
    """What every loop here costs besides its calls."""
    for _ in range(times):
        pass


EMPTY = Variant("empty", empty_loop)


@dataclass
class Batch:
    """Nanoseconds per call of each variant, one number for each round."""

    times: dict[str, list[float]] = field(default_factory=dict)

    def kept(self) -> list[int]:
        """The rounds in which the machine was not slow."""
        empty = self.times[EMPTY.name]
        limit = min(empty) * SLOW_ROUND
        return [number for number, time in enumerate(empty) if time <= limit]

    def difference(self, name: str, baseline: str) -> float:
        """The median over the kept rounds of ``name`` minus ``baseline``."""
        ours, theirs = self.times[name], self.times[baseline]
        return median(ours[number] - theirs[number] for number in self.kept())


def time_once(variant: Variant, plan: Plan) -> float:
    """Nanoseconds per call, after a warm-up under the same switch."""
    variant.enter()
    try:
        variant.loop(plan.warm_up, variant.argument)
        start = thread_time_ns()
        variant.loop(plan.calls, variant.argument)
        return (thread_time_ns() - start) / plan.calls
    finally:
        variant.leave()


def run_batch(variants: Sequence[Variant], plan: Plan) -> Batch:
    """Times all variants, and the empty loop, in every round."""
    order = [EMPTY, *variants]
    batch = Batch({variant.name: [] for variant in order})
    collecting = gc.isenabled()
    gc.disable()
    try:
        for variant in order:
            time_once(variant, plan)
        for number in range(plan.rounds):
            # Each variant is the first of a round in its turn.
            start = number % len(order)
            for variant in order[start:] + order[:start]:
                batch.times[variant.name].append(time_once(variant, plan))
    finally:
        if collecting:
            gc.enable()
    return batch
