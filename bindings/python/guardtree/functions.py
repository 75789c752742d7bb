"""``guard_function``: guards the calls of one function, with a fall-back for 3.11.

From CPython 3.12 on a function's calls arrive at an entry that can be replaced: the
compiled part does all. CPython 3.11 inlines calls without asking for it, so there the
frame hook guards the function's code, and what asks ``on_miss`` is a Dispatcher.
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any, Literal, overload

from . import _guardtree
from ._guardtree import (
    Dispatcher,
    GuardedCode,
    GuardedFunction,
    GuardManager,
    TableEntry,
)
from .dispatch import MissedCall
from .explanations import CacheExplanation, explain

ATTRIBUTE = "__guardtree__"  # the same as in bind_functions.cpp

IS_GENERATOR = 0x20 | 0x80 | 0x100 | 0x200  # CO_GENERATOR and the like (inspect)
HAS_ARGS, HAS_KWARGS, IS_OPTIMIZED = 0x04, 0x08, 0x01

threads = threading.local()


OnMiss = Callable[[MissedCall], Any]
WhenFull = Literal["evict", "keep"]
ENTRY_LIMIT = 1024
"""How many entries on_miss may make where nothing else is said."""


@overload
def guard_function(
    function: Callable[..., object],
    on_miss: OnMiss | None = None,
    *,
    entry_limit: int | None = None,
    when_full: WhenFull | None = None,
) -> GuardedFunction: ...
@overload
def guard_function(
    *,
    on_miss: OnMiss,
    entry_limit: int | None = None,
    when_full: WhenFull | None = None,
) -> Callable[[Any], Any]: ...
def guard_function(
    function: Callable[..., object] | None = None,
    on_miss: OnMiss | None = None,
    *,
    entry_limit: int | None = None,
    when_full: WhenFull | None = None,
) -> Any:
    """Guards the calls of one function: ``guard_function(f).add(guards, target)``.

    If the arguments of a call pass the guards, ``target`` runs instead of the function.
    It is code with the same arguments, which runs with the function's globals, closure
    and defaults, or any callable, which gets the arguments of the call. The entries
    live as long as the function. Calling this again returns the same object.

    ``add(guards, target, captures={"name": guards.local("x").attr("y")})`` also passes
    on the very values that the guards checked. A callable gets them as additional
    keyword arguments. Code gets them as local variables, which are bound when it
    starts.

    From CPython 3.12 on this uses no hook. A hit costs about 20 ns, and other code pays
    nothing. CPython 3.11 uses the frame hook. There it costs as much as the hook and
    works in threads that have a callback (the current thread gets ``False`` if it has
    none). All functions with the same code share the entries, and a callable gets all
    arguments with defaults bound.

    With ``on_miss`` a call that no entry serves asks ``on_miss(call)`` what calls of
    its kind run: see docs/dispatch.md. ``@guard_function(on_miss=compile)`` decorates a
    function, and works on CPython 3.11 too: there it returns a Dispatcher.

    Raises TypeError for what is no Python function; ValueError where calls would not
    all arrive: functions that another library has taken over, and an ``__init__`` that
    CPython 3.13 and later call past its entry; NotImplementedError for ``on_miss`` on
    CPython 3.11, the decorator aside.
    """
    settings: dict[str, Any] = {"entry_limit": entry_limit, "when_full": when_full}
    if on_miss is not None and entry_limit is None:
        settings["entry_limit"] = ENTRY_LIMIT
    if function is None:
        if on_miss is None:
            raise TypeError(
                "guard_function: expected a function, or on_miss=... for a decorator"
            )
        return lambda decorated: decorate(decorated, on_miss, settings)
    if isinstance(function, Dispatcher):
        return already_dispatched(function, on_miss)
    if is_by_entry():
        return _guardtree.guard_function(function, on_miss, **settings)
    if on_miss is not None:
        raise NotImplementedError(
            "CPython 3.11 does not enter a function's own calls without the frame "
            "hook, so they cannot ask on_miss: call what the decorator returns, "
            "f = guard_function(on_miss=...)(f), or a Dispatcher of f"
        )
    return HookedFunction.of(function)


def is_by_entry() -> bool:
    """Whether a function's own entry can be guarded."""
    return _guardtree.features()["guards_calls_by"] == "entry"


def already_dispatched(dispatcher: Dispatcher, on_miss: OnMiss | None) -> Dispatcher:
    """What the decorator returned on CPython 3.11 is what guards its calls."""
    if on_miss is None or on_miss is dispatcher.on_miss:
        return dispatcher
    raise TypeError(
        "guard_function(dispatcher, on_miss): a Dispatcher keeps the on_miss that it "
        "was made with; make another, of its `original`"
    )


