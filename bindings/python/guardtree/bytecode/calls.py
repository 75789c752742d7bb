"""Calls, written once for all versions: where NULL goes, and what performs the call.

A call pops a callable, a NULL, and arguments. NULL is below the callable up to 3.12 and
above it from 3.13, so a generator of code cannot push it without knowing where the
callable's code begins and ends: `add_push_null` is given that code and knows. In

    add_push_null(callable) + arguments + call(count)

nothing depends on the version. All functions give new lists and change none; what they
make has no position and no handler.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from .instructions import Instruction, Variable, rewritten
from .stack import stack_depths
from .versions import RUNNING

# Bit 0 pushes NULL beside what these load. The last two push a method's function and
# its self instead where there is one, which CALL takes as well.
_GLOBAL = frozenset({"LOAD_GLOBAL"})
_METHODS = frozenset({"LOAD_ATTR", "LOAD_SUPER_ATTR"})


def add_push_null(
    instructions: Sequence[Instruction], *, for_call_ex: bool = False
) -> list[Instruction]:
    """A copy of code that leaves a callable; the copy leaves what a call takes.

    That is the callable and NULL, in the order of this version.

    Sets the NULL bit of the first or last instruction where that has one, and adds
    PUSH_NULL otherwise. for_call_ex: the call is `call_ex`, which takes no self in the
    place of NULL. A jump from elsewhere to the first instruction has to lead to the
    first one of the result. Raises ValueError where the instructions do not leave
    exactly one value (none at all; a NULL bit set already), or lead elsewhere.
    """
    made = rewritten(instructions)
    _check_leaves_one_value(made)
    first, last = made[0], made[-1]
    if RUNNING.attribute_loads_method and last.opname in _METHODS and not for_call_ex:
        last.flags |= 1
        return made
    beside = last if RUNNING.null_above_callable else first
    # The bit of the first instruction may serve a call inside of the sequence; in a
    # loop back to it, it would push a NULL in each round.
    is_free = not beside.flags & 1 and all(each.target is not first for each in made)
    if beside.opname in _GLOBAL and is_free:
        beside.flags |= 1
        return made
    null = Instruction("PUSH_NULL", position=beside.position, handler=beside.handler)
    return [*made, null] if RUNNING.null_above_callable else [null, *made]


def _check_leaves_one_value(instructions: Sequence[Instruction]) -> None:
    if not instructions:
        raise ValueError("an empty sequence leaves no callable on the stack")
    end = Instruction("RETURN_VALUE")
    plain = [each.copied() for each in instructions]
    copies = dict(zip(instructions, plain))
    for each in plain:
        each.handler = None  # handlers may lie outside
        each.target = copies.get(each.target, each.target) if each.target else None
    depth = stack_depths([*plain, end]).get(end)
    if depth != 1:
        left = "nothing, it never ends" if depth is None else f"{depth} values"
        raise ValueError(
            f"the sequence from {instructions[0]} to {instructions[-1]} leaves {left} "
            "on the stack, and a callable is one value; is a NULL bit (flags=1) set?"
        )


def call(count: int) -> list[Instruction]:
    """Calls with `count` positional arguments: callable, NULL, arguments -> result."""
    before = [Instruction("PRECALL", count)] if RUNNING.has_precall else []
    return [*before, Instruction("CALL", count)]


def call_kw(count: int, names: Sequence[str]) -> list[Instruction]:
    """Calls with `count` arguments, the last ones of which have these names.

    Raises ValueError for more names than arguments.
    """
    names = tuple(names)
    if len(names) > count:
        raise ValueError(f"{count} arguments cannot have {len(names)} names: {names}")
    if RUNNING.has_call_kw:
        return [Instruction("LOAD_CONST", names), Instruction("CALL_KW", count)]
    return [Instruction("KW_NAMES", names), *call(count)]


def call_ex(*, kwargs: bool = False) -> list[Instruction]:
    """Calls with a tuple of arguments on the stack, and a dict above it if `kwargs`.

    The callable and NULL are those of `add_push_null(..., for_call_ex=True)`.
    """
    if not RUNNING.call_ex_pops_keywords:
        return [Instruction("CALL_FUNCTION_EX", int(kwargs))]
    none = [] if kwargs else [Instruction("PUSH_NULL")]
    return [*none, Instruction("CALL_FUNCTION_EX")]


def call_late(count: int) -> list[Instruction]:
    """Like `call`, where no NULL was pushed: callable, arguments -> result.

    Moves a NULL below them with a SWAP each: `add_push_null` costs one instruction or
    none, so prefer it where the callable's code is at hand.
    """
    moved = count + (1 if RUNNING.null_above_callable else 2)
    swaps = [Instruction("SWAP", depth) for depth in range(moved, 1, -1)]
    return [Instruction("PUSH_NULL"), *swaps, *call(count)]


def _nothing() -> None:
    """What `pop_null` calls."""


def pop_null(scratch: str | Variable | None = None) -> list[Instruction]:
    """Drops a NULL from the top of the stack; POP_TOP would crash.

    scratch: a local that may be lost; storing NULL in it unbinds it, in one
    instruction. Without one, the NULL goes into a call of a function that does nothing.
    """
    if scratch is not None:
        return [Instruction("STORE_FAST", scratch)]
    swap = [Instruction("SWAP", 2)] if RUNNING.null_above_callable else []
    load = Instruction("LOAD_CONST", _nothing)
    return [load, *swap, *call(0), Instruction("POP_TOP")]


def load_method(name: str) -> list[Instruction]:
    """Object -> what `call` takes for a callable and NULL: its method of that name.

    An attribute that is no method comes with NULL. Not for `call_ex`.
    """
    if RUNNING.attribute_loads_method:
        return [Instruction("LOAD_ATTR", name, flags=1)]
    return [Instruction("LOAD_METHOD", name)]


def make_function(
    code: CodeType, closure: Sequence[str] | None = None
) -> list[Instruction]:
    """Makes a function of `code`, with the running frame's globals, and pushes it.

    closure: names of the running frame's cells (its cellvars and freevars), one for
    each of code.co_freevars; the same names where None. Raises ValueError for another
    number of them.
    """
    names = code.co_freevars if closure is None else tuple(closure)
    if len(names) != len(code.co_freevars):
        raise ValueError(
            f"{code.co_qualname} has {len(code.co_freevars)} free variables "
            f"{code.co_freevars}, the closure {len(names)}: {names}"
        )
    load = Instruction("LOAD_CONST", code)
    if not names:
        return [load, Instruction("MAKE_FUNCTION")]
    cells = [Instruction(RUNNING.load_closure, Variable(n, "cell")) for n in names]
    made = (
        [Instruction("MAKE_FUNCTION"), Instruction("SET_FUNCTION_ATTRIBUTE", 8)]
        if RUNNING.has_set_function_attribute
        else [Instruction("MAKE_FUNCTION", 8)]
    )
    return [*cells, Instruction("BUILD_TUPLE", len(names)), load, *made]
