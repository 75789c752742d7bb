"""Code of Dynamo's that does nothing but call one compiled graph, and how it runs
where no callback is set."""

from __future__ import annotations

import builtins
import dis
import gc
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any

GRAPH = "__compiled_fn_"
UTILS = "__import_torch_dot__dynamo_dot_utils"
RECORDS = {
    "record_pregraph_bytecode_enter": gc.isenabled,
    "record_pregraph_bytecode_exit": callable,
}
"""What Dynamo's code calls around a graph's arguments for a profiler. Without one they
do nothing, and the builtins here, which do nothing either, stand for them."""
PROFILER = "__import_torch_dot_autograd_dot_profiler"
IS_PROFILED = "_is_profiler_enabled"
"""What the code asks before it calls them, since torch 2.15."""

STAND_INS = {UTILS: ModuleType(UTILS), PROFILER: ModuleType(PROFILER)}
vars(STAND_INS[UTILS]).update(RECORDS)
vars(STAND_INS[PROFILER])[IS_PROFILED] = False

OF_MODULES = frozenset(("_buffers", "_modules", "_parameters"))
"""Attributes that are in the dict of a module: how code reaches its parameters."""

ALLOWED = frozenset((
    "BINARY_SUBSCR", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "BUILD_TUPLE",
    "CACHE", "CALL", "COPY", "COPY_FREE_VARS", "DELETE_FAST", "IS_OP", "JUMP_FORWARD",
    "LIST_EXTEND", "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST",
    "LOAD_FAST_BORROW", "LOAD_SMALL_INT", "MAKE_CELL", "NOP", "NOT_TAKEN", "POP_TOP",
    "PRECALL", "RESUME", "RETURN_VALUE", "STORE_FAST", "SWAP", "UNPACK_SEQUENCE",
))  # fmt: skip
"""Instructions that run no function of the user, change nothing that the caller sees,
and never jump back."""

ON_BOOLS = ("POP_JUMP_FORWARD_IF_", "POP_JUMP_IF_", "TO_BOOL")
"""Instructions that call `__bool__` of a value; allowed only on bools."""


BOOL = "a bool"
"""What Reader knows of a value: a bool, a name of Dynamo's, or an empty str."""
ATTRIBUTES = {(UTILS, name) for name in RECORDS} | {(PROFILER, IS_PROFILED)}
"""What the code may read of the modules in STAND_INS."""


class Reader:
    """Reads code from its first instruction to its last, and follows what Dynamo's own
    names lead to: on top of the stack, and in locals."""

    def __init__(self) -> None:
        self.graph: str | None = None
        self.top = ""
        self.below = ""
        """What lies below the top, as long as it is known."""
        self.locals: dict[str, str] = {}
        self.stored: set[str] = set()
        """Locals that were stored after a jump, so on some paths only."""
        self.has_jumped = False

    def takes(self, each: dis.Instruction) -> bool:
        """Whether the code may contain this instruction."""
        if each.is_jump_target:
            self.top = self.below = ""
            self.locals = {
                name: kind
                for name, kind in self.locals.items()
                if name not in self.stored
            }
        if each.opname == "EXTENDED_ARG":
            return True
        before, below = self.top, self.below
        self.top = self.below = ""
        name, opname = str(each.argval), each.opname
        if opname == "LOAD_GLOBAL":
            return self.takes_global(name)
        if opname in ("LOAD_ATTR", "LOAD_METHOD"):
            self.top = name if (before, name) in ATTRIBUTES else ""
            return bool(self.top) or (name in OF_MODULES and not loads_method(each))
        if opname == "BINARY_OP":  # BINARY_SUBSCR up to CPython 3.13
            return each.argrepr == "[]"
        if opname == "PUSH_NULL":  # behind what is called, since CPython 3.13
            return before in RECORDS
        if opname.startswith(ON_BOOLS):
            self.top = BOOL if opname == "TO_BOOL" else below
            self.has_jumped |= opname != "TO_BOOL"
            return before in (BOOL, IS_PROFILED)
        self.follow(opname, name, before, below)
        return opname in ALLOWED

    def takes_global(self, name: str) -> bool:
        """Allows one graph and the modules in STAND_INS."""
        if name.startswith(GRAPH) and self.graph is None:
            self.graph = name
            return True
        self.top = name if name in STAND_INS else ""
        return bool(self.top)

    def follow(self, opname: str, name: str, before: str, below: str) -> None:
        """Tracks what the instruction leaves on top of the stack."""
        if opname == "STORE_FAST":
            self.top, self.locals[name] = below, before
            if self.has_jumped:
                self.stored.add(name)
        elif opname in ("LOAD_FAST", "LOAD_FAST_BORROW"):
            self.top = self.locals.get(name, "")
        elif opname == "COPY" and name == "1":
            self.top = self.below = before
        elif opname == "IS_OP":
            self.top = BOOL


def loads_method(each: dis.Instruction) -> bool:
    """Whether the attribute is called next. Since CPython 3.12 a bit tells."""
    if each.opname == "LOAD_METHOD":
        return True
    return sys.version_info >= (3, 12) and bool((each.arg or 0) & 1)


def graph_of(code: CodeType) -> str | None:
    """The name of the one graph that the code calls; None where it may do more."""
    reader = Reader()
    for each in dis.get_instructions(code):
        if not reader.takes(each):
            return None
    return reader.graph


def runner_of(code: CodeType, graph: str, function: FunctionType) -> FunctionType:
    """The code as a function with the arguments and the closure of the user's function.
    It sees a namespace of its own, in which the graph is what Dynamo's `disable` wraps:
    that wrapper sets no callback where none is set."""
    called = function.__globals__[graph]
    while hasattr(called, "_torchdynamo_disable"):
        inner = getattr(called, "_torchdynamo_orig_callable", None)
        if inner is None:
            break
        called = inner
    namespace: dict[str, Any] = {
        "__builtins__": builtins,
        "__name__": function.__globals__.get("__name__"),
        graph: called,
        **STAND_INS,
    }
    made = FunctionType(
        code, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
