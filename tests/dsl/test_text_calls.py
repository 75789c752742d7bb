"""What a text can run: nothing when it is read, no calls where that is asked for."""

from __future__ import annotations

import types
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree
from guardtree.semantics import native_is_int, native_type_of, pure_is_int


def step(x: Any = 0, y: Any = 0) -> None: ...


def predicate(value: Any) -> bool:
    return True


CALLS = [
    "eval(x)",
    "eval(x.text) and y == 3",
    "not eval(x)",
    "x is None or eval(x)",
    "x() == 3",
    "x.delete() is None",
    "G['predicate']() is None",
    "guard.python(x, eval)",
    "guard.compute(x, eval) is None",
    "guard.call(x) is None",
    "guard.not_(x, ('python', eval))",
    "guard.any_of(x, (('is_none',), ('not_', ('python', eval))))",
    "os.system(x)",
    "mine(x)",
]

NO_CALLS = [
    "type(x) is int and len(y) == 2",
    "isinstance(x, int) and x in (1, 2) and 0 <= x <= 9",
    "x.a.b[0] is None and 'k' in y and hasattr(x, 'a')",
    "not x and (y is None or y == 'a')",
    "x % 8 == 0 and len(y) == x * 2 and x is not y",
    "x is predicate",
]


def read(text: str, **options: Any) -> gt.GuardManager:
    function = types.FunctionType(step.__code__, globals())
    return gt.parse(text, function, {"mine": predicate}, **options)


@pytest.mark.parametrize("text", CALLS)
def test_no_text_calls_what_it_names_where_calls_are_not_allowed(text: str) -> None:
    read(text)
    with pytest.raises(ValueError, match=r"calls nothing.*allow_calls=False") as caught:
        read(text, allow_calls=False)
    assert "^" in str(caught.value)


@pytest.mark.parametrize("text", NO_CALLS)
def test_texts_without_calls_are_read_as_ever(text: str) -> None:
    assert str(read(text, allow_calls=False)) == str(read(text))


CALLING = ("python", "compute", "native", "native_pure", "native_get")


def test_every_op_that_takes_code_is_refused() -> None:
    """A new kind that calls an operand has to be refused, too."""
    for each in [*_guardtree._kinds(), *_guardtree._steps()]:
        wanted = " ".join(expects for _, expects, _ in each["operands"])
        if "callable" in wanted or "capsule" in wanted:
            assert each["name"] in CALLING, (
                f"say in dsl/README.md that {each['name']} calls, and test it here"
            )


@pytest.mark.parametrize("name", ["native", "native_pure", "native_get"])
def test_native_functions_are_refused(name: str) -> None:
    capsule = {
        "native": native_is_int,
        "native_pure": pure_is_int,
        "native_get": native_type_of,
    }[name]
    text = f"guard.{name}(x, capsule)" + (" is int" if name == "native_get" else "")
    guards = gt.parse(text, step, {"capsule": capsule, "int": int})
    assert guards.check({"x": 3})
    with pytest.raises(ValueError, match=f"allow_calls=False, found {name}"):
        gt.parse(text, step, {"capsule": capsule}, allow_calls=False)


def test_a_text_is_only_read_by_parse() -> None:
    ran: list[Any] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            ran.append(name)
            raise AttributeError(name)

        def __call__(self, *args: Any) -> Any:
            ran.append(args)

    gt.parse("mine(x) and x.a() is None", step, {"mine": Watched()})
    assert ran == []
