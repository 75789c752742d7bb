"""Whether code may crash the interpreter, which believes all that bytecode says."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_OPTIMIZED
from types import CodeType

from .analysis import Analysis, State, UnsafeCode, jump_target
from .effects import CELL, NULL, RAW, effect_of, is_object
from .instructions import Instruction, Variable
from .reader import read
from .structure import check_structure
from .versions import OPERANDS, RUNNING, Operand

_YIELDING = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
_UNCHECKED = (
    frozenset()
    if RUNNING.load_fast_checked == "LOAD_FAST"
    else frozenset({"LOAD_FAST", "LOAD_FAST_BORROW"})
)
"""Loads that take a local's being bound for granted."""


def verify(code: CodeType, *, nested: bool = True, bound: Sequence[str] = ()) -> None:
    """Raises UnsafeCode, with an offset and the reason, where code may crash CPython.

    Refused are: instructions and operands that do not exist; jumps and handlers that
    lead into an instruction; stacks that differ at one instruction by the way there,
    underflow, or are deeper than co_stacksize; NULL or a bare int where an object is
    taken; unbound locals and cells where they are taken unseen; loops that do not end
    as FOR_ITER expects; a yield outside of a generator; code that runs off its end.

    Not told, because values have no types here: LIST_APPEND to what is no list,
    RERAISE of what is no exception, FOR_ITER of what is no iterator, and the like.

    nested: the code objects among the constants as well. bound: locals that are bound
    before the code starts, though they are no arguments. Takes about 0.2 ms for a
    function of the standard library, all of which it accepts.
    """
    check_structure(code)
    instructions = read(code)
    analysis = Analysis(code, instructions, code.co_stacksize, bound)
    for at, state in enumerate(analysis.states):
        if state is not None:
            _Check(analysis, at, state).all()
    _check_generator(analysis)
    if nested:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                verify(constant)


class _Check:
    """The checks of one instruction that can be reached."""

    def __init__(self, analysis: Analysis, at: int, state: State) -> None:
        self.analysis, self.at, self.state = analysis, at, state
        self.instruction = analysis.instructions[at]

    def all(self) -> None:
        self._objects()
        self._variables()
        opname = self.instruction.opname
        if opname in ("RETURN_VALUE", "RETURN_CONST"):
            self._empty_stack()
        elif opname == "FOR_ITER":
            self._loop_end()
        elif opname in ("KW_NAMES", "PRECALL"):
            self._call_behind()
        elif opname == "LOAD_CLASSDEREF":
            self._namespace()

    def _unsafe(self, reason: str) -> UnsafeCode:
        return self.analysis.unsafe(self.at, reason)

    def _objects(self) -> None:
        stack = self.state.stack
        for place in effect_of(self.instruction).objects:
            kind = stack[-place]
            if not is_object(kind):
                found = "NULL" if kind == NULL else "a bare int"
                if kind not in (NULL, RAW):
                    found = "NULL or else, as it comes,"
                raise self._unsafe(f"takes {found} for an object, {place} from the top")

    def _variables(self) -> None:
        opname, arg = self.instruction.opname, self.instruction.arg
        if opname in RUNNING.fused:
            kinds = dict(zip(self.analysis.variables, self.state.locals))
            for part, variable in zip(RUNNING.fused[opname], arg):
                if part == "STORE_FAST":
                    kinds[variable] = self.state.stack[-1]
                else:
                    self._load(part, variable, kinds[variable])
        elif OPERANDS[opname] is Operand.VARIABLE:
            self._load(opname, arg, self.state.locals[self.analysis.slot(arg)])

    def _load(self, opname: str, variable: Variable, kind: int) -> None:
        if opname in _UNCHECKED and not is_object(kind):
            raise self._unsafe(
                f"loads {variable.name}, which may be unbound, unchecked"
            )
        if "DEREF" in opname and kind != CELL:
            raise self._unsafe(f"takes {variable.name} for a cell, which it may not be")

    def _empty_stack(self) -> None:
        left = len(self.state.stack) - effect_of(self.instruction).taken
        if left:
            raise self._unsafe(f"leaves {left} slots on the stack")

    def _loop_end(self) -> None:
        analysis = self.analysis
        target = jump_target(self.instruction)
        assert target is not None
        at = analysis.index[target]
        end = analysis.instructions[at : at + len(RUNNING.loop_end)]
        found = tuple(each.opname for each in end)
        if found != RUNNING.loop_end:
            raise self._unsafe(
                f"leads to {found}; it skips some of {RUNNING.loop_end} unseen"
            )

    def _call_behind(self) -> None:
        """KW_NAMES and PRECALL leave something for the call that has to be behind."""
        analysis, instruction = self.analysis, self.instruction
        behind = analysis.instructions[self.at + 1]
        call = "PRECALL" if RUNNING.has_precall else "CALL"
        if instruction.opname == "PRECALL":
            is_right = behind.opname == "CALL" and behind.arg == instruction.arg
        else:
            names = instruction.arg
            is_right = (
                behind.opname == call
                and isinstance(names, tuple)
                and all(isinstance(name, str) for name in names)
                and len(names) <= behind.arg
            )
        if not is_right:
            raise self._unsafe(f"is not for the {behind!r} behind it")

    def _namespace(self) -> None:
        if self.analysis.code.co_flags & CO_OPTIMIZED:
            raise self._unsafe("looks into a namespace, which a function has not")


def _check_generator(analysis: Analysis) -> None:
    """RETURN_GENERATOR comes once, in front, and before a yield."""
    code, instructions = analysis.code, analysis.instructions
    reached = [
        each for each, state in zip(instructions, analysis.states) if state is not None
    ]
    makers = [each for each in reached if each.opname == "RETURN_GENERATOR"]
    yields = [each for each in reached if each.opname == "YIELD_VALUE"]
    if yields and not makers:
        raise analysis.unsafe(
            analysis.index[yields[0]], "yields, and there is no generator"
        )
    if not makers:
        return
    at = analysis.index[makers[0]]
    if not code.co_flags & _YIELDING:
        raise analysis.unsafe(at, "makes a generator of a function that is none")
    front = set(instructions[: at + 1])
    if len(makers) > 1 or any(_leads_to(each, front) for each in reached):
        raise analysis.unsafe(at, "may be reached more than once")
    if any(jump_target(each) is not None for each in front):
        raise analysis.unsafe(at, "may be passed over")


def _leads_to(instruction: Instruction, labels: set[Instruction]) -> bool:
    target, handler = jump_target(instruction), instruction.handler
    return target in labels or handler is not None and handler.target in labels
