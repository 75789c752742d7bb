"""Calls of C functions in capsules, and capsules to try them with."""

from __future__ import annotations

import ctypes
from typing import Any

CHECK, GET = b"guardtree.native_check", b"guardtree.native_get"
PURE = b"guardtree.native_pure"

# The types of the C functions for `native`, `native_pure` and `native_get`.
NativeCheck = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
NativeGet = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)


def pointer_in(capsule: Any, name: bytes) -> Any:
    """The pointer in a capsule with that name. ValueError for another name."""
    read = ctypes.pythonapi.PyCapsule_GetPointer
    read.restype = ctypes.c_void_p
    read.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return read(capsule, name)


def context_in(capsule: Any) -> Any:
    """The context pointer of a capsule. None if it is null."""
    read = ctypes.pythonapi.PyCapsule_GetContext
    read.restype = ctypes.c_void_p
    read.argtypes = [ctypes.py_object]
    return read(capsule)


def is_pure(capsule: Any) -> bool:
    """Whether a capsule is called ``guardtree.native_pure``."""
    read = ctypes.pythonapi.PyCapsule_IsValid
    read.restype = ctypes.c_int
    read.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return bool(read(capsule, PURE))


def call_native(capsule: Any, value: Any) -> bool:
    """Whether the C function in a ``guardtree.native_check`` capsule returns 1.

    The C function gets the value and the capsule's context. It may run any code. A
    ``guardtree.native_pure`` capsule works too; its function runs no Python code.
    """
    function = NativeCheck(pointer_in(capsule, PURE if is_pure(capsule) else CHECK))
    return bool(function(value, context_in(capsule)) > 0)


def get_native(capsule: Any, value: Any) -> Any:
    """The result of the C function in a ``guardtree.native_get`` capsule.

    The C function gets the value and the capsule's context. It may run any code.
    """
    return NativeGet(pointer_in(capsule, GET))(value, context_in(capsule))


KEPT: list[Any] = []


def capsule_of(function: Any, name: bytes) -> Any:
    """Creates a capsule with that name. The function and the name are never freed."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    KEPT.extend((function, name))
    return make(ctypes.cast(function, ctypes.c_void_p), name, None)


native_is_int = capsule_of(
    NativeCheck(lambda value, context: type(value) is int), CHECK
)
native_type_of = capsule_of(NativeGet(lambda value, context: type(value)), GET)
pure_is_int = capsule_of(NativeCheck(lambda value, context: type(value) is int), PURE)
