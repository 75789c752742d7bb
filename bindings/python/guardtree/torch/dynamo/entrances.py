"""The way into compiled functions: a call that fits an entry runs it at once; all
others go through Dynamo's wrapper, as they would without guardtree.

The function that torch.compile returns stays the same object with the same attributes.
Its code becomes one call of a builtin, which has Dynamo's wrapper behind it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
import torch._dynamo.convert_frame as convert_frame
import torch._dynamo.eval_frame as eval_frame

import guardtree as gt

from . import internals, modules
from .entries import Cache, Entry
from .frames import locals_of
from .graphs import runner_of

MAX_WAYS = 64
"""Entries of a function that calls find at once; the hook finds the others."""
KEYWORD, OWN = "_guardtree_call", "_guardtree_entrance"
"""Keyword defaults of the wrapper: what it calls, and what lives as long as it does."""
LEARNS = 4
"""Calls of a function without entries of its own after which others' are tried."""
MISSED = object()
CALLABLES = (FunctionType, MethodType)
"""What torch.compile may have been given, or made of what it was given."""
TEMPLATE = """
def outer({names}):
    def inner(*args, {keyword}, **kwargs):
        if kwargs:
            return {keyword}(*args, **kwargs)
        return {keyword}(*args)
        {names}
    return inner
"""


@dataclass(eq=False)
class Way:
    """One entry, for one function."""

    entry: Entry
    guards: gt.GuardManager
    runner: FunctionType
    target: Callable[..., Any]
    """What calls run: the runner, or what compares before it."""
    function: FunctionType
    code: CodeType
    """What the entry was made for, which may be another by now."""
    counted: Any = None
    """The TableEntry that counts its hits."""


def way_of(entry: Entry, function: FunctionType) -> Way | None:
    """An entry for calls of a function; None where only the hook can run it."""
    guards, graph, code = entry.at_entrance, entry.graph, entry.code
    if guards is None or code is None or graph not in function.__globals__:
        return None
    runner = runner_of(code, graph, function)
    target = entry.comparing(runner, function) if entry.comparing else runner
    return Way(entry, guards, runner, target, function, function.__code__)


class Entrance:
    """A compiled function, and the entries that its calls find at once."""

    def __init__(
        self, wrapper: FunctionType, plugin: Any, cache: Cache, key: tuple[Any, int]
    ) -> None:
        self.plugin, self.cache = plugin, cache
        self.backend, self.region = key
        self.left = LEARNS
        self.wrapper = weakref.ref(wrapper)
        self.code, self.prior = wrapper.__code__, wrapper.__kwdefaults__
        self.slow = FunctionType(
            self.code, wrapper.__globals__, wrapper.__name__, None, wrapper.__closure__
        )
        self.ways: list[Way] = []
        self.lock = threading.RLock()
        # The defaults come first: a call may begin between the two.
        wrapper.__kwdefaults__ = {KEYWORD: self.slow, OWN: self}
        wrapper.__code__ = code_instead_of(self.code)

    def callee(self) -> tuple[FunctionType, Any] | None:
        """The user's function that calls run, and what it is bound to; None where it
        is not known, or gone."""
        return modules.callee_of(self.original())

    def original(self) -> Any:
        """What was given to torch.compile."""
        return getattr(self.wrapper(), "_torchdynamo_orig_callable", None)

    def add(self, way: Way) -> None:
        """One more entry, behind the others."""
        with self.lock:
            if len(self.ways) < MAX_WAYS:
                self.ways.append(way)
                way.entry.entrances.append(weakref.ref(self))
                self.renew()

    def entries_of_others(self, code: CodeType) -> list[Entry]:
        """Entries of a code that other calls of torch.compile made, and that are also
        for this one's backend and region; the oldest first."""
        return [
            each
            for each in reversed(self.cache.of(code))
            if each.at_entrance is not None
            and each.backend is self.backend
            and each.isolate_recompiles_id in (-1, self.region)
        ]

    def learn(self, *args: Any, **named: Any) -> Any:
        """A call that Dynamo's wrapper serves, perhaps by an entry of another function
        of the same code, as modules of one class have: calls find it here as well."""
        result = self.slow(*args, **named)
        with self.lock:
            self.left -= 1
            if not self.ways and (callee := self.callee()) is not None:
                function, bound = callee
                called = function if bound is None else MethodType(function, bound)
                values = locals_of(called, args, named)
                for entry in self.entries_of_others(function.__code__):
                    guards: Any = entry.at_entrance
                    if guards.check(values) and (way := way_of(entry, function)):
                        self.add(way)
                        return result
            self.renew()
        return result

    def remove(self, entry: Entry) -> None:
        """Calls no longer find this entry here."""
        with self.lock:
            kept = [each for each in self.ways if each.entry is not entry]
            if len(kept) != len(self.ways):
                self.ways = kept
                self.renew()

    def hits(self, entry: Entry) -> int:
        """How often calls found this entry here."""
        return sum(
            each.counted.hits
            for each in self.ways
            if each.entry is entry and each.counted is not None
        )

    def renew(self) -> None:
        """Calls that begin from now on see the entries as they are."""
        wrapper, callee = self.wrapper(), self.callee()
        defaults = wrapper.__kwdefaults__ if wrapper is not None else None
        if defaults is None or KEYWORD not in defaults:
            return
        for way in self.ways:
            if way.counted is not None:
                way.entry.found += way.counted.hits
                way.counted = None
        instead: Any = self.slow
        if callee is not None:
            function, bound = callee
            ways = [each for each in self.ways if is_of(each, function)]
            if ways:
                instead = self.call_of(ways, function, bound)
            elif self.left > 0 and self.entries_of_others(function.__code__):
                instead = self.learn
        defaults[KEYWORD] = instead

    def call_of(self, ways: list[Way], function: FunctionType, bound: Any) -> Any:
        """The builtin that looks entries up, then asks Dynamo's wrapper."""
        table = gt.Dispatcher(function)
        for way in ways:
            way.counted = table.add(way.guards, way.target)
        table.add(gt.GuardManager(function), self.plugin.returning(MISSED))
        runner = ways[0].runner
        entries: Any = table if bound is None else MethodType(table, bound)
        return self.plugin.compiled_call((
            entries, self.slow, MISSED, gt.get_eval_frame, function, function.__code__,
            runner.__defaults__, runner.__kwdefaults__,
            torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth,
            vars(eval_frame),
            tuple(part for each in internals.usual_in_threads() for part in each),
            tuple(part for each in internals.flags() for part in each),
            modules.module_parts(self, function),
        ))  # fmt: skip

    def close(self) -> None:
        """Dynamo's wrapper is as it was."""
        with self.lock:
            wrapper = self.wrapper()
            self.ways = []
            if wrapper is not None:
                wrapper.__code__ = self.code
                wrapper.__kwdefaults__ = self.prior


