"""One installation: what is replaced, and what stands in its place."""

from __future__ import annotations

import threading
import weakref
from types import CodeType
from typing import Any

import torch
import torch._dynamo
import torch._dynamo.eval_frame as eval_frame
import torch._dynamo.guards
import torch._dynamo.types

import guardtree as gt
import guardtree.torch as gtt

from . import logs, record
from .entrances import Entrance, ModuleEntrance, is_usual, way_of
from .entries import Cache, Entry
from .frames import Adapter
from .graphs import graph_of
from .guards import LiveRecorder, Maker
from .internals import REPLACED
from .patches import Patches

FrameAction: Any = getattr(torch._dynamo.types, "FrameAction")  # noqa: B009

ENTRIES = 1 << 16
"""Of a code, at most; Dynamo's own limits come first."""
NO_LIMIT = 1 << 30


class ThreadState(threading.local):
    """What Dynamo's hook keeps of a thread."""

    count = -1
    """Compiled frames since a fullgraph call began; -1 where none is counted."""
    skipped = 0


class Session:
    """guardtree in the place of Dynamo's guards, look-up and hook."""

    def __init__(self, is_dual: bool, is_limited: bool) -> None:
        self.is_active = False
        self.is_limited = is_limited
        self.patches = Patches()
        self.cache = Cache()
        self.recorder = LiveRecorder(threading.local())
        self.maker = Maker(self.recorder, is_dual)
        self.thread = ThreadState()
        self.backends: list[Any] = []
        self.skips_guards = False
        self.lock = threading.Lock()
        self.policy: dict[str, Any] = {}
        self.reset_code_of_torch = torch._C._dynamo.eval_frame.reset_code
        self.entrances: weakref.WeakSet[Entrance] = weakref.WeakSet()
        self.module_entrance: ModuleEntrance | None = None
        self.plugin = gtt.plugin()

    def begin(self) -> None:
        """Replaces what internals.py lists; all or nothing."""
        hook = torch._C._dynamo.eval_frame
        try:
            record.install(self.recorder, self.patches)
            builtins = self.builtins()
            for name in REPLACED:
                ours = builtins.get(name) or getattr(self, name.strip("_"))
                self.patches.everywhere(getattr(hook, name), ours)
            # Of isinstance, which takes a tuple: torch has older entries of its own.
            for name, kind in (("CacheEntry", Entry), ("ExtraState", Cache)):
                both = getattr(torch._dynamo.guards, name), kind
                self.patches.set(torch._dynamo.guards, name, both)
            self.watch_compiled_functions()
            if not self.is_limited:
                config = torch._dynamo.config
                for name in ("recompile_limit", "accumulated_recompile_limit"):
                    self.patches.set_attribute(config, name, NO_LIMIT)
            self.policy = gt.set_policy(entry_limit=ENTRIES, when_full="keep")
            self.is_active = True
        except BaseException:
            self.close_entrances()
            self.patches.undo()
            raise

    def end(self) -> None:
        """Everything is as before; calls that are running go on without compiling."""
        self.is_active = False
        try:
            self.close_entrances()
            self.patches.undo()
        finally:
            gt.set_eval_frame(None)
            self.plugin.want_region(-1)
            self.cache.reset_all()
            gt.set_policy(**self.policy)

    def close_entrances(self) -> None:
        """Functions and modules of torch.compile are Dynamo's alone again."""
        for entrance in list(self.entrances):
            entrance.close()
        if self.module_entrance is not None:
            self.module_entrance.close()

    def builtins(self) -> dict[str, Any]:
        """What Dynamo calls so often that no Python function may stand there. Dual mode
        raises differences where a callback is set."""
        found = {
            "get_eval_frame_isolate_recompiles_id": self.plugin.wanted_region,
            "set_eval_frame_isolate_recompiles_id": self.plugin.want_region,
        }
        if not self.maker.is_dual:
            pair = gt.set_eval_frame, self.set_eval_frame
            found["set_eval_frame"] = self.plugin.callback_setter(pair)
        return found

    # What Dynamo calls, by the names in internals.REPLACED.

    def set_eval_frame(self, callback: Any) -> Any:
        """Sets this thread's callback, and the backend whose entries it may run."""
        if callback is not None:
            if callback is False:
                self.plugin.want_backend(0)
            else:
                callback = self.adapter_of(callback)
                self.plugin.want_backend(callback.number)
        if self.maker.differences:
            gt.set_eval_frame(None)
            self.maker.raise_difference()
        return gt.set_eval_frame(callback)

    def get_eval_frame_callback(self) -> Any:
        return gt.get_eval_frame()

    def reset_code(self, code: CodeType) -> None:
        """torch's own entries of before go too: they need what Dynamo forgets."""
        self.cache.reset(code)
        self.reset_code_of_torch(code)

    def set_code_exec_strategy(self, code: CodeType, strategy: Any) -> None:
        if strategy.cur_action == FrameAction.SKIP:
            for entry in self.cache.of(code):
                entry.close_entrances()
            is_recursive = strategy.recursive_action == FrameAction.SKIP
            gt.skip_code(code, recursive=is_recursive)
        elif strategy.cur_action == FrameAction.RUN_ONLY:
            gt.run_only(code)

    def debug_get_cache_entry_list(self, code: Any) -> list[Entry]:
        return self.cache.of(getattr(code, "__code__", code))

    def get_cache_entries_for_region(self, code: CodeType, region: int) -> list[Entry]:
        found = self.cache.of(code)
        return [each for each in found if each.isolate_recompiles_id == region]

    def get_total_cache_entry_count(self, code: CodeType) -> int:
        return len(self.cache.of(code))

    def set_skip_guard_eval_unsafe(self, on: bool) -> bool:
        """Guards are always all checked; only a miss is an error, as in torch."""
        prior, self.skips_guards = self.skips_guards, on
        return prior

    def set_fullgraph_compiled_frame_count(self, count: int) -> int:
        thread = self.thread
        prior = thread.count
        if count == -1 and prior == 0 and not thread.skipped:
            # The hook tells nobody of a hit; a skipped frame was asked about.
            prior = 1
        if count >= 0:
            thread.skipped = 0
        thread.count = count
        return prior

    def set_guard_complete_hook(self, function: Any) -> None:
        if function is not None:
            raise NotImplementedError(
                "guardtree.torch.dynamo has no hook for completed guards (guard "
                "collectives need it): uninstall it before you use them"
            )

    # Functions that torch.compile returns.

    def watch_compiled_functions(self) -> None:
        """New ones get an entrance."""
        context = eval_frame.OptimizeContext
        original = context.__call__

        def call(self_: Any, function: Any) -> Any:
            made = original(self_, function)
            if self.is_active and is_usual(self_, made):
                adapter = self.adapter_of(self_.callback)
                backend = self.backends[adapter.number - 1]
                key = backend, self_._isolate_recompiles_id
                entrance = Entrance(made, self.plugin, self.cache, key)
                self.entrances.add(entrance)
                entrance.renew()
                adapter.entrances.append(weakref.ref(entrance))
            return made

        self.patches.set(context, "__call__", call)
        self.module_entrance = ModuleEntrance(self.plugin)

    def entrances_of(self, frame: gt.Frame, adapter: Adapter) -> list[Any]:
        """Those of functions that such a frame may be of, and the functions."""
        found = []
        for reference in adapter.entrances:
            entrance = reference()
            callee = entrance.callee() if entrance is not None else None
            if (
                callee is not None
                and callee[0].__code__ is frame.f_code
                and callee[0].__globals__ is frame.f_globals
            ):
                found.append((entrance, callee[0]))
        return found

    def tell_others(self, code: CodeType) -> None:
        """Functions of a code that have no entries of their own may use its new one."""
        for entrance in list(self.entrances):
            callee = None if entrance.ways else entrance.callee()
            if callee is not None and callee[0].__code__ is code:
                with entrance.lock:
                    entrance.renew()

    # What the callbacks of frames need.

    def adapter_of(self, callback: Any) -> Adapter:
        """guardtree's callback for one of Dynamo's."""
        if type(callback) is Adapter:
            return callback
        found = getattr(callback, "_guardtree_adapter", None)
        if (
            found is None
            or found.session is not self
            or found.callback is not callback
        ):
            number = self.number_of(eval_frame.innermost_backend(callback))
            found = Adapter(self, callback, number)
            callback._guardtree_adapter = found
        return found

    def number_of(self, backend: Any) -> int:
        """The number of a backend: equal ones of a type have the same."""
        with self.lock:
            for number, known in enumerate(self.backends, 1):
                if known is backend or (
                    type(known) is type(backend) and bool(known == backend)
                ):
                    return number
            self.backends.append(backend)
            return len(self.backends)

    def before_compile(self, frame: gt.Frame) -> None:
        """Errors that a miss is, and why it is one."""
        self.maker.raise_difference()
        if self.skips_guards and self.cache.of(frame.f_code):
            raise RuntimeError(
                "a call missed under skip_guard_eval_unsafe: run all kinds of calls "
                "before you set that stance"
            )
        logs.missed(frame, self.cache)

    def answer(
        self, result: Any, frame: gt.Frame, adapter: Adapter, seconds: float
    ) -> Any:
        """What the hook does after Dynamo's answer, which took so long."""
        guarded, code = result.guarded_code, frame.f_code
        if guarded is None:
            return self.answer_without_code(result, code)
        region = self.plugin.wanted_region()
        wrapper = guarded.guard_manager
        graph = graph_of(guarded.code)
        entrances = self.entrances_of(frame, adapter) if graph else []
        made = self.maker.make(
            frame, wrapper, (adapter.number, region), bool(entrances)
        )
        answer = gt.GuardedCode(guarded.code, made.checked)
        entry = Entry(
            weakref.ref(code),
            guarded.code,
            wrapper,
            guarded.compile_id,
            guarded.trace_annotation,
            adapter.callback,
            self.backends[adapter.number - 1],
            region,
            made.guards,
            made.refused,
            made.python,
            made.checked,
            compile_seconds=seconds,
            guard_ns=made.guard_ns,
            graph=graph or "",
            at_entrance=made.at_entrance,
            comparing=made.comparing,
        )
        self.cache.add(code, entry)
        logs.made(frame, entry)
        for entrance, function in entrances:
            if way := way_of(entry, function):
                entrance.add(way)
        if entrances:
            self.tell_others(code)
        if entry.code is None or entry not in self.cache.of(code):
            entry.close_entrances()  # Another thread took it away meanwhile.
        wrapper.cache_entry, wrapper.extra_state = entry, self.cache
        if self.thread.count >= 0:
            self.thread.count += 1
        return answer

    def answer_without_code(self, result: Any, code: CodeType) -> Any:
        """Dynamo compiled nothing: now, or never."""
        self.thread.skipped += 1
        strategy = result.frame_exec_strategy
        action = strategy.cur_action
        if not result.apply_to_code or action == FrameAction.DEFAULT:
            return gt.ASK_AGAIN
        if action == FrameAction.RUN_ONLY:
            if self.plugin.wanted_region() < 0:  # Another region has its own limit.
                gt.run_only(code)
            return gt.ASK_AGAIN
        if self.thread.count >= 0:
            return gt.ASK_AGAIN  # A fullgraph call is an error each time.
        if strategy.recursive_action == FrameAction.SKIP:
            gt.skip_code(code, recursive=True)
        return None
