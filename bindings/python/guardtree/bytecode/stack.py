"""How deep the stack is at each instruction."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from functools import lru_cache

from .instructions import Instruction
from .versions import ENDS, OPERANDS, RUNNING, UNCONDITIONAL_JUMPS, Operand


def stack_effect(instruction: Instruction, *, jump: bool) -> int:
    """How many slots the stack has more behind the instruction; jump: at its target.

    NULLs and the parts of an iterator count as slots. On 3.11 PRECALL pops the
    arguments and CALL the callable.
    """
    if instruction.operand is Operand.NUMBER:
        return _effect(instruction.opname, instruction.arg or 0, jump)
    return _effect(instruction.opname, instruction.flags, jump)


@lru_cache(maxsize=4096)  # three times as fast as asking dis
def _effect(opname: str, oparg: int, jump: bool) -> int:
    known = RUNNING.stack_effects.get(opname)
    if known is not None:
        return known
    opcode = dis.opmap[opname]
    if OPERANDS[opname] is Operand.NONE:
        return dis.stack_effect(opcode, jump=jump)
    return dis.stack_effect(opcode, oparg, jump=jump)


def falls_through(instruction: Instruction) -> bool:
    """Whether the next instruction can be reached from this one."""
    return not (instruction.opname in ENDS or instruction.opname in UNCONDITIONAL_JUMPS)


def stack_depths(instructions: Sequence[Instruction]) -> dict[Instruction, int]:
    """The depth before each instruction that can be reached from the first one.

    An instruction that is missing in the result is unreachable. Raises ValueError where
    two ways lead to an instruction with different depths, the stack has too few slots,
    or control runs off the end.
    """
    return _walked(instructions)[0]


def stack_size(instructions: Sequence[Instruction]) -> int:
    """The co_stacksize that the instructions need. Raises as `stack_depths` does."""
    return _walked(instructions)[1]


def _walked(instructions: Sequence[Instruction]) -> tuple[dict[Instruction, int], int]:
    """The depths, and the greatest one before or behind an instruction."""
    depths: dict[Instruction, int] = {}
    index = {instruction: at for at, instruction in enumerate(instructions)}
    work: list[tuple[Instruction, int]] = []
    size = 0

    def reached(label: Instruction, depth: int, origin: Instruction) -> None:
        if depth < 0:
            raise ValueError(
                f"{_named(origin, index)} takes {-depth} more slots than the stack has"
            )
        if label not in index:
            raise ValueError(
                f"{_named(origin, index)} leads to {label}, which is not in the list"
            )
        known = depths.get(label)
        if known is None:
            depths[label] = depth
            work.append((label, depth))
        elif known != depth:
            raise ValueError(
                f"{_named(label, index)} is reached with {known} slots on the stack, "
                f"and with {depth} from {_named(origin, index)}"
            )

    if instructions:
        reached(instructions[0], 0, instructions[0])
    while work:
        instruction, depth = work.pop()
        behind = depth + stack_effect(instruction, jump=False)
        size = max(size, depth, behind)
        if falls_through(instruction):
            after = index[instruction] + 1
            if after == len(instructions):
                raise ValueError(f"{_named(instruction, index)} runs off the end")
            reached(instructions[after], behind, instruction)
        # END_ASYNC_FOR names its SEND for sys.monitoring; it does not jump there.
        if instruction.target is not None and instruction.opname != "END_ASYNC_FOR":
            there = depth + stack_effect(instruction, jump=True)
            reached(instruction.target, there, instruction)
        if (handler := instruction.handler) is not None:
            entered = handler.depth + handler.lasti + 1
            reached(handler.target, entered, instruction)
    return depths, size


def _named(instruction: Instruction, index: dict[Instruction, int]) -> str:
    return f"instruction {index[instruction]} {instruction}"
