"""What is raised where misses are to raise."""

from __future__ import annotations

from ._guardtree import Frame, _set_miss_maker
from .explanations import CacheExplanation, explain


class GuardMiss(RuntimeError):
    """No entry of a code serves a call, where misses raise (RAISE_ON_MISS, set_policy).

    The call did not run. ``explanation`` says of each entry which guards did not pass.
    """

    def __init__(self, explanation: CacheExplanation) -> None:
        super().__init__(f"no entry serves this call of {explanation}")
        self.explanation = explanation


def miss_of(frame: Frame) -> GuardMiss:
    """The exception for a frame that no entry serves."""
    return GuardMiss(explain(frame.f_code, frame))


_set_miss_maker(miss_of)
