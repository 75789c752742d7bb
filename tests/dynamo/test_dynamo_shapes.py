"""The expressions that run last: `integers` says what their text says, under eval."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

from guardtree.torch.dynamo import shapes  # noqa: E402
from guardtree.torch.dynamo.record import Node, Recording  # noqa: E402
from guardtree.torch.dynamo.translate import Translator  # noqa: E402

FUNCTIONS = {
    "Eq": operator.eq, "FloorDiv": operator.floordiv, "Ge": operator.ge,
    "Gt": operator.gt, "Le": operator.le, "Lt": operator.lt, "Mod": operator.mod,
    "Ne": operator.ne, "PythonMod": operator.mod,
}  # fmt: skip
NUMBERS = range(-2, 9)


# Places in an expression are of bytes; the house's files are ASCII.
FRAME: dict[str, Any] = {}
exec("def example(x, y, \u00e4): pass", FRAME)


def translated(*parts: str) -> Translator:
    """Guards of a lambda with these parts, which asks Python if it is kept."""
    root = Node(None, "root", (), "L", None, None)
    made = Translator(Recording(root, {}, code=FRAME["example"].__code__, names={}))
    shapes.add(made, (lambda values: False, parts))
    return made


@pytest.mark.parametrize(
    "text",
    [
        "2 <= L['x']",
        "2 <= L['x'] < L['y']",
        "(L['x']*L['y']) == ((L['y'] + 1)*(L['x'] - -2))",
        "Eq(L['x'], L['y'] + 1)",
        "Eq(L['x'], FloorDiv(L['y'] - 1, 2))",
        "L['x']*FloorDiv(L['y'], 2) == Mod(L['x'], 3)*-1",
        "FloorDiv(12 - L['x'], FloorDiv(9, 2)) <= PythonMod(L['y'], 4)",
        "Ne(Mod(L['x'] + L['y'], 3), 0)",
        "not Eq(L['x'], 2)",
        "not (Gt(L['x'], 2) and Le(L['y'], L['x']))",
        "Eq(L['x'], 2) or Gt(L['y'], 3)",
        "L['x'] == L['y'] == 2 or Eq(L['\u00e4'], L['x'])",
        "Ge(L['x'], -L['y']) and Lt(-L['x'], +L['y'])",
    ],
)
def test_says_of_numbers_what_the_text_says(text: str) -> None:
    made = translated(f"{text}  # at some line")
    assert not made.made.python
    for x, y in product(NUMBERS, NUMBERS):
        values = {"x": x, "y": y, "\u00e4": 3}
        assert made.guards.check(values) == eval(text, FUNCTIONS | {"L": values})


@pytest.mark.parametrize(
    "text",
    [
        "L['x'].size()[0] == L['x'].size()[1]*L['y']",
        "L['x'].stride()[0] == L['x'].size()[1]",
        "L['x'].storage_offset() < L['y']",
        "Eq(Mod(L['x'].size()[1], 2), L['x'].storage_offset())",
    ],
)
def test_says_of_shapes_what_the_text_says(text: str) -> None:
    made = translated(text)
    assert not made.made.python
    whole = torch.zeros(4, 6)
    for tensor in (whole, whole[1:], whole[:, 1:], whole.t(), torch.zeros(6, 3)):
        for number in NUMBERS:
            values: dict[str, Any] = {"x": tensor, "y": number}
            assert made.guards.check(values) == eval(text, FUNCTIONS | {"L": values})


@pytest.mark.parametrize(
    "text",
    [
        "L['x'] == 'a'",
        "unknown(L['x'])",
        "L['x'] @ L['y'] == 1",
        "1 < 2",
        "2 <=\nL['x']",
        "2 <= ",
    ],
)
def test_what_is_not_understood_stays_the_lambda(text: str) -> None:
    made = translated("2 <= L['x']", text)
    assert len(made.made.python) == 1
    assert not made.guards.check({"x": 3, "y": 3})
