"""The verdict of guard trees in plain Python, with the functions of semantics.

A tree is a list of nodes `(step, path, checks, nodes)`: the name of the step, the node
as a Python expression, its checks as Python expressions, the child nodes.
"""

from __future__ import annotations

import ast
import functools
import types
import warnings
from typing import Any

from .. import semantics
from ..semantics import DoesNotHold


def has_items(value: Any) -> bool:
    """Whether value[...] is supported, even if it raises."""
    return isinstance(value, type) or hasattr(type(value), "__getitem__")


def is_absent(step: str, error: Exception, parent: Any) -> bool:
    """Whether the step fetches nothing, as opposed to an error in user code."""
    if step == "attr":
        return isinstance(error, AttributeError)
    if step == "item":
        return isinstance(error, LookupError) or not has_items(parent)
    if step == "dict_item":
        return not isinstance(parent, dict) or type(error) is KeyError
    if step in ("local", "closure"):
        return isinstance(error, NameError)
    if step == "generic_attr":
        return isinstance(error, AttributeError)
    if step == "slot":
        return isinstance(error, (AttributeError, LookupError))
    if step == "call":
        return not callable(parent)
    if step in ("compute", "native_get"):
        return False
    if step in ("size", "storage_offset"):
        return isinstance(error, (AttributeError, LookupError, TypeError))
    if step == "closure_cell":
        return isinstance(error, (LookupError, TypeError, ValueError))
    return isinstance(error, (LookupError, TypeError))


# The types without a name in builtins, by the names that they print.
UNNAMED = {
    kind.__name__: kind
    for kind in (*vars(types).values(), type(iter(())), type(iter(range(0))))
    if isinstance(kind, type)
}

NAMESPACE: dict[str, Any] = {
    **UNNAMED,
    **{name: getattr(semantics, name) for name in semantics.__all__},
}
"""The names in texts: the functions of guardtree.semantics, and unnamed types."""


@functools.lru_cache(maxsize=4096)
def code_of(text: str) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a printed `x is 1` is right
        code: types.CodeType = compile(text, "<guard>", "eval")
        return code


def is_same_syntax(one: Any, other: Any) -> bool:
    """Whether two trees are equal. ast.dump would raise for long integers."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(
            is_same_syntax(getattr(one, field), getattr(other, field))
            for field in one._fields
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same_syntax, one, other))
    return bool(one == other)


class Fetched(ast.NodeTransformer):
    """Replaces an expression by a name wherever it occurs in another expression."""

    def __init__(self, expression: str) -> None:
        self.wanted = ast.parse(expression, mode="eval").body

    def visit(self, node: ast.AST) -> ast.AST:
        if is_same_syntax(node, self.wanted):
            return ast.copy_location(ast.Name("fetched_before", ast.Load()), node)
        return self.generic_visit(node)


@functools.lru_cache(maxsize=4096)
def code_beyond(path: str, parent_path: str) -> types.CodeType:
    """The code of a path that reads its parent's value from `fetched_before`."""
    tree: Any = Fetched(parent_path).visit(ast.parse(path, mode="eval"))
    code: types.CodeType = compile(tree, "<guard>", "eval")
    return code


def value_of(
    path: str, parent_path: str, names: dict[str, Any], fetched: dict[str, Any]
) -> Any:
    """The value of a path. If the parent's value is known, only the last step is
    evaluated: evaluating all again might create another object (`array[True]` does)."""
    if not parent_path:
        return eval(code_of(path), names)
    before = {"fetched_before": fetched[parent_path]}
    return eval(code_beyond(path, parent_path), {**names, **before})


def node_verdict(
    node: tuple[Any, ...],
    parent_path: str,
    names: dict[str, Any],
    fetched: dict[str, Any],
) -> str:
    """The first verdict at and below the node that is not `pass`, otherwise `pass`."""
    step, path, checks, children = node
    try:
        fetched[path] = value_of(path, parent_path, names, fetched)
    except RecursionError:
        raise  # the oracle's own limit says nothing about the guards
    except Exception as error:
        if not is_absent(step, error, fetched.get(parent_path)):
            return "error"
        # A local is only read by its checks and children, or here by relations.
        return "pass" if step == "local" and not checks and not children else "fail"
    for check in checks:
        try:
            if not eval(code_of(check), names):
                return "fail"
        except Exception:
            return "error"
    return tree_verdict(children, names, fetched, path)


def tree_verdict(
    nodes: list[tuple[Any, ...]],
    names: dict[str, Any],
    fetched: dict[str, Any],
    parent_path: str = "",
) -> str:
    """`pass`, `fail` or `error`, evaluated in order, stopping at the first non-pass."""
    for node in nodes:
        answer = node_verdict(node, parent_path, names, fetched)
        if answer != "pass":
            return answer
    return "pass"


def holds(text: str, names: dict[str, Any]) -> bool:
    """Whether a relation's text is true. False if it cannot be computed."""
    try:
        return bool(eval(text, names))
    except (DoesNotHold, ZeroDivisionError, TypeError, IndexError):
        return False


def verdict(
    nodes: list[tuple[Any, ...]],
    relations: list[tuple[str, list[str]]],
    f_locals: dict[str, Any],
    f_globals: dict[str, Any],
    f_builtins: dict[str, Any],
) -> str:
    """The verdict of a tree. Operands may use names of `f_globals`."""
    names = {**f_globals, **NAMESPACE, **f_locals}
    names.update(G=f_globals, B=f_builtins, L=f_locals)
    fetched: dict[str, Any] = {}
    answer = tree_verdict(nodes, names, fetched)
    for text, paths in relations if answer == "pass" else ():
        if not fetched.keys() >= set(paths):
            return "fail"
        values = {f"v{i}": fetched[path] for i, path in enumerate(paths)}
        if not holds(text, {**names, **values}):
            return "fail"
    return answer
