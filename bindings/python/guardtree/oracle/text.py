"""Evaluates a whole text of guards in plain Python.

The caller provides the rows of kinds, steps and relations, in which explicit names
(`guard.length(x, 3)`) are looked up.
"""

from __future__ import annotations

import ast
import builtins
import sys
from typing import Any

from ..semantics import CannotSay
from .meaning import NAMESPACE, code_of

ROWS: dict[str, tuple[str, tuple[str, ...]]] = {}
"""Python text and operand names, by name. The caller fills it."""


FUNCTIONS = {"len": "builtin_len", "stride_of": "stride_of"}
"""What stands for the functions that integer expressions call."""

HIDDEN = {
    f"<{word}>": NAMESPACE[word] for word in ("int64", "tensor", *FUNCTIONS.values())
}
"""Under names that no value can have: a value may be called `tensor`."""


def called(word: str, arguments: list[ast.expr]) -> ast.expr:
    """A call of one of HIDDEN."""
    return ast.Call(ast.Name(f"<{word}>", ast.Load()), arguments, [])


class MarkIntegers(ast.NodeTransformer):
    """Wraps the values that an integer expression reads in int64(...)."""

    def mark(self, node: ast.expr) -> ast.expr:
        return called("int64", [node])

    def of_tensor(self, node: ast.expr) -> ast.expr:
        return called("tensor", [node])

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.mark(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        return self.mark(called(FUNCTIONS[node.func.id], node.args))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self.mark(
            ast.Attribute(self.of_tensor(node.value), node.attr, ast.Load())
        )

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        shape = node.value
        assert isinstance(shape, ast.Attribute)
        of_tensor = self.of_tensor(shape.value)
        tensor_shape = ast.Attribute(of_tensor, shape.attr, ast.Load())
        return self.mark(ast.Subscript(tensor_shape, node.slice, ast.Load()))


def names_in_order(text: str) -> list[str]:
    """The names of values in an integer expression, in order of first appearance."""
    nodes = list(ast.walk(ast.parse(text, mode="eval")))
    functions = [node.func for node in nodes if isinstance(node, ast.Call)]
    found = [
        node for node in nodes if isinstance(node, ast.Name) and node not in functions
    ]
    found.sort(key=lambda node: node.col_offset)
    return list(dict.fromkeys(node.id for node in found))


class Explicit:
    """The object `guard` in a text: kinds, steps and relations by their own names."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def present(self, value: Any) -> bool:
        return True

    def inner(self, value: Any, kind: tuple[Any, ...]) -> bool:
        name, *operands = kind
        return bool(getattr(self, name)(value, *operands))

    def not_(self, value: Any, kind: tuple[Any, ...]) -> bool:
        return not self.inner(value, kind)

    def any_of(self, value: Any, kinds: tuple[Any, ...]) -> bool:
        return any(self.inner(value, kind) for kind in kinds)

    def attr(self, value: Any, name: str) -> Any:
        return getattr(value, name)

    def local(self, name: str) -> Any:
        return self.names["L"][name]

    closure = local

    def same_object(self, *values: Any) -> bool:
        return all(each is values[0] for each in values)

    def distinct_objects(self, *values: Any) -> bool:
        return bool(self.names["distinct_objects"](*values))

    def overlapping_memory(self, pairs: Any, *values: Any) -> bool:
        return bool(self.names["overlapping_pairs"](*values) == set(pairs))

    def integers(self, text: str, *values: Any) -> bool:
        tree = ast.fix_missing_locations(
            MarkIntegers().visit(ast.parse(text, mode="eval"))
        )
        given = dict(zip(names_in_order(text), values))
        return bool(eval(compile(tree, "<integers>", "eval"), {**HIDDEN, **given}))

    def __getattr__(self, word: str) -> Any:
        python, operands = ROWS[word.removesuffix("_") if word == "global_" else word]

        def evaluate(*arguments: Any) -> Any:
            has_value = len(arguments) > len(operands)
            names = ("value", *operands) if has_value else operands
            return eval(code_of(python), {**self.names, **dict(zip(names, arguments))})

        return evaluate


def modules_of(text: str) -> dict[str, Any]:
    """The modules with which dotted names in a text may start."""
    if "." not in text:
        return {}
    return {name: each for name, each in sys.modules.items() if "." not in name}


def text_passes(
    text: str,
    given: dict[str, Any],
    f_locals: dict[str, Any],
    f_globals: dict[str, Any],
    f_builtins: dict[str, Any],
    *,
    with_globals: bool = True,
) -> bool:
    """Whether the text is true. False if it raises. Words of the language come before
    names of the scope, which can be written as L['type']. Without globals, a bare name
    is never a global, as in a text for a code object alone."""
    names = {**vars(builtins), **modules_of(text)}
    names |= {**(f_globals if with_globals else {}), **f_locals, **NAMESPACE, **given}
    names["__builtins__"] = builtins
    names.update(G=f_globals, B=f_builtins, L=f_locals)
    names["guard"] = Explicit(names)
    try:
        return bool(eval(code_of(text), names))
    except (CannotSay, MemoryError):
        raise
    except RecursionError as error:
        raise CannotSay("the text is too deep for Python") from error
    except Exception:
        return False
    finally:
        names.clear()  # a cycle through `guard` would keep the values alive
