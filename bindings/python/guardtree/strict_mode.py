"""Strict mode: every lookup is also answered by the naive scan and by plain Python.

Code that is to replace other code is verified (`guardtree.bytecode.verify`), too.

``strict()`` or the environment variable ``GUARDTREE_STRICT=1`` turns it on, before the
entries are made that it is to judge. It is for people who suspect an error in guardtree
or in how they use it: slow, and guards that run user code run it up to three times for
a lookup, so what they answer must not depend on how often they are asked.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Mapping
from types import CodeType
from typing import Any

from ._guardtree import _kinds, _relations, _set_strict, _steps

Meaning = tuple[str, dict[str, Any]]
"""A tree's text, and its objects by the names in it, weak where they can be."""

_UNSAID = re.compile(
    r"\b(is_unchanged|dict_version|type_version|native|native_pure|native_get)\("
)
"""What plain Python cannot tell from the values alone."""


class StrictError(RuntimeError):
    """The answers to one lookup differ: one of them is wrong.

    ``found``, ``scanned``, ``meant``: which entry (0 is the oldest, None for none) the
    table found, the first that passed when all were tried in order, and the first whose
    text is true in Python. ``code``: whose lookup it was. ``texts``: of each entry;
    None where Python cannot say.
    """

    def __init__(
        self,
        code: CodeType | None,
        found: int | None,
        scanned: int | None,
        meant: int | None,
        texts: list[str | None],
    ) -> None:
        name = code.co_qualname if code else "a table"
        lines = [
            f"a lookup of {name} has different answers: the table says "
            f"{_named(found)}, trying all in order says {_named(scanned)}, their text "
            f"in Python says {_named(meant)}"
        ]
        for place in sorted(
            {each for each in (found, scanned, meant) if each is not None}
        ):
            text = texts[place] or "(Python cannot say)"
            lines.append(f"entry {place}:\n  " + text.replace("\n", "\n  "))
        super().__init__("\n".join(lines))
        self.code = code
        self.found, self.scanned, self.meant = found, scanned, meant
        self.texts = texts


def _named(place: int | None) -> str:
    return "that no entry passes" if place is None else f"entry {place}"


def strict(on: bool = True) -> bool:
    """Turn strict mode on or off, in all threads; returns whether it was on.

    From then on a lookup whose answers differ raises StrictError, in the hook out of
    the call, and a GuardedCode of code that may crash the interpreter raises
    guardtree.bytecode.UnsafeCode. Entries made while it was off are judged by the
    naive scan alone.
    """
    return _set_strict(bool(on))


def strict_of_environment() -> None:
    """What GUARDTREE_STRICT asks for: on, unless it is empty or 0."""
    if os.environ.get("GUARDTREE_STRICT", "0") not in ("", "0"):
        strict()


def _weak(value: Any) -> Any:
    """A guard does not keep what it is about alive, and neither does its text."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def meaning(text: str, names: dict[str, Any]) -> Meaning | None:
    """What an entry keeps for the judge; None where Python cannot say."""
    if _UNSAID.search(text):
        return None
    return text, {name: _weak(value) for name, value in names.items()}


def _is_true(
    of: Meaning | None, f_locals: Mapping[str, Any], *scopes: dict[str, Any]
) -> bool | None:
    """Whether the text holds; None where that cannot be said."""
    if of is None:
        return None
    from . import oracle
    from .semantics import CannotSay

    if not oracle.ROWS:
        for row in (*_kinds(), *_steps(), *_relations()):
            operands = tuple(name for name, *_ in row["operands"])
            oracle.ROWS[row["name"]] = (row["python"], operands)
    text, kept = of
    names = {name: refer() for name, refer in kept.items()}
    if any(value is None for value in names.values()):
        return None
    try:
        return oracle.text_passes(
            text, names, dict(f_locals), *scopes, with_globals=False
        )
    except CannotSay:
        return None


def judge(
    code: CodeType | None,
    meanings: list[Meaning | None],
    found: int | None,
    scanned: int | None,
    f_locals: Mapping[str, Any],
    f_globals: dict[str, Any],
    f_builtins: dict[str, Any],
) -> None:
    """Raise StrictError unless all answers to a lookup agree."""
    meant = None
    for place, each in enumerate(meanings):
        answer = _is_true(each, f_locals, f_globals, f_builtins)
        if answer is None and place == found:
            answer = True  # nothing speaks against it
        if answer:
            meant = place
            break
    if found == scanned and found == meant:
        return
    texts = [each[0] if each else None for each in meanings]
    raise StrictError(code, found, scanned, meant, texts)
