"""Attributes that are replaced for a while, and put back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_MISSING = object()
PLACES = ("torch._dynamo", "torch._C._dynamo", "torch.compiler")
"""Modules that name functions of the hook."""


class Patches:
    """What was replaced, in order; `undo` puts all of it back."""

    def __init__(self) -> None:
        self.replaced: list[tuple[Any, str, Any]] = []
        self.functions: list[tuple[Any, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """An attribute of a module or class is another value."""
        self.replaced.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """The same where an object keeps its attributes by itself."""
        self.replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def everywhere(self, original: Any, replacement: Any) -> None:
        """A function of torch is another one in each module of torch that names it:
        modules import functions by name."""
        self.functions.append((original, replacement))
        for module, name in list(named(original)):
            self.set(module, name, replacement)

    def undo(self) -> None:
        """Everything is as before, also in modules that were imported since."""
        while self.replaced:
            owner, name, value = self.replaced.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        while self.functions:
            original, replacement = self.functions.pop()
            for module, name in list(named(replacement)):
                setattr(module, name, original)


def named(value: Any) -> Iterator[tuple[ModuleType, str]]:
    """The modules of torch that have a value, and its names there."""
    # Copies: a finalizer may import while a list of items is made.
    for key, module in sys.modules.copy().items():
        if not key.startswith(PLACES) or not isinstance(module, ModuleType):
            continue
        for name, found in vars(module).copy().items():
            if found is value:
                yield module, name
