"""A frame counter written against the callback contract; run as a script by test_seed.

    python seed_program.py skip|hit|miss

It prints each function the callback is asked about, how many cache entries the
function has, and each guard that runs. The functions must be `__main__.f` and `.g`.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from guardtree import (
    CacheEntry,
    DynamoFrameType,
    FrameState,
    GuardedCode,
    GuardFn,
    is_generator,
    set_eval_frame,
)


def f(x: int) -> int:
    return x + 1


def g(x: int) -> int:
    return x + 2


def qualified_name(frame: DynamoFrameType) -> str:
    """module.function, or module.Class.function where the frame has a self."""
    module = inspect.getmodule(frame)
    parts = ["empty module" if module is None else module.__name__]
    try:
        parts.append(type(frame.f_locals["self"]).__name__)
    except KeyError:
        pass  # f_locals is a dict: a missing name is a KeyError and nothing else
    return ".".join([*parts, frame.f_code.co_name])


def chain_length(entry: CacheEntry | None) -> int:
    length = 0
    while entry is not None:
        length, entry = length + 1, entry.next
    return length


class Constant(GuardFn):
    """A guard that says what it was given and then always the same thing."""

    def __init__(self, verdict: bool) -> None:
        self.verdict = verdict

    def __call__(self, f_locals: dict[str, Any]) -> bool:
        print(f"guard called with {len(f_locals)} args.")
        return self.verdict


class Counter:
    """The callback: counts its calls and makes every entry run the code unchanged."""

    def __init__(self, *, skip: bool, verdict: bool) -> None:
        self.asked = 0
        self.skip = skip
        self.verdict = verdict

    def __call__(
        self,
        frame: DynamoFrameType,
        entry: CacheEntry | None,
        frame_state: FrameState,
    ) -> GuardedCode | None:
        self.asked += 1
        length = chain_length(entry)
        print(f"calling the {self.asked}-th function: {qualified_name(frame)}")
        print(f"the function has {length} cache entries now.")
        if "cache_len" in frame_state:
            print(f"number of caches in the last call: {frame_state['cache_len']}")
        # The first length stays: the expected lines never report a later one.
        frame_state.setdefault("cache_len", length)
        if self.skip or is_generator(frame.f_code):
            return None
        return GuardedCode(code=frame.f_code, check_fn=Constant(self.verdict))


def main(mode: str) -> None:
    counter = Counter(skip=mode == "skip", verdict=mode == "hit")
    prior = set_eval_frame(counter)
    x = f(1)
    x = g(x)
    x = f(x)
    x = g(x)
    x = f(x)
    set_eval_frame(prior)
    assert x == 8, x


if __name__ == "__main__":
    main(sys.argv[1])
