"""The lambdas that run last, as relations: expressions over shapes, and aliases.

Dynamo gives them as Python text: `2 <= L['a'].size()[0]`, `G['x'].torch is G['y']`.
What is not understood stays the lambda that it is, over a dict of the locals.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from . import leafs

if TYPE_CHECKING:
    from .translate import Translator

COMPARED = {
    "Eq": ast.Eq, "Ge": ast.GtE, "Gt": ast.Gt, "Le": ast.LtE, "Lt": ast.Lt,
    "Ne": ast.NotEq,
}  # fmt: skip
CALCULATED = {"FloorDiv": ast.FloorDiv, "Mod": ast.Mod, "PythonMod": ast.Mod}
KEPT = (
    ast.Add, ast.And, ast.BoolOp, ast.BinOp, ast.Compare, ast.Eq, ast.FloorDiv, ast.Gt,
    ast.GtE, ast.Lt, ast.LtE, ast.Mod, ast.Mult, ast.Not, ast.NotEq, ast.Or, ast.Sub,
    ast.UAdd, ast.USub, ast.UnaryOp,
)  # fmt: skip
WITHOUT_SOURCE = ("root", "globals_dict", "get_generic_dict")
"""Steps of nodes that no lambda names."""


class UnknownError(Exception):
    """A text that is not understood."""


def add(made: Translator, arguments: tuple[Any, ...]) -> None:
    """One lambda: each of its parts, or else the lambda as it is."""
    function, parts = arguments[:2]
    texts = [part.split("  #")[0].strip() for part in parts]
    try:
        found = [part_of(made, text) for text in texts]
    except (UnknownError, SyntaxError):
        leafs.python(made, made.guards, "epilogue lambda", texts, function)
        return
    for part, (said, method, values, named) in zip(parts, found):
        made.say(said, method.__name__)
        method(*values, **named)
        if place := part.partition("  #")[2].strip():
            made.guards.note(place)


def part_of(made: Translator, text: str) -> tuple[Any, ...]:
    """What a part is called, the method that adds it, and its arguments."""
    tree: Any = ast.parse(text, mode="eval").body
    made.part, guards = text, made.guards
    match tree:
        case ast.Compare(left, [ast.Is()], [right]):
            return alias(made, left, right)
        case ast.Compare(left, [ast.IsNot()], [right]):
            values = value_of(made, left), value_of(made, right)
            return "no alias", guards.distinct_objects, values, {}
        case ast.UnaryOp(ast.Not(), ast.Call(ast.Attribute(attr="isnan"), [value])):
            handle = value_of(made, value).type_match(float)
            return "no NaN", handle.not_, (("float_is_nan",),), {}
    shape = Shape(made)
    expression = ast.unparse(shape.visit(tree))
    if not shape.named:
        raise UnknownError(text)
    return "shape", guards.integers, (expression,), shape.named


def alias(made: Translator, left: ast.expr, right: ast.expr) -> tuple[Any, ...]:
    """A part that says that two sources are one object."""
    for known, other in ((left, right), (right, left)):
        node = node_of(made, source_of(made, known))
        if node is not None and (found := made.compared_with(node)):
            return "alias", value_of(made, other).id_match, tuple(found), {}
    values = value_of(made, left), value_of(made, right)
    return "alias", made.guards.same_object, values, {}


def value_of(made: Translator, tree: ast.expr) -> Any:
    """The handle of a source: that of a node, or attributes and items from one."""
    text = source_of(made, tree)
    if (node := node_of(made, text)) is not None:
        return made.handle(node)
    match tree:
        case ast.Subscript(ast.Name("L"), ast.Constant(name)):
            is_free = name in made.guards_code().co_freevars
            return getattr(made.guards, "closure" if is_free else "local")(name)
        case ast.Subscript(ast.Name("G"), ast.Constant(name)):
            return made.guards.global_(name)
        case ast.Attribute(owner, name):
            example = example_of(made, owner)
            made.note_reading(example, name, text)
            return made.attribute(value_of(made, owner), example, name)
        case ast.Subscript(owner, ast.Constant(key)):
            return value_of(made, owner).item(key)
        case ast.Call(ast.Name("type"), [owner]):
            return value_of(made, owner).type()
    raise UnknownError(text)


def source_of(made: Translator, tree: ast.expr) -> str:
    """The text that an expression was parsed from."""
    text = made.part
    if text.isascii() and "\n" not in text:
        return text[tree.col_offset : tree.end_col_offset]
    return ast.unparse(tree)


def node_of(made: Translator, text: str) -> Any:
    """The node of a source; None without one."""
    if not made.sources:
        nodes = made.recording.nodes.values()
        found = [node for node in nodes if node.step not in WITHOUT_SOURCE]
        made.sources = {node.source: node for node in reversed(found)}
    return made.sources.get(text)


def example_of(made: Translator, tree: ast.expr) -> Any:
    """What a source is now."""
    names = {"L": made.recording.values, "G": made.recording.names, "math": math}
    return eval(source_of(made, tree), names)


class Shape(ast.NodeTransformer):
    """An expression over sizes, strides and ints as `integers` takes it: each source
    is a name."""

    def __init__(self, made: Translator) -> None:
        self.made = made
        self.named: dict[str, Any] = {}
        self.known: dict[str, str] = {}

    def name(self, text: str, handle: Any) -> str:
        """The name of a source."""
        if text not in self.known:
            self.known[text] = f"v{len(self.known)}"
            self.named[self.known[text]] = handle
        return self.known[text]

    def visit(self, tree: Any) -> Any:
        """An expression, in the words of `integers`."""
        match tree:
            case ast.Subscript(
                ast.Call(ast.Attribute(owner, "size"), []), ast.Constant(index)
            ):
                text = source_of(self.made, owner)
                known = self.name(text, value_of(self.made, owner))
                shape = ast.Attribute(ast.Name(known), "shape")
                return ast.Subscript(shape, ast.Constant(index))
            case ast.Subscript(
                ast.Call(ast.Attribute(owner, "stride"), []), ast.Constant(index)
            ):
                stride = value_of(self.made, owner).stride(index)
                return ast.Name(self.name(source_of(self.made, tree), stride))
            case ast.Call(ast.Attribute(owner, "storage_offset"), []):
                offset = value_of(self.made, owner).storage_offset()
                return ast.Name(self.name(source_of(self.made, tree), offset))
            case ast.Call(ast.Name(function), [left, right]) if function in COMPARED:
                sides = self.visit(left), [self.visit(right)]
                return ast.Compare(sides[0], [COMPARED[function]()], sides[1])
            case ast.Call(ast.Name(function), [left, right]) if function in CALCULATED:
                operator = CALCULATED[function]()
                return ast.BinOp(self.visit(left), operator, self.visit(right))
            case ast.Constant(value) if type(value) is int:
                return tree
            case ast.Subscript() | ast.Attribute():
                handle = value_of(self.made, tree)
                return ast.Name(self.name(source_of(self.made, tree), handle))
        if not isinstance(tree, KEPT):
            raise UnknownError(ast.unparse(tree))
        return self.generic_visit(tree)
