"""Times of the demo's jobs: plain, and in turn under a hook, specialised, guarded.

Times are CPU time of the thread, which other work on the machine changes least.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from time import thread_time_ns
from typing import Any

from .. import features, set_eval_frame
from ..progress import Tell, tell_nobody
from .jit import Jit
from .workload import Corpus, Job

RUN = 10_000_000  # nanoseconds that a run of a job takes, about
MAX_TIMES, MAX_WARMUPS = 50, 4
TOLD = {
    "hooked": "jobs as they are and under an empty hook",
    "specialised": "jobs as they are and specialised, by the hook",
    "guarded": "jobs as they are and specialised, by function",
}


class Mismatch(Exception):
    """A job gave another result than without the hook."""


@dataclass
class JobTimes:
    """One job: nanoseconds of pairs of runs, plain and not, by what is compared."""

    job: Job
    expected: Any
    times: int = 1  # that a run repeats the job
    pairs: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def speed(self, way: str) -> float | None:
        """How many times as fast as plain: the median of the pairs' own ratios."""
        pairs = self.pairs.get(way)
        return median(plain / other for plain, other in pairs) if pairs else None


@contextmanager
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def run(timed: JobTimes, corpus: Corpus, callback: Any) -> int:
    """Runs a job under a callback, compares its results, gives nanoseconds."""
    prior = set_eval_frame(callback)
    try:
        start = thread_time_ns()
        results = [timed.job(corpus) for _ in range(timed.times)]
        elapsed = thread_time_ns() - start
    finally:
        set_eval_frame(prior)
    if any(result != timed.expected for result in results):
        how = "plain" if callback is None else "hooked"
        raise Mismatch(f"the {how} run of '{timed.job.__name__}' gave another result")
    return elapsed // timed.times


def time_pairs(
    way: str,
    jobs: list[JobTimes],
    corpus: Corpus,
    callback: Any,
    rounds: int,
    tell: Tell,
) -> None:
    """A plain run and one under the callback; which is first alternates."""
    with no_collection():
        for number in range(rounds):
            tell(f"{TOLD[way]}, round {number + 1} of {rounds}")
            for each in jobs:
                order = [None, callback] if number % 2 else [callback, None]
                took = {id(how): run(each, corpus, how) for how in order}
                pair = took[id(None)], took[id(callback)]
                each.pairs.setdefault(way, []).append(pair)


def time_guarded(
    jobs: list[JobTimes], corpus: Corpus, jit: Jit, rounds: int, tell: Tell
) -> None:
    """No hook at all: functions are guarded for the second half of a round."""

    def all_jobs(before: Callable[[], None]) -> list[int]:
        before()
        for each in jobs:
            run(each, corpus, None)
        return [run(each, corpus, None) for each in jobs]

    with no_collection():
        for number in range(rounds):
            tell(f"{TOLD['guarded']}, round {number + 1} of {rounds}")
            plain = all_jobs(jit.restore_functions)
            guarded = all_jobs(jit.guard_functions)
            for each, *pair in zip(jobs, plain, guarded, strict=True):
                each.pairs.setdefault("guarded", []).append((pair[0], pair[1]))
    jit.restore_functions()


def time_jobs(
    jobs: tuple[Job, ...],
    corpus: Corpus,
    jit: Jit,
    rounds: int,
    tell: Tell = tell_nobody,
) -> list[JobTimes]:
    """First while nothing is cached; then the JIT sees every job until it makes nothing
    new; then with what it made."""
    tell("first runs")
    timed = [JobTimes(job, job(corpus)) for job in jobs]
    for each in timed:
        once = min(run(each, corpus, None) for _ in range(2))
        each.times = max(1, min(MAX_TIMES, RUN // max(once, 1)))
    time_pairs("hooked", timed, corpus, False, rounds, tell)
    for _ in range(MAX_WARMUPS):
        before = jit.made
        for each in timed:
            tell(f"the JIT specialises; {jit.made} entries so far")
            run(each, corpus, jit)
        if jit.made == before:
            break
    time_pairs("specialised", timed, corpus, False, rounds, tell)
    jit.count()
    if features()["guards_calls_by"] == "entry":
        time_guarded(timed, corpus, jit, rounds, tell)
    return timed
