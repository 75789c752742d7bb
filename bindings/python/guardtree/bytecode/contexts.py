"""Entering and leaving context managers by instructions, as this CPython does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .calls import add_push_null, call, call_late
from .instructions import Instruction, rewritten
from .reader import read
from .versions import RUNNING


@dataclass(frozen=True)
class Context:
    """How a context manager is made anew: a callable, called with constants.

    load: instructions that push the callable (a class such as
    `torch.set_grad_enabled`). arguments: what it is called with.
    """

    load: Sequence[Instruction]
    arguments: tuple[Any, ...] = ()

    def callable(self) -> list[Instruction]:
        """Nothing -> the callable."""
        return rewritten(self.load)

    def made(self) -> list[Instruction]:
        """Nothing -> the context manager."""
        return [*self.callable(), *calling(self.arguments)]


def calling(arguments: Sequence[Any]) -> list[Instruction]:
    """Callable -> its result for these constants."""
    loads = [Instruction("LOAD_CONST", each) for each in arguments]
    return [*loads, *call_late(len(arguments))]


def _with_statement(manager: Any) -> None:
    with manager:
        pass


@cache
def _entering() -> tuple[Instruction, ...]:
    """What a `with` statement has between its manager and the POP_TOP of the result."""
    instructions = read(_with_statement.__code__)
    names = [each.opname for each in instructions]
    first = names.index("RESUME") + 2
    found = instructions[first : names.index("POP_TOP")]
    for each in found:
        each.position = each.handler = each.offset = None
    return tuple(found)


def entering() -> list[Instruction]:
    """Context manager -> the slots of its exit callable, and what __enter__ gave."""
    return rewritten(_entering())


def enter_length() -> int:
    """Instructions from the one that pushes the exit callable to the block's first."""
    loads = [(each.opname, each.arg) for each in _entering()]
    return len(loads) - loads.index(RUNNING.loads_exit)


def leaving(place: int) -> list[Instruction]:
    """Calls the exit callable that lies at a place of the stack, 1 is the top.

    As at a normal end of the block, three None; the callable stays where it is, and
    where it has a second slot, that has to be NULL.
    """
    made = add_push_null([Instruction("COPY", place)])
    if made[0].opname == "PUSH_NULL":
        made[1].arg += 1
    nones = [Instruction("LOAD_CONST", None) for _ in range(3)]
    return [*made, *nones, *call(3), Instruction("POP_TOP")]
