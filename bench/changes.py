"""Single changes that make one guarded fact false, each with its undo.

`changes_of(workload, fact)` lists them: the value at the fact's path is replaced by one
that differs in nothing but what the fact says, or is changed where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, Literal

import torch
from guardtree.torch.dynamo.internals import VERSION
from workloads import Fact, Path, Workload

Undo = Callable[[], Any]


@dataclass(frozen=True)
class Change:
    """One change: `apply` makes it and gives its undo. The peer accepts it where it is
    a defect of the peer: of its plain guards, or of its recursive dict tags."""

    name: str
    apply: Callable[[], Undo]
    accepted_by: Literal["", "peer", "tags"] = ""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The change is in effect inside."""
        undo = self.apply()
        try:
            yield
        finally:
            undo()


def path_text(path: Path) -> str:
    """A path, short enough for a list."""
    return ".".join(name if key is None else str(key) for name, key in path)


def holder(workload: Workload, path: Path) -> Any:
    """The dict or list that holds the value at a path."""
    name, _ = path[-1]
    parent = workload.fetch(path[:-1])
    match name:
        case "local":
            return workload.values
        case "global_":
            return workload.function.__globals__
        case "instance_attr" | "module_attr":
            return vars(parent)
    return parent


def put(holding: Any, key: Any, value: Any) -> Undo:
    """Another value in its place; what it holds of other keys stays as it is."""
    before = holding[key]
    holding[key] = value
    return lambda: holding.__setitem__(key, before)


def put_code(function: FunctionType) -> Undo:
    """A function gets an equal code of its own."""
    before = function.__code__
    function.__code__ = before.replace()
    return lambda: setattr(function, "__code__", before)


def of_a_subclass(value: Any) -> Any:
    """The same value, but of a subclass of its type."""
    kind = type(value)
    sub = type(kind.__name__, (kind,), {})
    if kind in (dict, list):
        return sub(value)
    other = object.__new__(sub)
    object.__setattr__(other, "__dict__", vars(value))
    return other


def like(value: Any) -> Any:
    """Another object that stands for a module or a class, with the same contents."""
    if isinstance(value, ModuleType):
        other = ModuleType(value.__name__)
        vars(other).update(vars(value))
        return other
    return type(value.__name__, (value,), {"forward": value.forward})


def other_constants(value: Any) -> list[Any]:
    """Another value of the type, and equal ones of another type or of other bits."""
    if isinstance(value, str):
        return [value + "_", type("S", (str,), {})(value)]
    if isinstance(value, tuple):
        return [(*value, None), list(value), tuple(map(float, value))]
    if value == 0.0:
        return [1.0, -0.0]
    return [value + 1, float(value) if isinstance(value, int) else 10**9]


def other_tensors(value: torch.Tensor) -> dict[str, torch.Tensor]:
    """Tensors that differ from one in a single fact."""
    parameter = isinstance(value, torch.nn.Parameter)
    graded = value.requires_grad

    def as_is(data: torch.Tensor, required: bool = graded) -> torch.Tensor:
        data = data.detach()
        if parameter:
            return torch.nn.Parameter(data, requires_grad=required)
        return data.requires_grad_(required)

    other_type = value.detach().requires_grad_(graded)
    strides = tuple(2 * stride for stride in value.stride())
    spread = torch.zeros(4 * value.numel()).as_strided(value.shape, strides)
    return {
        "dtype": as_is(value.double()),
        "size": as_is(torch.zeros(*value.shape[:-1], value.shape[-1] + 1)),
        "dimensions": as_is(value.detach()[None]),
        "strides": as_is(spread),
        "requires_grad": as_is(value.clone(), not graded),
        "type": other_type
        if parameter
        else torch.nn.Parameter(other_type, requires_grad=graded),
        "device": as_is(value.to("meta")),
    }


