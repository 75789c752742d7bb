"""What a function has to have to go on at an instruction: slots, locals, contexts."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import Any

from .bodies import Body, Place
from .effects import NULL
from .withs import Block, With, blocks_at, with_handlers


class _Unbound:
    """The type of UNBOUND."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNBOUND"


UNBOUND: Any = _Unbound()
"""Stands for a local that is not bound, where a value has to be passed."""


@dataclass(frozen=True)
class Layout:
    """The values that an instruction finds, by name.

    slots: the stack, the bottom first: `___stack0`, `___stack1`, ... for objects, None
    for NULL. arguments: the names of all values to be passed on, those of the slots and
    then the locals that are still needed and may be bound, in the order of co_varnames.
    maybe_unbound: those of them that may be unbound, for which UNBOUND is passed.
    withs: the active `with` blocks, the outermost first. cells: all variables that
    are cells, by name; they are passed on as a closure.
    """

    slots: tuple[str | None, ...]
    arguments: tuple[str, ...]
    maybe_unbound: frozenset[str]
    withs: tuple[With, ...]
    cells: tuple[str, ...]

    @property
    def locals(self) -> tuple[str, ...]:
        """The arguments that are no stack slots."""
        return self.arguments[sum(slot is not None for slot in self.slots) :]


def layout(code: CodeType, offset: int) -> Layout:
    """What holds before the instruction at this offset.

    Raises NotResumable where code cannot be entered there, ValueError where the offset
    has no instruction.
    """
    body = Body(code)
    return layout_of(body, body.before(offset))


def layout_of(body: Body, place: Place) -> Layout:
    """The layout at a place of a body."""
    slots: list[str | None] = []
    for kind in place.state.stack:
        objects = sum(slot is not None for slot in slots)
        slots.append(None if kind == NULL else f"___stack{objects}")
    names = [slot for slot in slots if slot is not None]
    if taken := place.live.keys() & names:
        raise body.refusal(
            place.instruction.offset, f"its locals use the names {sorted(taken)}"
        )
    return Layout(
        tuple(slots),
        (*names, *place.live),
        frozenset(name for name, maybe in place.live.items() if maybe),
        tuple(block.described() for block in active_blocks(body, place)),
        (*body.code.co_cellvars, *body.code.co_freevars),
    )


def active_blocks(body: Body, place: Place) -> list[Block]:
    """The active `with` blocks at a place, with handlers of its form."""
    short = body.short
    instruction = short.instructions[short.first[place.instruction.offset]]
    try:
        found = blocks_at(short.analysis, instruction)
    except ValueError as error:
        raise body.refusal(instruction.offset, str(error)) from error
    handlers = with_handlers(place.form.analysis, place.instruction)
    return [each._replace(handler=handlers[each.slot]) for each in found]
