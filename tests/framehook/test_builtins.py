"""Entries run with the builtins of the frame that they serve, however they run."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

SOURCE = """
def f(a):
    return len(a)

def new(a):
    x = len(a)
    return "new", x

def gen(a):
    yield len(a)

def new_gen(a):
    yield "new", len(a)

def free(a, cell="cell"):
    def f(a):
        return cell, len(a)
    def new(a):
        return "new", cell, len(a)
    return f, new
"""


def lost(**own: Any) -> dict[str, Any]:
    """What SOURCE makes with builtins that its globals have no longer."""
    namespace: dict[str, Any] = {"__builtins__": {**vars(builtins), **own}}
    exec(SOURCE, namespace)
    del namespace["__builtins__"]
    return namespace


def own_length(value: object) -> str:
    return "own"


def test_an_entry_has_the_functions_builtins(path: str, swap: Any) -> None:
    made = lost(len=own_length)
    f, new = made["f"], made["new"]
    assert f([1]) == "own"
    with gt.optimize(swap(f, new)):
        assert [f([1]), f([1]), f(a=[1])] == [("new", "own")] * 3
    assert gt.code_stats(f)[path] == 3


def test_a_generators_entry_has_them(path: str, swap: Any) -> None:
    made = lost(len=own_length)
    with gt.optimize(swap(made["gen"], made["new_gen"])):
        assert [list(made["gen"]([1])) for _ in range(3)] == [[("new", "own")]] * 3


def test_an_entry_of_a_closure_has_them(path: str, swap: Any) -> None:
    f, new = lost(len=own_length)["free"](None)
    with gt.optimize(swap(f, new)):
        assert [f([1]) for _ in range(3)] == [("new", "cell", "own")] * 3


def test_the_answer_does_not_depend_on_the_depth_of_the_call(swap: Any) -> None:
    made = lost(len=own_length)
    f = made["f"]
    large = "def new(a):\n" + "".join(f"    x{i} = a\n" for i in range(60))
    exec(large + "    return len(a)", made)

    def at(depth: int) -> Any:
        return f([1]) if depth == 0 else at(depth - 1)

    with gt.optimize(swap(f, made["new"])):
        assert {at(depth) for depth in range(300)} == {"own"}
    # Where the data stack's chunk ends, the larger code is called.
    assert gt.code_stats(f)["called"] > 0


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 guards by the hook")
def test_the_code_of_a_guarded_function_has_them() -> None:
    made = lost(len=own_length)
    f = made["f"]
    gt.guard_function(f).add(gt.GuardManager(f), made["new"].__code__)
    assert f([1]) == f(a=[1]) == ("new", "own")


@pytest.mark.parametrize("place", ["in place", "called"])
def test_a_class_body_has_the_builtins_that_it_was_made_with(
    place: str, only: Any
) -> None:
    """They are those of its globals until `__prepare__` takes them away."""

    class Meta(type):
        @classmethod
        def __prepare__(cls, name: str, bases: Any, **_: Any) -> dict[str, Any]:
            namespace["__builtins__"] = vars(builtins)
            return {}

    def body_of(source: str) -> types.CodeType:
        code = compile(source, "<body>", "exec")
        return next(each for each in code.co_consts if isinstance(each, types.CodeType))

    source = "class Made(metaclass=Meta):\n    length = len([1])\n"
    namespace: dict[str, Any] = {"Meta": Meta}
    code = compile(source, "<body>", "exec")
    body = next(each for each in code.co_consts if isinstance(each, types.CodeType))
    new = body_of("class Made(metaclass=Meta):\n    length = 'new', len([1])\n")
    make: Callable[..., Any] = lambda *_: gt.GuardedCode(new, gt.GuardManager(body))
    gt._guardtree._force_called(place == "called")
    lengths = []
    with gt.optimize(only(body, make)):
        for _ in range(3):
            namespace["__builtins__"] = {**vars(builtins), "len": own_length}
            exec(code, namespace)
            lengths.append(namespace["Made"].length)
    stats = gt.code_stats(body)
    if place == "called":  # a call would give it other builtins: it runs as written
        assert lengths == ["own"] * 3
        assert (stats["called"], stats["substituted"]) == (0, 0)
    else:
        assert lengths == [("new", "own")] * 3
        assert (stats["called"], stats["substituted"]) == (0, 3)
