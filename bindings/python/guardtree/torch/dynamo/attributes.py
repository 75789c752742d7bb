"""Attributes that a recorded tree reads by getattr, by steps that run no code: where
nothing but another type could make getattr say something else."""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

from .purity import is_plain
from .record import Node

OF_FUNCTIONS = {"__code__": "code", "__defaults__": "defaults"}


def step_of(node: Node, name: str) -> tuple[str, tuple[Any, ...]] | None:
    """The step from the parent of a node, and its operands; None without one."""
    parent = node.parent
    if parent is None:
        return None
    owner = parent.example
    is_set = node.example is not None
    if type(owner) is FunctionType and name in OF_FUNCTIONS and is_set:
        return OF_FUNCTIONS[name], ()
    if is_plain(owner, name):
        return "plain_attr", (name,)
    return None


def cell_of(node: Node, name: str) -> tuple[Node, int] | None:
    """The function whose cell is read, and which one; None of another attribute."""
    cell = node.parent
    cells = cell.parent if cell is not None else None
    function = cells.parent if cells is not None else None
    if cell is None or cells is None or function is None:
        return None
    is_cell = type(cell.example) is CellType and name == "cell_contents"
    is_item = cell.step in ("tuple_getitem", "getitem") and cells.step == "closure"
    if not is_cell or not is_item or type(function.example) is not FunctionType:
        return None
    return function, cell.operands[0]
