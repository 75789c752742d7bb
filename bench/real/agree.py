"""Changes of what a recorded tree guards, and whether the engines agree on each.

Each local is replaced and removed, each value that a node of the tree leads to is
replaced where it lies, what was absent is added, each fact of torch's state is flipped.
Everything is put back after its change.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType
from typing import Any

import torch
from torch import nn

from . import states
from guardtree.torch.dynamo.record import Node
from .replay import Tree

Item = tuple[Any, Any]

PASSES, FAILS = "True/True", "False/False"

LARGE = 200
"""Of a dict with more items none is removed: it is one of a module's names."""


class NotMadeError(Exception):
    """A value refuses to be changed so."""


@dataclass
class Agreement:
    """How many changes were made, how many made the guards fail, and differences."""

    changes: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)
    """What could not be changed."""
    differences: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    """Changes below an ordered dict that was empty: the peer does not look there."""


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """Values to put in the place of one: of its type, and of another."""
    match value:
        case bool():
            yield "flipped", not value
        case int() | float():
            yield "one more", value + 1
            yield "as another number", (float if type(value) is int else int)(value)
        case str():
            yield "longer", value + "x"
        case torch.Tensor():
            with torch.no_grad():
                yield "of another dtype", value.to(torch.float16)
                yield "of another shape", value.unsqueeze(0)
                yield "equal", value.clone()
                yield "flipped requires_grad", flipped(value)
        case list() | tuple() if type(value) in (list, tuple):
            yield "with one more", type(value)([*value, *value[-1:]] or [0])
            yield "shorter", type(value)(value[:-1])
        case dict():
            yield "empty", type(value)()
            yield "equal", copy.copy(value)
        case nn.Module():
            yield "equal", copy.copy(value)
    yield "an object", object()
    yield "None", None if value is not None else 0


def flipped(value: torch.Tensor) -> torch.Tensor:
    """The same numbers, with or without gradients."""
    found = value.detach().clone()
    can = found.is_floating_point() and not value.requires_grad
    return found.requires_grad_() if can else found


@dataclass(frozen=True)
class Change:
    """Done and undone without a name being looked up: it may be of a builtin."""

    said: str
    apply: Callable[[], Any]
    undo: Callable[[], Any]
    is_below_empty: bool = False


def item(said: str, owner: Any, key: Any, new: Any) -> Change:
    """owner[key] is another value, whose place does not change."""
    put = dict.__setitem__ if isinstance(owner, dict) else type(owner).__setitem__
    old = owner[key]
    return Change(said, partial(put, owner, key, new), partial(put, owner, key, old))


def dict_of(said: str, owner: dict[Any, Any], items: Iterable[Item]) -> Change:
    """A dict has other items."""
    clear, add = dict.clear, dict.__setitem__

    def put(items: list[Item]) -> None:
        clear(owner)
        for key, value in items:
            add(owner, key, value)

    old = [*dict.items(owner)]
    return Change(said, partial(put, [*items]), partial(put, old))


def attribute(said: str, owner: Any, name: str, new: Any) -> Change:
    """An attribute is another value, or is there."""
    missing = object()
    old = getattr(owner, name, missing)
    gone = old is missing
    undo = partial(delattr, owner, name) if gone else partial(setattr, owner, name, old)
    return Change(said, partial(setattr, owner, name, new), undo)


def kind_of(said: str, owner: Any) -> Change:
    """An object is of a subclass of its type."""
    kind = type(owner)
    new = type(kind.__name__, (kind,), {"__slots__": ()})
    put = partial(setattr, owner, "__class__")
    return Change(said, partial(put, new), partial(put, kind))


def raises_in_peer(node: Node, new: Any) -> bool:
    """Whether the peer raises for a value. From CPython 3.12 on it watches a dict
    before any guard checks that it is one, and leaves torch functions disabled for
    others."""
    if sys.version_info < (3, 12) or isinstance(new, dict):
        return False
    kinds = {kind for kind, _ in node.leafs}
    return isinstance(node.example, dict) and "type_match" not in kinds


