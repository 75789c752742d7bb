"""Code objects broken by hand, which crash some interpreters that run them."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Sequence
from inspect import CO_GENERATOR
from types import CodeType
from typing import Any, NamedTuple

from guardtree.bytecode import Handler, Instruction, Variable, assemble

VERSION = sys.version_info[:2]
EVERY = ((3, 11), (3, 12), (3, 13), (3, 14), (3, 15))
UP_TO_3_13 = EVERY[:3]
SINCE_3_12, SINCE_3_13, SINCE_3_14 = EVERY[1:], EVERY[2:], EVERY[3:]
FAR = (1 << 30) - 1
"""Slots, 8 GiB, below the stack: nothing is mapped there."""
FAR_TARGET = (0x7F, 0x7F, 0x7F, 0x7F, 0x3F)
"""2 GiB into the code, as in an exception table."""
I = Instruction


class Broken(NamedTuple):
    """code: None where this CPython has nothing of the kind. crashes: the versions on
    which running it was seen to kill the process; elsewhere it does worse unseen."""

    name: str
    make: Callable[[], CodeType]
    reason: str
    crashes: Sequence[tuple[int, int]]
    exists: Sequence[tuple[int, int]] = EVERY


BROKEN: list[Broken] = []


def broken(
    reason: str,
    crashes: Sequence[tuple[int, int]] = EVERY,
    exists: Sequence[tuple[int, int]] = EVERY,
) -> Callable[[Callable[[], CodeType]], Callable[[], CodeType]]:
    def note(make: Callable[[], CodeType]) -> Callable[[], CodeType]:
        BROKEN.append(Broken(make.__name__, make, reason, crashes, exists))
        return make

    return note


def plain() -> None:
    pass


def made(instructions: Sequence[Instruction], **attributes: Any) -> CodeType:
    """A function's code without parameters; its stack has a hundred slots."""
    attributes = {"co_stacksize": 100, **attributes}
    return assemble([I("RESUME", 0), *instructions], plain.__code__, **attributes)


def patched(code: CodeType, opname: str, oparg: int) -> CodeType:
    """The code, its last instruction of this name having an oparg of four bytes."""
    at = max(
        each.offset for each in dis.get_instructions(code) if each.opname == opname
    )
    *high, low = oparg.to_bytes(4, "big")
    prefix = b"".join(bytes((dis.EXTENDED_ARG, byte)) for byte in high)
    raw = code.co_code
    return code.replace(
        co_code=raw[:at] + prefix + bytes((raw[at], low)) + raw[at + 2 :],
        co_exceptiontable=b"",
    )


def returning(*before: Instruction) -> list[Instruction]:
    return [*before, I("LOAD_CONST", None), I("RETURN_VALUE")]


@broken("takes NULL for an object", UP_TO_3_13, UP_TO_3_13)
def pops_null() -> CodeType:
    return made(returning(I("PUSH_NULL"), I("POP_TOP")))


@broken("takes NULL for an object")
def unpacks_null() -> CodeType:
    return made(returning(I("PUSH_NULL"), I("UNPACK_SEQUENCE", 0)))


@broken("takes NULL for an object")
def stores_null_in_a_list() -> CodeType:
    built = [I("PUSH_NULL"), I("BUILD_LIST", 1), I("UNPACK_SEQUENCE", 1)]
    return made(returning(*built, I("LOAD_ATTR", "x"), I("POP_TOP")))


@broken("takes NULL for an object")
def takes_an_attribute_of_null() -> CodeType:
    return made([I("PUSH_NULL"), I("LOAD_ATTR", "x"), I("RETURN_VALUE")])


@broken("needs 1 slots on the stack")
def pops_what_is_not_there() -> CodeType:
    return made(returning(*(I("POP_TOP") for _ in range(2000))))


@broken("outside of its stack")
def calls_with_what_is_not_there() -> CodeType:
    calls = [I("PRECALL", FAR)] if VERSION == (3, 11) else []
    return made([I("PUSH_NULL"), *calls, I("CALL", FAR), I("RETURN_VALUE")])


@broken("outside of its stack")
def copies_what_is_not_there() -> CodeType:
    return made([I("COPY", FAR), I("LOAD_ATTR", "x"), I("RETURN_VALUE")])


@broken("co_stacksize is 1")
def has_too_small_a_stack() -> CodeType:
    """Writes 32 MB: past all that may be mapped behind the stack, and writable."""
    pushes = (I("LOAD_CONST", (None,) * 1000), I("UNPACK_SEQUENCE", 1000))
    return made(returning(*pushes * 4000), co_stacksize=1)


@broken("is reached with")
def grows_its_stack_in_a_loop() -> CodeType:
    first = I("LOAD_CONST", None)
    return made([first, I("JUMP_BACKWARD", target=first)])


@broken("may be unbound, unchecked", SINCE_3_12, SINCE_3_12)
def loads_an_unbound_local() -> CodeType:
    loads = [I("LOAD_FAST", "x"), I("LOAD_ATTR", "y")]
    return made([*loads, I("RETURN_VALUE")], co_varnames=("x",))


@broken("for a cell")
def has_not_made_its_cell() -> CodeType:
    load = I("LOAD_DEREF", Variable("x", "cell"))
    return made([load, I("RETURN_VALUE")], co_cellvars=("x",))


