"""A specialising JIT: guarded globals and builtins become constants of the bytecode.

    python -m guardtree.examples.specialize

What a function looks up by name on each call and each round of a loop is put into its
bytecode, tuples of such values and sets that are asked for membership are made once,
and guards compare the names with their values when the function is called. `specialize`
is a decorator for one function, by `guard_function`: from CPython 3.12 on without a
hook. `Specializer` is a callback for `set_eval_frame` and `optimize` that does it to
all functions. Run as a program it measures one of the standard library's, plain and
decorated.

A name that is rebound counts from the next call on, where the guards fail and the
function runs plain; the rest of a call that has begun keeps the old value. A name that
the function itself rebinds is left alone, and so are functions inside of it: they may
outlive the call.
"""

from __future__ import annotations

import sys
import time
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeVar

from .. import (
    Frame,
    GuardedCode,
    GuardManager,
    get_eval_frame,
    guard_function,
    is_generator,
    optimize,
)
from ..bytecode import Instruction, add_push_null, assemble, read, rewritten

Function = TypeVar("Function", bound=Callable[..., Any])

# What a set may be made of beforehand: hashing it runs no code of a user.
_PLAIN = frozenset({int, str, bytes, float, bool, type(None)})
_REBINDING = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_CONSTANTS = frozenset({"LOAD_CONST", "LOAD_SMALL_INT"})


@dataclass(frozen=True)
class Specialized:
    """New code, and the values of the names that it rests on."""

    code: CodeType
    globals: Mapping[str, object]
    builtins: Mapping[str, object]

    def guards(self, scope: FunctionType | Frame, module: str) -> GuardManager:
        """Passes while each name means the same; `module` has the globals."""
        guards = GuardManager(scope)
        for name, value in self.globals.items():
            guards.global_(name).id_match(value)
        for name, value in self.builtins.items():
            guards.module(module).attr("__dict__").dict_lacks(name)
            guards.builtin(name).id_match(value)
        return guards


def specialized(
    code: CodeType, f_globals: Mapping[str, Any], f_builtins: Mapping[str, Any]
) -> Specialized | None:
    """Code for names that mean what they mean now; None if there is nothing to gain.

    Only for functions that are not generators.
    """
    instructions = read(code)
    rebound = {each.arg for each in instructions if each.opname in _REBINDING}
    of_globals: dict[str, object] = {}
    of_builtins: dict[str, object] = {}

    def constant(load: Instruction) -> list[Instruction] | None:
        name = load.arg
        if load.opname != "LOAD_GLOBAL" or name in rebound:
            return None
        if name in f_globals:
            value = of_globals[name] = f_globals[name]
        elif name in f_builtins:
            value = of_builtins[name] = f_builtins[name]
        else:
            return None
        made = [Instruction("LOAD_CONST", value)]
        return add_push_null(made) if load.flags else made

    instructions = rewritten(instructions, constant)
    if not of_globals and not of_builtins:
        return None
    made = assemble(rewritten(instructions, _displays(instructions).get), code)
    return Specialized(made, of_globals, of_builtins)


def _displays(
    instructions: Sequence[Instruction],
) -> dict[Instruction, list[Instruction]]:
    """What becomes of the instructions that build a tuple or set of constants."""
    labels = {each.target for each in instructions}
    labels |= {each.handler.target for each in instructions if each.handler}
    replaced: dict[Instruction, list[Instruction]] = {}
    for at, build in enumerate(instructions):
        if build.opname not in ("BUILD_TUPLE", "BUILD_SET") or not build.arg:
            continue
        parts = instructions[at - build.arg : at]
        is_constant = all(each.opname in _CONSTANTS for each in parts)
        if not is_constant or labels.intersection([*parts[1:], build]):
            continue
        values = tuple(each.arg for each in parts)
        if build.opname == "BUILD_SET":
            # A set that is only asked whether it holds a value is seen by nobody.
            asked = instructions[at + 1].opname == "CONTAINS_OP"
            if not asked or not all(type(each) in _PLAIN for each in values):
                continue
            replaced[build] = [Instruction("LOAD_CONST", frozenset(values))]
        else:
            replaced[build] = [Instruction("LOAD_CONST", values)]
        replaced.update((each, []) for each in parts)
    return replaced


