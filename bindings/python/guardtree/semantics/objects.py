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
    has_str_names,
    is_a,
    mro_of,
    named,
    reads_as_object,
    reads_as_type,
)
from .containers import dict_has, dict_item

weak_reference = weakref.ref
TUPLE_FIELD: type = type(vars(namedtuple("Example", "field"))["field"])
OF_CLASS: Any = vars(object)["__class__"]
CLASS_NAME: Any = vars(type)["__name__"]
FLAGS: Any = vars(type)["__flags__"]
DICT_OFFSET: Any = vars(type)["__dictoffset__"]
ITEM_SIZE: Any = vars(type)["__itemsize__"]
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
UNBOUND_IN_CLASS = (
    property, types.FunctionType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType,
)  # fmt: skip


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


def is_behind_items(found: types.MemberDescriptorType, kind: type) -> bool:
    """Whether a slot of `kind` lies behind items, as in a tuple since 3.15."""
    has_items = ITEM_SIZE.__get__(kind) != 0
    owner = dict_of_type(found.__objclass__)
    return has_items and named(owner, "__slots__") is not MISSING


def plain_attr(value: Any, name: str) -> Any:
    """The attribute that ``getattr`` returns, if it runs no code and makes no object.

    It is in the value's own dict, in a slot, in a field of a named tuple, or in a
    class. ``__class__`` is one, and ``__name__`` of a class that Python code made.
    Functions and properties are attributes of a class, but not of its instances: for
    these, ``getattr`` makes a method.

    Raises LookupError if there is none, for the name of a property or of another
    descriptor, for what only a metaclass has, and for a type with a
    ``__getattribute__`` other than object's (type's, for classes), with names that are
    not exact strs, or with a dict that no ``__dict__`` shows. No user code runs.
    """
    kind = type(value)
    if is_a(value, type):
        return plain_attr_of_class(value, name)
    if not has_str_names(kind) or hides_dict(kind) or not reads_as_object(kind):
        raise LookupError(name)
    found = found_in_mro(kind, name)
    if found is OF_CLASS:
        return kind
    if type(found) is types.MemberDescriptorType:
        if is_behind_items(found, kind):
            raise LookupError(name)
        try:
            return slot_value(value, name)
        except (AttributeError, TypeError):  # empty, or of another layout
            raise LookupError(name) from None
    if type(found) is TUPLE_FIELD and is_a(value, tuple):
        return vars(TUPLE_FIELD)["__get__"](found, value, kind)
    if is_data_descriptor(found):
        raise LookupError(name)
    own = own_dict(value)
    if found is MISSING or is_descriptor(found) or dict_has(own, name) is not False:
        return dict_item(own, name)
    return found


def plain_attr_of_class(value: type, name: str) -> Any:
    """``plain_attr`` of a class."""
    metaclass = type(value)
    if not has_str_names(metaclass) or not reads_as_type(metaclass):
        raise LookupError(name)
    found = found_in_mro(metaclass, name)
    if found is OF_CLASS:
        return metaclass
    if found is CLASS_NAME and FLAGS.__get__(value) & HEAP_TYPE:
        return CLASS_NAME.__get__(value)
    if is_data_descriptor(found) or not has_str_names(value):
        raise LookupError(name)
    found = found_in_mro(value, name)
    is_bound = is_descriptor(found) and type(found) not in UNBOUND_IN_CLASS
    if found is MISSING or is_bound:
        raise LookupError(name)
    return found


def hides_dict(kind: type) -> bool:
    """Whether instances have a dict that no ``__dict__`` of the MRO shows."""
    has_dict = DICT_OFFSET.__get__(kind) != 0
    return has_dict and found_in_mro(kind, "__dict__") is MISSING


def is_descriptor(value: Any) -> bool:
    """Whether the value's type, or a base, has a ``__get__``. It is not called."""
    return found_in_mro(type(value), "__get__") is not MISSING


def is_data_descriptor(value: Any) -> bool:
    """Whether it also has a ``__set__`` or ``__delete__``: it goes before own dicts."""
    stores = [word for word in ("__set__", "__delete__")
              if found_in_mro(type(value), word) is not MISSING]  # fmt: skip
    return is_descriptor(value) and bool(stores)


def lacks_plain_attr(value: Any, name: str) -> bool:
    """Whether ``getattr`` raises AttributeError for the name without running code.

    False for a class, and if it would run code: for a type with a ``__getattr__`` or a
    ``__getattribute__`` other than object's, and where keys that are not str have to
    be asked. No user code runs.
    """
    kind = type(value)
    if is_a(value, type) or not reads_as_object(kind):
        return False
    if found_in_mro(kind, "__getattr__") is not MISSING:
        return False
    if not has_str_names(kind) or hides_dict(kind):
        return False
    found = found_in_mro(kind, name)
    if type(found) is types.MemberDescriptorType:
        if is_behind_items(found, kind):
            return False
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
