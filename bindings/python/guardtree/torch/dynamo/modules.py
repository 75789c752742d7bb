"""Modules whose call does nothing but call `forward`: what nn.Module.__call__ asks is
looked at here once for the class, and in module_call.h at each call for the module."""

from __future__ import annotations

import inspect
import time
import weakref
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.modules.module as module_of_modules

if TYPE_CHECKING:
    from .entrances import Entrance

MODULE = torch.nn.Module
CALL, CALL_IMPL = vars(MODULE)["_wrapped_call_impl"], vars(MODULE)["_call_impl"]
GLOBALS = vars(module_of_modules)
"""Has the hooks of all modules."""
LOOKS, PAUSE = 64, 0.1
"""How often a class that changed is looked at again at once; from then on, how many
seconds pass between two looks."""
IN_DICT = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks",
           "_forward_pre_hooks", "_compiled_call_impl")  # fmt: skip
"""Attributes of a module that are in its own dict, unless its class has properties."""


def is_plain_call(kind: type) -> bool:
    """Whether a class of modules reads attributes and is called as nn.Module is."""
    static = inspect.getattr_static
    return (
        vars(MODULE)["__call__"] is CALL
        and CALL.__code__.co_name == "_wrapped_call_impl"
        and static(kind, "__getattribute__") is object.__getattribute__
        and static(kind, "_wrapped_call_impl") is CALL
        and static(kind, "_call_impl") is CALL_IMPL
        and all(static(kind, name, None) is None for name in IN_DICT)
    )


def forward_of(module: Any) -> FunctionType | None:
    """What a call of the module runs; None where more than that may run."""
    kind = type(module)
    if not isinstance(module, MODULE) or not is_plain_call(kind):
        return None
    if "forward" in vars(module) or "_call_impl" in vars(module):
        return None
    found = inspect.getattr_static(kind, "forward")
    return found if type(found) is FunctionType else None


def callee_of(original: Any) -> tuple[FunctionType, Any] | None:
    """The function of the frame that a compiled callable runs first, and what it is
    bound to; None where that is not known."""
    if type(original) is FunctionType:
        return original, None
    if type(original) is not MethodType:
        return None
    function, owner = original.__func__, original.__self__
    if function is CALL or function is CALL_IMPL:
        forward = forward_of(owner)
        return None if forward is None else (forward, owner)
    return (function, owner) if type(function) is FunctionType else None


def class_parts(plugin: Any, kind: type, is_plain: Any) -> list[Any]:
    """A class for ClassPart of module_call.h."""
    left, last = LOOKS, 0.0

    def look() -> int | None:
        nonlocal left, last
        left -= 1
        now = time.monotonic()
        if left < 0 and now < last + PAUSE:
            return None
        last = now
        version: int = plugin.class_version(kind)
        return version if is_plain() else None

    return [kind, plugin.class_version(kind) if is_plain() else 0, look]


def module_parts(entrance: Entrance, forward: FunctionType) -> Any:
    """For ModulePart of module_call.h; None where no module is called."""
    original = entrance.original()
    function = getattr(original, "__func__", None)
    if function is not CALL and function is not CALL_IMPL:
        return None
    kind, known = type(original.__self__), weakref.ref(entrance)

    def is_plain() -> bool:
        if not is_plain_call(kind):
            return False
        if inspect.getattr_static(kind, "forward", None) is forward:
            return True
        if (found := known()) is not None:
            found.renew()  # Entries of what is `forward` now may be there.
        return False

    parts = class_parts(entrance.plugin, kind, is_plain)
    return original.__self__, parts, GLOBALS, function is CALL