def is_of(way: Way, function: FunctionType) -> bool:
    """Whether an entry was made for a function as it is now."""
    return (
        way.function is function
        and way.code is function.__code__
        and way.runner.__defaults__ is function.__defaults__
        and way.runner.__kwdefaults__ is function.__kwdefaults__
    )


class ModuleEntrance:
    """The `__call__` of the modules that torch.compile returns."""

    def __init__(self, plugin: Any) -> None:
        kind = eval_frame.OptimizedModule
        self.function: Any = vars(kind)["__call__"]
        self.code, self.prior = self.function.__code__, self.function.__kwdefaults__
        original = FunctionType(
            self.code, self.function.__globals__, "__call__", None,
            self.function.__closure__,
        )  # fmt: skip

        def is_plain() -> bool:
            found = vars(kind).get("__call__")
            return found is self.function and modules.is_plain_call(kind)

        parts = modules.class_parts(plugin, kind, is_plain)
        call = plugin.optimized_call((original, parts, modules.GLOBALS, KEYWORD))
        instead = code_instead_of(self.code)
        self.function.__kwdefaults__ = {KEYWORD: call}
        self.function.__code__ = instead

    def close(self) -> None:
        """Torch's own is as it was."""
        self.function.__code__ = self.code
        self.function.__kwdefaults__ = self.prior


def code_instead_of(code: CodeType) -> CodeType:
    """A call of the builtin, under the name and with the closure of a wrapper."""
    names = ", ".join(code.co_freevars)
    scope: dict[str, Any] = {}
    exec(TEMPLATE.format(names=names, keyword=KEYWORD), scope)
    outer = scope["outer"]
    made: CodeType = outer(*code.co_freevars).__code__
    assert made.co_freevars == code.co_freevars
    return made.replace(
        co_filename=code.co_filename,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_firstlineno=code.co_firstlineno,
    )


def is_usual(context: Any, made: Any) -> bool:
    """Whether torch.compile made a wrapper that sets nothing compiled
    code could see: no backend's context manager, no compiled autograd, no export."""
    hooks = {getattr(each, "__name__", "") for each in context.enter_exit_hooks}
    return (
        type(context) is eval_frame.OptimizeContext
        and type(made) is FunctionType
        and made.__code__.co_name == "compile_wrapper"
        and type(getattr(made, "_torchdynamo_orig_callable", None)) in CALLABLES
        and "call_compiled_autograd" not in hooks
        and context._backend_ctx_ctor is eval_frame.null_context
        and not context.export
        and context._package is None
        and type(context.callback) is convert_frame.CatchErrorsWrapper
    )
