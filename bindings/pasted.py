"""Rows of the reference as Python to paste: texts of guards, filled with values.

A row then runs after `from guardtree.semantics import *`, and needs no other name.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable

import guardtree as gt

# What roots read, in a frame that has a global FLAG; `L` is the value of the row.
SCOPES = {"G": "{'FLAG': True}", "B": "vars(__import__('builtins'))"}

ATOMS = (
    ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Call,
    ast.Attribute, ast.Subscript,
)  # fmt: skip


def holder(value: object) -> None: ...


def as_kept(source: str) -> str:
    """A guard keeps a frozenset of a set that it is given."""
    is_set = isinstance(ast.parse(source, mode="eval").body, ast.Set)
    return f"frozenset({source})" if is_set or source == "set()" else source


def parts(expressions: str) -> list[str]:
    """The texts of expressions that commas separate."""
    call = ast.parse(f"f({expressions})", mode="eval").body
    assert isinstance(call, ast.Call)
    found = [ast.get_source_segment(f"f({expressions})", each) for each in call.args]
    return [each for each in found if each]


def is_suspicious(source: str, before: str, behind: str) -> bool:
    """CPython warns of the source there: `1 is x`, `None[0]`, `1()`."""
    node = ast.parse(source, mode="eval").body
    if "is" in (before, behind):
        is_literal = not isinstance(node, (ast.Name, ast.Call, ast.Attribute))
        return is_literal and source not in ("None", "True", "False")
    if behind == "[" and isinstance(node, ast.Constant):
        return not isinstance(node.value, str)
    return behind == "(" and isinstance(node, ast.Constant)


def binds_tightly(source: str, following: str) -> bool:
    """The source needs no parentheses between operators."""
    node = ast.parse(source, mode="eval").body
    if isinstance(node, ast.UnaryOp):
        return following not in (".", "(", "[", "**")
    if isinstance(node, ast.Constant) and following == ".":
        return isinstance(node.value, str)
    return isinstance(node, ATOMS)


class Filling:
    """Puts the source of each value in the place of its name.

    A value that the text reads more than once is assigned where it is read first.
    """

    def __init__(self, text: str, sources: dict[str, str]) -> None:
        read = tokenize.generate_tokens(io.StringIO(text).readline)
        self.tokens = [each for each in read if each.string]
        self.sources = sources
        self.seen: set[str] = set()

    def text(self) -> str:
        out, end = "", 0
        for i, token in enumerate(self.tokens):
            begin = token.start[1]
            out += token.line[end:begin] + self.filled(i)
            end = token.end[1]
        return out

    def string(self, i: int) -> str:
        return self.tokens[i].string if 0 <= i < len(self.tokens) else ""

    def count(self, name: str) -> int:
        return sum(
            each.string == name and self.string(i - 1) != "."
            for i, each in enumerate(self.tokens)
        )

    def filled(self, i: int) -> str:
        name, before, behind = self.string(i), self.string(i - 1), self.string(i + 1)
        source = self.sources.get(name)
        if self.tokens[i].type != tokenize.NAME or source is None:
            return name
        if before == ".":  # the name of an attribute: `value.name`
            return str(ast.literal_eval(source))
        if name in self.seen:
            return name
        is_warned_of = is_suspicious(source, before, behind)
        if source.isidentifier() and not is_warned_of:
            return source
        is_alone = before in ("(", ",", "[") and behind in (")", ",", "]")
        if self.count(name) > 1 or is_warned_of:
            self.seen.add(name)
            source = f"{name} := {source}"
            return source if is_alone else f"({source})"
        return source if is_alone or binds_tightly(source, behind) else f"({source})"


def filled(text: str, sources: dict[str, str]) -> str:
    """The text with values in the place of names; NumPy and torch are imported."""
    made = Filling(text, sources).text()
    return re.sub(r"(?<![\w.'])(numpy|torch)\.", r"__import__('\1').", made)


def pasted_kind(
    method: str, names: list[str], python: str, operands: str, value: str
) -> str:
    """The text of a kind about one value."""
    if not re.search(r"\bvalue\b", python):  # kinds inside a kind
        guards = gt.GuardManager(holder)
        getattr(guards.local("value"), method)(*eval(f"({operands},)"))
        return filled(guards.checks()[0].python, {"value": value})
    given = dict(zip(names, map(as_kept, parts(operands))))
    return filled(python, {"value": value, **given})


def pasted_step(
    method: str, names: list[str], python: str, operands: str, value: str
) -> str:
    """The text of a step from one value; the value of a root is the locals."""
    if python == "name":
        return f"eval({operands}, {value})"  # a local is its name
    given = dict(zip(names, parts(operands)))
    return filled(python, {"value": value, "L": value, **SCOPES, **given})


def pasted_relation(
    method: str, names: list[str], python: str, operands: str, values: str
) -> str:
    """The text of a relation over a tuple of values, as a tree prints it."""
    tree = ast.parse(values, mode="eval").body
    sources = parts(values[1:-1]) if isinstance(tree, ast.Tuple) else []
    paths = [f"v{i}" for i in range(len(sources) or 2)]
    scope: dict[str, Callable[..., None]] = {}
    exec(f"def scope({', '.join(paths)}): ...", scope)
    guards = gt.GuardManager(scope["scope"])
    given = eval(f"({operands},)") if operands else ()
    getattr(guards, method)(*given, *(guards.local(path) for path in paths))
    text = guards.relations()[0].python
    if sources:
        return filled(text, dict(zip(paths, sources)))
    return filled(text.replace("v0, v1", "*values"), {"values": values})
