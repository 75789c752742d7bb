"""``install``: what ``kernel[grid](...)`` calls, and what an entry runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from threading import RLock
from types import FunctionType
from typing import Any, TypeVar

from triton import knobs
from triton.compiler.compiler import CompiledKernel
from triton.knobs import HookChain
from triton.runtime import driver
from triton.runtime.jit import JITFunction

from .. import Dispatcher, GuardManager
from .._guardtree import _kernel_grids, _kernel_launch
from . import facts

OWN_METADATA = CompiledKernel.launch_metadata

OTHER_KERNELS = "get_cache(_device) is not cache"
"""What an entry asks before it runs: caches of other devices, and new ones, differ."""

Kernel = TypeVar("Kernel")

GRIDS = 1024
"""So many grids of a kernel are kept, each with what `kernel[grid]` gave for it."""

GRID, OPTIONS = "_guardtree_grid", "_guardtree_options"


class Installed:
    """What decides a kernel's launches, and what ``uninstall`` restores."""

    def __init__(self, kernel: JITFunction, entry_limit: int) -> None:
        self.kernel = kernel
        self.kind = type(kernel)
        self.names = [*kernel.signature.parameters]
        self.lock = RLock()
        self.unserved: dict[str, int] = {}
        """Why launches went to Triton's run for good: reasons with counts."""
        self.scope = {
            "kernel": kernel,
            "runtime": knobs.runtime,
            "compilation": knobs.compilation,
            "environment": os.environ._data,  # type: ignore[attr-defined]
            "config": driver,
            "missed": self.missed,
        }
        self.launch = launch_function(kernel, self.scope)
        self.dispatcher = Dispatcher(self.launch, entry_limit=entry_limit)

    def missed(self, grid: Any, options: dict[str, Any], given: dict[str, Any]) -> Any:
        """Triton's own launch; then an entry for the kernel that it chose."""
        device = driver.active.get_current_device()
        guards, is_served = GuardManager(self.launch), True
        try:
            # Arguments and state are read before: hooks may change them.
            self.guard_call(guards, options, given)
        except facts.NotServed as reason:
            self.leave(reason)
            is_served = False
        compiled = self.run(grid, options, given)
        if is_served and compiled is not None:
            self.add(guards, grid, options, given, device, compiled)
        return compiled

    def leave(self, reason: Exception) -> None:
        """Counts a launch that guards do not decide."""
        self.unserved[str(reason)] = self.unserved.get(str(reason), 0) + 1

    def run(self, grid: Any, options: dict[str, Any], given: dict[str, Any]) -> Any:
        """Triton's own launch."""
        return self.kernel.run(grid=grid, warmup=False, **given, **options)

    def guard_call(
        self, guards: GuardManager, options: dict[str, Any], given: dict[str, Any]
    ) -> None:
        kernel = self.kernel
        if kernel.pre_run_hooks or knobs.runtime.add_stages_inspection_hook:
            raise facts.NotServed("a hook before the launch")
        backend = kernel.device_caches[driver.active.get_current_device()][3]
        if not getattr(backend, "supports_native_tensor_specialization", False):
            raise facts.NotServed(f"a key of its own in {type(backend).__name__}")
        # What a table finds by a hash goes first: constants before what runs Python.
        facts.guard_options(guards.local(OPTIONS), options)
        for parameter in sorted(kernel.params, key=lambda each: not each.is_constexpr):
            at = guards.local(parameter.name)
            facts.guard_argument(at, given[parameter.name], parameter)

    def add(
        self,
        guards: GuardManager,
        grid: Any,
        options: dict[str, Any],
        given: dict[str, Any],
        device: Any,
        compiled: Any,
    ) -> None:
        """An entry, if the launch still has the key that it had before it."""
        kernel = self.kernel
        try:
            for guard in facts.STATE:  # after compiling, which finds the used globals
                guard(guards, kernel)
            facts.guard_methods(guards, kernel, given.values())
        except facts.NotServed as reason:
            self.leave(reason)
            return
        payload = payload_of(self, device, compiled)
        try:
            for guard in facts.LAUNCH:
                guard(guards, kernel)
            payload = native_payload(self, device, compiled, payload)
        except facts.NotServed:
            pass  # the payload in Python reads all at each launch
        captured = [guards.local(each) for each in (GRID, *self.names, OPTIONS)]
        with self.lock:
            if driver.active.get_current_device() != device:
                return
            if self.dispatcher.find(grid, **given, **options) is not None:
                return  # another thread, or another device, has the same key
            if not guards.check({GRID: grid, **given, OPTIONS: options}):
                return  # the launch changed its own arguments
            self.dispatcher.add(guards, payload, captures=captured)


