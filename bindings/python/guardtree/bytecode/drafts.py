"""Code in the making: a copy of a body's instructions, with more around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType
from typing import Any

from .assembler import assemble
from .bodies import reachable
from .contexts import entering
from .explicit import with_explicit_nulls
from .instructions import Handler, Instruction, Position, Variable, rewritten
from .layouts import Layout
from .versions import OPERANDS, RUNNING, Operand
from .withs import Block


class Draft:
    """A copy of the instructions of a form of `code`, to be added to and assembled."""

    def __init__(self, code: CodeType, instructions: Sequence[Instruction]) -> None:
        self._code = code
        self._instructions = rewritten(instructions)
        self._copies = dict(zip(instructions, self._instructions))
        self._tails: list[Instruction] = []

    def copy(self, original: Instruction) -> Instruction:
        """The copy of an instruction of the form."""
        return self._copies[original]

    def handler(self, original: Handler | None) -> Handler | None:
        """A handler of the form, leading to its copy."""
        if original is None:
            return None
        return original._replace(target=self._copies[original.target])

    def landing(self, original: Instruction) -> Instruction:
        """A NOP in front of an instruction, to jump to from outside of its block.

        From 3.13 on the handler of a call that raises is looked up one code unit before
        the call, so the first of a region must be something else.
        """
        target = self._copies[original]
        nop = Instruction(
            "NOP",
            handler=target.handler,
            position=target.position,
            offset=target.offset,
        )
        self._instructions.insert(self._instructions.index(target), nop)
        return nop

    def insert_behind(self, original: Instruction, made: Sequence[Instruction]) -> None:
        at = self._instructions.index(self._copies[original]) + 1
        self._instructions[at:at] = made

    def start_with(self, made: Sequence[Instruction]) -> None:
        self._instructions[:0] = made

    def append(self, made: Sequence[Instruction]) -> Instruction:
        """Adds instructions that are jumped to; gives the first one."""
        self._tails += made
        return made[0]

    def assembled(self, **attributes: Any) -> tuple[CodeType, list[Instruction]]:
        """The code, without what is unreachable, and the instructions that it has."""
        kept = reachable([*self._instructions, *self._tails])
        return assemble(kept, self._code, **attributes), kept

    def varnames(self) -> tuple[str, ...]:
        """co_varnames, and behind them what added instructions use beside it."""
        code = self._code
        known = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        added = dict.fromkeys(
            each.arg.name
            for each in (*self._instructions, *self._tails)
            if OPERANDS[each.opname] is Operand.VARIABLE
            and isinstance(each.arg, Variable)
            and each.arg.name not in known
        )
        return (*code.co_varnames, *added)


def placed(
    made: Iterable[Instruction],
    position: Position | None,
    handler: Handler | None = None,
) -> list[Instruction]:
    """The same instructions, with this position and handler where they have none."""
    made = list(made)
    for each in made:
        if each.position is None:
            each.position = position
        if each.handler is None:
            each.handler = handler
    return made


def restored_stack(
    layout: Layout,
    blocks: Mapping[int, Block],
    pushed: Callable[[str, Block | None], list[Instruction]],
    draft: Draft,
) -> tuple[list[Instruction], Handler | None]:
    """What puts the slots of a layout on an empty stack, the bottom first.

    blocks: the `with` blocks to be entered on the way, by the slots of their exits.
    pushed(name, block): what pushes an object slot, or a block's context manager. Each
    block's handler covers what comes above it, as it covers what comes behind: it is
    the second of the result.
    """
    made: list[Instruction] = []
    handler: Handler | None = None
    slots = iter(enumerate(layout.slots))
    for slot, name in slots:
        block = blocks.get(slot)
        if name is None:
            made += placed([Instruction("PUSH_NULL")], None, handler)
            continue
        made += placed(pushed(name, block), None, handler)
        if block is not None:
            made += placed(with_explicit_nulls(entering()), None, handler)
            handler = draft.handler(block.handler)
            # What __enter__ gave has gone its way before.
            made += placed([Instruction("POP_TOP")], None, handler)
            for _ in range(RUNNING.exit_slots - 1):
                next(slots)
    return made, handler
