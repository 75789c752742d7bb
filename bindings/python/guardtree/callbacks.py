"""The types of callbacks, and ``optimize``, which sets a callback for a while."""

from __future__ import annotations

from contextlib import ContextDecorator
from functools import wraps
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, List, Literal, Optional, TypeVar, Union, cast,
)  # fmt: skip

from ._guardtree import (
    ASK_AGAIN,
    RAISE_ON_MISS,
    CacheEntry,
    Frame,
    GuardedCode,
    set_eval_frame,
)

if TYPE_CHECKING:
    from ._guardtree import Answer as Answer, Mode as Mode
else:  # the extension module creates the two constants and their classes
    Answer, Mode = type(ASK_AGAIN), type(RAISE_ON_MISS)

FrameState = Dict[str, Any]
"""The type of ``frame_state``: a dict that stays on the code object."""

DynamoFrameType = Frame
"""The frame's type, under the name that programs for torch._dynamo use."""

Callback = Callable[
    [Frame, Optional[CacheEntry], FrameState], Union[GuardedCode, Answer, None]
]
"""What ``set_eval_frame`` accepts, besides None, False and RAISE_ON_MISS."""


Function = TypeVar("Function", bound=Callable[..., Any])


class GuardFn:
    """A guard as a callable object: subclass it, define ``__call__(f_locals)``.

    Any callable can be a ``check_fn``; this class makes the intention clear.
    """

    def __call__(self, f_locals: Dict[str, Any]) -> bool:
        """Whether the guarded code may run for these locals."""
        raise NotImplementedError(
            f"{type(self).__name__} must define __call__(self, f_locals) -> bool"
        )


def is_generator(code: CodeType) -> bool:
    """Whether a call of this code creates a generator, coroutine or async generator."""
    return bool(code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))


class optimize(ContextDecorator):
    """Set ``callback`` (as for ``set_eval_frame``) in this thread for a while.

    This is a context manager and a decorator. It always restores the previous callback,
    also after an exception. One object may be entered again while it is in use.
    """

    def __init__(self, callback: Union[None, Literal[False], Mode, Callback]) -> None:
        quiet = callback is None or callback is False or callback is RAISE_ON_MISS
        if not quiet and not callable(callback):
            raise TypeError(
                "optimize takes None (off), False (run what is cached), "
                "RAISE_ON_MISS or "
                f"a callable (frame, cache_entry, frame_state), not {callback!r}"
            )
        self.callback = callback
        self._prior: List[Any] = []

    def __repr__(self) -> str:
        return f"<guardtree.optimize({self.callback!r})>"

    def __enter__(self) -> optimize:
        self._prior.append(None)  # first, because it may run out of memory
        try:
            self._prior[-1] = set_eval_frame(self.callback)
        except BaseException:
            self._prior.pop()
            raise
        return self

    def __exit__(
        self, kind: object = None, error: object = None, trace: object = None, /
    ) -> None:
        """Needs no memory; `*args` would allocate a tuple."""
        set_eval_frame(self._prior[-1])
        self._prior.pop()

    def __call__(self, function: Function) -> Function:
        """A wrapper of the function that sets the callback during its calls."""

        # ContextDecorator's own wrapper is code of contextlib, so the hook would call
        # an outer callback for it.
        @wraps(function)
        def with_callback(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return cast(Function, with_callback)
