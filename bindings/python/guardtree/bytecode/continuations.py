"""Continuation functions: a function that goes on at any instruction of another.

Its arguments are what the instruction finds: stack slots (`___stack0`, ...), then the
locals that are still needed. It puts them back, with NULLs where the stack had some,
and jumps into the original instructions, which it holds unchanged: loops go on, and
exceptions find the handlers that they would have found.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CellType, CodeType, FunctionType
from typing import Any, Literal

from .bodies import Body, position_at
from .codes import CodeMap
from .contexts import calling
from .drafts import Draft, placed, restored_stack
from .instructions import Instruction
from .layouts import UNBOUND, Layout, active_blocks, layout_of
from .reader import read
from .versions import RUNNING
from .withs import Block

Contexts = Literal["carry", "reenter"]

#: A continuation has none of these, whatever its original has.
_STARS_AND_DOCSTRING = CO_VARARGS | CO_VARKEYWORDS | RUNNING.docstring_flag
_JUMP_IF_FALSE = (
    "POP_JUMP_FORWARD_IF_FALSE" if RUNNING.has_directed_jumps else "POP_JUMP_IF_FALSE"
)


class Continuation:
    """A continuation function's code, and where it belongs.

    code: the code object. offset: of the original's instruction that it goes on at.
    layout: what is passed to it. contexts: "carry" or "reenter".
    """

    def __init__(
        self,
        original: CodeType,
        offset: int,
        layout: Layout,
        contexts: Contexts,
        arguments: Mapping[int, tuple[Any, ...]],
        made: tuple[CodeType, Sequence[Instruction]],
    ) -> None:
        self.code, kept = made
        #: Kept because the cache tells these constants apart by their identity.
        self._arguments = dict(arguments)
        self.offset, self.layout, self.contexts = offset, layout, contexts
        self._original = weakref.ref(original)
        self._offsets = [each.offset for each in kept]

    @property
    def argnames(self) -> tuple[str, ...]:
        """The names of its positional arguments."""
        return self.layout.arguments

    @property
    def original(self) -> CodeType | None:
        """The code that it continues; None when that is gone."""
        return self._original()

    def origin(self, offset: int) -> int | None:
        """The offset in the original of the instruction at an offset of `code`.

        None for one that was made to start the continuation. Raises ValueError where
        `code` has no instruction.
        """
        if offset not in self._origins:
            raise ValueError(
                f"{self.code.co_qualname} has no instruction at offset {offset}"
            )
        return self._origins[offset]

    @cached_property
    def _origins(self) -> dict[int, int | None]:
        return {
            each.offset: offset for each, offset in zip(read(self.code), self._offsets)
        }

    def bind(
        self,
        globals: dict[str, Any],
        closure: Sequence[CellType] | Mapping[str, CellType] | None = None,
    ) -> FunctionType:
        """The continuation as a function.

        closure: a cell for each of `layout.cells`, by name or in that order. Raises
        ValueError where one is missing.
        """
        names = self.code.co_freevars
        if isinstance(closure, Mapping):
            cells = tuple(closure[name] for name in names if name in closure)
        else:
            cells = tuple(closure or ())
        if len(cells) != len(names):
            raise ValueError(
                f"{self.code.co_qualname} needs a cell for each of {names}, and was "
                f"given {len(cells)}"
            )
        return FunctionType(self.code, globals, self.code.co_name, None, cells or None)


_made: CodeMap[dict[Any, Continuation]] = CodeMap()
"""The continuations of each code, by offset, contexts and their arguments."""

_found: CodeMap[Any] = CodeMap()
"""A weak reference to its continuation, by the code of one."""


def continuation(
    code: CodeType,
    offset: int,
    contexts: Contexts = "carry",
    arguments: Mapping[int, tuple[Any, ...]] | None = None,
) -> Continuation:
    """The continuation of `code` before the instruction at this offset.

    contexts says what becomes of active `with` blocks. "carry": they go on, and their
    exit callables are passed as the stack slots that they are; any context manager
    will do. "reenter": the caller has left them; in the place of the exit callable it
    passes what makes the context manager anew, which the continuation calls with the
    constants that `arguments` has for the block's `enter` offset, and enters.

    One object for one instruction of one code object, as long as that lives. Takes
    about 0.5 ms the first time. Raises NotResumable with the reason, ValueError where
    the offset has no instruction.
    """
    if contexts not in ("carry", "reenter"):
        raise ValueError(f'contexts is "carry" or "reenter", not {contexts!r}')
    return continuation_at(Body(code), offset, contexts, arguments or {})


def continuation_at(
    body: Body,
    offset: int,
    contexts: Contexts,
    arguments: Mapping[int, tuple[Any, ...]],
) -> Continuation:
    """`continuation` of a body that is there already."""
    constants = sorted(
        (enter, *map(id, values)) for enter, values in arguments.items() if values
    )
    key = (offset, contexts, tuple(constants) if contexts == "reenter" else ())
    made = _made.get(body.code)
    if made is None:
        made = _made[body.code] = {}
    if key not in made:
        made[key] = _Making(body, offset, contexts, arguments).continuation()
        _found[made[key].code] = weakref.ref(made[key])
    return made[key]


def continuation_of(code: CodeType) -> Continuation | None:
    """The continuation that has this code, where its original is still there."""
    refer = _found.get(code)
    found = refer() if refer else None
    return found if found is not None and found.original is not None else None


class _Making:
    """The making of one continuation."""

    def __init__(
        self,
        body: Body,
        offset: int,
        contexts: Contexts,
        arguments: Mapping[int, tuple[Any, ...]],
    ) -> None:
        self.body, self.offset, self.contexts = body, offset, contexts
        self.arguments = arguments
        self.place = body.before(offset)
        self.layout = layout_of(body, self.place)
        self.draft = Draft(body.code, self.place.form.instructions)

    def continuation(self) -> Continuation:
        code, layout = self.body.code, self.layout
        landing = self.draft.landing(self.place.instruction)
        blocks = (
            active_blocks(self.body, self.place) if self.contexts == "reenter" else []
        )
        stack, handler = restored_stack(
            self.layout, {each.slot: each for each in blocks}, self._slot, self.draft
        )
        jump = Instruction("JUMP_FORWARD", target=landing, handler=handler)
        start = [*self._prologue(), *self._unbinding(), *stack, jump]
        position = position_at(self.place.form.instructions, self.place.at)
        self.draft.start_with(placed(start, position))
        others = [
            name
            for name in code.co_varnames
            if name not in layout.arguments and name not in layout.cells
        ]
        name = f"__resume_in_{code.co_name}_at_{self.offset}"
        scope = code.co_qualname.rpartition(".")[0]
        made = self.draft.assembled(
            co_name=name,
            co_qualname=f"{scope}.{name}" if scope else name,
            co_argcount=len(layout.arguments),
            co_posonlyargcount=0,
            co_kwonlyargcount=0,
            co_flags=code.co_flags & ~_STARS_AND_DOCSTRING,
            co_varnames=(*layout.arguments, *others),
            co_cellvars=(),
            co_freevars=layout.cells,
        )
        return Continuation(
            code, self.offset, layout, self.contexts, self.arguments, made
        )

    def _prologue(self) -> list[Instruction]:
        count = len(self.layout.cells)
        cells = [Instruction("COPY_FREE_VARS", count)] if count else []
        return [*cells, Instruction("RESUME", 0)]

    def _unbinding(self) -> list[Instruction]:
        """Unbinds the locals that UNBOUND was passed for."""
        made = []
        for name in self.layout.arguments:
            if name in self.layout.maybe_unbound:
                end = Instruction("NOP")
                made += [
                    Instruction("LOAD_FAST", name),
                    Instruction("LOAD_CONST", UNBOUND),
                    Instruction("IS_OP", 0),
                    Instruction(_JUMP_IF_FALSE, target=end),
                    Instruction("DELETE_FAST", name),
                    end,
                ]
        return made

    def _slot(self, name: str, block: Block | None) -> list[Instruction]:
        # Unbound at once: a value lives no longer than it did on the stack.
        loads = [Instruction("LOAD_FAST", name), Instruction("DELETE_FAST", name)]
        if block is None:
            return loads
        return [*loads, *calling(self.arguments.get(block.enter.offset, ()))]
