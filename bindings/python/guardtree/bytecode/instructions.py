"""Instructions as objects: operands by meaning, labels by identity.

An `Instruction` is a label too: a jump's `target` and a `Handler`'s `target` are the
instructions that they lead to, so lists of instructions are cut, joined and rewritten
without counting offsets. A list belongs to a code object only where it is read or
assembled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from .versions import OPERANDS, RUNNING, Operand

#: lineno, end_lineno, col_offset, end_col_offset, as in `code.co_positions()`.
Position = tuple[int | None, int | None, int | None, int | None]


class Variable(NamedTuple):
    """A slot of a frame's fast locals.

    `local`: an entry of co_varnames that is no cell. `cell`: an entry of co_cellvars
    (also where the name is a parameter). `free`: an entry of co_freevars. Assembling
    takes a `cell` for the entry of co_freevars where co_cellvars has none, so code that
    is moved into a closure needs no change.
    """

    name: str
    kind: Literal["local", "cell", "free"] = "local"


class Handler(NamedTuple):
    """An entry of the exception table, as it covers one instruction.

    depth: stack slots that are kept when the handler is entered. lasti: the offset of
    the raising instruction is pushed, below the exception.
    """

    target: Instruction
    depth: int
    lasti: bool = False


class Instruction:
    """One instruction without its EXTENDED_ARG and caches. Compared by identity.

    opname: as in `dis`. arg, by what the instruction takes:

    - a name (LOAD_ATTR, ...): the str; `flags` holds the low bits of the oparg that are
      no part of the name's index (LOAD_GLOBAL's 1: a NULL as well)
    - a constant (LOAD_CONST, KW_NAMES, ...): the object itself, kept by identity
    - a variable (LOAD_FAST, LOAD_DEREF, ...): a `Variable`; a str is taken for the
      local of that name by instructions with FAST in theirs, for the cell by others
    - two variables (LOAD_FAST_LOAD_FAST, ...): a pair of them
    - a jump: None; `target` is the instruction that it leads to
    - anything else: an int, or None where the instruction has no operand

    handler: the innermost exception handler, or None. position: where it is in the
    source, or None. offset: of the instruction read, in bytes, as in `dis`; None for
    one that was made. Raises ValueError where this CPython has no such instruction.
    """

    __slots__ = ("arg", "flags", "handler", "offset", "opname", "position", "target")

    def __init__(
        self,
        opname: str,
        arg: Any = None,
        *,
        flags: int = 0,
        target: Instruction | None = None,
        handler: Handler | None = None,
        position: Position | None = None,
        offset: int | None = None,
    ) -> None:
        operand = OPERANDS.get(opname)
        if operand is None:
            raise ValueError(f"this CPython has no instruction {opname!r}")
        if arg.__class__ is str and operand is Operand.VARIABLE:
            arg = Variable(arg, "local" if "FAST" in opname else "cell")
        # Any: what read() gives has the offset, and a jump its target; no user has to
        # say so to a type checker.
        self.opname = opname
        self.arg = arg
        self.flags = flags
        self.target: Instruction | Any = target
        self.handler = handler
        self.position = position
        self.offset: int | Any = offset

    @property
    def operand(self) -> Operand:
        """What `arg` means."""
        return OPERANDS[self.opname]

    def copied(self) -> Instruction:
        """A new instruction that leads to the same target and handler."""
        return Instruction(
            self.opname,
            self.arg,
            flags=self.flags,
            target=self.target,
            handler=self.handler,
            position=self.position,
            offset=self.offset,
        )

    def __repr__(self) -> str:
        parts = [self.opname]
        if self.arg is not None or self.operand is Operand.CONSTANT:
            parts.append(repr(self.arg))
        if self.flags:
            parts.append(f"flags={self.flags}")
        if self.target is not None:
            parts.append(f"to {self.target.opname}")
            if self.target.offset is not None:
                parts.append(f"at {self.target.offset}")
        if self.offset is not None:
            parts.append(f"(offset {self.offset})")
        return f"<{' '.join(parts)}>"


Rewrite = Callable[[Instruction], Iterable[Instruction] | None]


def rewritten(
    instructions: Iterable[Instruction], rewrite: Rewrite | None = None
) -> list[Instruction]:
    """A copy of the list, in which `rewrite` replaced instructions by others.

    rewrite(instruction) gives what replaces it, or None to keep it; nothing given is
    changed. What replaces an instruction takes its position and handler, where it has
    none of its own. Jumps and handlers that led to an instruction lead to the first of
    what replaced it (to the next instruction, where it was replaced by nothing), also
    those in the replacements. A target outside the list stays.
    """
    copies: dict[Instruction, Instruction] = {}
    dropped: list[Instruction] = []
    result: list[Instruction] = []
    for old in instructions:
        replacement = None if rewrite is None else rewrite(old)
        new = [old.copied()] if replacement is None else list(replacement)
        for each in new:
            if each.position is None:
                each.position = old.position
            if each.handler is None:
                each.handler = old.handler
        dropped.append(old)
        if new:
            copies |= dict.fromkeys(dropped, new[0])
            dropped.clear()
        result += new
    for each in result:
        if each.target is not None:
            each.target = copies.get(each.target, each.target)
        if each.handler is not None and each.handler.target in copies:
            each.handler = each.handler._replace(target=copies[each.handler.target])
    return result


def unfused(instructions: Sequence[Instruction]) -> list[Instruction]:
    """A copy without instructions on two locals and without borrowing loads.

    Needed wherever locals get other slots (a pair holds 4 bits for each) or where code
    of another origin runs between a borrowing load and its use. 3.13 and later have
    them; elsewhere it is a plain copy.
    """

    def rewrite(instruction: Instruction) -> list[Instruction] | None:
        names = RUNNING.fused.get(instruction.opname)
        pairs: Iterable[tuple[str, Any]]
        pairs = zip(names, instruction.arg) if names else ()
        if instruction.opname in RUNNING.borrowed:
            pairs = [(instruction.opname, instruction.arg)]
        made = [
            Instruction(RUNNING.borrowed.get(name, name), arg) for name, arg in pairs
        ]
        for each in made:
            each.offset = instruction.offset
        return made or None

    return rewritten(instructions, rewrite)
