"""From instructions to a code object."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence
from itertools import accumulate
from types import CodeType
from typing import Any

from .instructions import Handler, Instruction, Position, Variable
from .reader import slots_of
from .stack import stack_size
from .tables import Region, exception_table, line_table
from .versions import BACKWARD_JUMPS, CACHES, REVERSED_JUMPS, RUNNING, Operand

_PAIR_INDICES = 16


def assemble(
    instructions: Sequence[Instruction], code: CodeType, **attributes: Any
) -> CodeType:
    """A code object like `code`, with these instructions. Changes neither.

    attributes are those of `code.replace`, for what shall differ from `code` otherwise
    (co_name, co_argcount, co_flags, co_varnames, co_freevars, ...). co_consts and
    co_names are tables to start from: what instructions use beyond them is appended, a
    constant unless that very object is there. Variables have to be in co_varnames,
    co_cellvars or co_freevars. co_stacksize is computed unless given, and so are
    EXTENDED_ARG, caches, the direction of jumps, the line and the exception table.
    Takes about 0.2 ms for a function of the standard library.

    Raises ValueError, with the instruction, for a variable the code has not, a target
    outside the list, a conditional jump backwards where the version has none, an index
    that an instruction cannot hold, and what `stack_depths` refuses.
    """
    tables = _Tables(code, attributes)
    layout = _Layout(instructions, [tables.oparg(each) for each in instructions])
    varnames = attributes.get("co_varnames", code.co_varnames)
    made = {
        "co_stacksize": None,
        **attributes,
        "co_code": layout.code(),
        "co_consts": tuple(tables.constants),
        "co_names": tuple(tables.names),
        "co_nlocals": len(varnames),
        "co_exceptiontable": exception_table(layout.regions()),
        "co_linetable": line_table(
            layout.spans(), attributes.get("co_firstlineno", code.co_firstlineno)
        ),
    }
    if made["co_stacksize"] is None:
        made["co_stacksize"] = stack_size(instructions)
    return code.replace(**made)


class _Tables:
    """Names, constants and variables, and the opargs that stand for them."""

    def __init__(self, code: CodeType, attributes: dict[str, Any]) -> None:
        def given(name: str) -> tuple[Any, ...]:
            return tuple(attributes.get(name, getattr(code, name)))

        self.names = {name: at for at, name in enumerate(given("co_names"))}
        self.constants = list(given("co_consts"))
        self.constant_indices = {
            id(constant): at for at, constant in enumerate(self.constants)
        }
        cells, frees = given("co_cellvars"), given("co_freevars")
        slots = slots_of(given("co_varnames"), cells, frees)
        self.variables = {variable: at for at, variable in enumerate(slots)}
        for name in frees:
            at = self.variables[Variable(name, "free")]
            self.variables.setdefault(Variable(name, "cell"), at)

    def oparg(self, instruction: Instruction) -> int:
        """The oparg; 0 for a jump, whose distance the layout knows."""
        operand, arg = instruction.operand, instruction.arg
        if operand is Operand.VARIABLE:
            return self._variable(arg, instruction)
        if operand is Operand.CONSTANT:
            return self._constant(arg)
        if operand is Operand.NAME:
            bits = RUNNING.name_flag_bits.get(instruction.opname, 0)
            if instruction.flags >> bits:
                raise ValueError(
                    f"{instruction}: its name leaves {bits} bits for flags"
                )
            index = self.names.setdefault(arg, len(self.names))
            return index << bits | instruction.flags
        if operand is Operand.PAIR:
            first, second = (self._variable(each, instruction) for each in arg)
            if max(first, second) >= _PAIR_INDICES:
                raise ValueError(
                    f"{instruction} holds indices below {_PAIR_INDICES}, its variables "
                    f"have {first} and {second}; use unfused()"
                )
            return first << 4 | second
        return 0 if operand is Operand.JUMP else arg or 0

    def _variable(self, variable: Any, instruction: Instruction) -> int:
        index = self.variables.get(variable)
        if index is None:
            raise ValueError(
                f"{instruction}: the code has no {variable!r}; its variables are "
                "co_varnames, co_cellvars and co_freevars"
            )
        return index

    def _constant(self, constant: object) -> int:
        index = self.constant_indices.get(id(constant))
        if index is None:
            index = self.constant_indices[id(constant)] = len(self.constants)
            self.constants.append(constant)
        return index


class _Layout:
    """Where each instruction lies, in code units; jumps get their distances."""

    def __init__(self, instructions: Sequence[Instruction], opargs: list[int]) -> None:
        self.instructions = instructions
        self.opnames = [each.opname for each in instructions]
        self.opargs = opargs
        self.index = {each: at for at, each in enumerate(instructions)}
        self.jumps = self._directed_jumps()
        self.units = [
            _units(opname, oparg) for opname, oparg in zip(self.opnames, opargs)
        ]
        self.offsets = self._settled()

    def _label(self, target: Instruction | None, origin: Instruction) -> int:
        if target is None:
            raise ValueError(f"{origin} has no target")
        index = self.index.get(target)
        if index is None:
            raise ValueError(f"{origin} leads to {target}, which is not in the list")
        return index

    def _directed_jumps(self) -> list[tuple[int, int]]:
        """(index, index of the target) of the jumps; turns opnames the right way."""
        jumps = []
        for at, instruction in enumerate(self.instructions):
            if instruction.operand is not Operand.JUMP:
                continue
            target = self._label(instruction.target, instruction)
            jumps.append((at, target))
            goes_back = target <= at
            if goes_back == (instruction.opname in BACKWARD_JUMPS):
                continue
            other = REVERSED_JUMPS.get(instruction.opname)
            if other is None:
                way = "forward" if goes_back else "backward"
                raise ValueError(
                    f"instruction {at} {instruction} leads to instruction {target}, "
                    f"but it only goes {way}; lead it to an unconditional jump"
                )
            self.opnames[at] = other
        return jumps

    def _settled(self) -> list[int]:
        """Offsets of all instructions and of the end.

        A distance may need an EXTENDED_ARG only because of that EXTENDED_ARG. So that
        code read comes out as it was, the search starts from the distances in it.
        """
        for _ in range(2):  # a target's own EXTENDED_ARGs are known the second time
            for at, target in self.jumps:
                distance = self._distance_read(at, target)
                self.units[at] = _units(self.opnames[at], distance)
        may_shrink = True  # once, then sizes only grow: the search ends
        while True:
            offsets = [0, *accumulate(self.units)]
            changed = False
            for at, target in self.jumps:
                distance = abs(offsets[target] - offsets[at + 1])
                self.opargs[at] = distance
                needed, had = _units(self.opnames[at], distance), self.units[at]
                if needed > had or needed < had and may_shrink:
                    self.units[at] = needed
                    changed = True
            may_shrink = False
            if not changed:
                return offsets

    def _distance_read(self, at: int, target: int) -> int:
        """How far, in code units, a jump led where it was read; 0 if it was not."""
        jump, label = self.instructions[at], self.instructions[target]
        if jump.offset is None or label.offset is None:
            return 0
        end: int = jump.offset + 2 + 2 * CACHES.get(jump.opname, 0)
        extended = self.units[target] - 1 - CACHES.get(self.opnames[target], 0)
        begin: int = label.offset - 2 * extended
        return abs(end - begin) // 2

    def code(self) -> bytes:
        """The co_code."""
        code = bytearray()
        for opname, oparg, units in zip(self.opnames, self.opargs, self.units):
            caches = CACHES.get(opname, 0)
            for byte in range(units - caches - 1, 0, -1):
                code += bytes((dis.EXTENDED_ARG, oparg >> 8 * byte & 255))
            code += bytes((dis.opmap[opname], oparg & 255))
            code += bytes(2 * caches)
        return bytes(code)

    def regions(self) -> Iterator[Region]:
        """The entries of the exception table: runs of instructions with one handler."""
        start, current = 0, None
        for at, handler in enumerate([*(i.handler for i in self.instructions), None]):
            if handler == current:
                continue
            if current is not None:
                yield self._region(start, at, current)
            start, current = at, handler

    def _region(self, start: int, end: int, handler: Handler) -> Region:
        target = self._label(handler.target, self.instructions[start])
        return Region(
            2 * self.offsets[start],
            2 * self.offsets[end],
            2 * self.offsets[target],
            handler.depth,
            handler.lasti,
        )

    def spans(self) -> Iterator[tuple[Position | None, int]]:
        """(position, code units) of runs of instructions that have one position."""
        total, current = 0, None
        for instruction, units in zip(self.instructions, self.units):
            if instruction.position != current or not RUNNING.merges_positions:
                if total:
                    yield current, total
                total, current = 0, instruction.position
            total += units
        if total:
            yield current, total


def _units(opname: str, oparg: int) -> int:
    """Code units of an instruction with its EXTENDED_ARGs and caches."""
    if not 0 <= oparg < 1 << 32:
        raise ValueError(f"{opname} cannot hold {oparg}: an oparg has 32 bits")
    extended = max(oparg.bit_length() - 1, 0) // 8
    return 1 + extended + CACHES.get(opname, 0)
