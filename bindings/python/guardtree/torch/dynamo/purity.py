"""Whether to read an attribute runs Python code of the value's type, or any code."""

from __future__ import annotations

import inspect
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import guardtree as gt

MISSING = object()


def runs_python(value: Any, name: str) -> bool:
    """Whether `getattr(value, name)` calls a function written in Python."""
    kind = type(value)
    if kind is ModuleType and name in vars(value):
        return False
    if isinstance(inspect.getattr_static(kind, "__getattribute__"), FunctionType):
        return True
    found = inspect.getattr_static(value, name, MISSING)
    if found is MISSING:
        hook = inspect.getattr_static(kind, "__getattr__", MISSING)
        if isinstance(value, ModuleType) and hook is MISSING:
            hook = vars(value).get("__getattr__", MISSING)
        return hook is not MISSING
    own = getattr(value, "__dict__", {})
    if isinstance(value, type) or name in own:
        return False
    if isinstance(found, property):
        return isinstance(found.fget, FunctionType)
    get = inspect.getattr_static(type(found), "__get__", MISSING)
    return isinstance(get, FunctionType)


def reads_as_module(kind: type, name: str) -> bool:
    """Whether a subclass of ModuleType leaves a name to the modules' own dicts."""
    own = inspect.getattr_static(kind, "__getattribute__")
    is_modules = own is vars(ModuleType)["__getattribute__"]
    return is_modules and inspect.getattr_static(kind, name, MISSING) is MISSING


def scope(value: Any) -> None:
    """What the guards below are for."""


def is_plain(value: Any, name: str) -> bool:
    """Whether `plain_attr` fetches an attribute: `getattr` runs no code and makes no
    object. The engine is asked, because Python cannot tell everything: a field of a C
    type may be a number in C (co_flags), of which `getattr` makes an object each time.
    """
    return guards_of_plain(name).check({"value": value})


def is_plainly_absent(value: Any, name: str) -> bool:
    """Whether `getattr` raises AttributeError, and runs no code."""
    return guards_of_absent(name).check({"value": value})


@lru_cache(1024)
def guards_of_plain(name: str) -> gt.GuardManager:
    """That `plain_attr` fetches an attribute of any value."""
    guards = gt.GuardManager(scope)
    guards.local("value").plain_attr(name).exists()
    return guards


@lru_cache(1024)
def guards_of_absent(name: str) -> gt.GuardManager:
    """That `getattr` of any value raises AttributeError, and runs no code."""
    guards = gt.GuardManager(scope)
    guards.local("value").lacks_plain_attr(name)
    return guards
