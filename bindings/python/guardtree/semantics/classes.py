"""Functions on classes: the MRO, and the dicts in which attributes are looked up."""

from __future__ import annotations

import ctypes
from types import WrapperDescriptorType
from typing import Any

MISSING = object()
WRAPPED = 48  # where a slot wrapper has its C function: d_wrapped in descrobject.h


def mro_of(kind: type) -> tuple[type, ...]:
    """The MRO that CPython uses for a type. An overridden ``mro`` does not run.

    Raises TypeError if ``kind`` is not a type.
    """
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


def is_a(value: Any, kind: type) -> bool:
    """Whether the value's type is ``kind`` or has it in its MRO.

    Unlike ``isinstance``, it uses neither ``__class__`` nor ``__instancecheck__``, so
    no user code runs.
    """
    return any(each is kind for each in mro_of(type(value)))


def dict_of_type(kind: type) -> dict[str, Any]:
    """A copy of the dict of a type's own attributes. TypeError if it is not a type."""
    return dict(type.__dict__["__dict__"].__get__(kind))


def named(entries: dict[Any, Any], name: str) -> Any:
    """The value of an exact str among keys of any type, or MISSING."""
    for key, value in dict.items(entries):
        if type(key) is str and key == name:
            return value
    return MISSING


def found_in_mro(kind: type, name: str) -> Any:
    """The value in the first dict of a type's MRO that has the name, or MISSING."""
    for each in mro_of(kind):
        found = named(dict_of_type(each), name)
        if found is not MISSING:
            return found
    return MISSING


def wrapped_by(wrapper: Any) -> int | None:
    """The address of the C function that a slot wrapper calls."""
    return ctypes.c_void_p.from_address(id(wrapper) + WRAPPED).value


def reads_by(kind: type, wrapper: Any) -> bool:
    """Whether ``__getattribute__`` of a type is the C function that a wrapper calls."""
    found = found_in_mro(kind, "__getattribute__")
    if type(found) is not WrapperDescriptorType:
        return False
    is_of_base = any(each is found.__objclass__ for each in mro_of(kind))
    return is_of_base and wrapped_by(found) == wrapped_by(wrapper)


def reads_as_object(kind: type) -> bool:
    """Whether ``__getattribute__`` of a type is the C function of object's own.

    tuple, dict and other builtin types have a wrapper of their own for that function.
    """
    return reads_by(kind, object.__getattribute__)


def reads_as_type(metaclass: type) -> bool:
    """Whether ``__getattribute__`` of a metaclass is the C function of type's own."""
    return reads_by(metaclass, vars(type)["__getattribute__"])


def has_str_names(kind: type) -> bool:
    """Whether all names in the dicts of a type's MRO are exact strs.

    CPython asks the ``__eq__`` of any other key.
    """
    names = [key for each in mro_of(kind) for key in dict_of_type(each)]
    return all(type(key) is str for key in names)
