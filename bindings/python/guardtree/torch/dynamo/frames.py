"""guardtree's callback for a callback of Dynamo's, and the frame it is given."""

from __future__ import annotations

import inspect
import random
import sys
import time
import weakref
from types import CellType, CodeType
from typing import TYPE_CHECKING, Any

import guardtree as gt

if TYPE_CHECKING:
    from .entrances import Entrance
    from .session import Session

NOT_STARTED = -1 if sys.version_info < (3, 13) else 0
"""f_lasti of a frame that Dynamo takes for one that has not begun."""


class DynamoFrame:
    """A frame about to run, as Dynamo's own hook describes it."""

    __slots__ = (
        "closure", "f_back", "f_builtins", "f_code", "f_globals", "f_lasti",
        "f_lineno", "f_locals",
    )  # fmt: skip

    def __init__(self, frame: gt.Frame) -> None:
        self.f_code: CodeType = frame.f_code
        self.f_locals: dict[str, Any] = frame.f_locals
        self.f_globals: dict[str, Any] = frame.f_globals
        self.f_builtins: dict[str, Any] = frame.f_builtins
        self.f_lineno = frame.f_lineno
        self.f_lasti, self.f_back = NOT_STARTED, None
        self.closure: tuple[CellType, ...] = frame.closure or ()


def locals_of(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The locals of a call of a function or a method, with its closure."""
    bound = inspect.signature(function, follow_wrapped=False).bind(*args, **named)
    bound.apply_defaults()
    values = dict(bound.arguments)
    plain = getattr(function, "__func__", function)
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or ()):
        values.setdefault(name, cell.cell_contents)
    if inspect.ismethod(function):
        values = {plain.__code__.co_varnames[0]: function.__self__, **values}
    return values


class Adapter:
    """What guardtree's hook asks about a miss: it asks Dynamo's callback."""

    def __init__(self, session: Session, callback: Any, number: int) -> None:
        self.session = session
        self.callback = self._torchdynamo_orig_backend = callback
        self.number = number
        """Of its backend."""
        self.entrances: list[weakref.ref[Entrance]] = []
        """Of the compiled functions that set this callback."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Adapter:
        """Of a copied callback of Dynamo's, which gets an adapter of its own."""
        return self

    def __call__(
        self, frame: gt.Frame, cache_entry: Any, frame_state: dict[str, Any]
    ) -> Any:
        session = self.session
        if not session.is_active:
            # A call that was running when guardtree was uninstalled: torch's hook may
            # have been given this callback as the one before.
            if type(frame) is not gt.Frame:
                return self.callback(frame, cache_entry, frame_state)
            gt.set_eval_frame(None)
            return gt.ASK_AGAIN
        session.before_compile(frame)
        entries = session.cache.of(frame.f_code)
        before, begin = random.getstate(), time.perf_counter()
        try:
            result = self.callback(
                DynamoFrame(frame), entries[0] if entries else None, frame_state
            )
        finally:
            random.setstate(before)
            session.recorder.open.clear()
        return session.answer(result, frame, self, time.perf_counter() - begin)
