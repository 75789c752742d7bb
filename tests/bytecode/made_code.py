"""Functions made of instructions, and the code objects of the standard library."""

from __future__ import annotations

import dis
import os
import sysconfig
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from guardtree.bytecode import Instruction, assemble
from guardtree.bytecode.versions import RUNNING

JUMP_IF_FALSE = (
    "POP_JUMP_FORWARD_IF_FALSE" if RUNNING.has_directed_jumps else "POP_JUMP_IF_FALSE"
)
LIBRARY = Path(sysconfig.get_path("stdlib"))
#: "all": packages and CPython's own tests as well, about ten times as much.
EXTENT = os.environ.get("GUARDTREE_TEST_LIBRARY", "modules")


def as_bool(load: Instruction) -> list[Instruction]:
    """A value as a bool, which conditional jumps need from 3.13 on."""
    made = [load, Instruction("UNARY_NOT"), Instruction("UNARY_NOT")]
    if "TO_BOOL" in dis.opmap:
        made[1:1] = [Instruction("TO_BOOL")]
    return made


def function(
    instructions: Sequence[Instruction],
    globals_: dict[str, Any] | None = None,
    *arguments: str,
    **attributes: Any,
) -> FunctionType:
    """A function of a body: RESUME is put before it, arguments are its first locals."""

    def empty() -> None: ...

    given: dict[str, Any] = {
        "co_varnames": arguments,
        "co_argcount": len(arguments),
        "co_flags": empty.__code__.co_flags,
        **attributes,
    }
    made = assemble([Instruction("RESUME", 0), *instructions], empty.__code__, **given)
    return FunctionType(made, globals_ if globals_ is not None else {})


def nested(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that it holds."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


@cache
def library() -> list[CodeType]:
    """Every code object of the standard library's modules."""
    pattern = "**/*.py" if EXTENT == "all" else "*.py"
    codes: list[CodeType] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in sorted(LIBRARY.glob(pattern)):
            if "site-packages" in path.parts:
                continue
            try:
                codes += nested(compile(path.read_bytes(), str(path), "exec"))
            except (SyntaxError, ValueError, RecursionError):
                continue  # CPython's tests have files that do not compile
    return codes
