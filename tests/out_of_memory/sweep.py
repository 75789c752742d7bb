"""Calls operations while one allocation fails, or all from one on, at every place.

    python sweep.py WAY NAME...

WAY: nomemory (`_testcapi.set_nomemory`) or malloc (the library of failing_malloc.c in
LD_PRELOAD). Prints a line of JSON for each operation: its name, how many allocations
it makes, and what is wrong as [place, how, text]. The calls are made in a forked child;
where one is wrong, another child goes on behind it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import trials
from failing import WAYS, Way

HOWS = ("one", "all")
EACH = 8  # places without a gap, except in a long run
MAX_WRONG = 10  # places of an operation; more of them say nothing new
SECONDS = 5  # for one call
IS_LONG = "GUARDTREE_TEST_LONG" in os.environ
WRONG = 76


def places(first: int) -> Iterator[int]:
    """Which allocations fail: the first ones each, then ever fewer."""
    place = 0
    while True:
        if place >= first:
            yield place
        place += 1 if IS_LONG else 1 + max(0, place - EACH) // 3


def told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def tried(
    trial: trials.Trial, right: list[Any], way: Way, place: int, how: str
) -> tuple[str, bool]:
    """Calls it once; what is wrong with the outcome, and whether it answered."""
    failed: BaseException | None = None
    found: Any = None
    try:
        found = way.call(trial.run, place, how)
    except MemoryError as error:
        failed = error
    except BaseException as error:
        return told(error), True
    answer = None if failed else trials.plain(found)
    if not failed and trials.ANY not in right and answer not in right:
        return f"expected {right}, found {answer!r}", True
    is_over = failed is None
    failed = found = None
    works = trials.hook_works()
    return "" if works else "the hook does not work any more", is_over


def once_more(trial: trials.Trial, right: list[Any]) -> str:
    """Calls it with memory: what failed before has changed nothing."""
    try:
        answer = trials.plain(trial.run())
    except BaseException as error:
        return f"afterwards {told(error)}"
    if trials.ANY not in right and answer != right[0]:
        return f"afterwards expected {right[0]!r}, found {answer!r}"
    return ""


def child(name: str, way: Way, first: int, skip: str, output: int) -> None:
    """Tries places from the first one on, until no allocation fails or one is wrong."""

    def say(*what: Any) -> None:
        os.write(output, (json.dumps(what) + "\n").encode())

    trials.begin()
    make = trials.listed()[name]
    trial = make()
    right = list(trial.answers)
    for _ in range(3):
        again = trial if trial.is_repeatable else make()
        answer = trials.plain(again.run())
        right = right or [answer]
        assert trials.ANY in right or answer == right[0], (answer, right)
    if trial.is_repeatable:
        trial = make()
        trial.run()
    for place in places(first):
        for how in HOWS[HOWS.index(skip) + 1 if skip and place == first else 0 :]:
            say(place, how)
            signal.alarm(SECONDS)
            if not trial.is_repeatable:
                trial = make()
            wrong, is_over = tried(trial, right, way, place, how)
            has_failed = way.has_failed()
            if not wrong and (trial.is_repeatable or not is_over):
                wrong = once_more(trial, right)
            if wrong:
                say(place, how, wrong)
                os._exit(WRONG)
        if not has_failed:
            say("done", place)
            os._exit(0)


def swept(name: str, way: Way) -> tuple[int, list[Any]]:
    """All places of an operation: how many allocations it makes, what is wrong."""
    found: list[Any] = []
    first, skip = 0, ""
    while True:
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            try:
                child(name, way, first, skip, writing)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        os.close(writing)
        with os.fdopen(reading) as lines:
            last = [json.loads(line) for line in lines]
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if status == 0:
            return last[-1][1], found
        if not last:
            return first, [*found, (-1, "", "it does not work with memory")]
        place, how, *wrong = last[-1]
        if status < 0:
            wrong = [signal.Signals(-status).name]
        found.append((place, how, wrong[0] if wrong else f"exit status {status}"))
        is_shown = name.startswith("CPython: ") and status == -signal.SIGALRM
        if len(found) >= MAX_WRONG or is_shown:
            return place, found
        first, skip = place, how
        if how == HOWS[-1]:
            first, skip = next(places(place + 1)), ""


def main() -> None:
    way = WAYS[sys.argv[1]]()
    devnull = os.open(os.devnull, os.O_WRONLY)
    if "GUARDTREE_TEST_LOUD" not in os.environ:
        os.dup2(devnull, 2)  # what goes to sys.unraisablehook
    names = list(trials.listed())  # imports NumPy, here and not in each child
    for name in sys.argv[2:] or names:
        count, wrong = swept(name, way)
        print(json.dumps([name, count, wrong]), flush=True)


if __name__ == "__main__":
    main()
