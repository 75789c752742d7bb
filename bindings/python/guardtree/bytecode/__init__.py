"""CPython's bytecode, 3.11 to 3.15: read, rewritten, assembled. Pure Python.

`read(code)` gives a list of `Instruction`; `assemble(instructions, code)` gives a code
object. Between them the list is yours: jumps and handlers lead to instructions, not to
offsets, so inserting and removing needs no bookkeeping. See this folder's README.
"""

from __future__ import annotations

from .assembler import assemble
from .instructions import Handler, Instruction, Position, Variable, rewritten, unfused
from .reader import read
from .stack import falls_through, stack_depths, stack_effect, stack_size

__all__ = [
    "Handler",
    "Instruction",
    "Position",
    "Variable",
    "assemble",
    "falls_through",
    "read",
    "rewritten",
    "stack_depths",
    "stack_effect",
    "stack_size",
    "unfused",
]
