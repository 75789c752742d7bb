"""Code that runs a function up to one instruction, and the rest as a continuation.

The instruction that an evaluator cannot take in runs where it is in the original code,
so its exceptions find their handlers. Behind it, control leaves to a tail outside of
every block (see `tails`), which calls the continuation and returns what that returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType

from .bodies import Body, Form, Place, is_conditional_jump, position_at
from .contexts import Context
from .continuations import Contexts, Continuation, continuation_at, continuation_of
from .drafts import Draft, placed
from .instructions import Instruction
from .preludes import Prelude
from .tails import Tail
from .versions import Operand


@dataclass(frozen=True)
class GraphBreak:
    """What a broken function is made of.

    code: runs instead of the original, in its frames. continuations: what it goes on
    with, one; of a branch two, the one behind the jump and the one at its target.
    """

    code: CodeType
    continuations: tuple[Continuation, ...]


def graph_break(
    code: CodeType,
    offset: int,
    prelude: Prelude | None = None,
    contexts: Contexts = "carry",
    managers: Mapping[int, Context] | None = None,
) -> GraphBreak:
    """Breaks a function after the instruction at this offset.

    prelude: what runs instead of all that is before the instruction; without one that
    runs as it is. contexts: what becomes of `with` blocks that are active behind the
    instruction, see `continuation`. "reenter" leaves them first, and passes what makes
    their managers anew: `managers` has it for the `enter` offset of each; those of the
    prelude need not be repeated.

    `code` may be that of a continuation: what comes behind is then a continuation of
    the original, so that breaks do not multiply. About 0.6 ms for a function of the
    standard library. Raises NotResumable with the reason, ValueError where the offset
    has no instruction or something is missing in prelude or managers.
    """
    breaking = _Breaking(code, offset, prelude, contexts, managers)
    breaking.check_plain()
    return breaking.after()


def branch_break(
    code: CodeType,
    offset: int,
    prelude: Prelude | None = None,
    contexts: Contexts = "carry",
    managers: Mapping[int, Context] | None = None,
) -> GraphBreak:
    """Breaks a function at a conditional jump: each way goes on in its continuation.

    The jump itself runs in the code that is made. Otherwise like `graph_break`.
    """
    breaking = _Breaking(code, offset, prelude, contexts, managers)
    breaking.check_branch()
    return breaking.branches()


def enter_at(code: CodeType, offset: int, prelude: Prelude) -> CodeType:
    """Code with the parameters of `code`, which starts at the instruction at offset.

    The prelude makes what that needs. Raises as `graph_break` does.
    """
    return _Breaking(code, offset, prelude, "carry", None).entering()


def leave_after(
    code: CodeType,
    offset: int,
    then: Continuation,
    managers: Mapping[int, Context] | None = None,
) -> CodeType:
    """Code that goes on in a continuation after the instruction at this offset.

    `then` has to take what is there, as the one that `graph_break` makes does. Raises
    as `graph_break` does, NotResumable too where `then` takes other slots.
    """
    breaking = _Breaking(code, offset, None, then.contexts, managers)
    breaking.check_plain()
    return breaking.after(then).code


class _Breaking:
    """The making of one break."""

    def __init__(
        self,
        code: CodeType,
        offset: int,
        prelude: Prelude | None,
        contexts: Contexts,
        managers: Mapping[int, Context] | None,
    ) -> None:
        self.body = Body(code)
        self.offset, self.prelude, self.contexts = offset, prelude, contexts
        self.managers = {**(prelude.contexts if prelude else {}), **(managers or {})}
        self.outer = continuation_of(code)

    def check_plain(self) -> None:
        """Raises NotResumable where control does not simply go on behind."""
        instruction = self.body.check_break(self.offset)
        if instruction.operand is Operand.JUMP:
            hint = ", see branch_break" if is_conditional_jump(instruction) else ""
            raise self.body.refusal(
                self.offset, f"{instruction.opname} is a jump{hint}"
            )

    def check_branch(self) -> None:
        """Raises NotResumable where there are not two ways to go on."""
        instruction = self.body.check_break(self.offset)
        if not is_conditional_jump(instruction):
            raise self.body.refusal(
                self.offset, f"{instruction.opname} is not a conditional jump"
            )

    def after(self, then: Continuation | None = None) -> GraphBreak:
        """The break behind a plain instruction."""
        following = self.body.next_offset(self.offset)
        then = then or self._continuation(following)
        draft, form = self._started([following])
        self._leave_behind(draft, form, following, then)
        return GraphBreak(self._assembled(draft), (then,))

    def branches(self) -> GraphBreak:
        """The break at a conditional jump."""
        jump = self.body.check_break(self.offset)
        following, target = self.body.next_offset(self.offset), jump.target.offset
        behind, there = self._continuation(following), self._continuation(target)
        draft, form = self._started([following, target])
        self._leave_behind(draft, form, following, behind)
        broken = draft.copy(form.instructions[form.last[self.offset]])
        broken.target = self._tail(draft, form, target, there)
        return GraphBreak(self._assembled(draft), (behind, there))

    def entering(self) -> CodeType:
        """The prelude and the rest, unbroken."""
        return self._assembled(self._started([])[0])

    def _continuation(self, offset: int) -> Continuation:
        """What goes on there: of the original, where this is a continuation itself."""
        body, goes_on_at = self.body, offset
        if self.outer is not None:
            original = self.outer.original
            assert original is not None  # or it would not be a continuation's code
            body = Body(original)
            at, broken = self.outer.origin(offset), self.outer.origin(self.offset)
            if at is None or broken is None:
                raise self.body.refusal(
                    self.offset, "that was made to start the continuation"
                )
            if at == broken:
                raise self.body.refusal(
                    self.offset,
                    f"it is one of several that stand for the instruction at {at} of "
                    f"{body.code.co_qualname}, and not the last",
                )
            goes_on_at = at
        constants = {enter: each.arguments for enter, each in self.managers.items()}
        return continuation_at(body, goes_on_at, self.contexts, constants)

    def _started(self, offsets: Sequence[int]) -> tuple[Draft, Form]:
        """A draft in the form that these places need, with the prelude in it."""
        body = self.body
        entered = [self.offset] if self.prelude is not None else []
        forms = [body.before(each).form for each in (*offsets, *entered)]
        is_short = all(form is body.short for form in forms)
        form = body.short if is_short else body.long
        draft = Draft(body.code, form.instructions)
        if self.prelude is not None:
            made = self.prelude.instructions(
                body, self._place(form, self.offset), draft
            )
            draft.insert_behind(form.instructions[body.start], made)
        return draft, form

    def _place(self, form: Form, offset: int) -> Place:
        return form.place(form.first[offset])

    def _leave_behind(
        self, draft: Draft, form: Form, following: int, then: Continuation
    ) -> None:
        broken = form.instructions[form.last[self.offset]]
        tail = self._tail(draft, form, following, then)
        jump = Instruction("JUMP_FORWARD", target=tail)
        handler = draft.handler(broken.handler)
        draft.insert_behind(broken, placed([jump], broken.position, handler))

    def _tail(
        self, draft: Draft, form: Form, offset: int, then: Continuation
    ) -> Instruction:
        place = self._place(form, offset)
        made = Tail(self.body, place, then, self.managers, draft).instructions()
        position = position_at(form.instructions, form.last[self.offset])
        return draft.append(placed(made, position))

    def _assembled(self, draft: Draft) -> CodeType:
        return draft.assembled(co_varnames=draft.varnames())[0]
