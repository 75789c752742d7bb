"""A function's code prepared for being left and entered in its middle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from inspect import (
    CO_ASYNC_GENERATOR,
    CO_COROUTINE,
    CO_GENERATOR,
    CO_NEWLOCALS,
    CO_OPTIMIZED,
)
from types import CodeType
from typing import NamedTuple

from .analysis import Analysis, State, jump_target
from .effects import CELL, NULL, RAW, is_object
from .explicit import with_explicit_nulls, with_explicit_super
from .instructions import Instruction, Position
from .reader import read
from .stack import falls_through
from .versions import ENDS, Operand

_BETWEEN = frozenset({"KW_NAMES", "PRECALL"})
"""What passes something to the next instruction outside of the stack."""


class NotResumable(ValueError):
    """A function cannot be broken or resumed there.

    offset: of the instruction, or None where the whole function cannot. reason: why.
    """

    def __init__(self, code: CodeType, offset: int | None, reason: str) -> None:
        where = "" if offset is None else f" at offset {offset}"
        super().__init__(
            f"{code.co_qualname} cannot be broken or resumed{where}: {reason}"
        )
        self.code, self.offset, self.reason = code, offset, reason


class Place(NamedTuple):
    """An instruction of one form of a body, and what holds before it."""

    form: Form
    at: int
    state: State
    #: The locals that are still needed and may be bound, in the order of co_varnames,
    #: and whether they may be unbound.
    live: dict[str, bool]

    @property
    def instruction(self) -> Instruction:
        return self.form.instructions[self.at]


class Form:
    """One form of a body's instructions, and the analysis of it."""

    def __init__(self, code: CodeType, instructions: Sequence[Instruction]) -> None:
        self.instructions = instructions
        self.analysis = Analysis(code, instructions)
        #: The first and the last of the instructions that stand for one of the code.
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        for at, each in enumerate(instructions):
            self.first.setdefault(each.offset, at)
            self.last[each.offset] = at

    @cached_property
    def _live(self) -> list[int]:
        return self.analysis.live()

    def place(self, at: int) -> Place:
        """What holds before the instruction of an index, which is reachable."""
        state = self.analysis.states[at]
        assert state is not None
        needed = self._live[at]
        live = {
            variable.name: bool(kind & NULL)
            for slot, (variable, kind) in enumerate(
                zip(self.analysis.variables, state.locals)
            )
            if needed >> slot & 1 and kind != NULL
        }
        return Place(self, at, state, live)


