"""From a call that was seen to code made for it: what the demo's JIT compiles.

Built in are arguments that are guarded by value, types of arguments, what globals and
builtins mean, members of modules, and the bodies of small functions. Guards compare all
that when the function is called: a global that is rebound counts from the next call on.
Of an inlined function, the traceback of an exception shows the line of the call only,
and its locals live until the caller returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any

from .. import Frame, GuardManager, is_generator
from ..bytecode import (
    Instruction,
    add_push_null,
    assemble,
    bytecode_from_template,
    rewritten,
    stack_depths,
    verify,
)
from ..bytecode.versions import RUNNING
from .body import NOTHING, SCALARS, Fact, value_of
from .folding import CALL, CALL_WIDTH, INLINE_COST, STEP, Folder, Guard, Path

LARGEST, LARGEST_CALLEE, MAX_COPIES = 1500, 160, 6  # instructions; of one callee
# Names of what looks at the frame that calls it.
UNFIT = frozenset(
    {"locals", "eval", "exec", "super", "vars", "dir", "_getframe", "warn"}
)
REBINDING = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME"})
ROOTS = ("local", "closure", "global_", "module", "builtin")


class Refused(Exception):
    """A function is left as it is; the message says why in a few words."""


@dataclass(frozen=True)
class Specialised:
    """New code, the guards that it rests on, and what was done."""

    code: CodeType
    guards: list[tuple[Path, Guard]]
    notes: list[str]
    gain: float  # nanoseconds a call, an estimate

    def tree(self, scope: Frame | FunctionType) -> GuardManager:
        guards = GuardManager(scope)
        for path, (kind, operands) in self.guards:
            node = guards
            for step, *names in path:
                node = getattr(node, step)(*names)
            getattr(node, kind)(*operands)
        return guards


@dataclass(frozen=True)
class Names:
    """Where a function's global names lead to: its namespace, and the way there."""

    globals: Mapping[str, Any]
    path: Path
    is_own: bool  # of the function that is specialised: `global_` is a root

    def way(self, name: str) -> Path:
        return (
            (("global_", name),) if self.is_own else (*self.path, ("dict_item", name))
        )


def way_to(f_globals: Mapping[str, Any], module: str) -> Path:
    """To a namespace: by any of its functions, which is cheaper than by its module."""
    for name, value in f_globals.items():
        if type(value) is FunctionType and value.__globals__ is f_globals:
            return (("global_", name), ("function_globals",))
    return (("module", module), ("attr", "__dict__"))