def decorate(decorated: Any, on_miss: OnMiss, settings: dict[str, Any]) -> Any:
    """What takes the place of a decorated object: itself where it is guarded."""
    if isinstance(decorated, (classmethod, staticmethod)):
        inner = decorate(decorated.__func__, on_miss, settings)
        return decorated if inner is decorated.__func__ else type(decorated)(inner)
    if isinstance(decorated, FunctionType) and is_by_entry():
        _guardtree.guard_function(decorated, on_miss, **settings)
        return decorated
    if isinstance(decorated, type):
        raise TypeError(
            f"guard_function(on_miss=...): {decorated!r} would no longer be a class: "
            "decorate a function that makes its instances"
        )
    if isinstance(decorated, property):
        raise TypeError(
            "guard_function(on_miss=...): a property is not called: decorate its "
            "function, below @property"
        )
    given = {name: each for name, each in settings.items() if each is not None}
    return Dispatcher(decorated, on_miss, **given)


class Target(weakref.ref[Any]):
    """The reference of an entry's code to its callable.

    The garbage collector does not see the references of code objects, so a callable
    that refers to its own function would never be freed. Therefore the function's
    HookedFunction keeps the callable alive. A removed entry keeps it alive itself,
    because a call that found the entry may still be running.
    """

    __slots__ = ("kept",)
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def keep(self) -> None:
        self.kept = self()


def reference_to(target: Callable[..., Any]) -> Callable[[], Any]:
    """An object that returns the callable when it is called."""
    try:
        return Target(target)
    except TypeError:  # it does not support weak references
        return lambda: target


def own_name(wanted: str, taken: tuple[str, ...]) -> str:
    """A variable name that is not taken."""
    while wanted in taken:
        wanted += "_"
    return wanted


def code_calling(
    reference: Callable[[], Any], like: CodeType, bound: tuple[str, ...] = ()
) -> CodeType:
    """Code with the arguments of ``like``, which calls the target with them.

    The target is the result of ``reference()``. The reference is a constant of the
    code, so the code runs in frames of any function. Locals named ``bound``, which are
    bound when it starts, are passed by keyword.
    """
    if like.co_flags & IS_GENERATOR or not like.co_flags & IS_OPTIMIZED:
        raise ValueError(
            f"on CPython 3.11 calls of {like.co_qualname!r} can be replaced by code "
            "only: its frames are those of a generator, coroutine or class body"
        )
    count = like.co_argcount + like.co_kwonlyargcount
    names = like.co_varnames[: count + 2]
    positional = list(names[: like.co_argcount])
    keyword = names[like.co_argcount : count]
    extra = iter(names[count:])
    takes, gives = positional.copy(), positional.copy()
    if like.co_posonlyargcount:
        takes.insert(like.co_posonlyargcount, "/")
    if like.co_flags & HAS_ARGS:
        rest = next(extra)
        takes.append(f"*{rest}")
        gives.append(f"*{rest}")
    elif keyword:
        takes.append("*")
    takes += keyword
    gives += [f"{name}={name}" for name in keyword]
    if like.co_flags & HAS_KWARGS:
        named = next(extra)
        takes.append(f"**{named}")
        gives.append(f"**{named}")
    gives += [f"{name}={name}" for name in bound]
    binds = f"    if 0: {' = '.join(bound)} = 0\n" if bound else ""
    called = own_name("target", (*like.co_varnames, *bound))
    mark = "the callable of an entry"
    source = (
        f"def {like.co_name if like.co_name.isidentifier() else 'call'}"
        f"({', '.join(takes)}):\n{binds}"
        f"    {called} = {mark!r}\n"
        f"    return {called}()({', '.join(gives)})\n"
    )
    module = compile(source, like.co_filename, "exec")
    made = next(each for each in module.co_consts if isinstance(each, CodeType))
    constants = tuple(reference if each == mark else each for each in made.co_consts)
    return made.replace(co_consts=constants)


def hooked_here() -> weakref.WeakSet[HookedFunction]:
    """The HookedFunctions of this thread. Weak: a dead one does not keep the hook."""
    found: weakref.WeakSet[HookedFunction] = threads.__dict__.setdefault(
        "hooked", weakref.WeakSet()
    )
    return found


