"""Functions entered in their middle, with what a first half of them left, go on as one.

The first half runs in code of its own and hands over its stack and locals; a prelude
puts them back, and enters its contexts again.
"""

from __future__ import annotations

import copy
import os
from functools import partial
from types import CodeType
from typing import Any

import pytest
from subjects import (
    CASES,
    HANDED_OVER,
    LOG,
    Again,
    Case,
    Manager,
    Outcome,
    hand_over,
    outcome,
    with_code,
)

from guardtree.bytecode import (
    UNBOUND,
    Context,
    Instruction,
    Layout,
    NotResumable,
    Prelude,
    add_push_null,
    call,
    continuation,
    enter_at,
    graph_break,
    layout,
    leave_after,
    read,
    verify,
)

STRIDE = 1 if os.environ.get("GUARDTREE_TEST_BREAKS") == "all" else 4


def first_half(code: CodeType, before: int, offset: int) -> CodeType:
    """Code that hands over what is there between two instructions that follow."""
    then = copy.copy(continuation(code, offset))
    then.code = hand_over.__code__
    return leave_after(code, before, then)


def constant(value: Any) -> list[Instruction]:
    """Pushes a value by a call, as an evaluator's results are not constants."""
    return [*add_push_null([Instruction("LOAD_CONST", lambda: value)]), *call(0)]


def prelude_of(found: Layout, values: tuple[Any, ...]) -> Prelude:
    given = dict(zip(found.arguments, values))
    managers, entered = {}, set()
    for block in found.withs:
        name = found.slots[block.slot]
        manager = given[name].__self__
        again = partial(Again, manager.name, manager.swallows)
        managers[block.enter] = Context([Instruction("LOAD_CONST", again)])
        entered.add(name)
    slots = [name for name in found.slots if name is not None]
    return Prelude(
        slots={
            at: constant(given[name])
            for at, name in enumerate(slots)
            if name not in entered
        },
        locals={
            name: UNBOUND if given[name] is UNBOUND else constant(given[name])
            for name in found.locals
        },
        contexts=managers,
    )


def resumed(case: Case, before: int, offset: int) -> Outcome | None:
    """The outcome of both halves; None where the run does not come by there."""
    code = case.code
    try:
        enter_at(code, offset, Prelude())
    except NotResumable:
        raise  # before an exception is left behind, handled by no one
    except ValueError:
        pass
    half = with_code(case.function, first_half(code, before, offset))
    LOG.clear()
    HANDED_OVER.clear()
    try:
        half(*case.arguments)
    except Exception:
        return None
    if not HANDED_OVER:
        return None
    events = [*LOG]
    prelude = prelude_of(layout(code, offset), HANDED_OVER[0])
    broken = graph_break(code, offset, prelude).code
    verify(broken)
    entered = enter_at(code, offset, prelude)
    verify(entered)
    found = outcome(case, broken, lambda log: without_again([*events, *log]))
    return found


def without_again(log: list[Any]) -> list[Any]:
    return [each for each in log if each[0] != "again"]


PLAIN = [
    case for case in CASES if not case.code.co_cellvars and not case.code.co_freevars
]


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_a_function_entered_anywhere_goes_on_as_it_would(case: Case) -> None:
    expected, count = outcome(case), 0
    offsets = [each.offset for each in read(case.code)]
    for before, offset in [*zip(offsets, offsets[1:])][::STRIDE]:
        try:
            found = resumed(case, before, offset)
        except NotResumable:
            continue
        if found is not None:
            assert found == expected, f"entered at offset {offset}"
            count += 1
    assert count or len(offsets) < 80


def ways(x: int, flag: Any) -> Any:
    count = 0

    def counted() -> int:
        return count

    y = x + 1
    with Manager("m"):
        z = y * 2
        count = z
        return [flag, counted(), z, max(x, z)]


def offset_of(code: CodeType, name: str) -> int:
    """Where the global of this name is loaded."""
    return next(each.offset for each in read(code) if each.arg == name)


def test_locals_cells_slots_and_contexts_are_the_prelude_s() -> None:
    code = ways.__code__
    offset = offset_of(code, "max")
    found = layout(code, offset)
    assert sum(name is not None for name in found.slots) == 4
    assert found.locals == ("x", "z")
    (block,) = found.withs
    pushed = {1: constant("flag"), 2: constant("counted"), 3: constant("first z")}
    prelude = Prelude(
        before=[*constant(40), Instruction("STORE_FAST", "___kept")],
        slots=pushed,
        locals={
            "z": [Instruction("LOAD_FAST", "___kept")],
            "count": constant(7),
        },
        contexts={
            block.enter: Context([Instruction("LOAD_CONST", Again)], ("name", False))
        },
    )
    code = enter_at(code, offset, prelude)
    LOG.clear()
    assert with_code(ways, code)(3, None) == ["flag", "counted", "first z", 40]
    assert LOG == [("again", "name"), ("out", "name", None)]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"slots": {}}, r"slots .*'___stack1'.* missing"),
        ({"locals": {}}, r"locals .*'z', 'count'\] missing"),
        ({"contexts": {}}, r"contexts .* missing"),
        ({"locals": {"z": (), "count": (), "other": ()}}, r"\['other'\] not asked for"),
    ],
)
def test_what_is_missing_in_a_prelude_is_named(
    changed: dict[str, Any], message: str
) -> None:
    code = ways.__code__
    offset = offset_of(code, "max")
    (block,) = layout(code, offset).withs
    full: dict[str, Any] = {
        "slots": {number: constant(0) for number in (1, 2, 3)},
        "locals": {"z": constant(0), "count": UNBOUND},
        "contexts": {block.enter: Context([Instruction("LOAD_CONST", Again)], ("a",))},
    }
    enter_at(code, offset, Prelude(**full))
    with pytest.raises(ValueError, match=message):
        enter_at(code, offset, Prelude(**{**full, **changed}))


def test_a_prelude_cannot_enter_where_an_exception_is_handled() -> None:
    case = next(case for case in CASES if case.function.__name__ == "bare_raise")
    inside = offset_of(case.code, "handler")
    with pytest.raises(NotResumable, match="an exception is being handled"):
        enter_at(case.code, inside, Prelude())


def test_contexts_of_a_prelude_are_left_and_entered_again() -> None:
    code = ways.__code__
    offset = offset_of(code, "max")
    (block,) = layout(code, offset).withs
    prelude = Prelude(
        slots={number: constant(number) for number in (1, 2, 3)},
        locals={"z": constant(0), "count": UNBOUND},
        contexts={
            block.enter: Context([Instruction("LOAD_CONST", Again)], ("a", False))
        },
    )
    made = graph_break(code, offset, prelude, contexts="reenter")
    LOG.clear()
    assert with_code(ways, made.code)(3, None) == [1, 2, 3, 3]
    entered = [("again", "a"), ("out", "a", None)]
    assert LOG == [*entered, *entered]
