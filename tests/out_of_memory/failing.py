"""The ways to make allocations fail while a function is called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol


class Way(Protocol):
    def call(self, run: Callable[[], Any], place: int, how: str) -> Any:
        """Calls it while one allocation fails, or all from that place on."""

    def has_failed(self) -> bool:
        """Whether an allocation has failed in the last call."""


class NoMemory:
    """CPython's own allocators fail, and whoever uses them."""

    def __init__(self) -> None:
        import _testcapi

        self.set = _testcapi.set_nomemory
        self.remove = _testcapi.remove_mem_hooks
        self.failed = False

    def call(self, run: Callable[[], Any], place: int, how: str) -> Any:
        remove = self.remove
        self.failed = True
        try:
            self.set(place, place + 1 if how == "one" else 0)
            found = run()
            try:
                object()  # fails where something has failed before
                self.failed = False
            except MemoryError:
                pass
            return found
        finally:
            remove()

    def has_failed(self) -> bool:
        return self.failed


class NoMalloc:
    """malloc fails, and with it operator new."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None)
        self.left = ctypes.c_long.in_dll(library, "guardtree_test_left")
        self.more = ctypes.c_int.in_dll(library, "guardtree_test_more")
        self.failures = ctypes.c_int.in_dll(library, "guardtree_test_failures")
        self.armed = ctypes.c_int.in_dll(library, "guardtree_test_armed")

    def call(self, run: Callable[[], Any], place: int, how: str) -> Any:
        armed = self.armed
        self.failures.value = 0
        self.left.value = place
        self.more.value = how == "all"
        try:
            armed.value = 1
            return run()
        finally:
            armed.value = 0

    def has_failed(self) -> bool:
        return self.failures.value > 0


WAYS: dict[str, Callable[[], Way]] = {"nomemory": NoMemory, "malloc": NoMalloc}
