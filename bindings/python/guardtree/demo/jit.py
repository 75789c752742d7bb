"""A frame evaluator's callback: specialises functions for the calls that come twice."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import CO_VARARGS, CO_VARKEYWORDS
from time import thread_time
from types import CodeType, FunctionType
from typing import Any, cast

from .. import (
    ASK_AGAIN,
    Frame,
    GuardedCode,
    GuardedFunction,
    GuardManager,
    cache_entries,
    code_stats,
    guard_function,
    is_generator,
    reset_code,
    run_only,
)
from .body import SCALARS
from .specialise import Refused, Specialised, specialise

WORTH_IT, WORTH_A_GUARD = 60.0, 2.0  # estimated nanoseconds that a look-up costs
MAX_SHAPES = 6  # ways of calling a function that are looked at
MAX_ENTRIES = 4


@dataclass
class Entry:
    """One specialisation, and the call that it was made for."""

    made: Specialised
    tree: GuardManager
    locals: dict[str, Any]


@dataclass
class Function:
    """A function that was specialised; its counters when the jobs were done."""

    name: str
    code: CodeType
    function: FunctionType
    entries: list[Entry] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    hits: list[int] = field(default_factory=list)
    asked: int = 0  # how often the callback read the locals, as a dict


class Jit:
    """Specialises functions of some modules, each for the calls that come twice."""

    def __init__(self, modules: frozenset[str], worth: float = WORTH_IT) -> None:
        self.modules, self.worth = modules, worth
        self.functions: dict[CodeType, Function] = {}
        self.left: Counter[str] = Counter()  # why code was left as it is
        self.touched: list[CodeType] = []
        self.guarded: list[GuardedFunction] = []
        self.made, self.seconds = 0, 0.0

    def __call__(self, frame: Frame, entry: Any, state: dict[str, Any]) -> Any:
        code, module = frame.f_code, str(frame.f_globals.get("__name__"))
        if not state:
            self.touched.append(code)
        reason = self.obstacle(frame, module)
        if reason:
            self.left[reason] += 1
            return None
        arguments = arguments_of(code, frame.f_locals)
        state["asked"] = state.get("asked", 0) + 1
        shape = tuple((n, id(type(v))) for n, v in arguments.items())
        shapes = state.setdefault("shapes", set())
        if shape not in shapes:
            shapes.add(shape)
            return self.stop(frame, "called in many ways", len(shapes) <= MAX_SHAPES)
        function = cast(FunctionType, frame.function)
        constants = constants_of(function, arguments)
        start = thread_time()
        try:
            made = specialise(frame, module, arguments, constants)
        except Refused as refusal:
            return self.stop(frame, str(refusal))
        finally:
            self.seconds += thread_time() - start
        if made.gain < self.worth + WORTH_A_GUARD * len(made.guards):
            return self.stop(frame, "less to gain than a look-up costs")
        name = f"{module}.{code.co_qualname}"
        seen = self.functions.setdefault(code, Function(name, code, function))
        tree = made.tree(frame)
        seen.entries.append(Entry(made, tree, arguments))
        seen.asked = state["asked"]
        self.made += 1
        if len(seen.entries) == MAX_ENTRIES:
            run_only(code)
        return GuardedCode(made.code, tree)

    def obstacle(self, frame: Frame, module: str) -> str:
        if module not in self.modules:
            return "of other modules"
        if frame.f_globals is not vars(sys.modules.get(module, sys)):
            return "with globals that are no module's"
        if is_generator(frame.f_code):
            return "generators"
        special = frame.f_code.co_name.startswith("<")
        return "lambdas, comprehensions, modules" if special else ""

    def stop(self, frame: Frame, reason: str, again: bool = False) -> Any:
        """Asks again; or else leaves other calls than those so far as they are."""
        if again:
            return ASK_AGAIN
        if frame.f_code in self.functions:
            run_only(frame.f_code)
            return ASK_AGAIN
        self.left[reason] += 1
        return None

    def count(self) -> None:
        """Notes the counters as they are now; what runs later is not the jobs'."""
        for each in self.functions.values():
            each.stats = code_stats(each.code)
            each.hits = [entry.hits for entry in cache_entries(each.code)]

    def guard_functions(self) -> None:
        """The same entries for the functions themselves: from CPython 3.12 on no hook
        is needed to run them."""
        for each in self.functions.values():
            try:
                guarded = guard_function(each.function)
            except ValueError:  # an `__init__`, which CPython may call past its entry
                continue
            self.guarded.append(guarded)
            for entry in each.entries:
                guarded.add(entry.made.tree(each.function), entry.made.code)

    def restore_functions(self) -> None:
        while self.guarded:
            self.guarded.pop().restore()

    def forget(self) -> None:
        """Leaves no trace on any function or code object."""
        self.restore_functions()
        for code in self.touched:
            reset_code(code)


def arguments_of(code: CodeType, f_locals: Mapping[str, Any]) -> dict[str, Any]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return {n: f_locals[n] for n in code.co_varnames[:count] if n in f_locals}


def constants_of(
    function: FunctionType, arguments: Mapping[str, Any]
) -> frozenset[str]:
    """Arguments whose value may be built in: None, flags, and defaults."""
    code, given = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    defaults = dict(zip(names, given, strict=True)) | (function.__kwdefaults__ or {})

    return frozenset(
        name
        for name, value in arguments.items()
        if type(value) is bool
        or value is None
        or (type(value) in SCALARS and value is defaults.get(name))
    )
