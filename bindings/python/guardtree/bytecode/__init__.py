"""CPython's bytecode, 3.11 to 3.15: read, rewritten, assembled. Pure Python.

`read(code)` gives a list of `Instruction`; `assemble(instructions, code)` gives a code
object. Between them the list is yours: jumps and handlers lead to instructions, not to
offsets, so inserting and removing needs no bookkeeping. See this folder's README.
"""

from __future__ import annotations

from .assembler import assemble
from .calls import (
    add_push_null,
    call,
    call_ex,
    call_kw,
    call_late,
    load_method,
    make_function,
    pop_null,
)
from .instructions import Handler, Instruction, Position, Variable, rewritten, unfused
from .reader import read
from .stack import falls_through, stack_depths, stack_effect, stack_size
from .templates import bytecode_from_template, splice

__all__ = [
    "Handler",
    "Instruction",
    "Position",
    "Variable",
    "add_push_null",
    "assemble",
    "bytecode_from_template",
    "call",
    "call_ex",
    "call_kw",
    "call_late",
    "falls_through",
    "load_method",
    "make_function",
    "pop_null",
    "read",
    "rewritten",
    "splice",
    "stack_depths",
    "stack_effect",
    "stack_size",
    "unfused",
]