def _module_of(f_globals: Mapping[str, Any]) -> str | None:
    """The name of the module whose namespace this is, where there is one."""
    name = f_globals.get("__name__")
    module = sys.modules.get(name) if isinstance(name, str) else None
    return name if getattr(module, "__dict__", None) is f_globals else None


class Specializer:
    """A callback that specialises every function of a module which it is asked for.

    Code for which there is nothing to do is skipped from then on.
    """

    def __call__(self, frame: Frame, entry: Any, state: dict[str, Any]) -> Any:
        """The specialised code and its guards, or None."""
        code, module = frame.f_code, _module_of(frame.f_globals)
        if module is None or is_generator(code) or code.co_name.startswith("<"):
            return None
        made = specialized(code, frame.f_globals, frame.f_builtins)
        return made and GuardedCode(made.code, made.guards(frame, module))


def specialize(function: Function) -> Function:
    """Decorates a function: its calls run specialised while its names mean the same.

    It is the same function afterwards, with one entry of `guard_function`, whose
    `stats()` count the calls and whose `restore()` ends it. Names that have no value
    yet stay names.

    Raises TypeError for what is no function written in Python, ValueError for a
    generator, a function whose globals are no module's, one in which no name can be a
    constant, and what `guard_function` refuses.
    """
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a function written in Python, found {function!r}")
    module = _module_of(function.__globals__)
    if module is None or is_generator(function.__code__):
        raise ValueError(
            f"{function.__qualname__} is a generator, or its globals are no module's"
        )
    # Type checkers do not know a function's builtins.
    f_builtins = getattr(function, "__builtins__")
    made = specialized(function.__code__, function.__globals__, f_builtins)
    if made is None:
        raise ValueError(f"{function.__qualname__} uses no global that it could keep")
    guard_function(function).add(made.guards(function, module), made.code)
    return function


def _job() -> tuple[Callable[..., str], int]:
    """Source put together again from its tokens; how many tokens that are.

    The job is tokenize.Untokenizer.compat, which compares each token with about ten
    globals of its module, and makes tuples and sets of them.
    """
    with open(tokenize.__file__, encoding="utf-8") as file:
        tokens = [token[:2] for token in tokenize.generate_tokens(file.readline)]

    def job(compat: Callable[..., None]) -> str:
        writer = tokenize.Untokenizer()
        compat(writer, tokens[0], iter(tokens[1:]))
        return "".join(writer.tokens)

    return job, len(tokens)


@dataclass(frozen=True)
class Measured:
    """Seconds of the job, the best of the rounds; its tokens; the calls by a guard."""

    plain: float
    specialized: float
    tokens: int
    hits: int


def measure(rounds: int) -> Measured:
    """The job by the plain function and by the decorated one, in turn."""
    fast = tokenize.Untokenizer.compat
    # Of code of its own, which on CPython 3.11 entries belong to.
    plain = FunctionType(fast.__code__.replace(), fast.__globals__)
    job, count = _job()
    guarded = guard_function(specialize(fast))
    try:
        if job(plain) != job(fast):
            raise AssertionError("specialised code gave another result")
        best = {plain: float("inf"), fast: float("inf")}
        for _ in range(rounds):
            for function in best:
                # CPython 3.11 guards calls by the hook, which is off for the plain one.
                with optimize(get_eval_frame() if function is fast else None):
                    start = time.perf_counter()
                    job(function)
                    best[function] = min(best[function], time.perf_counter() - start)
        return Measured(best[plain], best[fast], count, guarded.stats()["hits"])
    finally:
        guarded.restore()


def main() -> None:
    """Prints how many times as fast the standard library's function is."""
    found = measure(rounds=50)
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"tokenize.Untokenizer.compat, {found.tokens} tokens, CPython {version}")
    print(
        f"plain {found.plain * 1e6:.0f} us, "
        f"specialised {found.specialized * 1e6:.0f} us"
    )
    print(f"{found.plain / found.specialized:.2f} times as fast")


if __name__ == "__main__":
    main()
