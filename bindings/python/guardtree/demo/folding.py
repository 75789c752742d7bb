"""Bytecode that becomes shorter where operands are known: rules for a list to edit."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..bytecode import Instruction, add_push_null
from ..bytecode.versions import RUNNING
from .body import NOTHING, NUMBERS, SCALARS, Body, Fact, sign_of, value_of

IMMUTABLE_TYPE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
CALL = "PRECALL" if RUNNING.has_precall else "CALL"
CALL_WIDTH = 2 if RUNNING.has_precall else 1
JUMP = re.compile(r"POP_JUMP_(?:FORWARD_|BACKWARD_)?IF_(\w+)|JUMP_IF_(\w+)_OR_POP")
OPERATORS: dict[str, Callable[..., Any]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod},
    **{"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le},
    **{">": operator.gt, ">=": operator.ge, "//": operator.floordiv},
}
SAME: dict[Any, tuple[type, ...]] = {
    **{each: (each,) for each in (int, str, tuple)},
    **{operator.index: (int,), os.fspath: (str, bytes)},
}
"""Conversions, and the types whose values they give back as they are."""

PURE = (abs, bool, divmod, float, int, len, max, min, ord, round)

# Nanoseconds, about, that an instruction, a builtin's call and a function's call take.
STEP, CALL_COST, INLINE_COST = 1.0, 25.0, 35.0

Path = tuple[tuple[str, ...], ...]
"""Steps from the root of a guard tree: (("global_", "os"), ("module_attr", "sep"))."""

Guard = tuple[str, tuple[Any, ...]]  # a kind and its operands


class Folder(Body):
    """Applies the rules, and collects the guards that the code rests on by now."""

    def __init__(self, code: CodeType) -> None:
        super().__init__(code)
        self.closures: dict[str, tuple[Any, Path]] = {}
        self.asked: list[tuple[Path, Guard]] = []  # what the facts of arguments need
        self.paths: dict[int, Path] = {}  # by id: where a global's value was found
        self.guards: dict[tuple[Path, str, int], tuple[Path, Guard]] = {}
        self.notes: list[str] = []
        self.gain = 0.0

    def run(self) -> None:
        """Applies the rules until none fits."""
        changed = True
        while changed:
            self.refresh()
            changed, at = False, 0
            while at < len(self.list):
                name = self.list[at].opname
                rule = Folder.branch if JUMP.fullmatch(name) else self.rules.get(name)
                if rule is not None and rule(self, at):
                    changed, at = True, max(0, at - 4)
                else:
                    at += 1

    def guard(self, path: Path, kind: str, *operands: Any) -> None:
        key = (path, kind, id(operands[0]) if operands else 0)
        self.guards[key] = path, (kind, operands)

    def count(self, at: int, gain: float, text: str = "") -> None:
        """Adds to the estimated gain: ten times as much for each loop around."""
        loops = sum(last <= at <= first for first, last in self.jumps)
        self.gain += gain * 10 ** min(2, loops)
        if text:
            self.notes.append(text)

    def rely(self, *facts: Fact) -> None:
        """Adds the guards that say so."""
        for fact in facts:
            for place in fact.needs:
                path, (kind, operands) = self.asked[place]
                self.guard(path, kind, *operands)

    # The rules: each looks at one instruction, and says whether it changed the list.

    def load_fast(self, at: int) -> bool:
        fact = self.fact_of(self.list[at])
        if fact is None or fact.value is NOTHING:
            return False
        self.rely(fact)
        self.count(at, STEP / 2)
        return self.constant(at, 1, fact.value)

    def load_deref(self, at: int) -> bool:
        name, kind = self.list[at].arg
        if kind != "free" or name not in self.closures:
            return False
        return self.constant(at, 1, self.found(*self.closures[name]))

    def store_fast(self, at: int) -> bool:
        """`x = x` is nothing, nor is a constant that is not used."""
        name, window = self.list[at].arg.name, self.window(at, 1)
        if window is None or window[0].opname == "PUSH_NULL":
            return False
        is_same = window[0].opname == "LOAD_FAST" and window[0].arg.name == name
        is_same &= self.fact_of(window[0]) is not None  # it is bound
        is_unused = value_of(window[0]) is not NOTHING and name not in self.used
        return (is_same or is_unused) and self.replace(at - 1, 2)

    def load_attribute(self, at: int) -> bool:
        """A member of a module."""
        each, (module,) = self.list[at], self.known(at) or (None,)
        path = self.paths.get(id(module))
        if type(module) is not ModuleType or path is None or each.arg[:2] == "__":
            return False
        if each.arg not in vars(module):
            return False
        value = self.found(vars(module)[each.arg], (*path, ("module_attr", each.arg)))
        made = [Instruction("LOAD_CONST", value)]
        is_method = each.opname == "LOAD_METHOD" or each.flags & 1
        self.count(at, 2 * STEP)
        return self.replace(at - 1, 2, *(add_push_null(made) if is_method else made))

    def found(self, value: Any, path: Path) -> Any:
        """A value that is a constant from now on, as a guard says."""
        self.guard(self.paths.setdefault(id(value), path), "id_match", value)
        return value

    def unary(self, at: int) -> bool:
        values = self.known(at)
        if values is None or type(values[0]) not in SCALARS:
            return False
        is_not = self.list[at].opname == "UNARY_NOT"
        return self.constant(at - 1, 2, bool(values[0]) is not is_not)

    def binary(self, at: int) -> bool:
        each, window = self.list[at], self.window(at, 2)
        sign = sign_of(each)
        if window is None or sign not in OPERATORS:
            return False
        values = list(map(value_of, window))
        fact = self.fact_of(window[0])
        is_zero = type(values[1]) is int and values[1] == 0
        if fact and fact.type is int and is_zero and sign in ("+", "-"):
            self.rely(fact)
            self.count(at, 3 * STEP, f"{texts(window, f' {sign} ')}: nothing")
            return self.replace(at - 1, 2)
        may_grow = sign in ("*", "%")
        if not set(map(type, values)) <= (NUMBERS if may_grow else SCALARS):
            return False
        try:
            value = OPERATORS[sign](*values)
        except Exception:  # it raises when it runs, too
            return False
        if type(value) not in SCALARS or len(repr(value)) > 1000:
            return False
        self.count(at, 10 * STEP, f"{values[0]!r} {sign} {values[1]!r} -> {value!r}")
        return self.constant(at - 2, 3, value)

    def identity(self, at: int) -> bool:
        window = self.window(at, 2) or []
        facts = [fact for each in window if (fact := self.fact_of(each))]
        types, values = [fact.type for fact in facts], list(map(value_of, window))
        if not window or len(facts) < 2:
            return False
        if type(None) in types:
            same = types[0] is types[1]
        elif NOTHING in values or SCALARS.intersection(types) - {bool}:
            return False
        else:
            same = values[0] is values[1]
        self.rely(*facts)
        self.count(at, STEP, f"{texts(window, ' is ')}: decided")
        return self.constant(at - 2, 3, same ^ bool(self.list[at].arg))

    def display(self, at: int) -> bool:
        """A tuple of constants; a set of them that is only asked what is in it."""
        build, count = self.list[at], self.list[at].arg
        values = self.known(at, count)
        if values is None:
            return False
        if build.opname == "BUILD_SET":
            is_asked = self.list[at + 1].opname == "CONTAINS_OP"
            if not is_asked or not set(map(type, values)) <= SCALARS:
                return False
        made = tuple(values) if build.opname == "BUILD_TUPLE" else frozenset(values)
        self.count(at, (4 + count) * STEP, f"({texts(values)}) made once")
        return self.constant(at - count, count + 1, made)

    def copy(self, at: int) -> bool:
        load = self.top(at)
        if self.list[at].arg != 1 or load is None or value_of(load) is NOTHING:
            return False
        return self.constant(at, 1, value_of(load))

    def unpack(self, at: int) -> bool:
        (values,) = self.known(at) or (None,)
        if type(values) is not tuple or len(values) != self.list[at].arg:
            return False
        loads = [Instruction("LOAD_CONST", each) for each in reversed(values)]
        return self.replace(at - 1, 2, *loads)

    def pop(self, at: int) -> bool:
        return self.known(at) is not None and self.replace(at - 1, 2)

    def branch(self, at: int) -> bool:
        jump, window = self.list[at], self.window(at, 1)
        fact = self.fact_of(window[0]) if window else None
        match = JUMP.fullmatch(jump.opname)
        if window is None or fact is None or match is None:
            return False
        value, when = value_of(window[0]), match[1] or match[2]
        if "NONE" in when:
            self.rely(fact)
            jumps = (fact.type is type(None)) is (when == "NONE")
        elif fact.type in (*SCALARS, tuple, frozenset) and value is not NOTHING:
            jumps = bool(value) is (when == "TRUE")
        else:
            return False
        made = [Instruction("LOAD_CONST", value)] if match[2] and jumps else []
        if jumps:
            made.append(Instruction("JUMP_FORWARD", target=jump.target))
        count = 2 + (not jumps and self.list[at + 1].opname == "NOT_TAKEN")
        how = "always" if jumps else "never"
        self.count(at, 2 * STEP, f"a branch on {texts(window)}: {how} taken")
        return self.replace(at - 1, count, *made)

    def call(self, at: int) -> bool:
        """A call of a builtin whose result the types of the arguments tell."""
        count = self.list[at].arg
        window = self.window(at, count + 2)
        if not window or not count:
            return False
        place = 0 if RUNNING.null_above_callable else 1
        function, first = value_of(window[place]), window[2]
        fact, values = self.fact_of(first), self.known(at, count)
        if fact is None or isinstance(function, FunctionType):
            return False
        made: Instruction | None = None
        if values and any(function is each for each in PURE):
            made = computed(function, values)
        elif function is isinstance and count == 2:
            answer = is_instance(fact.type, value_of(window[3]))
            made = None if answer is None else Instruction("LOAD_CONST", answer)
        elif function is type and count == 1:
            made = Instruction("LOAD_CONST", fact.type)
        elif count == 1 and fact.type in next(
            (types for each, types in SAME.items() if each is function), ()
        ):
            made = first.copied()
        if made is None:
            return False
        self.rely(fact)
        text = f"{texts([window[place]])}({texts(window[2:])}) -> {texts([made])}"
        self.count(at, CALL_COST, text)
        return self.replace(at - count - 2, count + 2 + CALL_WIDTH, made)

    def nop(self, at: int) -> bool:
        # From 3.13 on a call must not be the first instruction of a handler's region.
        is_inside = at > 0 and self.list[at - 1].handler == self.list[at].handler
        return is_inside and self.replace(at, 1)

    def jump(self, at: int) -> bool:
        """A jump to the next instruction; one behind a constant that is returned or
        tested where it leads to."""
        jump, values = self.list[at], self.known(at)
        if jump.target is self.list[at + 1]:
            return self.replace(at, 1)
        goal = next(i for i, each in enumerate(self.list) if each is jump.target)
        while self.list[goal].opname in ("NOP", "TO_BOOL"):
            goal += 1
        follows = self.list[goal]
        if values is None or follows.handler != jump.handler:
            return False
        if follows.opname == "RETURN_VALUE" and jump.target is follows:
            return self.replace(at, 1, Instruction("RETURN_VALUE"))
        match = JUMP.fullmatch(follows.opname)
        if (
            match is None
            or match[1] not in ("TRUE", "FALSE")
            or type(values[0]) is not bool
        ):
            return False
        jumps = values[0] is (match[1] == "TRUE")
        target = follows.target if jumps else self.list[goal + 1]
        return self.replace(at - 1, 2, Instruction("JUMP_FORWARD", target=target))

    rules: dict[str, Callable[..., bool]] = {
        **{"LOAD_FAST": load_fast, "STORE_FAST": store_fast, "NOP": nop, "COPY": copy},
        **{"LOAD_ATTR": load_attribute, "LOAD_METHOD": load_attribute, CALL: call},
        **{"BINARY_OP": binary, "COMPARE_OP": binary, "IS_OP": identity},
        **{"BUILD_TUPLE": display, "BUILD_SET": display, "POP_TOP": pop},
        **{"TO_BOOL": unary, "UNARY_NOT": unary, "JUMP_FORWARD": jump},
        **{"UNPACK_SEQUENCE": unpack, "LOAD_DEREF": load_deref},
    }


def computed(function: Any, values: list[Any]) -> Instruction | None:
    """The result for constants, where every implementation says the same."""
    if not set(map(type, values)) <= SCALARS:
        return None
    try:
        return Instruction("LOAD_CONST", function(*values))
    except Exception:  # it raises when it runs, too
        return None


def is_instance(exact: type, classes: Any) -> bool | None:
    """isinstance() for a value of that exact type, if nothing can change the answer."""

    def is_plain(value: Any) -> bool:
        return type(value) is type and bool(value.__flags__ & IMMUTABLE_TYPE)

    wanted = classes if type(classes) is tuple else (classes,)
    if not all(is_plain(each) or each is exact for each in wanted):
        return None
    if exact in wanted:
        return True
    return issubclass(exact, wanted) if is_plain(exact) else None


def texts(loads: Sequence[Any], between: str = ", ") -> str:
    """Values, or what instructions load, in a few words."""

    def text(value: Any) -> str:
        if isinstance(value, Instruction):
            known = value_of(value)
            return value.arg.name if known is NOTHING else text(known)
        if type(value) is tuple:
            return f"({texts(value)})"
        name = getattr(value, "__name__", None) or repr(value)
        return name if len(name) < 40 else name[:37] + "..."

    return between.join(map(text, loads))
