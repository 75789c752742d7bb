"""What an instruction needs on the stack, and what it leaves there: kinds of values.

A kind is a set of bits, what a slot may hold; where two ways join, their kinds are
or-ed. A slot is NULL for sure where its kind is NULL alone, an object for sure where
neither NULL nor RAW is in it, and else it depends on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from .instructions import Instruction
from .stack import stack_effect
from .versions import OPERANDS, RUNNING, Operand

Kinds = tuple[int, ...]
"""The kinds of slots, the bottom first."""

OBJECT = 1
NULL = 2
#: A cell that its variable's instructions may follow: of MAKE_CELL or COPY_FREE_VARS.
CELL = 4
#: Neither an object nor NULL: a bare int of the interpreter.
RAW = 8
#: What PUSH_EXC_INFO saved: the exception, or None, that is handled further out.
SAVED = 16
_FIRST_EXIT = 32


def is_object(kind: int) -> bool:
    """Whether a slot of this kind holds an object, whatever way led there."""
    return not kind & (NULL | RAW)


def exit_kind(number: int) -> int:
    """The kind of the exit callable that the code's n-th `with` pushes."""
    return _FIRST_EXIT << number


class Effect(NamedTuple):
    """What one instruction does to the stack, SWAP and COPY aside."""

    #: Slots that it pops.
    taken: int
    #: What it pushes.
    left: Kinds
    #: Places, 1 is the top, that have to hold objects.
    objects: tuple[int, ...]
    #: Slots that have to be there: it looks below what it pops.
    depth: int


#: How many results an instruction leaves. What it pops follows from the stack effect,
#: which `dis` knows for each version.
_RESULTS: Mapping[str, int] = {
    **dict.fromkeys(
        """
        COPY_FREE_VARS DELETE_ATTR DELETE_DEREF DELETE_FAST DELETE_GLOBAL DELETE_NAME
        DELETE_SUBSCR DICT_MERGE DICT_UPDATE END_ASYNC_FOR END_FOR IMPORT_STAR
        JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT JUMP_FORWARD JUMP_IF_FALSE_OR_POP
        JUMP_IF_TRUE_OR_POP KW_NAMES LIST_APPEND LIST_EXTEND MAKE_CELL MAP_ADD NOP
        NOT_TAKEN POP_EXCEPT POP_ITER POP_JUMP_BACKWARD_IF_FALSE
        POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE
        POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_NONE
        POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_FORWARD_IF_TRUE POP_JUMP_IF_FALSE
        POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_IF_TRUE POP_TOP PRINT_EXPR
        RAISE_VARARGS RERAISE RESUME RETURN_CONST SETUP_ANNOTATIONS SET_ADD
        SET_UPDATE STORE_ATTR STORE_DEREF STORE_FAST STORE_FAST_STORE_FAST STORE_GLOBAL
        STORE_NAME STORE_SLICE STORE_SUBSCR
        """.split(),
        0,
    ),
    **dict.fromkeys(
        """
        ASYNC_GEN_WRAP BINARY_OP BINARY_SLICE BINARY_SUBSCR BUILD_CONST_KEY_MAP
        BUILD_INTERPOLATION BUILD_LIST BUILD_MAP BUILD_SET BUILD_SLICE BUILD_STRING
        BUILD_TEMPLATE BUILD_TUPLE CALL_INTRINSIC_1 CALL_INTRINSIC_2 CHECK_EXC_MATCH
        COMPARE_OP CONTAINS_OP CONVERT_VALUE END_SEND FORMAT_SIMPLE FORMAT_VALUE
        FORMAT_WITH_SPEC GET_AITER GET_ANEXT GET_AWAITABLE GET_LEN GET_YIELD_FROM_ITER
        IMPORT_FROM IMPORT_NAME IS_OP LIST_TO_TUPLE LOAD_ASSERTION_ERROR LOAD_ATTR
        LOAD_BUILD_CLASS LOAD_CLASSDEREF LOAD_CLOSURE LOAD_COMMON_CONSTANT LOAD_CONST
        LOAD_DEREF LOAD_FAST LOAD_FAST_AND_CLEAR LOAD_FAST_BORROW LOAD_FAST_CHECK
        LOAD_FROM_DICT_OR_DEREF LOAD_FROM_DICT_OR_GLOBALS LOAD_GLOBAL LOAD_LOCALS
        LOAD_NAME LOAD_SMALL_INT LOAD_SUPER_ATTR MAKE_FUNCTION MATCH_CLASS MATCH_KEYS
        MATCH_MAPPING MATCH_SEQUENCE PREP_RERAISE_STAR RETURN_GENERATOR
        SET_FUNCTION_ATTRIBUTE STORE_FAST_LOAD_FAST TO_BOOL UNARY_INVERT UNARY_NEGATIVE
        UNARY_NOT UNARY_POSITIVE WITH_EXCEPT_START YIELD_VALUE
        """.split(),
        1,
    ),
    **dict.fromkeys(
        """
        BEFORE_ASYNC_WITH BEFORE_WITH CHECK_EG_MATCH CLEANUP_THROW LOAD_FAST_LOAD_FAST
        LOAD_FAST_BORROW_LOAD_FAST_BORROW
        """.split(),
        2,
    ),
}
_PLACES_BELOW: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(
        "GET_LEN GET_ANEXT IMPORT_FROM MATCH_MAPPING MATCH_SEQUENCE".split(),
        (1,),
    ),
    "CHECK_EXC_MATCH": (2,),
    "MATCH_KEYS": (1, 2),
    "FOR_ITER": (RUNNING.iterator_slots,),
    "WITH_EXCEPT_START": (1, 2, 3 + RUNNING.exit_slots),
}
"""Places of objects that an instruction uses and leaves where they are."""

