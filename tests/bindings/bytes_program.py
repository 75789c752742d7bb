"""Run with -b, -bb or without: prints what every guard on str and bytes says.

A line for each tree and value: what was checked, then the verdict. Where Python's own
look-up would warn, as that of `item` and `set_contains`, the verdict is `warned`.
"""

from __future__ import annotations

import sys
import types
import warnings
from typing import Any

import guardtree as gt

# Not as literals: compile() itself compares the constants of a code object.
A, B = "a", "a".encode()
warnings.simplefilter("error" if sys.flags.bytes_warning > 1 else "ignore")

module = types.ModuleType("watched")
module.__dict__["D"] = {A: 1}


def step(x: Any, y: Any = 0) -> None: ...


step = types.FunctionType(step.__code__, module.__dict__, "step", (0,))


def swapped(value: Any) -> Any:
    """The value with bytes where it has str, and the reverse."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value.decode()
    if type(value) is dict:
        return {swapped(key): swapped(each) for key, each in value.items()}
    if type(value) in (tuple, list, set, frozenset):
        return type(value)(map(swapped, value))
    return value


OPERANDS: list[Any] = [
    A, "", (A,), (A, 1), [A], {A}, frozenset({A, 97}), {A: 1}, {A: {A: A}}, {(A, 1): A},
    {1: A}, {None: A},
]  # fmt: skip
OPERANDS += [swapped(each) for each in OPERANDS]

KINDS = [each["method"] for each in gt._guardtree._kinds()]
STEPS = [each["method"] for each in gt._guardtree._steps()]


def verdict(guards: gt.GuardManager, value: Any) -> str:
    answer = guards.check({"x": value})
    report = guards.explain({"x": value})
    assert answer == bool(report), str(report)
    for failure in report.failures:
        assert "SystemError" not in failure.error, str(report)
        if "BytesWarning" in failure.error:
            return "warned"
    return report.verdict


def trees() -> Any:
    """(what, guards) of all kinds and steps that take one of the operands."""
    for name in KINDS:
        for operand in OPERANDS:
            both = (operand, swapped(operand))
            for arguments in ((operand,), ((operand, 3),), (both,)):
                guards = gt.GuardManager(step)
                try:
                    getattr(guards.local("x"), name)(*arguments)
                except (TypeError, ValueError):
                    continue
                yield f"{name}{arguments}", guards
    for name in STEPS:
        for operand in OPERANDS:
            guards = gt.GuardManager(step)
            try:
                getattr(guards.local("x"), name)(operand).is_not_none()
            except (TypeError, ValueError, AttributeError, NameError):
                continue
            yield f"{name}({operand!r})", guards
    for operand in OPERANDS:
        for inner in ("equals", "one_of"):
            made = (operand,) if inner == "one_of" else operand
            guards = gt.GuardManager(step)
            guards.local("x").not_((inner, made))
            yield f"not_({inner}, {operand!r})", guards


def tell_trees() -> None:
    for what, guards in trees():
        for value in OPERANDS:
            print(what, repr(value), verdict(guards, value))
        simple = guards.simplified().guards
        text, names = guards.to_text()
        again = gt.parse(text, step, names)
        assert all(verdict(simple, v) == verdict(guards, v) for v in OPERANDS), what
        assert all(verdict(again, v) == verdict(guards, v) for v in OPERANDS), what
        assert again.clone().counts() == guards.counts()


def tell_tables() -> None:
    """One look-up among entries that differ in a constant, and what they differ in."""
    table = gt.Table(step)
    for number, operand in enumerate(OPERANDS):
        guards = gt.GuardManager(step)
        guards.local("x").equals(operand)
        table.add(guards, number)
    for number, value in enumerate(OPERANDS):
        assert table.lookup({"x": value}) == number, value
        assert table.lookup_call(value) == number, value
    print(len(table.differences()))


def tell_assumptions() -> None:
    """Stores of bytes and str into a dict that is watched."""
    guards = gt.GuardManager(step)
    watched = guards.global_("D")
    watched.dict_item(A).equals(1)
    watched.dict_lacks("b")
    watched.dict_lacks("b".encode())
    watched.dict_key_set({A})
    values = module.__dict__["D"]
    for _ in range(3):
        assert guards.check({})
    for key in (97, A, None, "b"):
        saved = dict(values)
        values.pop(A)
        values[swapped(key)] = 2
        print(ascii(key), guards.check({}), guards.check({}))
        values.clear()
        values.update(saved)
        assert all(guards.check({}) for _ in range(3))


tell_trees()
tell_tables()
tell_assumptions()
