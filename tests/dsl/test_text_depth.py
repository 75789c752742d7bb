"""Text of deep trees: what is written is read back, or refused."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest


def function(a: Any) -> None:
    pass


def chain(step: str, count: int, *operands: Any) -> gt.GuardManager:
    guards = gt.GuardManager(function)
    node = guards.local("a")
    for _ in range(count):
        node = getattr(node, step)(*operands)
    node.is_none()
    return guards


@pytest.mark.parametrize(
    ("step", "operands", "count"),
    [
        ("attr", ("b",), 900),
        ("item", (0,), 900),
        ("list_item", (0,), 150),
        ("type", (), 150),
        ("function_globals", (), 150),
    ],
)
def test_text_of_deep_paths_is_read_back(
    step: str, operands: tuple[Any, ...], count: int
) -> None:
    guards = chain(step, count, *operands)
    text, names = guards.to_text()
    assert gt.parse(text, function, names).digest() == guards.digest()


@pytest.mark.parametrize(
    ("step", "operands", "count"),
    [("attr", ("b",), 1200), ("item", (0,), 1200), ("list_item", (0,), 400)],
)
def test_text_that_cannot_be_read_back_is_refused(
    step: str, operands: tuple[Any, ...], count: int
) -> None:
    guards = chain(step, count, *operands)
    with pytest.raises(ValueError, match=r"no text that can be read back.*to_json"):
        guards.to_text()
    assert gt.from_json(guards.to_json(), function).digest() == guards.digest()


def test_a_path_is_written_in_one_go() -> None:
    guards = chain("attr", 5000, "b")
    node = guards.local("a")
    for _ in range(5000):
        node = node.attr("b")
    assert node.path == "a" + ".b" * 5000
    assert chain("list_item", 3, 0).nodes()[-1].path == (
        "list.__getitem__(list.__getitem__(list.__getitem__(a, 0), 0), 0)"
    )


def test_a_name_that_is_no_variable_is_told_at_once() -> None:
    for text in ("nothing" + "[0]" * 400, "nothing" + ".b" * 400):
        with pytest.raises(NameError, match="nothing"):
            gt.parse(text + " is None", function)
