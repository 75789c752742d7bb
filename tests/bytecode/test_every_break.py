"""Functions broken after every instruction do what they did, whatever way it is done.

The oracle is the function itself: the same result, the same events in the same order,
the same exception with its context and cause, the same sys.exc_info() behind it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

import pytest
from subjects import CASES, LOG, Again, Case, Manager, outcome

from guardtree.bytecode import (
    Context,
    GraphBreak,
    Instruction,
    NotResumable,
    branch_break,
    graph_break,
    layout,
    read,
)

EXPECTED_REFUSALS = {
    "it is unreachable",
    "belongs to the start of the function",
    "nothing follows",
    "END_FOR is only there",
    "prepares the call behind it",
    "is a jump",
    "is not a conditional jump",
    "holds a bare int of the interpreter",
    "it depends on the way whether stack slot",
    "is being replaced by that of a comprehension",
    "keeps a cell while a comprehension runs",
    "has prepared its",
    "calls super() without",
    "an exception is being handled there",
}
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


Break = Callable[[CodeType, int], GraphBreak]


@cache
def breaks(code: CodeType, make: Break) -> list[tuple[int, GraphBreak]]:
    """What `make` gives for each offset; a refusal has to be a known one."""
    found = []
    for instruction in read(code):
        try:
            found.append((instruction.offset, make(code, instruction.offset)))
        except NotResumable as refusal:
            known = [each for each in EXPECTED_REFUSALS if each in refusal.reason]
            assert known, refusal
    return found


@each_case
def test_a_function_broken_anywhere_does_what_it_did(case: Case) -> None:
    expected, count = outcome(case), 0
    for offset, made in breaks(case.code, graph_break):
        assert outcome(case, made.code) == expected, f"broken after offset {offset}"
        count += 1
    assert count >= len(read(case.code)) // 3


def test_branches_broken_anywhere_go_the_way_they_went() -> None:
    count = 0
    for case in CASES:
        expected = outcome(case)
        for offset, made in breaks(case.code, branch_break):
            assert outcome(case, made.code) == expected, f"{case.name} at {offset}"
            assert len(made.continuations) == 2
            count += 1
    assert count > 40


def reentered(enters: list[int]) -> dict[int, Context]:
    """Managers which are those that were left last, in the order of entering."""

    def again(enter: int) -> Again:
        assert enter in enters
        first = Manager.left.pop()
        return Again(first.name, first.swallows)

    load = [Instruction("LOAD_CONST", again)]
    return {enter: Context(load, (enter,)) for enter in enters}


def reentering_break(code: CodeType, offset: int) -> GraphBreak:
    made = dict(breaks(code, graph_break)).get(offset) or graph_break(code, offset)
    enters = [each.enter for each in made.continuations[0].layout.withs]
    managers = reentered(enters)
    return graph_break(code, offset, contexts="reenter", managers=managers)


def without_reentry(log: list[Any]) -> list[Any]:
    """A log without the contexts that a break left and its continuation entered."""
    made = list(log)
    while ("again",) in [each[:1] for each in made]:
        first = [each[0] for each in made].index("again")
        last = first
        while last < len(made) and made[last][0] == "again":
            last += 1
        names = [each[1] for each in made[first:last]]
        lefts = [each[1:] for each in made[first - len(names) : first]]
        assert lefts == [(name, None) for name in reversed(names)]
        del made[first - len(names) : last]
    return made


def with_cases() -> list[Case]:
    return [case for case in CASES if "Manager" in case.code.co_names]


@pytest.mark.parametrize("case", with_cases(), ids=lambda case: case.name)
def test_contexts_that_are_left_and_entered_again_make_no_difference(
    case: Case,
) -> None:
    expected, count = outcome(case), 0
    for offset, made in breaks(case.code, reentering_break):
        found = outcome(case, made.code, without_reentry)
        assert found == expected, f"broken after offset {offset}"
        count += bool(made.continuations[0].layout.withs)
    assert count > 2


def test_reentering_really_leaves_and_enters() -> None:
    case = next(case for case in CASES if case.function.__name__ == "nested_withs")
    code = case.code
    inner = max(
        (each.offset for each in read(code)),
        key=lambda offset: len(_withs(code, offset)),
    )
    enters = [each.enter for each in _withs(code, inner)]
    before = max(each.offset for each in read(code) if each.offset < inner)
    made = graph_break(code, before, contexts="reenter", managers=reentered(enters))
    outcome(case, made.code)
    again = [each for each in LOG if each[0] == "again"]
    assert again == [("again", name) for name in "abc"]


def _withs(code: CodeType, offset: int) -> Any:
    try:
        return layout(code, offset).withs
    except NotResumable:
        return ()


def test_nothing_is_handled_behind_the_tests() -> None:
    assert sys.exc_info() == (None, None, None)