#: Where the number is that of slots between the top and the list, set or dict.
_CONTAINERS = frozenset(
    "LIST_APPEND SET_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE".split()
)
_METHOD: Kinds = (
    (OBJECT, OBJECT | NULL) if RUNNING.null_above_callable else (OBJECT | NULL, OBJECT)
)
"""A method and its self, or NULL and what is no method: that is seen at run time."""


def _range(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(first, last + 1))


def _plain(opname: str, number: int, effect: int) -> Effect:
    results = _RESULTS[opname]
    taken = results - effect
    objects = _range(1, taken) + _PLACES_BELOW.get(opname, ())
    if opname in _CONTAINERS:
        objects += (number + 1,)
    elif opname == "MAP_ADD":
        objects += (number + 2,)
    depth = max(objects, default=0)
    if opname == "RERAISE":
        depth += number  # the offset is looked for there
    return Effect(taken, (OBJECT,) * results, objects, depth)


def _call(number: int, extra: int) -> Effect:
    """A call of a callable beside NULL; `extra` slots lie on top of the arguments."""
    above = number + extra
    callable_place = above + (2 if RUNNING.null_above_callable else 1)
    objects = (*_range(1, above), callable_place)
    return Effect(above + 2, (OBJECT,), objects, above + 2)


def _call_ex(effect: int) -> Effect:
    taken = 1 - effect
    keywords = taken - 3
    # NULL may stand in for keywords where their slot is always there.
    first = 2 if RUNNING.call_ex_pops_keywords else 1
    callable_place = keywords + (3 if RUNNING.null_above_callable else 2)
    objects = (*_range(first, keywords + 1), callable_place)
    return Effect(taken, (OBJECT,), objects, taken)


def _iterating(opname: str, effect: int) -> Effect:
    """An iterator that is sent to, ended or dropped; beside it may lie a NULL."""
    pair = RUNNING.iterator_slots
    above = {"POP_ITER": 0, "SEND": 1, "END_SEND": 1, "CLEANUP_THROW": 2}[opname]
    depth = above + pair
    objects = (*_range(1, above), depth)
    results = depth + effect
    return Effect(depth, (OBJECT,) * results, objects, depth)


@lru_cache(maxsize=4096)
def _effect(opname: str, number: int | None, flags: int) -> Effect:
    plain = Instruction(opname, number, flags=flags)
    effect, number = stack_effect(plain, jump=False), number or 0
    if opname == "CALL":
        return _call(number, 0)
    if opname == "CALL_KW":
        return _call(number, 1)
    if opname == "CALL_FUNCTION_EX":
        return _call_ex(effect)
    if opname in ("POP_ITER", "SEND", "END_SEND", "CLEANUP_THROW"):
        return _iterating(opname, effect)
    if opname == "PRECALL":
        called = _call(number, 0)
        return Effect(0, (), called.objects, called.depth)
    if opname in ("SWAP", "COPY"):
        return Effect(0, (), () if opname == "SWAP" else (number,), number)
    if opname == "PUSH_NULL":
        return Effect(0, (NULL,), (), 0)
    if opname == "FOR_ITER":
        places = _PLACES_BELOW[opname]
        return Effect(0, (OBJECT,), places, places[0])
    if opname == "RETURN_VALUE":  # dis counts what the caller gets, from 3.14 on
        return Effect(1, (), (1,), 1)
    if opname == "POP_TOP" and RUNNING.pop_top_takes_all:
        return Effect(1, (), (), 1)
    if opname == "PUSH_EXC_INFO":
        return Effect(1, (SAVED, OBJECT), (1,), 1)
    if opname == "GET_ITER":
        beside = (NULL | RAW,) * (RUNNING.iterator_slots - 1)
        return Effect(1, (OBJECT, *beside), (1,), 1)
    if opname in ("UNPACK_SEQUENCE", "UNPACK_EX"):
        return Effect(1, (OBJECT,) * (effect + 1), (1,), 1)
    if opname == "LOAD_SPECIAL":
        return Effect(1, (OBJECT, OBJECT | NULL), (1,), 1)
    if opname == "LOAD_GLOBAL" and flags & 1:
        pair = (OBJECT, NULL) if RUNNING.null_above_callable else (NULL, OBJECT)
        return Effect(0, pair, (), 0)
    if opname == "LOAD_METHOD" or flags & 1 and opname in ("LOAD_ATTR", _SUPER):
        taken = 3 if opname == _SUPER else 1
        return Effect(taken, _METHOD, _range(1, taken), taken)
    made = _plain(opname, number, effect)
    if opname.startswith("STORE_FAST"):
        return made._replace(objects=())  # NULL unbinds the local
    return made


_SUPER = "LOAD_SUPER_ATTR"


def effect_of(instruction: Instruction) -> Effect:
    """The effect where no jump is taken. Raises KeyError for what no code may hold."""
    opname = instruction.opname
    number = instruction.arg if OPERANDS[opname] is Operand.NUMBER else None
    return _effect(opname, number, instruction.flags)


def after(instruction: Instruction, stack: Kinds) -> Kinds:
    """The stack behind the instruction. It has to be as deep as `effect_of` says."""
    if instruction.opname == "SWAP":
        place = instruction.arg
        if place < 2:
            return stack
        middle = stack[1 - place : -1]
        return (*stack[:-place], stack[-1], *middle, stack[-place])
    if instruction.opname == "COPY":
        return (*stack, stack[-instruction.arg])
    effect = effect_of(instruction)
    return stack[: len(stack) - effect.taken] + effect.left


def after_jump(instruction: Instruction, stack: Kinds) -> Kinds:
    """The stack at the target of a jump."""
    effect = stack_effect(instruction, jump=True)
    return stack[:effect] if effect < 0 else stack + (OBJECT,) * effect
