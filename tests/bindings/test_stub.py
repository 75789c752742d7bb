"""The stub has what the compiled module has, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from guardtree import _guardtree

STUB = Path(_guardtree.__file__).with_name("_guardtree.pyi")


def names_in(body: list[ast.stmt]) -> set[str]:
    """What the statements define."""
    found = set()
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(ast.unparse(node.target))
    return found


def public(of: Any) -> set[str]:
    return {name for name in vars(of) if not name.startswith("__")}


def test_the_module() -> None:
    made_in_python = {type(each).__name__ for each in vars(_guardtree).values()}
    told = names_in(ast.parse(STUB.read_text()).body) - {"__version__"}
    assert told - made_in_python == public(_guardtree)


def test_its_classes() -> None:
    classes = {
        node.name: node
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ClassDef) and hasattr(_guardtree, node.name)
    }
    assert {"GuardManager", "Table", "Frame"} <= set(classes)
    for name, node in classes.items():
        told = {each for each in names_in(node.body) if not each.startswith("_")}
        found = {each for each in public(getattr(_guardtree, name)) if each[0] != "_"}
        assert told == found, name