def accepted_by(fact: Fact, other: Any) -> Literal["", "peer"]:
    """The peer's equality is Python's below the outermost type: of a tuple's items it
    compares no types, and up to torch 2.14, 0.0 is -0.0 (tests/DEFECTS.md)."""
    if fact.kind != "equals" or type(other) is not type(fact.operand):
        return ""
    if isinstance(other, float) and VERSION >= (2, 15):
        return ""
    return "peer" if other == fact.operand else ""


def change_class(value: Any) -> Undo:
    """An object becomes one of a subclass where it stands: no dict sees it."""
    before = type(value)
    value.__class__ = type(before.__name__, (before,), {})
    return lambda: setattr(value, "__class__", before)


def resize(value: torch.Tensor) -> Undo:
    """A tensor gets other data where it stands."""
    before = value.data
    value.data = torch.zeros(*value.shape[:-1], value.shape[-1] + 1)
    return lambda: setattr(value, "data", before)


def flip_grad(value: torch.Tensor) -> Undo:
    """requires_grad changes where it stands: no container sees it."""
    value.requires_grad_(not value.requires_grad)
    return lambda: value.requires_grad_(not value.requires_grad)


def one_more(value: Any) -> Undo:
    """A list or a dict grows where it stands."""
    if isinstance(value, list):
        value.append(None)
        return value.pop
    value["one more"] = None
    return lambda: value.popitem()


def first_to_end(value: dict[str, Any]) -> Undo:
    """A dict's first key becomes its last; the items stay."""
    before = list(value.items())
    key, item = before[0]
    del value[key]
    value[key] = item

    def undo() -> None:
        value.clear()
        value.update(before)

    return undo


def changes_of_relation(workload: Workload, fact: Fact) -> Iterator[Change]:
    """The last of distinct values becomes the one before it."""
    *_, one, other = fact.operand

    def apply() -> Undo:
        held = holder(workload, other)
        return put(held, other[-1][1], workload.fetch(one))

    yield Change(f"{path_text(other)} is {path_text(one)}", apply)


def replacements(fact: Fact, value: Any) -> dict[str, Any]:
    """Values to put in place of one, by what differs."""
    match fact.kind:
        case "type_match":
            return {"a subclass": of_a_subclass(value)}
        case "equals":
            return {repr(other): other for other in other_constants(value)}
        case "is_true":
            return {"False": False, "1": 1}
        case "is_false":
            return {"True": True, "0": 0}
        case "is_none":
            return {"0": 0, "False": False}
        case "tensor_match":
            return other_tensors(value)
        case "id_match":
            return {"another": like(value)}
    return {}


def changes_of(workload: Workload, fact: Fact) -> Iterator[Change]:
    """Every listed change of one fact."""
    if fact.kind == "distinct_objects":
        yield from changes_of_relation(workload, fact)
        return
    said = f"{path_text(fact.path)}: {fact.kind}"
    value = workload.fetch(fact.path)
    if fact.path[-1][0] == "code":
        function = workload.fetch(fact.path[:-1])
        yield Change(f"{said}, another code", lambda: put_code(function))
        return
    held = holder(workload, fact.path)
    for name, other in replacements(fact, value).items():

        def apply(other: Any = other) -> Undo:
            return put(held, fact.path[-1][1], other)

        yield Change(f"{said}, {name}", apply, accepted_by(fact, other))
    if fact.kind == "length":
        yield Change(f"{said}, one more", lambda: one_more(value))
    if fact.kind == "dict_keys":
        yield Change(f"{said}, one more", lambda: one_more(value))
        if len(value) > 1:
            yield Change(f"{said}, another order", lambda: first_to_end(value))
    if fact.kind == "tensor_match":
        yield Change(f"{said}, requires_grad in place", lambda: flip_grad(value))
        yield Change(f"{said}, size in place", lambda: resize(value))
    if fact.kind == "type_match" and isinstance(value, torch.nn.Module):
        yield Change(f"{said}, in place", lambda: change_class(value), "tags")


def all_changes(workload: Workload) -> Iterator[Change]:
    """Those of all facts, in the facts' order."""
    for fact in workload.facts:
        yield from changes_of(workload, fact)
