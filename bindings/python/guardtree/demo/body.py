"""A function's instructions as a list to edit, and what is known of its locals."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any, NamedTuple

from ..bytecode import Instruction, falls_through, read, unfused
from ..bytecode.bodies import reachable
from ..bytecode.versions import RUNNING

PUSHES = frozenset({"LOAD_CONST", "LOAD_FAST", "LOAD_SMALL_INT", "PUSH_NULL"})
SCALARS = frozenset({str, bytes, int, float, bool, type(None)})
NUMBERS = frozenset({int, float, bool})
BUILT = {"BUILD_TUPLE": tuple, "BUILD_LIST": list, "BUILD_STRING": str}
NOTHING = object()


def value_of(instruction: Instruction) -> Any:
    """The constant that is loaded; NOTHING for other instructions."""
    is_constant = instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT")
    return instruction.arg if is_constant else NOTHING


class Fact(NamedTuple):
    """What is known of a local at one place, and which of `Folder.asked` say so."""

    type: type
    value: Any = NOTHING
    needs: frozenset[int] = frozenset()


State = dict[str, Fact]


class Body:
    """The list; `states` has what is known when an instruction begins. Both are looked
    at again by `refresh`, and stay true while the list is edited."""

    def __init__(self, code: CodeType) -> None:
        self.code, self.list = code, unfused(read(code))
        self.facts: State = {}  # of arguments
        self.states: dict[Instruction, State] = {}

    def refresh(self) -> None:
        """Drops dead code, and looks again at what jumps where and what is stored."""
        self.list = reachable(self.list)
        index = {each: at for at, each in enumerate(self.list)}
        self.jumps = [
            (at, index[e.target]) for at, e in enumerate(self.list) if e.target
        ]
        self.labels = {e.target for e in self.list}
        self.labels |= {e.handler.target for e in self.list if e.handler}
        locals_ = [e for e in self.list if "_FAST" in e.opname]
        self.used = {e.arg.name for e in locals_ if e.opname != "STORE_FAST"}
        self.states = {self.list[0]: self.facts}
        work = [0]
        while work:
            at = work.pop()
            each, before = self.list[at], self.states[self.list[at]]
            after = self.after(at, before)
            ways = [(each.target, after)] if each.target else []
            ways += [(self.list[at + 1], after)] if falls_through(each) else []
            if each.handler:
                ways += [(each.handler.target, before), (each.handler.target, after)]
            for goal, state in ways:
                known = self.states.get(goal)
                met = state if known is None else common(known, state)
                if met is not known:
                    self.states[goal] = met
                    work.append(index[goal])

    def after(self, at: int, state: State) -> State:
        """What is known after an instruction."""
        each = self.list[at]
        if each.opname not in ("STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"):
            return state
        others = {n: f for n, f in state.items() if n != each.arg.name}
        fact = self.stored(at, state) if each.opname == "STORE_FAST" else None
        return others if fact is None else {**others, each.arg.name: fact}

    def stored(self, at: int, state: State) -> Fact | None:
        """What is known of a value that is stored."""
        load = self.top(at)
        if load is not None:
            return self.fact_of(load, state)
        made, parts = self.list[at - 1], self.window(at - 1, 2)
        if self.list[at] in self.labels:
            return None
        if made.opname == "BINARY_OP" and parts and sign_of(made) in ("+", "-", "*"):
            left, right = (self.fact_of(each, state) for each in parts)
            if left and right and left.type is right.type:
                if left.type is int or left.type is str and sign_of(made) == "+":
                    return Fact(left.type, NOTHING, left.needs | right.needs)
        return Fact(BUILT[made.opname]) if made.opname in BUILT else None

    def top(self, at: int) -> Instruction | None:
        """What pushed the value on top of the stack, if stores of others, each with its
        push, is all that came between."""
        first = at
        while first > 1 and self.list[first - 1].opname == "STORE_FAST":
            if self.list[first - 2].opname not in PUSHES:
                return None
            first -= 2
        between = self.labels.intersection(self.list[first : at + 1])
        load = self.list[first - 1]
        return None if between or load.opname not in PUSHES else load

    def window(self, at: int, count: int) -> list[Instruction] | None:
        """The `count` instructions before one, if they only push and control cannot
        get between them and it."""
        parts = self.list[at - count : at] if at >= count else []
        if len(parts) != count or not all(each.opname in PUSHES for each in parts):
            return None
        inside = [*parts[1:], self.list[at]] if parts else []
        return None if self.labels.intersection(inside) else parts

    def known(self, at: int, count: int = 1) -> list[Any] | None:
        """The constants that the `count` instructions before one push."""
        values = [value_of(each) for each in self.window(at, count) or ()]
        return values if values and NOTHING not in values else None

    def replace(self, at: int, count: int, *made: Instruction) -> bool:
        """Puts others in the place of instructions; what led to these leads there."""
        old = self.list[at : at + count]
        for each in made:
            each.position = each.position or old[-1].position
            each.handler = each.handler or old[-1].handler
        self.list[at : at + count] = made
        self.labels |= {each.target for each in made}
        if self.labels.intersection(old):
            heir = self.list[at]
            self.labels.add(heir)
            for each in self.list:
                if each.target in old:
                    each.target = heir
                if each.handler and each.handler.target in old:
                    each.handler = each.handler._replace(target=heir)
        return True

    def constant(self, at: int, count: int, value: Any) -> bool:
        return self.replace(at, count, Instruction("LOAD_CONST", value))

    def fact_of(self, load: Instruction, state: State | None = None) -> Fact | None:
        """What is known of what is loaded."""
        if value_of(load) is not NOTHING:
            return Fact(type(value_of(load)), value_of(load))
        if load.opname != "LOAD_FAST" or load.arg.kind != "local":
            return None
        known = self.states.get(load, {}) if state is None else state
        return known.get(load.arg.name)


def sign_of(each: Instruction) -> str:
    """The operator of a BINARY_OP or COMPARE_OP; `+=` counts as `+`."""
    if each.opname == "COMPARE_OP":
        return dis.cmp_op[each.arg >> RUNNING.compare_flag_bits]
    return str(vars(dis)["_nb_ops"][each.arg][1]).removesuffix("=")


def common(one: State, other: State) -> State:
    """What is known on both of two ways: the very first state if that is all of it."""
    met = {}
    for name in one.keys() & other.keys():
        left, right = one[name], other[name]
        same = left.value is right.value or (
            left.type in SCALARS and repr(left.value) == repr(right.value)
        )
        if left.type is right.type:
            value = left.value if same else NOTHING
            met[name] = Fact(left.type, value, left.needs | right.needs)
    is_all = len(met) == len(one) and all(
        met[name].value is fact.value and met[name].needs == fact.needs
        for name, fact in one.items()
    )
    return one if is_all else met
