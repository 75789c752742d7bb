"""CPython's bytecode, 3.11 to 3.15: read, rewritten, assembled. Pure Python.

`read(code)` gives a list of `Instruction`; `assemble(instructions, code)` gives a code
object. Between them the list is yours: jumps and handlers lead to instructions, not to
offsets, so inserting and removing needs no bookkeeping. See this folder's README.
"""

from __future__ import annotations

from .analysis import UnsafeCode
from .arguments import with_arguments
from .assembler import assemble
from .bodies import NotResumable
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
from .contexts import Context
from .continuations import Continuation, continuation
from .graph_breaks import (
    GraphBreak,
    branch_break,
    enter_at,
    graph_break,
    leave_after,
)
from .instructions import Handler, Instruction, Position, Variable, rewritten, unfused
from .layouts import UNBOUND, Layout, layout
from .preludes import Prelude
from .reader import read
from .stack import falls_through, stack_depths, stack_effect, stack_size
from .templates import bytecode_from_template, splice
from .verifier import verify
from .withs import With, Withs, WithTracker, active_withs

__all__ = [
    "Context",
    "Continuation",
    "GraphBreak",
    "Handler",
    "Instruction",
    "Layout",
    "NotResumable",
    "Position",
    "Prelude",
    "UNBOUND",
    "UnsafeCode",
    "Variable",
    "With",
    "WithTracker",
    "Withs",
    "active_withs",
    "add_push_null",
    "assemble",
    "branch_break",
    "bytecode_from_template",
    "call",
    "call_ex",
    "call_kw",
    "call_late",
    "continuation",
    "enter_at",
    "falls_through",
    "graph_break",
    "layout",
    "leave_after",
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
    "verify",
    "with_arguments",
]
