"""`verify` refuses what crashes the interpreter, and nothing that CPython compiles."""

from __future__ import annotations

import marshal
import subprocess
import sys

import pytest
from broken_code import BROKEN, VERSION, Broken, I, made, returning
from made_code import EXTENT, library
from subjects import CASES

from guardtree.bytecode import UnsafeCode, Variable, graph_break, read, verify
from guardtree.bytecode.bodies import NotResumable
from guardtree.bytecode.effects import effect_of
from guardtree.bytecode.instructions import Instruction
from guardtree.bytecode.structure import INTERNAL
from guardtree.bytecode.versions import OPERANDS, Operand

HERE = [each for each in BROKEN if VERSION in each.exists]
IS_DEBUG_BUILD = hasattr(sys, "gettotalrefcount")
CALLS = """
import marshal, sys, types
code = marshal.loads(sys.stdin.buffer.read())
cells = tuple(types.CellType() for _ in code.co_freevars)
made = types.FunctionType(code, {"f": lambda **named: named}, "f", None, cells)
print("runs", flush=True)
made()
"""


@pytest.mark.parametrize("broken", HERE, ids=lambda broken: broken.name)
def test_broken_code_is_refused_with_the_reason(broken: Broken) -> None:
    code = broken.make()
    with pytest.raises(UnsafeCode) as caught:
        verify(code)
    assert broken.reason in caught.value.reason
    assert caught.value.code is code
    assert code.co_qualname in str(caught.value)
    offset = caught.value.offset
    assert offset is None or 0 <= offset < len(code.co_code)


@pytest.mark.parametrize(
    "broken",
    [each for each in HERE if VERSION in each.crashes],
    ids=lambda broken: broken.name,
)
def test_broken_code_kills_a_process_that_runs_it(broken: Broken) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", CALLS],
        input=marshal.dumps(broken.make()),
        capture_output=True,
        timeout=60,
        check=False,
    )
    died = done.returncode < 0
    # Memory of a debug build is filled with what is no instruction.
    stopped = IS_DEBUG_BUILD and b"SystemError: unknown opcode" in done.stderr
    assert died or stopped, (done.returncode, done.stderr[-300:])
    assert done.stdout == b"runs\n" or "docstring" in broken.name


def test_twenty_crash_this_interpreter() -> None:
    assert sum(VERSION in each.crashes for each in HERE) >= 20


def test_the_standard_library_is_accepted() -> None:
    codes = library()
    for code in codes if EXTENT == "all" else codes[::4]:
        verify(code, nested=False)


def test_broken_functions_and_their_continuations_are_accepted() -> None:
    count = 0
    for case in CASES:
        offsets = range(0, len(case.code.co_code), 14)
        for offset in offsets:
            try:
                made_code = graph_break(case.code, offset).code
            except (NotResumable, ValueError):
                continue
            verify(made_code)
            count += 1
    assert count > 100


def test_nested_code_is_looked_at_unless_told_not_to() -> None:
    inner = made([I("PUSH_NULL"), I("RETURN_VALUE")])
    outer = made(returning(I("LOAD_CONST", inner), I("POP_TOP")))
    verify(outer, nested=False)
    with pytest.raises(UnsafeCode, match="NULL"):
        verify(outer)


def test_the_offset_is_that_of_the_instruction() -> None:
    loads = [I("LOAD_CONST", 1), I("LOAD_CONST", 2), I("BINARY_OP", 0)]
    code = made(returning(*loads, I("POP_TOP")))
    with pytest.raises(UnsafeCode, match="co_stacksize is 1") as caught:
        verify(code.replace(co_stacksize=1))
    built = next(each for each in read(code) if each.opname == "BINARY_OP")
    assert caught.value.offset == built.offset


def test_a_local_that_one_way_leaves_unbound_is_refused() -> None:
    end = I("NOP")
    jump = "POP_JUMP_FORWARD_IF_TRUE" if VERSION == (3, 11) else "POP_JUMP_IF_TRUE"
    ways = [I("LOAD_CONST", True), I(jump, target=end)]
    ways += [I("LOAD_CONST", 1), I("STORE_FAST", "x"), end]
    loads = [I("LOAD_FAST", Variable("x")), I("RETURN_VALUE")]
    code = made([*ways, *loads], co_varnames=("x",))
    if VERSION == (3, 11):
        verify(code)  # LOAD_FAST looks there
        return
    with pytest.raises(UnsafeCode, match="x, which may be unbound"):
        verify(code)


def test_the_effect_of_every_instruction_is_known() -> None:
    for opname, operand in OPERANDS.items():
        if opname in INTERNAL or opname.startswith("INSTRUMENTED_"):
            continue
        number = 2 if operand is Operand.NUMBER else None
        found = effect_of(Instruction(opname, number))
        assert found.depth >= max(found.objects, default=0), opname