def launch_function(kernel: JITFunction, scope: dict[str, Any]) -> FunctionType:
    """What calls bind as: the kernel's parameters behind the grid, then options."""
    declared, passed, is_only = [GRID, "/"], [], False
    for name, parameter in kernel.signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise ValueError(
                f"guardtree.triton: {kernel.__name__} takes *{name}, whose number of "
                "arguments is part of the key: leave this kernel to Triton"
            )
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not is_only:
            declared.append("*")
            is_only = True
        if parameter.default is inspect.Parameter.empty:
            declared.append(name)
        else:
            scope[f"default_{name}"] = parameter.default
            declared.append(f"{name}=default_{name}")
        passed.append(f"{name!r}: {name}")
    source = (
        f"def launch({', '.join(declared)}, **{OPTIONS}):\n"
        f"    return missed({GRID}, {OPTIONS}, {{{', '.join(passed)}}})\n"
    )
    exec(source, scope)  # noqa: S102
    made: FunctionType = scope["launch"]
    return made


def payload_of(made: Installed, device: Any, compiled: Any) -> Callable[..., Any]:
    """What an entry runs: Triton's launch of one kernel, from the grid on."""
    arguments = ", ".join(made.names)
    values = ", ".join(f"{each!r}: {each}" for each in made.names)
    scope = {
        "config": driver,
        "knobs_runtime": knobs.runtime,
        "own_run": made.run,
        "cache": made.kernel.device_caches[device],
        "compiled": compiled,
        "run": compiled.run,
        "get_cache": made.kernel.device_caches.get,
    }
    source = (
        f"def payload(_grid, {arguments}{', ' * bool(arguments)}_options):\n"
        "    _active = config._active or config.active\n"
        "    _device = _active.get_current_device()\n"
        f"    if {OTHER_KERNELS}:\n"
        f"        return own_run(_grid, _options, {{{values}}})\n"
        "    if _grid.__class__ is not tuple and callable(_grid):\n"
        f"        _grid = _grid({{{values}}})\n"
        "    _size = len(_grid)\n"
        "    _stream = _active.get_current_stream(_device)\n"
        "    run(_grid[0], _grid[1] if _size > 1 else 1,\n"
        "        _grid[2] if _size > 2 else 1,\n"
        "        _stream, compiled.function, compiled.packed_metadata,\n"
        f"        compiled.launch_metadata(_grid, _stream, {arguments}),\n"
        "        knobs_runtime.launch_enter_hook, knobs_runtime.launch_exit_hook,\n"
        f"        {arguments})\n"
        "    return compiled\n"
    )
    exec(source, scope)  # noqa: S102
    made_payload: Callable[..., Any] = scope["payload"]
    return made_payload


def native_payload(
    made: Installed, device: Any, compiled: Any, general: Callable[..., Any]
) -> Callable[..., Any]:
    """The same in C++; launches on another device run ``general``."""
    hooks = [knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook]
    chained = [each.calls if type(each) is HookChain else None for each in hooks]
    active, caches = driver.active, made.kernel.device_caches
    answers = [active.get_current_device, active.get_current_stream]
    launched = [compiled, compiled.run, OWN_METADATA, tuple(made.names), general]
    return _kernel_launch(
        (*answers, caches, caches[device], *hooks, *chained, *launched)
    )


def install(kernel: Kernel, *, entry_limit: int = 1024) -> Kernel:
    """Lets guardtree decide the launches ``kernel[grid](...)``; returns the kernel.

    Also a decorator above ``@triton.jit``. A second install changes nothing.
    """
    if not isinstance(kernel, JITFunction):
        raise TypeError(
            "guardtree.triton.install: expected what @triton.jit returns, found "
            f"{type(kernel).__name__}: put the decorator above @triton.jit, and below "
            "@triton.autotune or @triton.heuristics"
        )
    if "_guardtree" in vars(kernel):
        return kernel
    if type(kernel) is not JITFunction:
        raise TypeError(
            "guardtree.triton.install: expected a plain JITFunction, found "
            f"{type(kernel).__qualname__}, whose launches may have another key"
        )
    made = Installed(kernel, entry_limit)
    # A subscript is looked up on the type, so each kernel gets a type of its own.
    # Triton knows kernels by the name of their type as well.
    subscript = _kernel_grids(made.dispatcher, GRIDS)
    kind = type("JITFunction", (JITFunction,), {"__getitem__": subscript})
    kind.__module__ = JITFunction.__module__
    vars(kernel)["_guardtree"] = made
    kernel.__class__ = kind
    return kernel


def uninstall(kernel: Kernel) -> Kernel:
    """Gives the launches back to Triton; nothing happens where none is installed."""
    if (made := vars(kernel).pop("_guardtree", None)) is not None:
        kernel.__class__ = made.kind
    return kernel


def dispatcher_of(kernel: Any) -> Dispatcher:
    """The Dispatcher of an installed kernel: ``stats``, ``report``, ``explain``."""
    if (made := vars(kernel).get("_guardtree")) is None:
        raise ValueError(f"guardtree.triton: {kernel.__name__} is not installed")
    found: Dispatcher = made.dispatcher
    return found
