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

# Functions of two numbers, and the operators that `integers` has for them.
OPERATORS = {
    "Eq": "==", "FloorDiv": "//", "Ge": ">=", "Gt": ">", "Le": "<=", "Lt": "<",
    "Mod": "%", "Ne": "!=", "PythonMod": "%",
}  # fmt: skip
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
    if "\n" in text:
        raise UnknownError(text)
    tree: Any = ast.parse(text, mode="eval").body
    made.part, guards = text.encode(), made.guards
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
    expression = shape.text(tree)
    if not shape.named:
        raise UnknownError(text)
    if isinstance(tree, ast.Call):
        expression = expression[1:-1]
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
    return made.part[tree.col_offset : tree.end_col_offset].decode()


def node_of(made: Translator, text: str) -> Any:
    """The node of a source; None without one."""
    if not made.sources:
        nodes = made.recording.nodes.values()
        found = [node for node in nodes if node.step not in WITHOUT_SOURCE]
        made.sources = {node.source: node for node in reversed(found)}
    return made.sources.get(text)


def example_of(made: Translator, tree: ast.expr) -> Any:
    """What a source is now."""
    text = source_of(made, tree)
    if (node := node_of(made, text)) is not None:
        return node.example
    names = {"L": made.recording.values, "G": made.recording.names, "math": math}
    return eval(text, names)


class Shape:
    """An expression over sizes, strides and ints as `integers` takes it: each source
    is a name."""

    def __init__(self, made: Translator) -> None:
        self.made = made
        self.named: dict[str, Any] = {}
        self.known: dict[str, str] = {}

    def name(
        self, tree: ast.expr, owner: ast.expr | None = None, step: Any = None
    ) -> str:
        """The name of a source, or of what a step gives from its owner."""
        text = source_of(self.made, tree)
        if text not in self.known:
            handle = value_of(self.made, owner or tree)
            name = self.known[text] = f"v{len(self.known)}"
            self.named[name] = step(handle) if step else handle
        return self.known[text]

    def text(self, tree: Any) -> str:
        """An expression, in the words of `integers`."""
        match tree:
            case ast.Subscript(
                ast.Call(ast.Attribute(owner, "size"), []), ast.Constant(int(index))
            ):
                return f"{self.name(owner)}.shape[{index}]"
            case ast.Subscript(
                ast.Call(ast.Attribute(owner, "stride"), []), ast.Constant(int(index))
            ):
                return f"stride_of({self.name(owner)}, {index})"
            case ast.Call(ast.Attribute(owner, "storage_offset"), []):
                return self.name(tree, owner, lambda of: of.storage_offset())
            case ast.Call(ast.Name(function), [left, right]) if function in OPERATORS:
                return f"({self.side(left)} {OPERATORS[function]} {self.side(right)})"
            case ast.Constant(number) if type(number) is int:
                return str(number)
            case ast.Subscript() | ast.Attribute():
                return self.name(tree)
        return self.with_texts(tree)

    def side(self, tree: ast.expr) -> str:
        """An operand of a function that becomes an operator."""
        text = self.text(tree)
        return f"({text})" if isinstance(tree, KEPT) else text

    def with_texts(self, tree: ast.expr) -> str:
        """The text of an operator, with those of its operands in their places."""
        if type(tree) not in KEPT:
            raise UnknownError(source_of(self.made, tree))
        found, part = "", self.made.part
        at: int | None = tree.col_offset
        for each in ast.iter_child_nodes(tree):
            if isinstance(each, ast.expr):
                found += part[at : each.col_offset].decode() + self.text(each)
                at = each.end_col_offset
            elif not isinstance(each, KEPT):
                raise UnknownError(source_of(self.made, tree))
        return found + part[at : tree.end_col_offset].decode()
