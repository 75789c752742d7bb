"""What an evaluator supplies so that a function can be entered in its middle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .analysis import parameter_count
from .bodies import Body, Place, position_at
from .contexts import Context
from .drafts import Draft, placed, restored_stack
from .effects import SAVED
from .instructions import Instruction, Variable, rewritten
from .layouts import UNBOUND, active_blocks, layout_of
from .withs import Block

Pushing = Sequence[Instruction]
"""Instructions that push one value."""


@dataclass(frozen=True)
class Prelude:
    """What runs instead of all instructions before the one that is entered.

    `layout(code, offset)` says what has to be supplied. In the order in which it runs:

    before: instructions that leave the stack as it is: compiled work, side effects,
    results kept in locals of their own (any name will do). locals: what pushes a
    local's value, or UNBOUND, by name; needed for each local of the layout that is no
    parameter, and each cell that the function makes for itself. Parameters that are
    not in it keep the values of the call. slots: what pushes a stack slot, by its
    number in `___stack0`, ... contexts: for each active `with`, by its `enter` offset,
    what makes its manager, which is entered then; its slot needs nothing else.

    Exceptions in `before` and `locals` leave the function; from the first context on
    they are handled by the blocks entered so far.
    """

    before: Sequence[Instruction] = ()
    slots: Mapping[int, Pushing] = field(default_factory=dict)
    locals: Mapping[str, Pushing | Any] = field(default_factory=dict)
    contexts: Mapping[int, Context] = field(default_factory=dict)

    def instructions(self, body: Body, place: Place, draft: Draft) -> list[Instruction]:
        """What enters the draft at a place. Raises ValueError for what is missing."""
        layout = layout_of(body, place)
        if any(kind & SAVED for kind in place.state.stack):
            raise body.refusal(
                place.instruction.offset,
                "an exception is being handled there, which a prelude cannot restore",
            )
        blocks = {each.slot: each for each in active_blocks(body, place)}
        slots = {f"___stack{number}": each for number, each in self.slots.items()}
        entered = {layout.slots[slot] for slot in blocks}
        needed = [name for name in layout.slots if name and name not in entered]
        _check("slots", needed, slots, needed, body)
        enters = [each.enter.offset for each in blocks.values()]
        _check("contexts", enters, self.contexts, enters, body)
        self._check_locals(body, place)

        def pushed(name: str, block: Block | None) -> list[Instruction]:
            if block is not None:
                return self.contexts[block.enter.offset].made()
            return rewritten(slots[name])

        stack, handler = restored_stack(layout, blocks, pushed, draft)
        landing = draft.landing(place.instruction)
        jump = Instruction("JUMP_FORWARD", target=landing, handler=handler)
        made = [*rewritten(self.before), *self._locals(body), *stack, jump]
        return placed(made, position_at(place.form.instructions, place.at))

    def _check_locals(self, body: Body, place: Place) -> None:
        code = body.code
        parameters = code.co_varnames[: parameter_count(code)]
        needed = [
            name for name in (*place.live, *code.co_cellvars) if name not in parameters
        ]
        known = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        _check("locals", needed, self.locals, known, body)

    def _locals(self, body: Body) -> list[Instruction]:
        code = body.code
        parameters = code.co_varnames[: parameter_count(code)]
        made = []
        for name, pushing in self.locals.items():
            is_cell = name in code.co_cellvars + code.co_freevars
            suffix = "DEREF" if is_cell else "FAST"
            variable = Variable(name, "cell" if is_cell else "local")
            if pushing is not UNBOUND:
                made += rewritten(pushing)
                made.append(Instruction(f"STORE_{suffix}", variable))
            elif name in parameters:
                made.append(Instruction(f"DELETE_{suffix}", variable))
        return made


def _check(
    what: str,
    needed: Iterable[Any],
    given: Mapping[Any, Any],
    known: Iterable[Any],
    body: Body,
) -> None:
    missing = [each for each in needed if each not in given]
    unknown = [each for each in given if each not in set(known)]
    if missing or unknown:
        raise ValueError(
            f"the prelude's {what} for {body.code.co_qualname}: {missing} missing, "
            f"{unknown} not asked for"
        )
