"""Strict mode: compares every lookup with a scan of all entries and with plain Python.

It also verifies replacement code (`guardtree.bytecode.verify`).

``strict()`` or the environment variable ``GUARDTREE_STRICT=1`` turns it on. Do this
before you create the entries to compare. It is for users who suspect an error in
guardtree or in their use of it. It is slow, and guards that run user code run it up to
three times per lookup, so their result must not depend on the number of calls.
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
"""A tree's text, and the objects for the names in it, by weak reference if possible."""

_UNSAID = re.compile(
    r"\b(is_unchanged|dict_version|type_version|native|native_pure|native_get)\("
)
"""Guards that Python cannot evaluate from the values alone."""


class StrictError(RuntimeError):
    """The results of one lookup differ, so one of them is wrong.

    ``found``: the index of the entry that the table found (0 is the oldest, None means
    none). ``scanned``: the first entry that passed when all were tried in order.
    ``meant``: the first whose text is true in Python. ``code``: the code object of the
    lookup. ``texts``: the text of each entry, or None if Python cannot evaluate it.
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
    """Turn strict mode on or off in all threads. Return the previous setting.

    While it is on, a lookup whose results differ raises StrictError; with the hook, the
    call raises it. A GuardedCode of code that may crash the interpreter raises
    guardtree.bytecode.UnsafeCode. Entries that were created while it was off are only
    compared with the scan.
    """
    return _set_strict(bool(on))


def strict_of_environment() -> None:
    """Applies GUARDTREE_STRICT: on, unless it is empty or 0."""
    if os.environ.get("GUARDTREE_STRICT", "0") not in ("", "0"):
        strict()


def _weak(value: Any) -> Any:
    """A weak reference if possible: a guard's text must not keep objects alive."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def meaning(text: str, names: dict[str, Any]) -> Meaning | None:
    """The data that an entry stores for judge(). None if Python cannot evaluate it."""
    if _UNSAID.search(text):
        return None
    return text, {name: _weak(value) for name, value in names.items()}


def _is_true(
    of: Meaning | None, f_locals: Mapping[str, Any], *scopes: dict[str, Any]
) -> bool | None:
    """Whether the text is true. None if Python cannot evaluate it."""
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
    """Raise StrictError unless all results of a lookup agree."""
    meant = None
    for place, each in enumerate(meanings):
        answer = _is_true(each, f_locals, f_globals, f_builtins)
        if answer is None and place == found:
            answer = True  # there is no result that disagrees
        if answer:
            meant = place
            break
    if found == scanned and found == meant:
        return
    texts = [each[0] if each else None for each in meanings]
    raise StrictError(code, found, scanned, meant, texts)
