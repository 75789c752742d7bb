"""What fuzzing found worth keeping: it is refused, or read and written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

CORPUS = Path(__file__).resolve().parent / "corpus"
FLAG = True


def f(x: Any, y: Any, cfg: Any, items: Any) -> None: ...


def entries(name: str) -> list[str]:
    """Inputs of a fuzz target, a character for each byte."""
    found = json.loads((CORPUS / f"{name}.json").read_text())
    assert len(found) > 50
    return [each.encode("latin-1").decode("utf-8", "replace") for each in found]


def test_texts_are_refused_or_read_and_written_again() -> None:
    read = 0
    for text in entries("text"):
        try:
            guards = gt.parse(text, f)
        except (SyntaxError, NameError, ValueError, TypeError) as refusal:
            assert not isinstance(refusal, UnicodeError), text
            assert str(refusal).startswith("line "), text
            continue
        written, names = guards.to_text()
        assert str(gt.parse(written, f, names)) == str(guards), text
        read += 1
    assert read > 20


def test_json_is_refused_or_read_and_written_again() -> None:
    read = 0
    for text in entries("json"):
        try:
            guards = gt.from_json(text, f, allow_calls=True)
        except (ValueError, NameError):
            continue
        written, _ = guards.to_portable_json()
        again = gt.from_json(written, f, allow_calls=True)
        assert again.to_json() == written, text
        read += 1
    assert read > 20


@pytest.mark.parametrize("name", ["text", "json"])
def test_the_corpus_has_no_entry_twice(name: str) -> None:
    found = json.loads((CORPUS / f"{name}.json").read_text())
    assert len(found) == len(set(found))
    assert len(json.dumps(found)) < 300_000
