"""Whether to read an attribute runs Python code of the value's type, or any code."""

from __future__ import annotations

import inspect
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from guardtree import semantics

MISSING = object()
HEAP_TYPE = 1 << 9


def runs_python(value: Any, name: str) -> bool:
    """Whether `getattr(value, name)` calls a function written in Python."""
    kind = type(value)
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


def is_plain(value: Any, name: str) -> bool:
    """Whether `getattr` finds the attribute in the value itself, and runs no code."""
    try:
        found = semantics.plain_attr(value, name)
    except LookupError:
        return False
    # A field of a C type may be a number in C (co_flags), of which getattr makes an
    # object each time. Python cannot tell it from a field that refers to an int.
    field = inspect.getattr_static(type(value), name, None)
    is_of_c = (
        isinstance(field, MemberDescriptorType)
        and not field.__objclass__.__flags__ & HEAP_TYPE
    )
    return not (is_of_c and type(found) in (bool, float, int, str))