@broken("for a cell")
def takes_an_object_for_its_cell() -> CodeType:
    cell = Variable("x", "cell")
    store = [I("LOAD_CONST", 1 << 70), I("STORE_FAST", cell)]
    loads = [I("LOAD_DEREF", cell), I("LOAD_ATTR", "y"), I("RETURN_VALUE")]
    return made([*store, *loads], co_cellvars=("x",))


@broken("runs off the end")
def runs_off_its_end() -> CodeType:
    code = made(returning())
    return code.replace(co_code=code.co_code[:-2] + bytes((dis.opmap["POP_TOP"], 0)))


@broken("where no instruction starts")
def jumps_behind_its_end() -> CodeType:
    end = I("LOAD_CONST", None)
    code = made([I("JUMP_FORWARD", target=end), end, I("RETURN_VALUE")])
    return patched(code, "JUMP_FORWARD", FAR)


@broken("its exception handler is at")
def has_a_handler_behind_its_end() -> CodeType:
    handler = I("POP_TOP")
    load = I("LOAD_GLOBAL", "missing", handler=Handler(handler, 0))
    code = made([load, I("RETURN_VALUE"), *returning(handler)])
    table = bytearray(code.co_exceptiontable)
    return code.replace(co_exceptiontable=bytes((*table[:2], *FAR_TARGET, table[3])))


@broken("its exception handler keeps 9")
def has_a_handler_that_keeps_too_much() -> CodeType:
    handler = I("POP_TOP")
    load = I("LOAD_GLOBAL", "missing", handler=Handler(handler, 9))
    pops = [I("LOAD_ATTR", "x") for _ in range(2)]
    lower = [I("POP_TOP") for _ in range(9)]
    return made([load, I("RETURN_VALUE"), handler, *lower, *pops, I("RETURN_VALUE")])


@broken("outside of co_consts")
def loads_a_constant_that_is_not_there() -> CodeType:
    code = made([I("LOAD_CONST", "x"), I("LOAD_ATTR", "y"), I("RETURN_VALUE")])
    return patched(code, "LOAD_CONST", FAR)


@broken("outside of co_names")
def loads_a_name_that_is_not_there() -> CodeType:
    code = made([I("LOAD_GLOBAL", "x"), I("RETURN_VALUE")])
    return patched(code, "LOAD_GLOBAL", FAR)


@broken("outside of the variables")
def stores_in_a_local_that_is_not_there() -> CodeType:
    code = made(
        returning(I("LOAD_CONST", None), I("STORE_FAST", "x")), co_varnames=("x",)
    )
    return patched(code, "STORE_FAST", FAR)


@broken("outside of its operands")
def has_an_operator_that_is_not_there() -> CodeType:
    two = [I("LOAD_CONST", 1), I("LOAD_CONST", 2)]
    return made([*two, I("BINARY_OP", 90_000), I("RETURN_VALUE")])


@broken("outside of its operands", SINCE_3_12, SINCE_3_12)
def has_an_intrinsic_that_is_not_there() -> CodeType:
    load = I("LOAD_CONST", 1)
    return made([load, I("CALL_INTRINSIC_1", 200), I("RETURN_VALUE")])


@broken("docstring", SINCE_3_14, SINCE_3_14)
def has_no_docstring_though_it_says_so() -> CodeType:
    code = made([I("LOAD_SMALL_INT", 1), I("RETURN_VALUE")], co_consts=())
    return code.replace(co_flags=code.co_flags | 0x4000000)


@broken("it skips some of", SINCE_3_12, SINCE_3_12)
def ends_a_loop_as_it_should_not() -> CodeType:
    get = I("GET_ITER", 0) if VERSION >= (3, 15) else I("GET_ITER")
    end = I("LOAD_CONST", None)  # skipped, and so there is one slot less than it seems
    loop = I("FOR_ITER", target=end)
    body = [loop, I("POP_TOP"), I("JUMP_BACKWARD", target=loop)]
    pops = [I("POP_TOP") for _ in range(3 if VERSION >= (3, 15) else 2)]
    return made([I("LOAD_CONST", ()), get, *body, end, *pops, I("RETURN_VALUE")])


@broken("there is no generator", SINCE_3_13)
def yields_in_a_function() -> CodeType:
    value = I("LOAD_CONST", None)
    yields = I("YIELD_VALUE") if VERSION == (3, 11) else I("YIELD_VALUE", 1)
    return made([value, yields, I("RESUME", 1), I("RETURN_VALUE")])


@broken("may be reached more than once", ())
def makes_a_generator_in_a_generator() -> CodeType:
    makers = [I("RETURN_GENERATOR"), I("POP_TOP")]
    again = [I("RETURN_GENERATOR"), I("POP_TOP")]
    code = made(returning(*makers, *again))
    return code.replace(co_flags=code.co_flags | CO_GENERATOR)


@broken("is not for the", UP_TO_3_13[:2], UP_TO_3_13[:2])
def has_keywords_that_are_no_names() -> CodeType:
    loads = [I("PUSH_NULL"), I("LOAD_GLOBAL", "f"), I("LOAD_CONST", 1)]
    calls = [I("PRECALL", 1)] if VERSION == (3, 11) else []
    names = I("KW_NAMES", 1 << 70)
    return made([*loads, names, *calls, I("CALL", 1), I("RETURN_VALUE")])


@broken("is no instruction of a code object")
def holds_what_is_no_instruction() -> CodeType:
    code = made(returning())
    return code.replace(co_code=bytes((dis.opmap["CACHE"], 0)) + code.co_code)
