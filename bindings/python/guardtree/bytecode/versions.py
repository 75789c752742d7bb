"""What differs among the bytecodes of CPython 3.11 to 3.15, in one table.

The only module of the package that asks which CPython runs. `RUNNING` is the row of
this interpreter; the functions below it read what the interpreter's own `dis` tells. A
new CPython is a new row here: what `dis` tells needs no row.
"""

from __future__ import annotations

import dis
import enum
import opcode
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType


@dataclass(frozen=True)
class Version:
    """One CPython's bytecode. The defaults are those of 3.11; names are opnames."""

    #: A call takes its NULL above the callable; below it where False.
    null_above_callable: bool = False
    #: `PRECALL n` stands before `CALL n`.
    has_precall: bool = True
    #: Keywords are a tuple on the stack and `CALL_KW`; else `KW_NAMES` before the call.
    has_call_kw: bool = False
    #: `CALL_FUNCTION_EX` always pops a slot for keywords, NULL if there are none, and
    #: has no oparg; else oparg bit 0 says whether there is one.
    call_ex_pops_keywords: bool = False
    #: Bit 0 of `LOAD_ATTR` and `LOAD_SUPER_ATTR` loads a method, and its self or NULL.
    attribute_loads_method: bool = False
    #: Low bits of a name's oparg that are no part of the index.
    name_flag_bits: Mapping[str, int] = field(
        default_factory=lambda: {"LOAD_GLOBAL": 1}
    )
    #: Loads a cell, for the closure of a function that is being made.
    load_closure: str = "LOAD_CLOSURE"
    #: A function's attributes are set behind `MAKE_FUNCTION`, not by its oparg.
    has_set_function_attribute: bool = False
    #: Instructions on two locals, 4 bits each, and the two that they are made of.
    fused: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: Loads that borrow, and the loads that own: a borrow is proven for the code that
    #: the compiler saw, and for no other.
    borrowed: Mapping[str, str] = field(default_factory=dict)
    #: Loads a local and raises UnboundLocalError where it is unbound. `LOAD_FAST`
    #: itself, where that checks; later ones push NULL instead.
    load_fast_checked: str = "LOAD_FAST"
    #: `LOAD_FAST_AND_CLEAR` exists, and comprehensions run inlined in their function.
    has_load_fast_and_clear: bool = False
    #: Each conditional jump exists twice, with FORWARD and BACKWARD in its name; else
    #: conditional jumps only go forward.
    has_directed_jumps: bool = True
    #: Neighbours with one position share an entry of the line table.
    merges_positions: bool = False
    #: What pushes the exit callable of a `with`, and of an `async with`, as (opname,
    #: oparg or None): the instruction that enters, or the first of several that do.
    loads_exit: tuple[str, int | None] = ("BEFORE_WITH", None)
    loads_async_exit: tuple[str, int | None] = ("BEFORE_ASYNC_WITH", None)
    #: Slots of a `with` on the stack: its exit callable, later on and self or NULL.
    exit_slots: int = 1
    #: Slots of an iterator on the stack: itself, later on and NULL or a bare index.
    iterator_slots: int = 1
    #: The offset that a handler with `lasti` finds is an int object, not a bare int.
    lasti_is_object: bool = True
    #: `POP_TOP` drops NULL and bare ints as well as objects.
    pop_top_takes_all: bool = False
    #: What an exhausted `FOR_ITER` has to find at its target: it skips some of that.
    loop_end: tuple[str, ...] = ()
    #: Low bits of the oparg of `COMPARE_OP` that are no part of the operator's number.
    compare_flag_bits: int = 0
    #: The flag of code whose first constant is its docstring.
    docstring_flag: int = 0
    #: Where `dis.stack_effect` does not tell how the depth changes.
    stack_effects: Mapping[str, int] = field(
        default_factory=lambda: {"RETURN_GENERATOR": 1}
    )


V3_11 = Version()
V3_12 = replace(
    V3_11,
    has_precall=False,
    attribute_loads_method=True,
    name_flag_bits={"LOAD_GLOBAL": 1, "LOAD_ATTR": 1, "LOAD_SUPER_ATTR": 2},
    load_fast_checked="LOAD_FAST_CHECK",
    has_load_fast_and_clear=True,
    has_directed_jumps=False,
    merges_positions=True,
    loop_end=("END_FOR",),
    compare_flag_bits=4,
)
V3_13 = replace(
    V3_12,
    null_above_callable=True,
    has_call_kw=True,
    load_closure="LOAD_FAST",
    has_set_function_attribute=True,
    fused={
        "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
        "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
        "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
    },
    loop_end=("END_FOR", "POP_TOP"),
    compare_flag_bits=5,
    stack_effects={},
)
V3_14 = replace(
    V3_13,
    call_ex_pops_keywords=True,
    fused={
        **V3_13.fused,
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST_BORROW", "LOAD_FAST_BORROW"),
    },
    borrowed={"LOAD_FAST_BORROW": "LOAD_FAST"},
    loads_exit=("LOAD_SPECIAL", 1),
    loads_async_exit=("LOAD_SPECIAL", 3),
    exit_slots=2,
    lasti_is_object=False,
    pop_top_takes_all=True,
    loop_end=("END_FOR", "POP_ITER"),
    docstring_flag=0x4000000,
)
V3_15 = replace(
    V3_14,
    name_flag_bits={**V3_14.name_flag_bits, "IMPORT_NAME": 2},
    iterator_slots=2,
)