class Specialiser(Folder):
    """A folder that knows what globals mean, and takes in functions that are called."""

    def __init__(self, frame: Frame, module: str) -> None:
        super().__init__(frame.f_code)
        self.builtins = frame.f_builtins
        self.names = Names(frame.f_globals, way_to(frame.f_globals, module), True)
        self.namespaces = {id(frame.f_globals): self.names}
        self.copies = {frame.f_code: MAX_COPIES}
        self.seen: set[Instruction] = set()  # loads of functions
        self.fresh: set[str] = set()  # locals of inlined functions

    def argument(self, name: str, value: Any, is_constant: bool) -> None:
        """What a call gave for an argument: its type, or the value itself."""
        guard: Guard = ("equals", (value,))
        if not is_constant:
            guard = ("type_match", (type(value),))
        elif value is None or type(value) is bool:
            guard = (f"is_{str(value).lower()}", ())
        needs = frozenset({len(self.asked)})
        self.asked.append(((("local", name),), guard))
        self.facts[name] = Fact(type(value), value if is_constant else NOTHING, needs)

    def meaning(self, names: Names, name: str) -> Any:
        """What a global name means, with the guards that say so; or NOTHING."""
        if name in names.globals:
            return self.found(names.globals[name], names.way(name))
        if name not in self.builtins:
            return NOTHING
        self.guard(names.path, "dict_lacks", name)
        return self.found(self.builtins[name], (("builtin", name),))

    def load_global(self, at: int) -> bool:
        made = self.loads(self.list[at], self.names)
        self.count(at, STEP)
        return made is not None and self.replace(at, 1, *made)

    def loads(self, load: Instruction, names: Names) -> list[Instruction] | None:
        """A constant instead of a LOAD_GLOBAL, and a NULL beside it if that has one."""
        value = self.meaning(names, load.arg)
        if value is NOTHING:
            return None
        made = [Instruction("LOAD_CONST", value)]
        return add_push_null(made) if load.flags else made

    def inline(self, at: int) -> bool:
        """Puts a function's body in the place of its call."""
        load, function = self.list[at], value_of(self.list[at])
        start = at if RUNNING.null_above_callable else at - 1
        head = {e.opname for e in self.list[max(0, start) : start + 2]}
        if not isinstance(function, FunctionType) or load in self.seen:
            return False
        self.seen.add(load)
        if head != {"LOAD_CONST", "PUSH_NULL"} or not self.is_fit(function):
            return False
        end = self.call_of(start)
        if end is None or any(e.handler != load.handler for e in self.list[start:end]):
            return False
        made = self.body_of(function, end, stack_depths(self.list)[self.list[start]])
        if made is None:
            return False
        taken, instructions = made
        self.guard(self.paths[id(function)], "function_match", function)
        self.replace(end - taken, taken + CALL_WIDTH, *instructions)
        self.replace(start, 2)
        text = f"inlined {function.__module__}.{function.__name__}"
        self.count(start, INLINE_COST, text)
        self.refresh()
        return True

    def call_of(self, start: int) -> int | None:
        """Where the callable that is pushed there is called, by position only."""
        depths = stack_depths(self.list)
        base = depths.get(self.list[start])
        for end in range(start + 2, len(self.list) - CALL_WIDTH):
            after = depths.get(self.list[end + CALL_WIDTH])
            if base is None or self.list[end].opname == "KW_NAMES":
                return None
            if after is not None and after <= base + 1:
                is_call = after == base + 1 and self.list[end].opname == CALL
                return end if is_call else None
        return None

    def is_fit(self, function: FunctionType) -> bool:
        code = function.__code__
        self.copies[code] = self.copies.get(code, 0) + 1
        return (
            id(function) in self.paths
            and getattr(function, "__builtins__") is self.builtins
            and not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
            and not (is_generator(code) or code.co_cellvars or code.co_freevars)
            and not UNFIT.intersection(code.co_names)
            and self.copies[code] <= MAX_COPIES
            and len(self.list) < LARGEST
        )

    def body_of(
        self, function: FunctionType, end: int, depth: int
    ) -> tuple[int, list[Instruction]] | None:
        """How many loads before the call it replaces as well, and by what."""
        code, count = function.__code__, self.list[end].arg
        prefix = f"{code.co_name}.{self.copies[code]}."
        fresh = {name: prefix + name for name in code.co_varnames}
        body = bytecode_from_template(function, fresh, depth=depth)
        path = (*self.paths[id(function)], ("function_globals",))
        names = self.namespaces.setdefault(
            id(function.__globals__), Names(function.__globals__, path, False)
        )
        opnames = {each.opname for each in body}
        nested = "MAKE_FUNCTION" in opnames and not names.is_own
        if len(body) > LARGEST_CALLEE or nested or opnames & REBINDING:
            return None
        stored = {e.arg.name for e in body if e.opname in ("STORE_FAST", "DELETE_FAST")}
        params = [fresh[n] for n in code.co_varnames[:count]]
        # Loads in the place of the locals that the parameters would be.
        given = defaults_of(function, fresh, count)
        if given is None:
            return None
        taken = 0
        while taken < count and (window := self.window(end, taken + 1)):
            name = params[count - taken - 1]
            if name in stored or window[0].opname == "PUSH_NULL":
                break
            given[name] = window[0]
            taken += 1
        first = [Instruction("STORE_FAST", n) for n in params[: count - taken][::-1]]
        for name in stored.intersection(given):
            first += [given.pop(name), Instruction("STORE_FAST", name)]
        made = {e: self.loads(e, names) for e in body if e.opname == "LOAD_GLOBAL"}
        if None in made.values():
            return None
        for each in body:
            if each.opname == "LOAD_FAST" and each.arg.name in given:
                load = given[each.arg.name]
                made[each] = [Instruction(load.opname, load.arg)]
        self.fresh |= set(fresh.values())
        return taken, [*first, *rewritten(body, made.get)]

    def assembled(self) -> CodeType:
        names = {e.arg.name for e in self.list if "_FAST" in e.opname} & self.fresh
        varnames = (*self.code.co_varnames, *sorted(names))
        made = assemble(self.list, self.code, co_varnames=varnames)
        verify(made, nested=False)
        return made

    rules = {
        **Folder.rules,
        **{"LOAD_GLOBAL": load_global, "LOAD_CONST": inline},
    }


def defaults_of(
    function: FunctionType, fresh: Mapping[str, str], count: int
) -> dict[str, Instruction] | None:
    """Loads of what a call with `count` arguments leaves to the defaults; None where
    that does not do."""
    code, given = function.__code__, function.__defaults__ or ()
    params = code.co_varnames[: code.co_argcount]
    values = dict(zip(reversed(params), reversed(given)))
    missing = code.co_varnames[count : code.co_argcount + code.co_kwonlyargcount]
    values |= function.__kwdefaults__ or {}
    if count > len(params) or not values.keys() >= set(missing):
        return None
    return {fresh[name]: Instruction("LOAD_CONST", values[name]) for name in missing}


def specialise(
    frame: Frame, module: str, arguments: Mapping[str, Any], constants: frozenset[str]
) -> Specialised:
    """Code for calls like that of a frame; `constants` are arguments whose very value
    may be built in. Raises Refused where there is nothing to gain, or no way."""
    code, made = frame.f_code, Specialiser(frame, module)
    opnames = {each.opname for each in made.list}
    if UNFIT.intersection(code.co_names) or opnames & REBINDING:
        raise Refused("looks at its own frame, imports, or rebinds globals")
    for name, value in arguments.items():
        made.argument(name, value, name in constants)
    stored = {e.arg.name for e in made.list if e.opname == "STORE_DEREF"}
    for name, cell in zip(code.co_freevars, frame.closure or ()):
        if name not in stored and cell != type(cell)():  # an empty one
            value = cell.cell_contents
            if callable(value) or type(value) in SCALARS:
                made.closures[name] = value, (("closure", name),)
    made.run()
    if not made.notes:
        raise Refused("nothing to fold")
    guards = sorted(made.guards.values(), key=lambda g: ROOTS.index(g[0][0][0]))
    return Specialised(made.assembled(), guards, made.notes, made.gain)
