"""Code of Dynamo's that does nothing but call one compiled graph, and how it runs
where no callback is set."""

from __future__ import annotations

import builtins
import dis
import gc
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

STAND_IN = ModuleType(UTILS)
vars(STAND_IN).update(RECORDS)

OF_MODULES = frozenset(("_buffers", "_modules", "_parameters"))
"""Attributes that are in the dict of a module: how code reaches its parameters."""

ALLOWED = frozenset((
    "BINARY_SUBSCR", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "BUILD_TUPLE",
    "CACHE", "CALL", "COPY", "COPY_FREE_VARS", "DELETE_FAST", "EXTENDED_ARG",
    "LIST_EXTEND", "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST", "MAKE_CELL", "NOP",
    "POP_TOP", "PRECALL", "RESUME", "RETURN_VALUE", "STORE_FAST", "SWAP",
    "UNPACK_SEQUENCE",
))  # fmt: skip
"""Instructions that run no function of the user, change nothing that the caller sees,
and never jump. LOAD_GLOBAL and LOAD_ATTR depend on their names."""


def graph_of(code: CodeType) -> str | None:
    """The name of the one graph that the code calls; None where it may do more."""
    graph = None
    for each in dis.get_instructions(code):
        name = str(each.argval)
        if each.opname == "LOAD_GLOBAL":
            if name.startswith(GRAPH) and graph is None:
                graph = name
            elif name != UTILS:
                return None
        elif each.opname == "LOAD_ATTR":
            if name not in RECORDS and name not in OF_MODULES:
                return None
        elif each.opname not in ALLOWED:
            return None
    return graph


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
        UTILS: STAND_IN,
    }
    made = FunctionType(
        code, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
