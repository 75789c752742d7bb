"""The way into compiled functions: a call that fits an entry runs it at once; all
others go through Dynamo's wrapper, as they would without guardtree.

The function that torch.compile returns stays the same object with the same attributes.
Its code becomes one call of a builtin, which has Dynamo's wrapper behind it.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import torch
import torch._dynamo.convert_frame as convert_frame
import torch._dynamo.eval_frame as eval_frame
import torch.fx._symbolic_trace

import guardtree as gt

from .entries import Entry

MAX_WAYS = 16
"""Entries of a function that calls find at once; the hook finds the others."""
KEYWORD, OWN = "_guardtree_call", "_guardtree_entrance"
"""Keyword defaults of the wrapper: what it calls, and what lives as long as it does."""
MISSED = object()
FLAGS = (
    (torch.compiler, "_is_exporting_flag"),
    (torch.fx._symbolic_trace, "_is_fx_tracing_flag"),
    (torch.autograd.profiler, "_is_profiler_enabled"),
)
"""What the wrapper and the code of entries ask: all False in a usual call."""
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
    counted: Any = None
    """The TableEntry that counts its hits."""


class Entrance:
    """A compiled function, and the entries that its calls find at once."""

    def __init__(self, wrapper: FunctionType, plugin: Any) -> None:
        self.plugin = plugin
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

    def function(self) -> FunctionType | None:
        """What the user wrote; None where that is no function, or gone."""
        wrapper: Any = self.wrapper()
        found = getattr(wrapper, "_torchdynamo_orig_callable", None)
        return found if type(found) is FunctionType else None

    def add(self, way: Way) -> None:
        """One more entry, behind the others."""
        with self.lock:
            if len(self.ways) < MAX_WAYS:
                self.ways.append(way)
                way.entry.entrances.append(weakref.ref(self))
                self.renew()

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
        wrapper, function = self.wrapper(), self.function()
        defaults = wrapper.__kwdefaults__ if wrapper is not None else None
        if defaults is None or KEYWORD not in defaults:
            return
        instead: Any = self.slow
        if self.ways and function is not None:
            instead = self.call_of(function)
        defaults[KEYWORD] = instead

    def call_of(self, function: FunctionType) -> Any:
        """The builtin that looks entries up, then asks Dynamo's wrapper."""
        table = gt.Dispatcher(function)
        for way in self.ways:
            before = way.counted.hits if way.counted is not None else 0
            way.entry.found += before
            way.counted = table.add(way.guards, way.runner)
        table.add(gt.GuardManager(function), self.plugin.returning(MISSED))
        runner = self.ways[0].runner
        return self.plugin.compiled_call((
            table, self.slow, MISSED, gt.get_eval_frame, function, function.__code__,
            runner.__defaults__, runner.__kwdefaults__,
            torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth,
            vars(eval_frame), torch._guards._TLS,
            tuple(part for owner, name in FLAGS for part in (vars(owner), name)),
        ))  # fmt: skip

    def close(self) -> None:
        """Dynamo's wrapper is as it was."""
        with self.lock:
            wrapper = self.wrapper()
            self.ways = []
            if wrapper is not None:
                wrapper.__code__ = self.code
                wrapper.__kwdefaults__ = self.prior


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
    """Whether torch.compile made a wrapper of a function that sets nothing compiled
    code could see: no backend's context manager, no compiled autograd, no export."""
    hooks = {getattr(each, "__name__", "") for each in context.enter_exit_hooks}
    return (
        type(context) is eval_frame.OptimizeContext
        and type(made) is FunctionType
        and made.__code__.co_name == "compile_wrapper"
        and type(getattr(made, "_torchdynamo_orig_callable", None)) is FunctionType
        and "call_compiled_autograd" not in hooks
        and context._backend_ctx_ctor is eval_frame.null_context
        and not context.export
        and context._package is None
        and type(context.callback) is convert_frame.CatchErrorsWrapper
    )
