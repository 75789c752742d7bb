"""What parse() raises for a text that it does not read."""

from __future__ import annotations


class GuardSyntaxError(SyntaxError):
    """A SyntaxError of parse().

    It has what Python's own has: `msg`, `text` (the line), `lineno`, `offset` and
    `end_offset`, in characters from 1. str() is `report`.
    """

    report: str = ""
    """What was expected and found, with the line, a mark under the place, a hint."""

    def __str__(self) -> str:
        return self.report or super().__str__()