VERSIONS = MappingProxyType(
    {
        (3, 11): V3_11,
        (3, 12): V3_12,
        (3, 13): V3_13,
        (3, 14): V3_14,
        (3, 15): V3_15,
    }
)


def _running() -> Version:
    found = VERSIONS.get(sys.version_info[:2])
    if found is None:
        known = ", ".join(f"{major}.{minor}" for major, minor in VERSIONS)
        raise ImportError(
            f"guardtree.bytecode knows the bytecode of CPython {known}, this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}; a new one is a new row of "
            "guardtree/bytecode/versions.py"
        )
    return found


RUNNING = _running()


class Operand(enum.Enum):
    """What an instruction's operand means."""

    NONE = enum.auto()
    NUMBER = enum.auto()
    NAME = enum.auto()
    CONSTANT = enum.auto()
    VARIABLE = enum.auto()
    PAIR = enum.auto()  # of variables
    JUMP = enum.auto()


def _operands() -> dict[str, Operand]:
    """Each opname's operand; real instructions only, so no pseudo-instructions."""
    numbered = getattr(dis, "hasarg", None)  # added in 3.12
    if numbered is None:
        numbered = range(dis.HAVE_ARGUMENT, 256)
    kinds = {code: Operand.NUMBER for code in numbered}
    kinds |= dict.fromkeys(dis.hasname, Operand.NAME)
    kinds |= dict.fromkeys(dis.hasconst, Operand.CONSTANT)
    kinds |= dict.fromkeys([*dis.haslocal, *dis.hasfree], Operand.VARIABLE)
    kinds |= dict.fromkeys(dis.hasjrel, Operand.JUMP)
    kinds |= {dis.opmap[name]: Operand.PAIR for name in RUNNING.fused}
    return {
        name: kinds.get(code, Operand.NONE)
        for name, code in dis.opmap.items()
        if code < 256
    }


def _caches() -> dict[str, int]:
    """Inline cache entries, in code units, behind each instruction that has some."""
    # A list by opcode up to 3.12, then a mapping by name (in 3.15 not a dict).
    entries = opcode._inline_cache_entries  # type: ignore[attr-defined]
    if isinstance(entries, list):
        return {dis.opname[code]: count for code, count in enumerate(entries) if count}
    return {name: count for name, count in entries.items() if count}


def _is_backward(opname: str) -> bool:
    # END_ASYNC_FOR is a jump where dis lists it as one; it leads back to its SEND.
    return "BACKWARD" in opname or opname == "END_ASYNC_FOR"


def _reversed_jumps() -> dict[str, str]:
    """For a jump, the one that does the same and goes the other way."""
    found = {}
    for name, operand in OPERANDS.items():
        if operand is Operand.JUMP:
            swapped = (
                name.replace("_NO_INTERRUPT", "").replace("BACKWARD", "FORWARD")
                if "BACKWARD" in name
                else name.replace("FORWARD", "BACKWARD")
            )
            if swapped != name and swapped in OPERANDS:
                found[name] = swapped
    return found


def _number_ranges() -> dict[str, range]:
    """The opargs that index a table of the interpreter, or that mean one of a few."""
    tables = {
        "BINARY_OP": "_nb_ops",
        "CALL_INTRINSIC_1": "_intrinsic_1_descs",
        "CALL_INTRINSIC_2": "_intrinsic_2_descs",
        "LOAD_COMMON_CONSTANT": "_common_constants",
        "LOAD_SPECIAL": "_special_method_names",
    }
    ranges = {
        name: range(len(getattr(opcode, table)))
        for name, table in tables.items()
        if hasattr(opcode, table)
    }
    ranges["COMPARE_OP"] = range(len(dis.cmp_op) << RUNNING.compare_flag_bits)
    places = dict.fromkeys(
        ["COPY", "SWAP", "LIST_APPEND", "SET_ADD", "MAP_ADD"], range(1, 1 << 30)
    )
    return (
        ranges
        | places
        | {
            "BUILD_SLICE": range(2, 4),
            "CONVERT_VALUE": range(1, 4),
            "LOAD_SMALL_INT": range(257),
            "MAKE_FUNCTION": range(16),
            "RAISE_VARARGS": range(3),
            "RERAISE": range(3),
        }
    )


OPERANDS: Mapping[str, Operand] = MappingProxyType(_operands())
#: For an instruction whose oparg is bounded, what it may be.
NUMBER_RANGES: Mapping[str, range] = MappingProxyType(_number_ranges())
CACHES: Mapping[str, int] = MappingProxyType(_caches())
BACKWARD_JUMPS = frozenset(
    name
    for name, operand in OPERANDS.items()
    if operand is Operand.JUMP and _is_backward(name)
)
REVERSED_JUMPS: Mapping[str, str] = MappingProxyType(_reversed_jumps())

#: Jumps that are always taken.
UNCONDITIONAL_JUMPS = frozenset(
    name
    for name, operand in OPERANDS.items()
    if operand is Operand.JUMP and name.startswith("JUMP_") and "_OR_POP" not in name
)
#: Instructions behind which the next one is not reached, jumps aside.
ENDS = frozenset(
    {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"} & OPERANDS.keys()
)
