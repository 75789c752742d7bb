"""Instructions made independent of the frame and the compiler that they were made for.

What runs in another frame than it was compiled for (a continuation), or with values
kept elsewhere for a while (a graph break), must say what the interpreter would
otherwise look up in the frame or decide at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any

from .calls import call_late
from .instructions import Instruction, Variable, rewritten, unfused
from .reader import slots_of
from .versions import RUNNING

_TWO_ARGUMENTS = 2
"""LOAD_SUPER_ATTR's bit for `super(__class__, self)`; unset: look them up in the frame,
where the first local need not be self any more."""


def with_explicit_super(
    code: CodeType, instructions: Sequence[Instruction]
) -> list[Instruction]:
    """A copy, unfused and not borrowing, in which `super()` has its two arguments.

    A method call by way of super keeps its form. Raises ValueError for a `super()` in a
    function without a positional parameter, which cannot work. A global that hides the
    builtin `super` is taken for it.
    """
    instructions = unfused(instructions)
    if "super" not in code.co_names:
        return instructions
    # PRECALL and its CALL, or CALL alone.
    plain = {
        call: at
        for start in range(len(instructions))
        for at, call in enumerate(_plain_super_call(instructions[start : start + 4]))
    }

    def rewrite(instruction: Instruction) -> list[Instruction] | None:
        opname, at = instruction.opname, plain.get(instruction)
        if at is not None:
            loads = [] if at else _super_arguments(code)
            return _placed(instruction, [*loads, Instruction(opname, 2)])
        if opname == "LOAD_SUPER_ATTR":
            made = instruction.copied()
            made.flags |= _TWO_ARGUMENTS
            return [made]
        return None

    return rewritten(instructions, rewrite)


def _plain_super_call(window: Sequence[Instruction]) -> list[Instruction]:
    """The instructions that call, where the window starts with a plain `super()`."""
    first, *rest = window
    if first.opname != "LOAD_GLOBAL" or first.arg != "super":
        return []
    if not first.flags & 1:
        if not rest or rest[0].opname != "PUSH_NULL":
            return []
        del rest[0]
    expected = ["PRECALL", "CALL"] if RUNNING.has_precall else ["CALL"]
    calls = rest[: len(expected)]
    found = [each.opname for each in calls] == expected
    return calls if found and not any(each.arg for each in calls) else []


def _super_arguments(code: CodeType) -> list[Instruction]:
    if not code.co_argcount or "__class__" not in code.co_freevars + code.co_cellvars:
        raise ValueError(
            f"{code.co_qualname} calls super() without arguments, and has no first "
            "parameter or no __class__ that they could be taken from"
        )
    first = slots_of(code.co_varnames, code.co_cellvars, code.co_freevars)[0]
    load = RUNNING.load_fast_checked if first.kind == "local" else "LOAD_DEREF"
    return [
        Instruction("LOAD_DEREF", Variable("__class__", "cell")),
        Instruction(load, first),
    ]


def with_explicit_nulls(instructions: Sequence[Instruction]) -> list[Instruction]:
    """A copy in which it does not depend on values where NULLs lie.

    A method load becomes a load of the bound method and a NULL, and likewise the exit
    of a `with` and an iterator, where these have a second slot. Costs a bound method
    for each such call.
    """
    return rewritten(instructions, _with_explicit_null)


def _with_explicit_null(instruction: Instruction) -> list[Instruction] | None:
    opname = instruction.opname
    if opname == "LOAD_METHOD" or opname == "LOAD_ATTR" and instruction.flags & 1:
        return _placed(
            instruction, [Instruction("LOAD_ATTR", instruction.arg), *_null()]
        )
    if opname == "LOAD_SUPER_ATTR" and instruction.flags & 1:
        made = instruction.copied()
        made.flags &= ~1
        return _placed(instruction, [made, *_null()])
    is_exit = (opname, instruction.arg) == RUNNING.loads_exit
    if is_exit and RUNNING.exit_slots == 2:
        return _placed(instruction, _applied(_bound_exit))
    if opname == "GET_ITER" and RUNNING.iterator_slots == 2:
        return _placed(instruction, _applied(iter))
    return None


def _null() -> list[Instruction]:
    """Callable -> callable and NULL, in the order of a call."""
    null = [Instruction("PUSH_NULL")]
    return null if RUNNING.null_above_callable else [*null, Instruction("SWAP", 2)]


def _applied(function: Any) -> list[Instruction]:
    """Value -> function(value), NULL."""
    load = [Instruction("LOAD_CONST", function), Instruction("SWAP", 2)]
    return [*load, *call_late(1), Instruction("PUSH_NULL")]


def _placed(origin: Instruction, made: list[Instruction]) -> list[Instruction]:
    for each in made:
        each.offset = origin.offset
    return made


def _bound_exit(manager: Any) -> Any:
    """What a `with` statement will call in the end."""
    kind = type(manager)
    for base in kind.__mro__:
        if "__exit__" in base.__dict__:
            found = base.__dict__["__exit__"]
            bind = getattr(type(found), "__get__", None)
            return found if bind is None else bind(found, manager, kind)
    with manager:  # raises what the statement raises: it looks for __exit__ first
        raise AssertionError(f"{kind.__qualname__} has got an __exit__")
