"""Bytecode written as Python: a function's body as instructions to put into other code.

    def template(context, body):
        with context:
            body

    made = bytecode_from_template(template, {"context": "___stack0"}, depth=2)
    made = splice(made, "body", instructions)

CPython compiles the `with`, so no version's way of doing it is spelled out.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import CodeType, FunctionType

from .instructions import Instruction, rewritten, unfused
from .reader import read
from .versions import Operand

_NO_TEMPLATE = {
    inspect.CO_GENERATOR: "yields",
    inspect.CO_COROUTINE: "is a coroutine",
    inspect.CO_ASYNC_GENERATOR: "is an async generator",
}
_GLOBALS = frozenset(
    f"{what}_{scope}"
    for what in ("LOAD", "STORE", "DELETE")
    for scope in ("GLOBAL", "NAME")
)
_MARKER_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_GLOBAL"})


def bytecode_from_template(
    fn: FunctionType,
    varname_map: Mapping[str, str] | None = None,
    noreturn: bool = True,
    noprefix: bool = True,
    depth: int = 0,
) -> list[Instruction]:
    """The instructions of fn, ready to stand in another function.

    varname_map: new names of locals and globals; other locals keep theirs and have to
    be in the co_varnames of the code assembled. noreturn: where fn returned, control
    reaches the end, the returned value on the stack. noprefix: without what starts a
    function, up to RESUME. depth: slots that lie on the stack below, which exception
    handlers of the template keep.

    They have no positions. No load is fused or borrowing; a local that fn is sure to
    have bound is loaded unchecked, so has to be bound where it is renamed to. Raises
    ValueError for a name in varname_map that fn does not use, and for an fn that has
    cells, yields or awaits: they need a frame that was made for them.
    """
    code = fn.__code__
    _check_template(code)
    instructions = unfused(read(code))
    if noreturn:
        instructions = rewritten(instructions, _return_of_constant)
    if noprefix:
        names = [each.opname for each in instructions]
        del instructions[: names.index("RESUME") + 1]
    for each in instructions:
        each.position = each.offset = None
        if each.handler is not None:
            each.handler = each.handler._replace(depth=each.handler.depth + depth)
    _rename(instructions, varname_map or {}, code)
    return _without_returns(instructions) if noreturn else instructions


def splice(
    instructions: Sequence[Instruction], marker: str, body: Sequence[Instruction]
) -> list[Instruction]:
    """A copy of instructions with a copy of body in the place of the marker.

    The marker is an expression statement, a local's or a global's name: what loads and
    pops it is replaced. Body instructions without a handler or position take the
    marker's. Raises ValueError unless there is exactly one marker.
    """
    holes = [
        load
        for load, pop in pairwise(instructions)
        if _loads(load, marker) and pop.opname == "POP_TOP"
    ]
    if len(holes) != 1:
        raise ValueError(
            f"{len(holes)} statements consist of the marker {marker!r}, and one is "
            "needed"
        )
    popped = instructions[instructions.index(holes[0]) + 1]
    replaced = {holes[0]: rewritten(body), popped: []}
    return rewritten(instructions, replaced.get)


def _loads(instruction: Instruction, name: str) -> bool:
    if instruction.opname not in _MARKER_LOADS:
        return False
    return bool(name == getattr(instruction.arg, "name", instruction.arg))


def _check_template(code: CodeType) -> None:
    reasons = [why for flag, why in _NO_TEMPLATE.items() if code.co_flags & flag]
    if cells := code.co_cellvars + code.co_freevars:
        reasons.append(f"has the cells {', '.join(cells)}")
    if reasons:
        raise ValueError(
            f"{code.co_qualname} is no template, because it {' and '.join(reasons)}"
        )


def _return_of_constant(instruction: Instruction) -> list[Instruction] | None:
    if instruction.opname != "RETURN_CONST":
        return None
    return [Instruction("LOAD_CONST", instruction.arg), Instruction("RETURN_VALUE")]


def _rename(
    instructions: Sequence[Instruction], names: Mapping[str, str], code: CodeType
) -> None:
    unused = names.keys() - {*code.co_varnames, *code.co_names}
    if unused:
        raise ValueError(
            f"varname_map renames {', '.join(sorted(unused))}, and {code.co_qualname} "
            "has no such variable"
        )
    for each in instructions:
        if each.operand is Operand.VARIABLE:
            old = each.arg.name
            each.arg = each.arg._replace(name=names.get(old, old))
        elif each.opname in _GLOBALS:
            each.arg = names.get(each.arg, each.arg)


def _without_returns(instructions: list[Instruction]) -> list[Instruction]:
    """Control goes on at the end instead of returning; changes the instructions."""
    returns = [each for each in instructions if each.opname == "RETURN_VALUE"]
    last = instructions[-1]
    if returns == [last] and all(each.target is not last for each in instructions):
        return instructions[:-1]
    if not returns:
        return instructions
    end = Instruction("NOP")
    jumps = {each: [Instruction("JUMP_FORWARD", target=end)] for each in returns}
    return [*rewritten(instructions, jumps.get), end]
