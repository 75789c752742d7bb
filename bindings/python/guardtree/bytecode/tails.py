"""The end of broken code: calling the continuation with the stack and the locals."""

from __future__ import annotations

from collections.abc import Mapping

from .bodies import Body, Place
from .calls import add_push_null, call, make_function
from .contexts import Context, leaving
from .continuations import Continuation
from .drafts import Draft, placed
from .effects import NULL
from .instructions import Handler, Instruction, Variable
from .layouts import UNBOUND
from .versions import RUNNING
from .withs import with_handlers


class Tail:
    """What runs in place of the rest of a function, from `place` on.

    It lies outside of all blocks: once the stack is in temporaries, an exception leaves
    the function, as the continuation has the handlers. Locals and temporaries are
    passed and cleared, so that nothing lives longer than in the original.
    """

    def __init__(
        self,
        body: Body,
        place: Place,
        then: Continuation,
        managers: Mapping[int, Context],
        draft: Draft,
    ) -> None:
        self.body, self.place, self.then, self.draft = body, place, then, draft
        self.managers: dict[int, Context] = {}
        if then.contexts == "reenter":
            self.managers = self._by_slot(managers)
        self._check_slots()
        kept = set(then.layout.locals)
        self.temporaries = {
            name: _unused(f"___tmp{at}", kept)
            for at, name in enumerate(filter(None, then.layout.slots))
        }
        self.scratch = _unused("___null", kept)

    def _by_slot(self, managers: Mapping[int, Context]) -> dict[int, Context]:
        withs = self.then.layout.withs
        missing = [each.enter for each in withs if each.enter not in managers]
        if missing:
            raise ValueError(
                f"{self.body.code.co_qualname}: to leave the with blocks that are "
                f"entered at the offsets {missing}, their managers are needed"
            )
        return {each.slot: managers[each.enter] for each in withs}

    def _check_slots(self) -> None:
        slots = self.then.layout.slots
        found = tuple(kind == NULL for kind in self.place.state.stack)
        if found != tuple(slot is None for slot in slots):
            raise self.body.refusal(
                self.place.instruction.offset,
                f"{self.then.code.co_name} takes the slots {slots}, and there are "
                f"{['NULL' if null else 'object' for null in found]}",
            )

    def instructions(self) -> list[Instruction]:
        """The tail; it starts with the stack of the place."""
        made = [*self._left_contexts(), *self._stored_stack()]
        for name in self.then.layout.locals:
            made += self._marked(name)
        made += add_push_null(make_function(self.then.code))
        for slot, kept in enumerate(self.then.layout.slots):
            if slot in self.managers:
                made += self.managers[slot].callable()
            elif kept is not None:
                made += _moved(self.temporaries[kept])
        for name in self.then.layout.locals:
            made += _moved(name)
        count = len(self.then.layout.arguments)
        return [*made, *call(count), Instruction("RETURN_VALUE")]

    def _left_contexts(self) -> list[Instruction]:
        """Calls the exits where they lie, the innermost first.

        Each is covered by what is around its block: an exception that it raises goes
        through the blocks outside of it.
        """
        made: list[Instruction] = []
        handlers = with_handlers(self.place.form.analysis, self.place.instruction)
        for slot in sorted(self.managers, reverse=True):
            around = self.draft.handler(_around(handlers[slot]))
            depth = len(self.then.layout.slots)
            made += placed(leaving(depth - slot), None, around)
        return made

    def _stored_stack(self) -> list[Instruction]:
        made = []
        for slot, name in reversed([*enumerate(self.then.layout.slots)]):
            if name is None:
                made.append(Instruction("STORE_FAST", self.scratch))
            elif slot in self.managers:
                made.append(Instruction("POP_TOP"))
            else:
                made.append(Instruction("STORE_FAST", self.temporaries[name]))
        return made

    def _marked(self, name: str) -> list[Instruction]:
        """Stores UNBOUND in a local where it is unbound."""
        slot = self.place.form.analysis.slot(Variable(name))
        kind = self.place.state.locals[slot]
        mark = [Instruction("LOAD_CONST", UNBOUND), Instruction("STORE_FAST", name)]
        if not kind & NULL:
            return []
        if name not in self.then.layout.maybe_unbound:
            raise self.body.refusal(
                self.place.instruction.offset,
                f"{name} may be unbound, and {self.then.code.co_name} takes a value",
            )
        if kind == NULL:
            return mark
        caught, end = Instruction("PUSH_EXC_INFO"), Instruction("NOP")
        load = Instruction(RUNNING.load_fast_checked, name, handler=Handler(caught, 0))
        return [
            load,
            Instruction("POP_TOP"),
            Instruction("JUMP_FORWARD", target=end),
            caught,
            Instruction("POP_TOP"),
            *mark,
            Instruction("POP_EXCEPT"),
            end,
        ]


def _moved(name: str) -> list[Instruction]:
    if RUNNING.has_load_fast_and_clear:
        return [Instruction("LOAD_FAST_AND_CLEAR", name)]
    return [Instruction("LOAD_FAST", name), Instruction("DELETE_FAST", name)]


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _around(handler: Handler) -> Handler | None:
    """What handles exceptions outside of the `with` that this handler is of.

    Its first instruction is covered by what cleans up behind it, and that by what is
    around the block.
    """
    cleanup = handler.target.handler
    return None if cleanup is None else cleanup.target.handler
