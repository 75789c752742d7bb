"""Functions on any object: its identity, its own dict, its slots."""

from __future__ import annotations

import types
import weakref
from collections import namedtuple
from typing import Any

from .classes import (
    MISSING,
    dict_of_type,
    found_in_mro,
    is_a,
    mro_of,
    named,
    reads_as_object,
)
from .containers import dict_has, dict_item

weak_reference = weakref.ref
TUPLE_FIELD: type = type(vars(namedtuple("Example", "field"))["field"])


def exists(value: Any) -> bool:
    """True: a path that leads to no value raises before it gets here."""
    return True


def distinct_objects(*values: Any) -> bool:
    """Whether no two of the values are the same object."""
    return len({id(each) for each in values}) == len(values)


def dict_of_module(module: types.ModuleType) -> dict[str, Any]:
    """The dict of a module. A module's ``__getattr__`` does not run.

    Raises TypeError if it is not a module.
    """
    descriptor: Any = vars(types.ModuleType)["__dict__"]
    found: dict[str, Any] = descriptor.__get__(module)
    return found


def own_dict(value: Any) -> dict[str, Any]:
    """The ``__dict__`` of an object, by the descriptor that C code added to its type.

    A ``__dict__`` that the class defines in Python does not run. Empty if there is
    none.
    """
    getters = (types.GetSetDescriptorType, types.MemberDescriptorType)
    for each in mro_of(type(value)):
        found = named(dict_of_type(each), "__dict__")
        if any(type(found) is getter for getter in getters):
            own: dict[str, Any] = found.__get__(value, type(value))
            return own
    return {}


def instance_attr(value: Any, name: str) -> Any:
    """The attribute in the value's own ``__dict__``. Its class is not searched.

    Raises KeyError if there is none, and for a class. No user code runs.
    """
    if is_a(value, type):
        raise KeyError(name)
    return dict_item(own_dict(value), name)


def has_instance_attr(value: Any, name: str) -> bool | None:
    """Whether the value's own dict contains the name, like ``dict_has`` for a dict.

    False for classes and for values without a dict. No user code runs.
    """
    return not is_a(value, type) and dict_has(own_dict(value), name)


def has_static_attr(value: Any, name: str) -> bool:
    """Whether a dict of the type's MRO, a filled slot or the own dict has the name.

    A class is looked up in its own MRO first. ``__getattr__``, ``__getattribute__`` and
    properties do not run, so the result may differ from ``hasattr``.
    """
    is_type = is_a(value, type)
    if is_type and found_in_mro(value, name) is not MISSING:
        return True
    found = found_in_mro(type(value), name)
    if type(found) is types.MemberDescriptorType:
        try:
            found.__get__(value, type(value))
        except AttributeError:
            return False
    if found is not MISSING:
        return True
    return not is_type and named(own_dict(value), name) is not MISSING


def slot_value(value: Any, name: str) -> Any:
    """The content of a slot (``__slots__``, or an object field of a C type).

    Raises AttributeError if the slot is empty, LookupError if the type has no slot with
    that name. Numbers in C structs, as in a float, are not slots. No user code runs.
    """
    found = found_in_mro(type(value), name)
    if type(found) is not types.MemberDescriptorType:
        raise LookupError(name)
    content = found.__get__(value, type(value))
    if type(value) is complex or type(value) is float:
        raise LookupError(name)
    return content


def plain_attr(value: Any, name: str) -> Any:
    """The attribute that ``getattr`` finds in the value itself, without running code.

    It is in a slot, in the value's own dict, or in a field of a named tuple. Raises
    LookupError if there is none, and if ``getattr`` would run code or read the class:
    for a class, for a type with a ``__getattribute__`` other than object's, and for the
    name of a property or another data descriptor. No user code runs.
    """
    kind = type(value)
    if is_a(value, type) or not reads_as_object(kind):
        raise LookupError(name)
    found = found_in_mro(kind, name)
    if type(found) is types.MemberDescriptorType:
        try:
            return slot_value(value, name)
        except (AttributeError, TypeError):  # empty, or of another layout
            raise LookupError(name) from None
    if type(found) is TUPLE_FIELD and is_a(value, tuple):
        return vars(TUPLE_FIELD)["__get__"](found, value, kind)
    words = [word for word in ("__get__", "__set__", "__delete__")
             if found_in_mro(type(found), word) is not MISSING]  # fmt: skip
    if "__get__" in words and len(words) > 1:
        raise LookupError(name)
    return dict_item(own_dict(value), name)


def lacks_plain_attr(value: Any, name: str) -> bool:
    """Whether ``getattr`` raises AttributeError for the name without running code.

    False if it would run code: for a class, for a type with a ``__getattr__`` or a
    ``__getattribute__`` other than object's, and where keys that are not str have to
    be asked. No user code runs.
    """
    kind = type(value)
    if is_a(value, type) or not reads_as_object(kind):
        return False
    if found_in_mro(kind, "__getattr__") is not MISSING:
        return False
    names = [key for each in mro_of(kind) for key in dict_of_type(each)]
    if any(type(key) is not str for key in names):
        return False
    found = found_in_mro(kind, name)
    if type(found) is types.MemberDescriptorType:
        try:
            slot_value(value, name)
        except AttributeError:
            return True
        except (LookupError, TypeError):  # a number in a C struct, or another layout
            return False
    return found is MISSING and has_instance_attr(value, name) is False


def has_len(value: Any) -> bool:
    """Whether the value's type or a base has a ``__len__``. It is not called."""
    return found_in_mro(type(value), "__len__") is not MISSING


def live_referent(reference: weakref.ref[Any]) -> Any:
    """The object of a ``weakref.ref``. An overridden ``__call__`` does not run.

    Raises LookupError if the object has died, TypeError if the value is not a
    ``weakref.ref``.
    """
    found = weakref.ref.__call__(reference)
    if found is None:
        raise LookupError(reference)
    return found