def changes_of(node: Node) -> Iterator[Change]:
    """Changes of the value of one node, where it lies."""
    parent, value = node.parent, node.example
    if parent is None or not node.source:
        return
    owner, operand = parent.example, node.operands[0] if node.operands else None
    if node.step in ("get_value", "get_key"):
        operand = [*dict.keys(owner)][operand]
        items = [*dict.items(owner)]
        yield dict_of("in reverse", owner, items[::-1])
    for said, new in others(value):
        if raises_in_peer(node, new):
            continue
        match node.step:
            case "dict_getitem" if parent.step == "type_dict":
                kind = parent.parent.example  # type: ignore[union-attr]
                yield attribute(said, kind, operand, new)
            case "dict_getitem" | "get_value" | "list_getitem":
                yield item(said, owner, operand, new)
            case "getattr" | "generic_getattr" | "grad":
                yield attribute(said, owner, operand or "grad", new)
            case "func_defaults" if isinstance(owner, FunctionType):
                yield attribute(said, owner, "__defaults__", new)
    if isinstance(owner, dict) and node.step in ("dict_getitem", "get_value"):
        rest = [pair for pair in dict.items(owner) if not is_same(pair[0], operand)]
        if len(rest) < LARGE:
            yield dict_of("gone", owner, rest)
    yield from changes_for_leafs(node, value)


def changes_for_leafs(node: Node, value: Any) -> Iterator[Change]:
    """Changes that one kind of leaf is there for."""
    for kind, arguments in node.leafs:
        if kind == "type_match" and not isinstance(value, type):
            with suppress(TypeError):
                yield kind_of("of a subclass", value)
        elif kind == "dict_contains" and not arguments[0] and isinstance(value, dict):
            more = [*dict.items(value), (arguments[1], None)]
            yield dict_of(f"with {arguments[1]!r}", value, more)
        elif kind == "no_hasattr":
            yield attribute(f"with {arguments[0]}", value, arguments[0], 1)
        elif kind == "dimension_marking":
            yield attribute("marked", value, "_has_dynamo_dim_marking", True)


def is_same(key: Any, other: Any) -> bool:
    """Tensors, too, are keys of dicts."""
    return key is other or (type(key) is str and type(other) is str and key == other)


def nothing() -> None:
    """No change."""


NO_CHANGE = Change("no change", nothing, nothing)


def verdicts_of(
    tree: Tree, values: dict[str, Any], change: Change = NO_CHANGE
) -> dict[str, Any]:
    """What each engine says, twice, since a tree may learn from a miss."""
    said: list[Any] = []
    found, error, checks = said.append, Exception, [*tree.checks().values()]
    try:
        change.apply()
    except Exception as refused:
        raise NotMadeError(str(refused)) from refused
    try:
        for check in checks:
            try:
                found((check(values), check(values)))
            except error as raised:
                found(raised)
    finally:
        change.undo()
    return dict(zip(tree.checks(), map(told, said)))


def told(said: Any) -> str:
    """A verdict, or what was raised."""
    return repr(said) if isinstance(said, BaseException) else "/".join(map(str, said))


def compare(
    tree: Tree,
    found: Agreement,
    said: str,
    values: dict[str, Any],
    change: Change = NO_CHANGE,
) -> None:
    """All engines are asked."""
    verdicts = verdicts_of(tree, values, change)
    found.changes += 1
    found.failed += verdicts["peer"] == FAILS
    if len(set(verdicts.values())) > 1:
        is_unseen = verdicts["peer"] == PASSES and change.is_below_empty
        to = found.unseen if is_unseen else found.differences
        to.append(f"{tree.recording.name}: {said}: {verdicts}")


def change_locals(tree: Tree, found: Agreement) -> None:
    """Each local is replaced, and is not there."""
    values = tree.recording.values
    for name, value in values.items():
        for said, new in others(value):
            compare(tree, found, f"{name} {said}", values | {name: new})
        rest = {other: values[other] for other in values if other != name}
        compare(tree, found, f"without {name}", rest)


def is_below_empty(node: Node | None) -> bool:
    """Whether a node is a dict in order that was empty, or below one."""
    while node is not None:
        if node.is_ordered and not node.example:
            return True
        node = node.parent
    return False


def change_nodes(tree: Tree, found: Agreement) -> None:
    """Each value of the tree is replaced in its place."""
    values = tree.recording.values
    for node in list(tree.recording.nodes.values()):
        try:
            for change in changes_of(node):
                change = replace(change, is_below_empty=is_below_empty(node))
                where = f"{node.source} {change.said}"
                try:
                    compare(tree, found, where, values, change)
                except NotMadeError as error:
                    found.skipped.append(f"{where}: {error}")
        except (AttributeError, TypeError) as error:
            found.skipped.append(f"{node.source}: {error}")


def agreement(tree: Tree) -> Agreement:
    """All changes of one tree."""
    found = Agreement()
    with torch.set_grad_enabled(tree.recording.grad_mode):
        change_locals(tree, found)
        change_nodes(tree, found)
        for said, applied in states.CHANGES.items():
            with applied():
                compare(tree, found, f"state: {said}", tree.recording.values)
        last = verdicts_of(tree, tree.recording.values)
        if set(last.values()) != {PASSES}:
            found.differences.append(f"{tree.recording.name}: not put back: {last}")
    return found
