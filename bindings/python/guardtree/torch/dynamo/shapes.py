"""The lambdas that run last, as relations: expressions over shapes, and aliases.

Dynamo gives them as Python text: `2 <= L['a'].size()[0]`, `G['x'].torch is G['y']`.
What is not understood stays the lambda that it is, over a dict of the locals.
"""

from __future__ import annotations

import ast
import math
import re
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


# Sources that ast.unparse gives as they are. It takes 0.1 ms for one.
CANONICAL = re.compile(r"\w+(\.\w+|\['\w+'\]|\[\d\])*")


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
    guards = made.guards
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
        node = sources(made).get(ast.unparse(known))
        if node is not None and (found := made.compared_with(node)):
            return "alias", value_of(made, other).id_match, tuple(found), {}
    values = value_of(made, left), value_of(made, right)
    return "alias", made.guards.same_object, values, {}


def value_of(made: Translator, tree: ast.expr) -> Any:
    """The handle of a source: that of a node, or attributes and items from one."""
    text = ast.unparse(tree)
    if (node := sources(made).get(text)) is not None:
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


def sources(made: Translator) -> dict[str, Any]:
    """The nodes of the tree by their sources."""
    if not made.sources:
        for node in made.recording.nodes.values():
            if node.step in ("root", "globals_dict", "get_generic_dict"):
                continue
            text = node.source
            try:
                if not CANONICAL.fullmatch(text):
                    text = ast.unparse(ast.parse(text, mode="eval"))
            except SyntaxError:
                continue
            made.sources.setdefault(text, node)
    return made.sources


def example_of(made: Translator, tree: ast.expr) -> Any:
    """What a source is now."""
    names = {"L": made.recording.values, "G": made.recording.names, "math": math}
    return eval(ast.unparse(tree), names)


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
                known = self.name(ast.unparse(owner), value_of(self.made, owner))
                shape = ast.Attribute(ast.Name(known), "shape")
                return ast.Subscript(shape, ast.Constant(index))
            case ast.Subscript(
                ast.Call(ast.Attribute(owner, "stride"), []), ast.Constant(index)
            ):
                stride = value_of(self.made, owner).stride(index)
                return ast.Name(self.name(ast.unparse(tree), stride))
            case ast.Call(ast.Attribute(owner, "storage_offset"), []):
                offset = value_of(self.made, owner).storage_offset()
                return ast.Name(self.name(ast.unparse(tree), offset))
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
                return ast.Name(self.name(ast.unparse(tree), handle))
        if not isinstance(tree, KEPT):
            raise UnknownError(ast.unparse(tree))
        return self.generic_visit(tree)
