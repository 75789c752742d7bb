"""The exception that parse() raises for a text that it cannot parse."""

from __future__ import annotations


class GuardSyntaxError(SyntaxError):
    """A SyntaxError of parse().

    It has the attributes of Python's own: `msg`, `text` (the line), `lineno`, `offset`
    and `end_offset`, in characters from 1. str() returns `report`.
    """

    report: str = ""
    """The expected and found text, the line with a mark below the position, a hint."""

    def __str__(self) -> str:
        return self.report or super().__str__()
