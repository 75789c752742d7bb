"""One abstract interpretation: what slots and locals hold at each instruction.

It follows all ways through the code at once, from the first instruction, over jumps and
exception handlers, until nothing changes. What follows from it: where NULLs lie, which
locals may be unbound, which of them are still needed, which `with` blocks are active.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType
from typing import NamedTuple

from .effects import CELL, NULL, OBJECT, RAW, Kinds, after, after_jump, effect_of
from .effects import exit_kind
from .instructions import Instruction, Variable
from .reader import slots_of
from .stack import falls_through
from .versions import OPERANDS, RUNNING, Operand


class UnsafeCode(ValueError):
    """Code that may crash the interpreter.

    offset: of the instruction in co_code, or None where it is not about one. reason:
    what is wrong there.
    """

    def __init__(self, code: CodeType, offset: int | None, reason: str) -> None:
        where = "" if offset is None else f", offset {offset}"
        super().__init__(f"{code.co_qualname}{where}: {reason}")
        self.code, self.offset, self.reason = code, offset, reason


class State(NamedTuple):
    """What holds before an instruction, whatever way led there (see `effects`)."""

    #: Kinds of the stack slots, the bottom first.
    stack: Kinds
    #: Kinds of the fast locals in the order of `Analysis.variables`; NULL is unbound.
    locals: Kinds


#: Loads that leave the local what it was, bound.
_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_CLOSURE"})
#: The compiler covers them too where a handler keeps slots that are gone: 3.15 does so
#: at the end of generator expressions.
_NEVER_RAISES = frozenset(
    {"LOAD_CONST", "LOAD_COMMON_CONSTANT", "NOP", "RETURN_CONST", "RETURN_VALUE"}
)
#: Builtins that see locals which no instruction of the function names.
_SEE_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})


def parameter_count(code: CodeType) -> int:
    """How many of co_varnames are parameters, *args and **kwargs included."""
    stars = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + stars


def jump_target(instruction: Instruction) -> Instruction | None:
    """Where the instruction may jump to."""
    # END_ASYNC_FOR names its SEND for sys.monitoring; it does not jump there.
    return None if instruction.opname == "END_ASYNC_FOR" else instruction.target


class Analysis:
    """The states of a list of instructions of `code`, in `states`; None: unreachable.

    The instructions may differ from those of `code`; variables and parameters are
    those of `code`; locals in `bound` are bound when it starts. Takes about 70 us for
    a function of the standard library. Raises UnsafeCode where two ways lead to an
    instruction with different depths, the stack has too few slots, or more than
    `stack_size` (None: any number), or control runs off the end.
    """

    def __init__(
        self,
        code: CodeType,
        instructions: Sequence[Instruction],
        stack_size: int | None = None,
        bound: Sequence[str] = (),
    ) -> None:
        self.code = code
        self._bound = bound
        self._stack_size = stack_size
        self.instructions = instructions
        self.index = {each: at for at, each in enumerate(instructions)}
        self.variables = slots_of(code.co_varnames, code.co_cellvars, code.co_freevars)
        self.states: list[State | None] = [None] * len(instructions)
        #: The instructions that push the exit callable of a `with`, in order.
        self.enters = [
            each
            for each in instructions
            if (each.opname, each.arg) in (RUNNING.loads_exit, RUNNING.loads_async_exit)
        ]
        self._exits = {each: exit_kind(at) for at, each in enumerate(self.enters)}
        self._slots = {variable: at for at, variable in enumerate(self.variables)}
        for name in code.co_freevars:
            of_free = self._slots[Variable(name, "free")]
            self._slots.setdefault(Variable(name, "cell"), of_free)
        self._follow()

    def state(self, instruction: Instruction) -> State | None:
        """What holds before the instruction; None where it is unreachable."""
        return self.states[self.index[instruction]]

    def slot(self, variable: Variable) -> int:
        """The place of a variable among the fast locals."""
        return self._slots[variable]

    def unsafe(self, at: int, reason: str) -> UnsafeCode:
        """An error about the instruction of this index."""
        each = self.instructions[at]
        return UnsafeCode(self.code, each.offset, f"{each.opname} {reason}")

    def _follow(self) -> None:
        parameters = parameter_count(self.code)
        first = tuple(
            OBJECT if at < parameters or variable.name in self._bound else NULL
            for at, variable in enumerate(self.variables)
        )
        work: list[tuple[int, State]] = [(0, State((), first))]
        while work:
            at, state = work.pop()
            known = self.states[at]
            if known is not None:
                if known == state:
                    continue
                state = self._joined(at, known, state)
                if state == known:
                    continue
            self.states[at] = state
            work.extend(self._successors(at, state))

    def _joined(self, at: int, a: State, b: State) -> State:
        if len(a.stack) != len(b.stack):
            raise self.unsafe(
                at,
                f"is reached with {len(a.stack)} slots on the stack and with "
                f"{len(b.stack)}",
            )
        return State(
            tuple([x | y for x, y in zip(a.stack, b.stack)]),
            tuple([x | y for x, y in zip(a.locals, b.locals)]),
        )

    def _successors(self, at: int, state: State) -> Iterator[tuple[int, State]]:
        instruction = self.instructions[at]
        stack, fast = state
        if self._stack_size is not None and len(stack) > self._stack_size:
            raise self.unsafe(
                at,
                f"is reached with {len(stack)} slots on the stack, and co_stacksize is "
                f"{self._stack_size}",
            )
        handler = instruction.handler
        if handler is not None:
            if handler.depth <= len(stack):
                lasti = (OBJECT if RUNNING.lasti_is_object else RAW,) * handler.lasti
                entered = (*stack[: handler.depth], *lasti, OBJECT)
                # Nothing that changes a local raises after it did.
                yield self.index[handler.target], State(entered, fast)
            elif instruction.opname not in _NEVER_RAISES:
                raise self.unsafe(
                    at,
                    f"has {len(stack)} slots on the stack, and its exception handler "
                    f"keeps {handler.depth}",
                )
        needed = effect_of(instruction).depth
        if needed > len(stack):
            raise self.unsafe(
                at, f"needs {needed} slots on the stack, and there are {len(stack)}"
            )
        target = jump_target(instruction)
        if target is not None:
            yield self.index[target], State(after_jump(instruction, stack), fast)
        if falls_through(instruction):
            if at + 1 == len(self.instructions):
                raise self.unsafe(at, "runs off the end of the code")
            yield at + 1, self._behind(instruction, stack, fast)

    def _behind(self, instruction: Instruction, stack: Kinds, fast: Kinds) -> State:
        opname, arg = instruction.opname, instruction.arg
        if opname in RUNNING.fused:
            for part, variable in zip(RUNNING.fused[opname], arg):
                stack, fast = self._variable(part, variable, stack, fast)
            return State(stack, fast)
        if OPERANDS[opname] is Operand.VARIABLE and "DEREF" not in opname:
            return State(*self._variable(opname, arg, stack, fast))
        stack = after(instruction, stack)
        if opname == "COPY_FREE_VARS":
            first = len(fast) - len(self.code.co_freevars)
            fast = fast[:first] + (CELL,) * len(self.code.co_freevars)
        elif instruction in self._exits:
            stack = (*stack[:-2], self._exits[instruction], stack[-1])
        return State(stack, fast)

    def _variable(
        self, opname: str, variable: Variable, stack: Kinds, fast: Kinds
    ) -> tuple[Kinds, Kinds]:
        at = self._slots[variable]
        kind = fast[at]
        if opname in _LOADS:
            left = kind & ~NULL or OBJECT  # or the load did not come to its end
            stack = (*stack, left)
        elif opname == "LOAD_FAST_AND_CLEAR":
            stack, left = (*stack, kind), NULL
        elif opname == "STORE_FAST":
            stack, left = stack[:-1], stack[-1]
        elif opname == "MAKE_CELL":
            left = CELL
        else:  # DELETE_FAST
            left = NULL
        if left == kind:
            return stack, fast
        return stack, (*fast[:at], left, *fast[at + 1 :])

    def live(self) -> list[int]:
        """The locals whose values are still needed before each instruction.

        As bits: bit n is `variables[n]`. Only locals; cells are never in it. All locals
        are needed where the function may call `locals` or its like.
        """
        count = len(self.instructions)
        if any(
            each.opname == "LOAD_GLOBAL" and each.arg in _SEE_LOCALS
            for each in self.instructions
        ):
            kinds = enumerate(variable.kind for variable in self.variables)
            return [sum(1 << at for at, kind in kinds if kind == "local")] * count
        uses, ends = [0] * count, [0] * count
        successors: list[list[int]] = []
        for at, each in enumerate(self.instructions):
            uses[at], ends[at] = self._uses(each)
            then = [at + 1] if falls_through(each) and at + 1 < count else []
            if (target := jump_target(each)) is not None:
                then.append(self.index[target])
            if each.handler is not None:
                then.append(self.index[each.handler.target])
            successors.append(then)
        needed = [0] * count
        changed = True
        while changed:
            changed = False
            for at in range(count - 1, -1, -1):
                later = 0
                for following in successors[at]:
                    later |= needed[following]
                found = uses[at] | later & ~ends[at]
                if found != needed[at]:
                    needed[at], changed = found, True
        return needed

    def _uses(self, instruction: Instruction) -> tuple[int, int]:
        """(locals that it reads, locals that it overwrites unread), as bits."""
        opname, arg = instruction.opname, instruction.arg
        if opname in RUNNING.fused:
            parts = tuple(zip(RUNNING.fused[opname], arg))
        elif OPERANDS[opname] is Operand.VARIABLE:
            parts = ((opname, arg),)
        else:
            return 0, 0
        used = stored = 0
        for name, variable in parts:
            if variable.kind != "local":
                continue
            bit = 1 << self._slots[variable]
            if name == "STORE_FAST":
                stored |= bit
            else:
                used |= bit & ~stored
        return used, stored


def single_exit(kind: int) -> int | None:
    """The number of the `with` whose exit callable the slot holds for sure."""
    number = kind.bit_length() - exit_kind(0).bit_length()
    return number if number >= 0 and kind == exit_kind(number) else None