class HookedFunction:
    """A GuardedFunction on CPython 3.11. Its entries belong to the function's code."""

    def __init__(self, function: FunctionType) -> None:
        self._function = weakref.ref(function)
        self._code = function.__code__
        self._unguarded = function.__code__.replace()
        # What they run: their code, or the callable and what its code has for it.
        self._entries: dict[TableEntry, tuple[Any, Any]] = {}
        self._is_restored = self._is_over = False
        hooked_here().add(self)

    def __repr__(self) -> str:
        count = len(self._entries)
        function = self._function()
        name = function.__qualname__ if function else "None"
        entries = "1 entry" if count == 1 else f"{count} entries"
        return f"<guardtree.GuardedFunction of {name}: {entries}>"

    @classmethod
    def of(cls, given: Callable[..., object]) -> HookedFunction:
        """The HookedFunction of a function, created if none matches its code."""
        function: Any = given
        if isinstance(function, MethodType):
            function = function.__func__
        if not isinstance(function, FunctionType):
            raise TypeError(
                "guard_function(function): expected a Python function (of a class or "
                f"static method: its __func__), found {function!r} "
                f"({type(function).__name__})"
            )
        found: Any = getattr(function, ATTRIBUTE, None)
        is_its = isinstance(found, cls) and found.function is function
        if not is_its or found._is_restored or found._code is not function.__code__:
            if is_its:
                found.restore()
            found = cls(function)
            setattr(function, ATTRIBUTE, found)
        assert isinstance(found, cls)
        if _guardtree.get_eval_frame() is None:
            _guardtree.set_eval_frame(False)
        return found

    def __len__(self) -> int:
        return len(self.entries())

    @property
    def original(self) -> FunctionType | None:
        """The function with code that nobody guards; None when it is gone."""
        function = self._function()
        if function is None:
            return None
        made = FunctionType(
            self._unguarded,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__ = function.__qualname__
        return made

    def explain(self, /, *args: Any, **kwargs: Any) -> CacheExplanation:
        """Why a call would miss: every entry's failed guards."""
        function = self.function
        if function is None:
            raise ReferenceError("the guarded function is gone")
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        return explain(function, bound.arguments)

    def differences(self) -> dict[str, list[str]]:
        """The facts that entries do not agree on, with what each entry demands."""
        return _guardtree.differences(self._code)

    @property
    def function(self) -> FunctionType | None:
        """The function, or None if it has died."""
        return self._function()

    def add(
        self,
        guards: GuardManager,
        target: CodeType | Callable[..., Any],
        *,
        captures: dict[str, GuardManager] | None = None,
    ) -> TableEntry:
        """Adds an entry after all others: the current guards and a target."""
        if self._is_restored or self.function is None:
            raise ValueError(
                "this guards no function any more: call guard_function again"
            )
        if not isinstance(guards, GuardManager):
            raise TypeError(f"expected a GuardManager, found {guards!r}")
        names = _guardtree._names_for_calls(self._code, guards, captures)
        reference: Callable[[], Any] | None = None
        if isinstance(target, CodeType):
            code = target
        elif target is self.function:
            raise ValueError(
                "the guarded function cannot be its own target, which would call "
                "itself without end: give other code, or another callable"
            )
        elif callable(target):
            reference = reference_to(target)
            code = code_calling(reference, self._code, names)
        else:
            raise TypeError(
                "add(target): expected a code object or a callable, found "
                f"{target!r} ({type(target).__name__})"
            )
        guarded = GuardedCode(code, guards, captures=captures)
        return _guardtree._add_listed_entry(
            self._code, guarded, self._entries, (target, reference), target
        )

    def remove(self, entry: TableEntry) -> None:
        """Removes an entry. Raises ValueError if it is not in the table."""
        if entry not in self._entries:
            raise ValueError("this entry is not in the table")
        _, reference = self._entries[entry]
        if isinstance(reference, Target):
            reference.keep()
        try:
            _guardtree._remove_listed_entry(self._code, entry, "removed")
        except MemoryError:  # it is still in both
            raise
        except BaseException:
            self._entries.pop(entry, None)
            raise
        self._entries.pop(entry, None)

    def entries(self) -> list[TableEntry]:
        """The entries, the oldest first."""
        return list(self._entries)

    def restore(self) -> bool:
        """Removes all entries. The last one of a thread turns its hook off."""
        if self._is_over:
            return True
        self._is_restored = True
        while self._entries:
            try:
                self.remove(next(reversed(self._entries)))
            except ValueError:  # the code's cache has dropped it
                pass
        function = self.function
        if function is not None and getattr(function, ATTRIBUTE, None) is self:
            delattr(function, ATTRIBUTE)
        hooked_here().discard(self)
        if not hooked_here() and _guardtree.get_eval_frame() is False:
            _guardtree.set_eval_frame(None)
        self._is_over = True  # if memory runs out before, the next call continues
        return True

    def __del__(
        self, remove: Callable[..., None] = _guardtree._remove_listed_entry
    ) -> None:
        """Removes the entries, because other functions may have the same code."""
        for entry in self._entries:
            try:
                remove(self._code, entry, "its function is gone")
            except ValueError:  # the code's cache has dropped it
                pass

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def stats(self) -> dict[str, int]:
        """hits, misses, errors, entries, other_code (0: such calls are not seen)."""
        stats = _guardtree.code_stats(self._code)
        counts = {name: int(stats[name]) for name in ("hits", "misses", "errors")}
        return {**counts, "entries": len(self), "other_code": 0}


Guarded = GuardedFunction | HookedFunction | Dispatcher
