"""``python -m guardtree view``: a saved report as a page, opened in the browser."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path
from typing import Any

from . import Report
from .collect import FORMAT, document_of_explanation


def saved(document: dict[str, Any]) -> dict[str, Any]:
    """A saved report's data, whose parts are what the page takes them for."""
    parts = {"name": str, "version": str, "python": str, "stats": dict}
    parts |= {"summary": dict, "entries": list}
    parts |= {"differences": list, "removed": list, "history": list}
    for name, sort in parts.items():
        if not isinstance(document[name], sort):
            raise TypeError(f"{name} is no {sort.__name__}")
    for entry in document["entries"]:
        if not all(isinstance(row["depth"], int) for row in entry["rows"]):
            raise TypeError("a row's depth is no int")
    return document


def report_of(document: Any) -> Report:
    """The report that a JSON document is; ValueError where it is none."""
    try:
        if isinstance(document, dict) and document.get("format") == FORMAT:
            return Report(saved(document))
        return Report(document_of_explanation(document))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            "expected what report(...).to_json() or explain(...).to_json() writes, "
            f"found other JSON ({type(error).__name__}: {error})"
        ) from error


def view(file: Path, output: Path, opens: bool) -> int:
    """Writes the page; the exit status."""
    try:
        page = report_of(json.loads(file.read_text("utf-8"))).to_html()
        output.write_text(page, "utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        print(f"{file}: {error}", file=sys.stderr)
        return 2
    print(output)
    if opens and not webbrowser.open(output.absolute().as_uri()):
        print("no browser was found: open the file yourself", file=sys.stderr)
    return 0
