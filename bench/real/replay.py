"""Times each recorded tree in both engines: `check` through Python, nothing subtracted.

Both are asked about the same locals. All variants of a tree run in turn within a round;
a time is the least of the rounds that the machine was not slow in, a ratio the median
of the rounds' own ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch
from guardtree.bench.rounds import Variant
from workload_costs import Effort, in_turn, loop_of

from . import run
from .programs import Program, load
from guardtree.torch.dynamo.record import Recording
from guardtree.torch.dynamo.translate import Translation, translate

OURS, THEIRS, LITERAL = "guardtree", "peer", "literal"


@dataclass(frozen=True)
class Tree:
    """A tree of a program in both engines."""

    program: Program
    recording: Recording
    translation: Translation
    literal: Translation

    def checks(self) -> dict[str, Callable[[dict[str, Any]], bool]]:
        """What is asked, by engine."""
        return {
            OURS: self.translation.guards.check,
            THEIRS: self.recording.root.manager.check,
            LITERAL: self.literal.guards.check,
        }

    def verdicts(self, values: dict[str, Any]) -> dict[str, bool]:
        """What each engine says, in the state that the frame ran in."""
        with torch.set_grad_enabled(self.recording.grad_mode):
            return {name: check(values) for name, check in self.checks().items()}


@dataclass(frozen=True)
class Replayed:
    """A tree's numbers, times in ns."""

    tree: str
    family: str
    guards: int
    """Of torch's tree: leafs, relations and lambdas."""
    nodes: int
    ours: float
    peer: float
    ratio: float
    """How many times as long as guardtree the peer takes."""
    literal: float
    """guardtree's time where each step is the one of the same name."""
    python: list[str]
    """What is asked of Python, or read by it, besides what is in every tree."""


def trees(names: set[str] | None = None) -> Iterator[Tree]:
    """The trees of the programs, or of those of these names. Of trees that one family
    has twice, of the same code and size, there is one."""
    known = set()
    for program in load():
        if names is not None and program.name not in names:
            continue
        for recording in run.trees_of(program):
            counts = tuple(recording.counts().values())
            shape = (program.family, recording.code, counts)
            if shape in known:
                continue
            known.add(shape)
            with torch.set_grad_enabled(recording.grad_mode):
                both = translate(recording), translate(recording, literal=True)
            tree = Tree(program, recording, *both)
            said = tree.verdicts(recording.values)
            if not all(said.values()):
                raise RuntimeError(f"{recording.name}: {said} where all were to pass")
            yield tree


def measure(tree: Tree, effort: Effort) -> Replayed:
    """The times of a tree."""
    values, mode = tree.recording.values, tree.recording.grad_mode
    enter = partial(torch._C._set_grad_enabled, mode)
    leave = partial(torch._C._set_grad_enabled, torch.is_grad_enabled())
    variants = [
        Variant(name, loop_of(check), values, enter, leave)
        for name, check in tree.checks().items()
    ]
    for each in tree.checks().values():
        tree.verdicts(values)
    batch = in_turn(variants, effort)
    kept = batch.kept()
    times = {name: min(batch.times[name][i] for i in kept) for name in tree.checks()}
    rounds = zip(batch.times[THEIRS], batch.times[OURS])
    ratios = [theirs / ours for theirs, ours in rounds]
    counts = tree.recording.counts()
    return Replayed(
        tree.recording.name,
        tree.program.family,
        counts["guards"],
        counts["managers"],
        times[OURS],
        times[THEIRS],
        median(ratios[i] for i in kept),
        times[LITERAL],
        [*tree.translation.python, *tree.translation.user],
    )
