"""Whether a code object can be read at all: opcodes, operands, labels, tables."""

from __future__ import annotations

import dis
from types import CodeType

from .analysis import UnsafeCode
from .reader import slots_of
from .tables import read_exception_table
from .versions import (
    BACKWARD_JUMPS,
    CACHES,
    NUMBER_RANGES,
    OPERANDS,
    RUNNING,
    Operand,
)

#: What `dis` lists and no code object may hold.
INTERNAL = frozenset(
    {
        "CACHE",
        "ENTER_EXECUTOR",
        "EXIT_INIT_CHECK",
        "EXTENDED_ARG",
        "INTERPRETER_EXIT",
        "RESERVED",
        "TRACE_RECORD",
    }
)
_PAIR_MASK = 15
#: Where the operand is a number of stack slots.
_SLOTS = frozenset(
    """
    BUILD_CONST_KEY_MAP BUILD_LIST BUILD_MAP BUILD_SET BUILD_STRING BUILD_TUPLE CALL
    CALL_KW COPY DICT_MERGE DICT_UPDATE LIST_APPEND LIST_EXTEND MAP_ADD PRECALL SET_ADD
    SET_UPDATE SWAP UNPACK_SEQUENCE
    """.split()
)


def check_structure(code: CodeType) -> None:
    """Raises UnsafeCode where `read` would fail, or read something else than what runs.

    After it, each instruction is a known one, its operand is in its table, and jumps
    and handlers lead to where an instruction starts.
    """
    _Structure(code).check()


class _Structure:
    """The work of one `check_structure`."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        slots = slots_of(code.co_varnames, code.co_cellvars, code.co_freevars)
        self.variable_count = len(slots)
        #: Where an instruction starts, its EXTENDED_ARGs included.
        self.labels: set[int] = set()
        self.jumps: list[tuple[int, int]] = []

    def unsafe(self, offset: int | None, reason: str) -> UnsafeCode:
        return UnsafeCode(self.code, offset, reason)

    def check(self) -> None:
        code = self.code
        if RUNNING.docstring_flag & code.co_flags and not code.co_consts:
            raise self.unsafe(
                None, "its flags say that it has a docstring, and co_consts is empty"
            )
        self._check_instructions()
        for offset, target in self.jumps:
            if target not in self.labels:
                raise self.unsafe(
                    offset, f"jumps to {target}, where no instruction starts"
                )
        self._check_exception_table()

    def _check_instructions(self) -> None:
        code = self.code.co_code
        start = index = oparg = 0
        if not code or len(code) % 2:
            raise self.unsafe(None, f"co_code has {len(code)} bytes")
        while index < len(code):
            opname = dis.opname[code[index]]
            oparg |= code[index + 1]
            if opname == "EXTENDED_ARG":
                oparg <<= 8
                index += 2
                if oparg >= 1 << 32 or index == len(code):
                    raise self.unsafe(start, "EXTENDED_ARG extends no instruction")
                continue
            if opname not in OPERANDS or opname in INTERNAL:
                raise self.unsafe(index, f"{opname} is no instruction of a code object")
            end = index + 2 + 2 * CACHES.get(opname, 0)
            if end > len(code):
                raise self.unsafe(index, f"the caches of {opname} are cut off")
            self._check_operand(opname, oparg, index, end)
            self.labels.add(start)
            start = index = end
            oparg = 0

    def _check_operand(self, opname: str, oparg: int, offset: int, end: int) -> None:
        code, operand = self.code, OPERANDS[opname]
        if operand is Operand.JUMP:
            distance = -oparg if opname in BACKWARD_JUMPS else oparg
            self.jumps.append((offset, end + 2 * distance))
            return
        indices: tuple[int, ...] = (oparg,)
        allowed, table = range(0), ""
        if operand is Operand.CONSTANT:
            allowed, table = range(len(code.co_consts)), "co_consts"
        elif operand is Operand.NAME:
            indices = (oparg >> RUNNING.name_flag_bits.get(opname, 0),)
            allowed, table = range(len(code.co_names)), "co_names"
        elif operand is Operand.VARIABLE:
            allowed, table = range(self.variable_count), "the variables"
        elif operand is Operand.PAIR:
            indices = (oparg >> 4, oparg & _PAIR_MASK)
            allowed, table = range(self.variable_count), "the variables"
        elif opname in _SLOTS or opname == "UNPACK_EX":
            # Before anything is sized by it. What is reached is counted exactly later;
            # unreachable code may ask for more, as co_stacksize leaves it out.
            first = NUMBER_RANGES.get(opname, range(1)).start
            indices = (oparg >> 8 if opname == "UNPACK_EX" else oparg,)
            most = max(code.co_stacksize, len(code.co_code))
            allowed, table = range(first, most + 1), "its stack"
        elif opname == "COPY_FREE_VARS":
            count = len(code.co_freevars)
            allowed, table = range(count, count + 1), "the free variables"
        elif opname in NUMBER_RANGES:
            allowed, table = NUMBER_RANGES[opname], "its operands"
        else:
            return
        if any(index not in allowed for index in indices):
            raise self.unsafe(
                offset,
                f"{opname} has the operand {oparg}, outside of {table}: {allowed}",
            )

    def _check_exception_table(self) -> None:
        length, last = len(self.code.co_code), 0
        try:
            regions = [*read_exception_table(self.code.co_exceptiontable)]
        except ValueError as error:
            raise self.unsafe(None, str(error)) from error
        for region in regions:
            if not last <= region.start < region.end <= length:
                raise self.unsafe(
                    region.start,
                    f"the exception table has an entry to {region.end}, which is "
                    f"empty, overlaps another, or ends behind the code ({length} "
                    "bytes)",
                )
            if region.target not in self.labels:
                raise self.unsafe(
                    region.start,
                    f"its exception handler is at {region.target}, where no "
                    "instruction starts",
                )
            last = region.end
