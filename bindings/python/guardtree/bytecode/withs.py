"""Which `with` blocks are active at an instruction."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

from .analysis import Analysis, jump_target, single_exit
from .contexts import enter_length
from .instructions import Handler, Instruction
from .reader import read
from .stack import falls_through
from .versions import RUNNING, Operand


def _is_transparent(instruction: Instruction) -> bool:
    """Whether the compiler may leave it out of the exception table inside a block."""
    return instruction.operand is Operand.JUMP or instruction.opname in (
        "NOP",
        "NOT_TAKEN",
    )


class With(NamedTuple):
    """A `with` block that was entered and not left; offsets as in `dis`.

    enter: of what pushed its exit callable, BEFORE_WITH (LOAD_SPECIAL from 3.14).
    slot: where that lies on the stack, 0 is the bottom. handler: where exceptions in
    the block go.
    """

    enter: int
    slot: int
    handler: int


class Block(NamedTuple):
    """The same, as instructions."""

    enter: Instruction
    slot: int
    handler: Handler

    def described(self) -> With:
        return With(self.enter.offset, self.slot, self.handler.target.offset)


def active_withs(code: CodeType, offset: int) -> list[With]:
    """The `with` blocks that the instruction at this offset is in, the outermost first.

    Exact: a block is active where its exit callable is on the stack and the exception
    handler of the instruction, or one around it, calls that. A jump or NOP that has no
    handler is where the instructions behind it are. In the code of a continuation that
    carries contexts, those are values like any other. Raises ValueError where the
    offset has no instruction, and where an `async with` is active; UnsafeCode for code
    that `verify` refuses. About 0.1 ms: analyse once with `Withs` to ask for many
    offsets.
    """
    return Withs(code).active(offset)


class Withs:
    """`active_withs` for all offsets of one code object."""

    def __init__(self, code: CodeType) -> None:
        self._analysis = Analysis(code, read(code))
        self._at = {each.offset: each for each in self._analysis.instructions}

    def active(self, offset: int) -> list[With]:
        """See `active_withs`."""
        found = self._at.get(offset)
        if found is None:
            raise ValueError(
                f"{self._analysis.code.co_qualname} has no instruction at {offset}"
            )
        return [block.described() for block in blocks_at(self._analysis, found)]


def blocks_at(analysis: Analysis, instruction: Instruction) -> list[Block]:
    """The active blocks at an instruction of the analysed list, the outermost first."""
    state = analysis.state(instruction)
    if state is None:
        return []
    handlers = with_handlers(analysis, instruction)
    found = []
    for slot, kind in enumerate(state.stack):
        number = single_exit(kind)
        handler = handlers.get(slot)
        if number is None or handler is None:
            continue
        enter = analysis.enters[number]
        if (enter.opname, enter.arg) == RUNNING.loads_async_exit:
            raise ValueError(
                f"{analysis.code.co_qualname}: an async with is active at offset "
                f"{instruction.offset}; it can only be entered and left by awaiting"
            )
        found.append(Block(enter, slot, handler))
    return found


def with_handlers(
    analysis: Analysis,
    instruction: Instruction,
    seen: set[Instruction] | None = None,
) -> dict[int, Handler]:
    """Handlers that call an exit, by its slot: the instruction's, and those around.

    `seen`: instructions that were asked about on the way here.
    """
    seen = set() if seen is None else seen
    if instruction in seen:
        return {}
    seen.add(instruction)
    handler = instruction.handler
    if handler is None:
        return _behind_uncovered(analysis, instruction, seen)
    found: dict[int, Handler] = {}
    passed = set()
    while handler is not None and handler.target not in passed:
        passed.add(handler.target)
        at = analysis.index[handler.target]
        names = [each.opname for each in analysis.instructions[at : at + 2]]
        if names == ["PUSH_EXC_INFO", "WITH_EXCEPT_START"]:
            found.setdefault(handler.depth - RUNNING.exit_slots, handler)
        handler = handler.target.handler
    return found


def _behind_uncovered(
    analysis: Analysis, instruction: Instruction, seen: set[Instruction]
) -> dict[int, Handler]:
    if not _is_transparent(instruction):
        return {}
    found: dict[int, Handler] = {}
    for then in _successors(analysis, instruction):
        found |= with_handlers(analysis, then, seen)
    return found


def _successors(analysis: Analysis, instruction: Instruction) -> Iterator[Instruction]:
    if falls_through(instruction):
        yield analysis.instructions[analysis.index[instruction] + 1]
    if (target := jump_target(instruction)) is not None:
        yield target


class WithTracker:
    """The active blocks of a run, told by the instructions that it comes by.

    For interpreters that follow one way through the code: `step` is called for each
    instruction before it runs. A rule of thumb that needs no analysis:

    - what enters a `with` pushes a block, and with it the handler behind it
    - the handler of the top block: nothing has changed
    - the handler of the block below the top: the top block was left
    - no handler, at anything but a jump or NOP: the last block was left

    It is wrong where the code has a `with` inside a `try` (the handler of the `try`
    is that of no block, so leaving is seen late or not at all), and for the jump out of
    two blocks at once until the next instruction with a handler. `active_withs` is
    never wrong.
    """

    def __init__(self, code: CodeType) -> None:
        self._instructions = read(code)
        self._at = {each.offset: at for at, each in enumerate(self._instructions)}
        #: Where the block begins that an instruction enters.
        self._starts = {
            at + enter_length(): each
            for at, each in enumerate(self._instructions)
            if (each.opname, each.arg) == RUNNING.loads_exit
        }
        self._blocks: list[tuple[Instruction, Handler | None]] = []

    def step(self, offset: int) -> list[int]:
        """The offsets of what entered the active blocks, the outermost first.

        Raises ValueError where the offset has no instruction.
        """
        at = self._at.get(offset)
        if at is None:
            raise ValueError(f"there is no instruction at offset {offset}")
        instruction = self._instructions[at]
        self._leave(instruction)
        if at in self._starts:
            self._blocks.append((self._starts[at], instruction.handler))
        return [enter.offset for enter, _ in self._blocks]

    def _leave(self, instruction: Instruction) -> None:
        handler, blocks = instruction.handler, self._blocks
        if not blocks or handler == blocks[-1][1]:
            return
        if handler is None:
            if not _is_transparent(instruction):
                blocks.clear()
        elif len(blocks) > 1 and handler == blocks[-2][1]:
            blocks.pop()
