"""Which `with` blocks are active: exactly, and by the rule of thumb of the tracker."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext as a
from contextlib import nullcontext as b
from types import CodeType
from typing import Any

import pytest
from made_code import library
from subjects import say as c

from guardtree.bytecode import (
    Instruction,
    Withs,
    WithTracker,
    active_withs,
    falls_through,
    read,
)

VERSION = sys.version_info[:2]


def nested() -> None:
    with a():
        with b():
            c()


def consecutive() -> None:
    with a():
        pass
    with b():
        pass


def nested_try() -> None:
    try:
        a()
        try:
            c()
        except:  # noqa: E722
            b()
    except:  # noqa: E722
        b()


def consecutive_try() -> None:
    try:
        a()
    except:  # noqa: E722
        b()
    try:
        c()
    except:  # noqa: E722
        b()


def with_in_try() -> None:
    try:
        with a():
            c()
    finally:
        b()


def try_in_with() -> None:
    with a():
        try:
            c()
        except ValueError:
            c()
        finally:
            b()


def condition_in_loop(items: list[Any]) -> None:
    with a():
        for item in items:
            if isinstance(item, int):
                c()


def two_at_once(items: list[Any]) -> Any:
    with a(), b():
        for item in items:
            if item:
                return c(item)
            if item is None:
                break
    return None


def spans(code: CodeType) -> list[tuple[int, int, list[int]]]:
    """(first offset, last offset, enters) of runs with the same active blocks."""
    withs, found = Withs(code), []
    for instruction in read(code):
        enters = [each.enter for each in withs.active(instruction.offset)]
        if found and found[-1][2] == enters:
            found[-1] = (found[-1][0], instruction.offset, enters)
        else:
            found.append((instruction.offset, instruction.offset, enters))
    return [each for each in found if each[2]]


@pytest.mark.skipif(VERSION != (3, 11), reason="offsets of 3.11")
def test_blocks_end_where_they_end() -> None:
    outer, inner = [28], [28, 58]
    assert spans(nested.__code__) == [
        (30, 58, outer),
        (60, 88, inner),
        (90, 134, outer),
    ]
    assert spans(consecutive.__code__) == [(30, 30, [28]), (108, 108, [106])]


def enters(code: CodeType) -> list[int]:
    return [
        each.offset
        for each in read(code)
        if each.opname == "BEFORE_WITH"
        or (each.opname, each.arg) == ("LOAD_SPECIAL", 1)
    ]


def calling(code: CodeType, name: str) -> list[int]:
    """Where the global of this name is loaded, past the first time."""
    return [each.offset for each in read(code) if each.arg == name]


def active_at(function: Any, name: str, nth: int = 0) -> list[int]:
    code = function.__code__
    return [each.enter for each in active_withs(code, calling(code, name)[nth])]


def test_nested_blocks_are_active_from_the_outside_in() -> None:
    both = enters(nested.__code__)
    assert active_at(nested, "c") == both
    assert active_at(nested, "b") == both[:1]
    assert active_at(nested, "a") == []


def test_blocks_one_behind_the_other_are_active_alone() -> None:
    found = {tuple(each[2]) for each in spans(consecutive.__code__)}
    assert found == {(each,) for each in enters(consecutive.__code__)}


@pytest.mark.parametrize("function", [nested_try, consecutive_try])
def test_try_is_no_with(function: Any) -> None:
    assert spans(function.__code__) == []


@pytest.mark.parametrize("function", [with_in_try, try_in_with])
def test_blocks_are_told_from_try(function: Any) -> None:
    assert active_at(function, "c") == enters(function.__code__)
    assert active_at(function, "ValueError") if function is try_in_with else True


def test_a_block_tells_its_slot_and_handler() -> None:
    code = nested.__code__
    outer, inner = active_withs(code, calling(code, "c")[0])
    slots = 2 if VERSION >= (3, 14) else 1
    assert (outer.slot, inner.slot) == (0, slots)
    names = {each.offset: each.opname for each in read(code)}
    assert names[outer.handler] == names[inner.handler] == "PUSH_EXC_INFO"


def test_an_offset_without_instruction_is_refused() -> None:
    with pytest.raises(ValueError, match="no instruction at 1"):
        active_withs(nested.__code__, 1)
    with pytest.raises(ValueError, match="no instruction at offset 1"):
        WithTracker(nested.__code__).step(1)


def test_async_with_is_refused() -> None:
    async def waits() -> None:
        async with a():
            c()

    code = waits.__code__
    with pytest.raises(ValueError, match="async with"):
        active_withs(code, calling(code, "c")[0])
    assert active_withs(code, calling(code, "a")[0]) == []


def ways(code: CodeType, seed: int) -> Iterator[Instruction]:
    """A random way through the code without exceptions, cut off after a while."""
    instructions = read(code)
    index = {each: at for at, each in enumerate(instructions)}
    chosen, at = random.Random(seed), 0
    for _ in range(300):
        instruction = instructions[at]
        yield instruction
        target = instruction.target
        jumps = target is not None and instruction.opname != "END_ASYNC_FOR"
        if jumps and (not falls_through(instruction) or chosen.random() < 0.5):
            at = index[target]
            # FOR_ITER and its like skip what is there for them.
            while instructions[at].opname == "END_FOR":
                at += 1
        elif falls_through(instruction):
            at += 1
        else:
            return


def wrong(code: CodeType, seed: int) -> list[int]:
    """Where the tracker differs from the exact answer, at handlers of `with` blocks."""
    withs, tracker = Withs(code), WithTracker(code)
    instructions = read(code)
    behind = {one: two.opname for one, two in zip(instructions, instructions[1:])}
    found = []
    for instruction in ways(code, seed):
        told = tracker.step(instruction.offset)
        handler = instruction.handler
        if handler is None or behind.get(handler.target) != "WITH_EXCEPT_START":
            continue
        exact = [each.enter for each in withs.active(instruction.offset)]
        if told != exact:
            found.append(instruction.offset)
    return found


@pytest.mark.parametrize(
    "function",
    [nested, consecutive, condition_in_loop, two_at_once],
    ids=lambda function: function.__name__,
)
def test_the_tracker_agrees_where_no_try_is_around(
    function: Callable[..., Any],
) -> None:
    for seed in range(20):
        assert wrong(function.__code__, seed) == []


def has_try(code: CodeType) -> bool:
    """Whether a handler is that of a `try`, and not of a `with` or its cleaning up."""
    return any(
        each.opname in ("CHECK_EXC_MATCH", "CHECK_EG_MATCH", "LOAD_FAST_AND_CLEAR")
        for each in read(code)
    ) or any(
        one.opname == "PUSH_EXC_INFO" and two.opname != "WITH_EXCEPT_START"
        for one, two in zip(read(code), read(code)[1:])
    )


def test_the_tracker_agrees_in_the_standard_library() -> None:
    count = 0
    for code in library()[::2]:
        if code.co_flags & 0x280 or not enters(code) or has_try(code):
            continue
        for seed in range(3):
            assert wrong(code, seed) == [], code
            count += 1
    assert count > 50
