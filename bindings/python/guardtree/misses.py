"""The exception for misses that raise."""

from __future__ import annotations

from ._guardtree import Frame, _set_miss_maker
from .explanations import CacheExplanation, explain


class GuardMiss(RuntimeError):
    """No entry passed for a call, and misses raise (RAISE_ON_MISS, set_policy).

    The call did not run. ``explanation`` lists for each entry the guards that did not
    pass.
    """

    def __init__(self, explanation: CacheExplanation) -> None:
        super().__init__(f"no entry serves this call of {explanation}")
        self.explanation = explanation


def miss_of(frame: Frame) -> GuardMiss:
    """The exception for a frame for which no entry passes."""
    return GuardMiss(explain(frame.f_code, frame))


_set_miss_maker(miss_of)
