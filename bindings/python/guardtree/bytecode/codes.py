"""What is kept for code objects while they live."""

from __future__ import annotations

import weakref
from types import CodeType
from typing import Generic, TypeVar

Value = TypeVar("Value")


class CodeMap(Generic[Value]):
    """A value for each of some code objects, told apart by identity, held weakly.

    Code objects that are equal need not be from the same file, so a WeakKeyDictionary,
    which compares them, would mix them up. A value that holds its code keeps it alive.
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[CodeType], Value]] = {}

    def get(self, code: CodeType) -> Value | None:
        """The value of this very code object."""
        found = self._values.get(id(code))
        return found[1] if found is not None else None

    def __setitem__(self, code: CodeType, value: Value) -> None:
        key = id(code)
        gone = weakref.ref(code, lambda _: self._values.pop(key, None))
        self._values[key] = (gone, value)

    def __len__(self) -> int:
        return len(self._values)
