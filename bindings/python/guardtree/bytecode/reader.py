"""From a code object to its instructions."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from .instructions import Handler, Instruction, Variable
from .tables import read_exception_table
from .versions import BACKWARD_JUMPS, CACHES, OPERANDS, RUNNING, Operand


def read(code: CodeType) -> list[Instruction]:
    """The instructions of a code object, in order, unreachable ones included.

    What stands in EXTENDED_ARG, caches, co_names, co_consts, the line and the exception
    table is in the instructions; `assemble(read(code), code)` is an equal code object.
    Specialised and instrumented instructions are read as the compiler wrote them.
    Takes about 0.1 ms for a function of the standard library. Raises ValueError where
    a jump or handler leads to no instruction.
    """
    reading = _Reading(code)
    reading.instructions_of_bytes()
    reading.jumps()
    reading.handlers()
    return reading.result


def slots_of(
    varnames: tuple[str, ...], cellvars: tuple[str, ...], freevars: tuple[str, ...]
) -> list[Variable]:
    """A frame's fast locals in the order of their indices.

    A name in both varnames and cellvars is one slot, among the varnames.
    """
    return [
        *(Variable(name, "cell" if name in cellvars else "local") for name in varnames),
        *(Variable(name, "cell") for name in cellvars if name not in varnames),
        *(Variable(name, "free") for name in freevars),
    ]


class _Reading:
    """The work of one `read`."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.slots = slots_of(code.co_varnames, code.co_cellvars, code.co_freevars)
        self.result: list[Instruction] = []
        #: An instruction by the offset of its first EXTENDED_ARG.
        self.labels: dict[int, Instruction] = {}
        self.pending: list[tuple[Instruction, int]] = []  # jumps and their targets

    def instructions_of_bytes(self) -> None:
        code = self.code.co_code
        positions = list(self.code.co_positions())
        # A line table made by hand may end before the code does.
        positions += [(None,) * 4] * (len(code) // 2 - len(positions))
        opnames = dis.opname
        start = index = oparg = 0
        while index < len(code):
            opname = opnames[code[index]]
            oparg |= code[index + 1]
            if opname == "EXTENDED_ARG":
                oparg <<= 8
                index += 2
                continue
            position = positions[index // 2]
            instruction = Instruction(
                opname,
                position=None if position[0] is None else position,
                offset=index,
            )
            index += 2 + 2 * CACHES.get(opname, 0)
            self._operand(instruction, oparg, index)
            self.labels[start] = instruction
            self.result.append(instruction)
            start, oparg = index, 0

    def _operand(self, instruction: Instruction, oparg: int, end: int) -> None:
        opname = instruction.opname
        operand = OPERANDS[opname]
        arg: Any = oparg
        if operand is Operand.VARIABLE:
            arg = self.slots[oparg]
        elif operand is Operand.CONSTANT:
            arg = self.code.co_consts[oparg]
        elif operand is Operand.NAME:
            bits = RUNNING.name_flag_bits.get(opname, 0)
            arg = self.code.co_names[oparg >> bits]
            instruction.flags = oparg & (1 << bits) - 1
        elif operand is Operand.JUMP:
            distance = -oparg if opname in BACKWARD_JUMPS else oparg
            self.pending.append((instruction, end + 2 * distance))
            arg = None
        elif operand is Operand.PAIR:
            arg = (self.slots[oparg >> 4], self.slots[oparg & 15])
        elif operand is Operand.NONE and not oparg:
            arg = None
        instruction.arg = arg

    def _label(self, offset: int, what: str) -> Instruction:
        found = self.labels.get(offset)
        if found is None:
            raise ValueError(
                f"{self.code.co_qualname}: {what} leads to offset {offset}, where no "
                "instruction starts"
            )
        return found

    def jumps(self) -> None:
        for jump, offset in self.pending:
            jump.target = self._label(offset, f"{jump.opname} at {jump.offset}")

    def handlers(self) -> None:
        if not self.code.co_exceptiontable:
            return
        regions = sorted(read_exception_table(self.code.co_exceptiontable))
        result = iter(self.result)
        instruction = next(result, None)
        for region in regions:
            target = self._label(region.target, f"the handler of {region.start}")
            handler = Handler(target, region.depth, region.lasti)
            while instruction and instruction.offset < region.start:
                instruction = next(result, None)
            while instruction and instruction.offset < region.end:
                instruction.handler = handler
                instruction = next(result, None)
