"""A frame evaluator: guarded globals become constants of the code that runs."""

from __future__ import annotations

from types import CodeType

import guardtree as gt
from guardtree.bytecode import Instruction, assemble, read, rewritten

DEBUG = False


def price(amount: int) -> int:
    if DEBUG:
        print("pricing", amount)
    return amount * 119 // 100


def with_constant(code: CodeType, name: str, value: object) -> CodeType:
    """The code with each read of a global replaced by a constant."""

    def constant(each: Instruction) -> list[Instruction] | None:
        if (each.opname, each.arg) == ("LOAD_GLOBAL", name):
            return [Instruction("LOAD_CONST", value)]
        return None  # keep it

    return assemble(rewritten(read(code), constant), code)


def compiler(
    frame: gt.Frame, cache_entry: gt.CacheEntry | None, frame_state: gt.FrameState
) -> gt.GuardedCode | None:
    if frame.f_code is not price.__code__:
        return None
    value = frame.f_globals["DEBUG"]
    guards = gt.GuardManager(frame)
    guards.global_("DEBUG").equals(value)
    print(f"compiled price for DEBUG = {value}")
    return gt.GuardedCode(with_constant(frame.f_code, "DEBUG", value), guards)


with gt.optimize(compiler):
    print(price(100), price(200))
    DEBUG = True
    print(price(300))

for entry in gt.cache_entries(price):
    (check,) = entry.check_fn.checks()
    print(f"hits: {entry.hits}, guard: {check.python}")
