"""The page of a report: the parts that lie beside this file, and the report's data.

Text of a report comes from user objects. It reaches the page as JSON in an element that
does not run, in which no tag can end; the script makes text nodes of it. Besides, the
page's policy runs no script but the one here, by its hash, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

SCRIPTS = ("list.js", "tree.js", "page.js")


@cache
def part(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


@cache
def script() -> str:
    """The scripts as one, whose names are its own."""
    return '(() => {\n"use strict";\n' + "".join(map(part, SCRIPTS)) + "})();\n"


def source(text: str) -> str:
    """How the policy names a script or a style: by its hash."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy() -> str:
    return (
        f"default-src 'none'; script-src {source(script())}; "
        f"style-src {source(part('page.css'))}; base-uri 'none'; form-action 'none'"
    )


def data_text(document: dict[str, Any]) -> str:
    """JSON for an HTML element: ASCII, without what begins a tag or a comment."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def page_of(document: dict[str, Any]) -> str:
    """The page as one HTML text."""
    filled = {
        "@POLICY@": policy(),
        "@TITLE@": html.escape(f"{document['name']} - guardtree"),
        "@STYLE@": part("page.css"),
        "@DATA@": data_text(document),
        "@SCRIPT@": script(),
    }
    page = part("page.html")
    pieces = [page]
    for mark, text in filled.items():  # a text that has another's mark is left as it is
        last = pieces.pop()
        before, after = last.split(mark)
        pieces += [before, text, after]
    return "".join(pieces)
