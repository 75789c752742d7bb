"""``report``: shows the guards of a function as a page for the browser.

The page is a single file. It shows the entries side by side, each tree with the result
of one call, the facts in which the entries differ, the most expensive guards, the
misses and the removed entries.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

from .._guardtree import Dispatcher, Frame, GuardedFunction, GuardManager, Table
from ..history import History
from .collect import document_of
from .page import page_of


class Report:
    """The result of ``report``: plain data, and the page that shows it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def __repr__(self) -> str:
        count = len(self._document["entries"])
        entries = "1 entry" if count == 1 else f"{count} entries"
        return f"<guardtree.Report of {self._document['name']}: {entries}>"

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data: strings, numbers, lists and dicts."""
        return self._document

    def to_json(self) -> str:
        """to_dict() as JSON text. ``python -m guardtree view FILE`` shows it."""
        return json.dumps(self._document, indent=1)

    def to_html(self) -> str:
        """The page: one HTML document that loads nothing else."""
        return page_of(self._document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, or the data if the name ends in ``.json``."""
        is_data = os.fspath(path).endswith(".json")
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(self.to_json() if is_data else self.to_html())

    def _repr_html_(self) -> str:
        """The form for notebooks: the page in a sandboxed frame."""
        return (
            '<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" '
            f'title="guardtree report" srcdoc="{html.escape(self.to_html())}"></iframe>'
        )


def report(
    target: (
        CodeType
        | Callable[..., object]
        | Table
        | GuardedFunction
        | Dispatcher
        | GuardManager
    ),
    subject: Mapping[str, Any] | Frame | None = None,
    *,
    repeat: int = 20,
    history: History | None = None,
) -> Report:
    """Report on the entries of a function, table or Dispatcher, or on one tree.

    ``subject`` is a call to explain: a mapping of locals, or the frame given to a
    callback. The report then shows which guards pass, the values that the others found,
    and what each guard costs. For the costs the guards run ``repeat`` more times, and
    so does user code that they call; 0 turns that off.

    ``history`` is a recording of ``record_history``.

    ``report(f, {"x": 3}).save("report.html")`` writes a page for the browser.
    """
    return Report(document_of(target, subject, repeat, history))
