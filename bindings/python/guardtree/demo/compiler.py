"""The callback of the demo: what it sees, when it compiles, and what it keeps of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any, cast

from .. import (
    ASK_AGAIN,
    Frame,
    GuardedCode,
    GuardManager,
    cache_entries,
    code_stats,
    reset_code,
)
from ..callbacks import is_generator
from .costs import Costs, measured_costs
from .specialize import Refused, Specialized, specialize
from .values import SCALARS, Need

WORTH_IT = 20.0  # estimated nanoseconds; about what a look-up and a substitution cost
MOST_SHAPES = 8  # ways of calling a function that are looked at
MOST_SPARED = 4  # calls without gain after which the rest runs by an entry of its own
ENOUGH_VALUES = 3  # entries after which only flags and defaults are built in


@dataclass
class Call:
    """Arguments that can be used again: nothing in them can change."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    f_locals: dict[str, Any]


@dataclass
class Entry:
    """One specialisation of a function."""

    made: Specialized
    guards: GuardManager
    sample: Call | None


@dataclass
class Function:
    """A function that calls were seen of."""

    name: str
    module: str
    code: CodeType
    function: FunctionType | None  # None for closures, which keep other objects alive
    defaults: dict[str, Any]
    entries: list[Entry] = field(default_factory=list)
    catch_all: bool = False
    spared: int = 0  # calls that entries were not made for
    dicts: int = 0  # that the callback asked for
    stats: dict[str, Any] = field(default_factory=dict)  # when the jobs were done
    hits: list[int] = field(default_factory=list)  # of each entry, then


def build_guards(scope: Any, needs: tuple[Need, ...]) -> GuardManager:
    """The guard tree which says what the new code rests on."""
    guards = GuardManager(scope)
    for need in needs:
        root = getattr(guards, "global_" if need.root == "global" else need.root)
        getattr(root(need.name), need.kind)(*need.operand)
    return guards


def seen_in(frame: Frame) -> Function:
    code, module = frame.f_code, str(frame.f_globals.get("__name__"))
    function = cast(FunctionType, frame.function)
    kept = None if code.co_freevars else function
    name = f"{module}.{code.co_qualname}"
    return Function(name, module, code, kept, defaults_of(function))


class Compiler:
    """A callback which specialises the functions of some modules, each for the calls
    that come twice."""

    def __init__(
        self,
        modules: frozenset[str],
        worth: float = WORTH_IT,
        costs: Costs | None = None,  # None: as measured, at the first need
    ) -> None:
        self.modules = modules
        self.worth = worth
        self.costs = costs
        self.functions: dict[CodeType, Function] = {}
        self.left: Counter[str] = Counter()  # why code was left as it is
        self.touched: list[CodeType] = []
        self.made = 0

    def __call__(self, frame: Frame, entry: Any, state: dict[str, Any]) -> Any:
        code = frame.f_code
        if "shapes" not in state:
            state["shapes"] = {}
            self.touched.append(code)
        reason = self.obstacle(frame, code)
        if reason:
            self.left[reason] += 1
            return None
        function = self.functions.get(code)
        if function is None:
            function = self.functions[code] = seen_in(frame)
        f_locals = frame.f_locals
        function.dicts += 1
        shapes = state["shapes"]
        shape = shape_of(code, f_locals)
        # Scalars only: what is kept here must not keep the caller's objects alive.
        scalars = {n: v for n, v in f_locals.items() if type(v) in SCALARS}
        if shape not in shapes:
            shapes[shape] = scalars
            return ASK_AGAIN if len(shapes) <= MOST_SHAPES else self.idle(frame, entry)
        constants = self.constants(function, shapes[shape], f_locals)
        shapes[shape] = scalars
        try:
            made = specialize(
                code,
                frame.f_globals,
                frame.f_builtins,
                f_locals,
                frame.closure,
                constants,
                self.costs or measured_costs(),
            )
        except Refused as refusal:
            return self.leave(frame, entry, str(refusal))
        except RecursionError:  # the function itself may still have room enough
            return ASK_AGAIN
        if made.gain < self.worth:
            return self.leave(frame, entry, "less to gain than a look-up costs")
        guards = build_guards(frame, made.needs)
        sample = sample_of(code, f_locals, frame.f_globals)
        function.entries.append(Entry(made, guards, sample))
        self.made += 1
        return GuardedCode(made.code, guards)

    def obstacle(self, frame: Frame, code: CodeType) -> str | None:
        if frame.f_globals.get("__name__") not in self.modules:
            return "code of other modules"
        if is_generator(code):
            return "generators and coroutines"
        if code.co_name.startswith("<"):
            return "lambdas, comprehensions, modules"
        return None

    def constants(
        self, function: Function, before: Mapping[str, Any], now: Mapping[str, Any]
    ) -> frozenset[str]:
        """Arguments whose value may be built in: flags, defaults, and what was the same
        in two calls."""
        few = len(function.entries) < ENOUGH_VALUES
        chosen = set()
        for name, value in now.items():
            is_flag = value is None or type(value) is bool
            same = few and is_code(value) and same_scalar(value, before.get(name))
            if is_flag or same or same_scalar(value, function.defaults.get(name, ...)):
                chosen.add(name)
        return frozenset(chosen)

    def leave(self, frame: Frame, entry: Any, reason: str) -> Any:
        if entry is None:
            self.left[reason] += 1
            del self.functions[frame.f_code]
            return None
        return self.idle(frame, entry)

    def idle(self, frame: Frame, entry: Any) -> Any:
        """Nothing more to gain here: what the entries so far do not take runs as it is,
        by an entry without guards, so that this callback is not asked each time."""
        function = self.functions[frame.f_code]
        if entry is None:
            self.left["called in too many ways"] += 1
            del self.functions[frame.f_code]
            return None
        function.spared += 1
        if function.spared <= MOST_SPARED:
            return ASK_AGAIN
        function.catch_all = True
        return GuardedCode(frame.f_code, GuardManager(frame))

    def count(self) -> None:
        """Notes the counters as they are now; what runs later is not the jobs'."""
        for function in self.functions.values():
            function.stats = code_stats(function.code)
            function.hits = [each.hits for each in cache_entries(function.code)]

    def forget(self) -> None:
        """Leaves no trace on any code object."""
        for code in self.touched:
            reset_code(code)


