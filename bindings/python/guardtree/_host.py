"""Checks whether this interpreter can run guardtree, before loading the extension."""

from __future__ import annotations

import importlib
import sys
import sysconfig

OLDEST, NEWEST = (3, 11), (3, 15)


def _is_subinterpreter() -> bool:
    try:
        api = importlib.import_module("_interpreters")  # 3.13 and later
    except ImportError:
        try:
            api = importlib.import_module("_xxsubinterpreters")  # 3.11 and 3.12
        except ImportError:
            return False  # not available; the extension module checks again
    return bool(api.get_current() != api.get_main())


def check_host() -> None:
    """Raise an ImportError that says what to do, if guardtree cannot work here."""
    if sys.implementation.name != "cpython":
        raise ImportError(
            f"guardtree reads CPython's frames, this is {sys.implementation.name}"
        )
    oldest, newest = OLDEST, NEWEST
    supported = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    if not oldest <= sys.version_info[:2] <= newest:
        raise ImportError(
            f"guardtree supports CPython {supported}, this is "
            f"{sys.version.split()[0]}; use one of those"
        )
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise ImportError(
            "guardtree does not support free-threaded CPython yet; "
            f"use a GIL build of {supported}"
        )
    if _is_subinterpreter():
        raise ImportError(
            "guardtree works in the main interpreter only: frame evaluators and code "
            "caches are per interpreter. Import it there; code of subinterpreters runs "
            "untouched"
        )
