"""The note on a guard: the lines of the user's code that it is there for."""

from __future__ import annotations

from traceback import StackSummary
from typing import Any


class UserStack:
    """What torch says of the calls that led to a guard. Its lines are made when they
    are read, from the file as it is then, as in a traceback: a tree has thousands of
    them, which took a third of its translation, and few are ever read."""

    __slots__ = ("said", "stack")

    def __init__(self, stack: StackSummary | None, said: str = "") -> None:
        self.stack = stack
        self.said = said
        """What is expected, where the guard itself cannot tell."""

    def lines(self) -> list[str]:
        """The lines, the innermost first."""
        frames = reversed(self.stack or [])
        return [f"{at.filename}:{at.lineno} in {at.name}: {at.line}" for at in frames]

    def all_lines(self) -> list[str]:
        """What is expected, where it is said, and the lines."""
        return [*filter(None, [self.said]), *self.lines()]

    def __repr__(self) -> str:
        return repr(self.all_lines())


def stack_in(arguments: tuple[Any, ...]) -> StackSummary | None:
    """The stack among the arguments of a leaf; None without one."""
    for each in reversed(arguments):
        if isinstance(each, StackSummary):
            return each
    return None
