"""Measurements of the demo: tasks and functions, hooked and not, in turn.

Times are CPU time of the thread, which other work on the machine changes least.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from time import thread_time_ns
from types import CodeType, FunctionType
from typing import Any

from .. import ASK_AGAIN, GuardedCode, optimize, set_eval_frame
from .compiler import Call, Compiler, Entry, Function, build_guards
from .workload import Corpus, Task

ROUND = 300_000  # nanoseconds that a function runs in one round, about
TASK_ROUND = 15_000_000  # nanoseconds that a job runs in one round, about
MOST_TIMES = 20
MOST_WARMUPS = 4


class Mismatch(Exception):
    """A task gave another result than without the hook."""


@dataclass
class TaskTimes:
    """One task: nanoseconds of each run. The runs of a pair followed each other."""

    task: Task
    expected: Any
    times: int = 1  # that a run repeats the task
    pairs: int = 0
    pass_through: list[tuple[int, int]] = field(default_factory=list)  # plain, hooked
    specialized: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class FunctionTimes:
    """Nanoseconds of one call that was seen, the best of several rounds."""

    plain: float  # the hook is off
    hooked: float  # the hook is on, nothing is cached for this function
    hit: float  # the hook is on, the specialised code runs
    lookup: float  # what guards and substitution cost, without any gain


@contextmanager
def no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def run(timed: TaskTimes, corpus: Corpus, callback: Any) -> int:
    """Runs a task under a callback, compares its result, gives nanoseconds."""
    prior = set_eval_frame(callback)
    try:
        start = thread_time_ns()
        results = [timed.task(corpus) for _ in range(timed.times)]
        elapsed = thread_time_ns() - start
    finally:
        set_eval_frame(prior)
    if any(result != timed.expected for result in results):
        how = "plain" if callback is None else "hooked"
        raise Mismatch(f"the {how} run of '{timed.task.__name__}' gave another result")
    return elapsed // timed.times


def pair_of_runs(timed: TaskTimes, corpus: Corpus) -> tuple[int, int]:
    """One plain and one hooked run; which is first alternates, for the second finds
    the caches warm."""
    timed.pairs += 1
    if timed.pairs % 2:
        plain = run(timed, corpus, None)
        return plain, run(timed, corpus, False)
    hooked = run(timed, corpus, False)
    return run(timed, corpus, None), hooked


def time_tasks(
    tasks: tuple[Task, ...], corpus: Corpus, compiler: Compiler, rounds: int
) -> list[TaskTimes]:
    """Plain against pass-through first, while nothing is cached; then the compiler sees
    every task until it makes nothing new; then plain against specialised."""
    timed = [TaskTimes(task, task(corpus)) for task in tasks]
    for each in timed:
        once = run(each, corpus, None)
        each.times = max(1, min(MOST_TIMES, TASK_ROUND // max(once, 1)))
    with no_collection():
        for _ in range(rounds):
            for each in timed:
                each.pass_through.append(pair_of_runs(each, corpus))
    for _ in range(MOST_WARMUPS):
        before = compiler.made
        for each in timed:
            run(each, corpus, compiler)
        if compiler.made == before:
            break
    with no_collection():
        for _ in range(rounds):
            for each in timed:
                each.specialized.append(pair_of_runs(each, corpus))
    compiler.count()
    return timed


def copy_of(function: FunctionType) -> FunctionType:
    """A function whose code object is another one, without a cache."""
    made = FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def guarded_copy(function: FunctionType, entry: Entry, call: Call) -> FunctionType:
    """A copy with the entry's guards, before code that is the same as its own."""
    made = copy_of(function)
    same: CodeType = made.__code__.replace()

    def callback(frame: Any, _entry: Any, _state: Any) -> Any:
        if frame.f_code is not made.__code__:
            return ASK_AGAIN
        return GuardedCode(same, build_guards(frame, entry.made.needs))

    with optimize(callback):
        made(*call.args, **call.kwargs)
    return made


def loop_of(call: Call) -> Callable[..., int]:
    """A loop that makes this call as source code would: what CPython gains by calling
    Python from Python without C in between is lost on `function(*args)`."""
    values = [*call.args, *call.kwargs.values()]
    names = [f"a{place}" for place in range(len(values))]
    given = names[: len(call.args)]
    given += [
        f"{key}={name}"
        for key, name in zip(call.kwargs, names[len(given) :], strict=True)
    ]
    source = f"""def loop(function, times, callback, {", ".join(names)}):
        prior = set_eval_frame(callback)
        try:
            start = thread_time_ns()
            for _ in repeat(None, times):
                function({", ".join(given)})
            return thread_time_ns() - start
        finally:
            set_eval_frame(prior)"""
    namespace: dict[str, Any] = {"repeat": repeat, "set_eval_frame": set_eval_frame}
    namespace["thread_time_ns"] = thread_time_ns
    exec(source, namespace)
    return lambda *head: namespace["loop"](*head, *values)


def time_function(function: Function, rounds: int) -> FunctionTimes | None:
    """The first entry that can be called again; None where there is none."""
    found = [each for each in function.entries if each.sample is not None]
    target = function.function
    if target is None or not found or found[0].sample is None:
        return None
    entry, call = found[0], found[0].sample
    bare = copy_of(target)
    guarded = guarded_copy(target, entry, call)
    ways: list[tuple[Callable[..., Any], Any]] = [
        (target, None),
        (bare, False),
        (target, False),
        (guarded, False),
    ]
    loop = loop_of(call)
    times = max(20, ROUND * 20 // max(200, loop(target, 20, None)))
    best = [float("inf")] * len(ways)
    with no_collection():
        for _ in range(rounds):
            for place, (each, callback) in enumerate(ways):
                once = loop(each, times, callback) / times
                best[place] = min(best[place], once)
    plain, hooked, hit, same = best
    return FunctionTimes(plain, hooked, hit, same - hooked)