class Body:
    """The code of a plain function. Raises NotResumable for any other code."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        if code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
            raise self.refusal(
                None, "it is a generator or coroutine, whose frame stays"
            )
        optimized = CO_OPTIMIZED | CO_NEWLOCALS
        if code.co_flags & optimized != optimized:
            raise self.refusal(None, "it is a class or module body, not a function")
        try:
            self.short = Form(code, with_explicit_super(code, read(code)))
        except ValueError as error:
            raise self.refusal(None, str(error)) from error

    @cached_property
    def long(self) -> Form:
        """The form in which it is known where NULLs lie; slower to run."""
        return Form(self.code, with_explicit_nulls(self.short.instructions))

    def refusal(self, offset: int | None, reason: str) -> NotResumable:
        return NotResumable(self.code, offset, reason)

    def _known(self, offset: int) -> None:
        if offset not in self.short.first:
            raise ValueError(
                f"{self.code.co_qualname} has no instruction at offset {offset}"
            )

    def next_offset(self, offset: int) -> int:
        """The offset of the instruction that follows; NOT_TAKEN is passed over."""
        at = self.short.last[offset] + 1
        while self.short.instructions[at].opname == "NOT_TAKEN":
            at += 1
        return self.short.instructions[at].offset

    def before(self, offset: int) -> Place:
        """Before an instruction, where the function can be entered.

        Raises NotResumable, ValueError where the offset has no instruction.
        """
        self._known(offset)
        at = self.short.first[offset]
        self._check_entry(offset, self.short.instructions, at)
        form, state = self.short, self.short.analysis.states[at]
        if state is None:
            raise self.refusal(offset, "it is unreachable")
        if not all(kind == NULL or is_object(kind) for kind in state.stack):
            form, at = self.long, self.long.first[offset]
        place = form.place(at)
        self._check_state(offset, form.analysis, place.state)
        return place

    def _check_entry(
        self, offset: int, instructions: Sequence[Instruction], at: int
    ) -> None:
        opname = instructions[at].opname
        if at <= self.start:
            raise self.refusal(offset, f"{opname} belongs to the start of the function")
        if opname == "END_FOR":
            raise self.refusal(offset, "END_FOR is only there for FOR_ITER to skip")
        if instructions[at - 1].opname in _BETWEEN:
            raise self.refusal(
                offset, f"{instructions[at - 1].opname} has prepared its {opname}"
            )

    def _check_state(self, offset: int, analysis: Analysis, state: State) -> None:
        for slot, kind in enumerate(state.stack):
            if kind & RAW:
                raise self.refusal(
                    offset, f"stack slot {slot} holds a bare int of the interpreter"
                )
            if kind & CELL:
                raise self.refusal(
                    offset, f"stack slot {slot} keeps a cell while a comprehension runs"
                )
            if kind != NULL and not is_object(kind):
                raise self.refusal(
                    offset, f"it depends on the way whether stack slot {slot} is NULL"
                )
        for variable, kind in zip(analysis.variables, state.locals):
            if variable.kind != "local" and kind != CELL:
                raise self.refusal(
                    offset,
                    f"the cell of {variable.name} is being replaced by that of a "
                    "comprehension",
                )

    @cached_property
    def start(self) -> int:
        """The index of the last instruction that starts the function, RESUME."""
        names = [each.opname for each in self.short.instructions]
        if "RESUME" not in names:
            raise self.refusal(None, "it has no RESUME")
        return names.index("RESUME")

    def check_break(self, offset: int) -> Instruction:
        """The instruction at an offset; raises where one cannot break after it."""
        self._known(offset)
        at = self.short.last[offset]
        instruction = self.short.instructions[at]
        opname = instruction.opname
        if self.short.analysis.states[at] is None:
            raise self.refusal(offset, "it is unreachable")
        if at <= self.start:
            raise self.refusal(offset, f"{opname} belongs to the start of the function")
        if opname in ENDS:
            raise self.refusal(offset, f"nothing follows {opname}")
        if opname == "END_FOR":
            raise self.refusal(offset, "END_FOR is only there for FOR_ITER to skip")
        if opname in _BETWEEN:
            raise self.refusal(offset, f"{opname} prepares the call behind it")
        return instruction


def is_conditional_jump(instruction: Instruction) -> bool:
    """Whether a branch can be made of it: it jumps, or else goes on behind it."""
    return (
        instruction.operand is Operand.JUMP
        and falls_through(instruction)
        and instruction.opname.startswith(("POP_JUMP_", "JUMP_IF_"))
    )


def position_at(instructions: Sequence[Instruction], at: int) -> Position | None:
    """A real position for what is made for this place: its own, or one before it."""
    for index in range(at, -1, -1):
        position = instructions[index].position
        if position is not None and position[0] is not None:
            return position
    return None


def reachable(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions that can be reached from the first one, in order."""
    index = {each: at for at, each in enumerate(instructions)}
    seen = [False] * len(instructions)
    work = [0]
    while work:
        at = work.pop()
        if seen[at]:
            continue
        seen[at] = True
        each = instructions[at]
        if falls_through(each):
            work.append(at + 1)
        if (target := jump_target(each)) is not None:
            work.append(index[target])
        if each.handler is not None:
            work.append(index[each.handler.target])
    return [each for at, each in enumerate(instructions) if seen[at]]
