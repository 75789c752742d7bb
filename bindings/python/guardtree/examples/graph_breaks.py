"""A frame evaluator that breaks functions at calls it does not take in.

    python -m guardtree.examples.graph_breaks

`GraphBreaker` is a callback for `set_eval_frame` and `optimize`. It breaks a function
at the first call to one of its names (`print`): the new code runs up to the call, makes
the call, and goes on in a continuation, a function whose frame comes by the hook like
any other, and so is broken at the next such call. A guard compares what the name means
with what it meant; a global that comes to hide a builtin is not looked for, as the
parts do what the function does, whatever they call. Here they are made of the original
instructions; a compiler would put its own work in the place of what is before the call
(`guardtree.bytecode.Prelude`).

Run as a program it prints the parts of a function that calls `print` in a `with`.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable, Sequence
from types import CodeType, SimpleNamespace
from typing import Any

from .. import Frame, GuardedCode, GuardManager, optimize
from ..bytecode import (
    Instruction,
    NotResumable,
    falls_through,
    graph_break,
    read,
    stack_depths,
)

_CALLS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX"})


def first_call(code: CodeType, names: frozenset[str]) -> tuple[int, str] | None:
    """The offset of a call of one of these globals, and its name; None without one.

    The first on a walk along the code: a continuation's begins where that goes on.
    """
    instructions = read(code)
    index = {each: at for at, each in enumerate(instructions)}
    depths = stack_depths(instructions)
    seen, work = set(), [0]
    while work:
        at = work.pop(0)
        if at in seen:
            continue
        seen.add(at)
        each = instructions[at]
        if each.opname == "LOAD_GLOBAL" and each.arg in names:
            call = _call_of(instructions, at, depths)
            if call is not None:
                return call.offset, each.arg
        if falls_through(each):
            work.append(at + 1)
        if each.target is not None:
            work.append(index[each.target])
    return None


def _call_of(
    instructions: Sequence[Instruction], load: int, depths: dict[Instruction, int]
) -> Instruction | None:
    """What calls the global that was loaded there; None where it is used otherwise."""
    around = [instructions[load - 1].opname, instructions[load + 1].opname]
    if not instructions[load].flags and "PUSH_NULL" not in around:
        return None
    # The callable, NULL and arguments become the result.
    result = depths[instructions[load]] + ("PUSH_NULL" not in around[:1])
    for at in range(load + 1, len(instructions) - 1):
        depth = depths.get(instructions[at + 1])
        if instructions[at].opname in _CALLS and depth == result:
            return instructions[at]
    return None


class GraphBreaker:
    """A callback that breaks functions at calls of some globals, `print` by default.

    parts: (name of the function or continuation, name called) of each break made;
    whole: names of what has nothing to be broken at, or cannot be, and runs as it is.
    """

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names or ("print",))
        self.parts: list[tuple[str, str]] = []
        self.whole: list[str] = []

    def __call__(self, frame: Frame, entry: Any, state: dict[str, Any]) -> Any:
        """The broken code and its guard; None for code that is skipped from now on."""
        code = frame.f_code
        found = first_call(code, self.names)
        if found is None:
            self.whole.append(code.co_name)
            return None
        offset, name = found
        try:
            broken = graph_break(code, offset)
        except NotResumable:
            self.whole.append(code.co_name)
            return None
        self.parts.append((code.co_name, name))
        return GuardedCode(broken.code, _guards(frame, name))


def _guards(frame: Frame, name: str) -> GuardManager:
    """Passes while the name means what it means now."""
    guards = GuardManager(frame)
    if name in frame.f_globals:
        guards.global_(name).id_match(frame.f_globals[name])
    else:
        guards.builtin(name).id_match(frame.f_builtins[name])
    return guards


class _Mode:
    """Stands in for torch.no_grad."""

    def __enter__(self) -> None:
        builtins.print("  enter")

    def __exit__(self, *exc_info: object) -> None:
        builtins.print("  exit")


torch = SimpleNamespace(
    no_grad=_Mode, sin=lambda x: ("sin", x), relu=lambda x: ("relu", x)
)
v = w = 0


def example(x: Any, y: Any) -> Any:
    """Stores in globals, and calls print with values of a call and a `with` around."""
    global v, w
    v = 1
    with torch.no_grad():
        z = x + y
        w = 2
        a = torch.sin(print("  hello") or z)
    return torch.relu(a)


def show(function: Callable[..., Any], *arguments: Any) -> GraphBreaker:
    """Runs a function plain, and twice in parts; says what the parts are."""
    breaker = GraphBreaker()
    print("plain:")
    expected = function(*arguments)
    for run in ("broken, the first time:", "broken, from the cache:"):
        print(run)
        with optimize(breaker):
            found = function(*arguments)
        if found != expected:
            raise AssertionError(f"{found!r}, and not {expected!r}")
    for part, name in breaker.parts:
        print(f"{part} was broken at its call of {name}")
    for part in breaker.whole:
        print(f"{part} ran whole")
    return breaker


def main() -> None:
    """Prints a run in parts, and with --dis the bytecode of the first of them."""
    show(example, 1, 2)
    if "--dis" in sys.argv[1:]:
        offset, _ = first_call(example.__code__, frozenset({"print"})) or (0, "")
        dis.dis(graph_break(example.__code__, offset).code, depth=1)


if __name__ == "__main__":
    main()
