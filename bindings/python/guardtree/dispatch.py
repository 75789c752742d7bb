"""What ``on_miss`` is given, and what a ``Dispatcher`` is made of."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from ._guardtree import Dispatcher, GuardedFunction, GuardManager, TableEntry
from .misses import GuardMiss

if TYPE_CHECKING:
    from typing import NoReturn

HAS_ARGS, HAS_KWARGS = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS
COPIED = ("__module__", "__name__", "__qualname__", "__doc__")


class MissedCall:
    """A call that no entry serves, as ``on_miss`` gets it.

    ``on_miss`` fills ``guards``, which say when the same result may serve a call, and
    returns what such calls run. It may set ``captures``: see ``add``.
    """

    __slots__ = (
        "args",
        "arguments",
        "captures",
        "dispatcher",
        "guards",
        "kwargs",
    )

    def __init__(
        self,
        dispatcher: Dispatcher | GuardedFunction,
        guards: GuardManager,
        arguments: dict[str, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.dispatcher = dispatcher
        """The Dispatcher or GuardedFunction that was called."""
        self.guards = guards
        """Guards without a check, to be filled."""
        self.arguments = arguments
        """The arguments by name, bound as the function does, with its defaults."""
        self.args = args
        self.kwargs = kwargs
        """The arguments as the call gave them."""
        self.captures: dict[str, GuardManager] | Sequence[GuardManager] | None = None

    def __repr__(self) -> str:
        return f"<guardtree.MissedCall with {', '.join(self.arguments) or 'nothing'}>"

    @property
    def original(self) -> Callable[..., Any] | None:
        """What runs the call as it is, past the guards; None where nothing does."""
        found: Callable[..., Any] | None = self.dispatcher.original
        return found

    def find(self) -> TableEntry | None:
        """The entry that would serve the call now: another thread may have added it."""
        return self.dispatcher.find(*self.args, **self.kwargs)


def raise_miss(
    dispatcher: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> NoReturn:
    """Where nobody can be asked about a call, and nothing below runs it."""
    raise GuardMiss(dispatcher.explain(*args, **kwargs))


def function_with(signature: inspect.Signature, name: str) -> FunctionType:
    """A function whose calls bind as the signature says; its code does nothing."""
    parameters = signature.parameters.values()

    def names(*kinds: Any) -> list[str]:
        return [each.name for each in parameters if each.kind in kinds]

    only = names(inspect.Parameter.POSITIONAL_ONLY)
    positional = names(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    keyword = names(inspect.Parameter.KEYWORD_ONLY)
    rest = names(inspect.Parameter.VAR_POSITIONAL)
    more = names(inspect.Parameter.VAR_KEYWORD)
    variables = (*only, *positional, *keyword, *rest, *more)
    template = nothing.__code__
    code = template.replace(
        co_argcount=len(only) + len(positional),
        co_posonlyargcount=len(only),
        co_kwonlyargcount=len(keyword),
        co_varnames=variables,
        co_nlocals=len(variables),
        co_flags=template.co_flags | HAS_ARGS * bool(rest) | HAS_KWARGS * bool(more),
        co_name=name,
        co_qualname=name,
    )
    given = {
        each.name: each.default
        for each in parameters
        if each.default is not inspect.Parameter.empty
    }
    defaults = tuple(given[each] for each in (*only, *positional) if each in given)
    made = FunctionType(code, {}, name, defaults)
    made.__kwdefaults__ = {each: given[each] for each in keyword if each in given}
    return made


def nothing() -> None:
    """The template of functions that only bind."""


def signature_of(called: Callable[..., Any]) -> inspect.Signature:
    """Its signature; ValueError where it tells none."""
    try:
        return inspect.signature(called)
    except ValueError:
        raise ValueError(
            f"{called!r} tells no signature, so its calls cannot be bound: give a "
            "Python function that calls it"
        ) from None


def underlying(
    signature: Callable[..., Any] | inspect.Signature | CodeType,
) -> tuple[FunctionType, Callable[..., Any] | None, dict[str, Any]]:
    """The function that a Dispatcher's calls bind as, what runs plain, attributes."""
    if isinstance(signature, CodeType):
        cells = tuple(CellType() for _ in signature.co_freevars)
        made = FunctionType(signature, {}, signature.co_name, None, cells)
        return made, None, {"__name__": signature.co_name}
    if isinstance(signature, inspect.Signature):
        made = function_with(signature, "call")
        return made, None, {"__signature__": signature}
    if isinstance(signature, classmethod) or not callable(signature):
        raise TypeError(
            "Dispatcher(signature): expected a Python function or another callable, an "
            f"inspect.Signature or a code object, found {signature!r} "
            f"({type(signature).__name__})"
            + (": give its __func__" if isinstance(signature, classmethod) else "")
        )
    attributes = {
        name: getattr(signature, name) for name in COPIED if hasattr(signature, name)
    }
    attributes["__wrapped__"] = signature
    if isinstance(signature, FunctionType):
        return signature, signature, attributes
    name = getattr(signature, "__qualname__", type(signature).__qualname__)
    return function_with(signature_of(signature), name), signature, attributes
