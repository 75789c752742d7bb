"""C functions for the kinds and steps that take them, as capsules.

After the oracle's names, among which are the signatures.
"""

import ctypes

KEPT = []


def capsule_of(function, name):
    """A capsule of that name; the function and the name are never freed."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    KEPT.extend((function, name))
    return make(ctypes.cast(function, ctypes.c_void_p), name, None)


native_is_int = capsule_of(
    NativeCheck(lambda value, context: type(value) is int),  # noqa: F821
    b"guardtree.native_check",
)
native_type_of = capsule_of(
    NativeGet(lambda value, context: type(value)),  # noqa: F821
    b"guardtree.native_get",
)