def arguments_of(code: CodeType) -> tuple[int, int]:
    """How many names take arguments: plain ones, and all."""
    plain = code.co_argcount + code.co_kwonlyargcount
    rest = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return plain, plain + rest


def shape_of(code: CodeType, f_locals: Mapping[str, Any]) -> tuple[Any, ...]:
    """What calls have in common that one entry may serve: types, flags, lengths."""
    _, count = arguments_of(code)
    shape: list[Any] = []
    for name in code.co_varnames[:count]:
        value = f_locals.get(name)
        # By its address: a shape must not keep a class alive, and may be wrong.
        shape.append(value if type(value) is bool else id(type(value)))
        shape.append(len(value) if type(value) is tuple and len(value) <= 3 else None)
    return tuple(shape)


def same_scalar(one: Any, other: Any) -> bool:
    return type(one) is type(other) and type(one) in SCALARS and one == other


def is_code(value: Any) -> bool:
    """A number or a letter, which may say what is to be done, rather than data."""
    return type(value) is int or (type(value) is str and len(value) <= 2)


def defaults_of(function: FunctionType) -> dict[str, Any]:
    code = function.__code__
    given = function.__defaults__ or ()
    first = code.co_argcount - len(given)
    names = code.co_varnames[first : code.co_argcount]
    defaults = dict(zip(names, given, strict=True)) | (function.__kwdefaults__ or {})
    return {name: each for name, each in defaults.items() if type(each) in SCALARS}


def sample_of(
    code: CodeType, f_locals: Mapping[str, Any], f_globals: Mapping[str, Any]
) -> Call | None:
    """The call again, if its arguments cannot be changed by it."""
    names = code.co_varnames
    plain, count = arguments_of(code)
    for name in names[:count]:
        value = f_locals.get(name)
        is_class = isinstance(value, type) and f_globals.get(value.__name__) is value
        if not is_class and not is_frozen(value):
            return None
    if code.co_flags & CO_VARKEYWORDS:
        return None
    args = tuple(f_locals[name] for name in names[: code.co_argcount])
    if code.co_flags & CO_VARARGS:
        args += f_locals[names[plain]]
    kwargs = {name: f_locals[name] for name in names[code.co_argcount : plain]}
    return Call(args, kwargs, dict(f_locals))


def is_frozen(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(is_frozen, value))
    return type(value) in SCALARS
