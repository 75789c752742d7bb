"""One line on a terminal that tells how far a long command is.

It is rewritten in place and cleared at the end. Where stderr is a file or a pipe,
nothing is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType

Tell = Callable[[str], None]


def tell_nobody(text: str) -> None:
    """For callers that show no progress."""


class Progress:
    """Use it as a context manager; a call replaces the line."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._width = 0

    def __call__(self, text: str) -> None:
        if self._shown:
            # A line that wraps could not be rewritten. Some terminals tell no size.
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            self._write(f"{self._command}: {text}"[: columns - 1])

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, line: str) -> None:
        # Spaces, not an escape sequence: dumb terminals have none.
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)
