"""Programs: dicts, and dataclasses and other objects that hold values."""

from __future__ import annotations

import collections
import dataclasses
import types
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from .programs import program, row

DICTS, OBJECTS = "dicts", "dataclasses"


def batch() -> tuple[Any, ...]:
    return ({"ids": row(), "mask": row(), "labels": row()},)


@program(DICTS, batch)
def items_by_name(data: Any) -> Any:
    return data["ids"] * data["mask"]


@program(DICTS, batch)
def loop_over_items(data: Any) -> Any:
    total = torch.zeros(8)
    for name, value in data.items():
        total = total + value * len(name)
    return total


@program(DICTS, batch)
def absent_key(data: Any) -> Any:
    return data["ids"] * 2 if "weights" not in data else data["weights"]


@program(DICTS, lambda: ({f"option_{i}": 1000 + i for i in range(64)}, row()))
def configuration(options: Any, a: Any) -> Any:
    return a + sum(options.values())


@program(DICTS, lambda: ({"model": {"layer": {"gain": 2, "bias": 0.5}}}, row()))
def nested_dicts(options: Any, a: Any) -> Any:
    layer = options["model"]["layer"]
    return a * layer["gain"] + layer["bias"]


@program(DICTS, lambda: ({torch.float32: 2, torch.int64: 3, int: 4}, row()))
def keys_that_are_objects(table: Any, a: Any) -> Any:
    return a * table[a.dtype] + table[int]


@program(DICTS, lambda: (collections.OrderedDict(a=row(), b=row()),))
def ordered_dict(data: Any) -> Any:
    return data["a"] - data["b"]


@program(DICTS, lambda: (collections.defaultdict(int, {"a": 2}), row()))
def default_dict(data: Any, a: Any) -> Any:
    return a * data["a"]


@dataclass
class Options:
    """Plain fields."""

    gain: float = 2.0
    steps: int = 3
    mode: str = "sum"


@dataclass(frozen=True)
class Frozen:
    """Fields that stay."""

    low: int
    high: int


@dataclass
class Batch:
    """Tensors, and what belongs to them."""

    ids: Any
    mask: Any
    options: Options = field(default_factory=Options)
    names: list[str] = field(default_factory=lambda: ["ids", "mask"])


@dataclass
class Output(collections.OrderedDict):  # type: ignore[type-arg]
    """A dataclass that is a dict, as outputs of models are."""

    logits: Any = None


class Slotted:
    """Attributes in slots."""

    __slots__ = ("gain", "shift")

    def __init__(self) -> None:
        self.gain, self.shift = 2, row()


class Pair(NamedTuple):
    """A tuple with names."""

    left: Any
    right: Any


class Scaler:
    """An object with methods, a property and a class attribute."""

    power = 2

    def __init__(self) -> None:
        self.gain, self.buffer = 3.0, row()

    @property
    def doubled(self) -> float:
        return self.gain * 2

    def scale(self, a: Any) -> Any:
        return a**self.power * self.gain + self.buffer


@program(OBJECTS, lambda: (Options(), row()))
def plain_fields(options: Options, a: Any) -> Any:
    a = a * options.gain + options.steps
    return a.sum() if options.mode == "sum" else a


@program(OBJECTS, lambda: (Frozen(0, 1), row()))
def frozen_fields(limits: Frozen, a: Any) -> Any:
    return a.clamp(limits.low, limits.high)


@program(OBJECTS, lambda: (Batch(row(), row()),))
def nested_fields(data: Batch) -> Any:
    return data.ids * data.mask * data.options.gain + len(data.names)


@program(OBJECTS, lambda: (Options(), row()))
def replaced_fields(options: Options, a: Any) -> Any:
    return a * dataclasses.replace(options, gain=4.0).gain


@program(OBJECTS, lambda: ([Options(float(i)) for i in range(8)], row()))
def list_of_objects(items: Any, a: Any) -> Any:
    for item in items:
        a = a * item.gain
    return a


@program(OBJECTS, lambda: (Slotted(),))
def slots(value: Slotted) -> Any:
    return value.shift * value.gain


@program(OBJECTS, lambda: (Pair(row(), row()),))
def named_tuple(pair: Pair) -> Any:
    return pair.left + pair.right


@program(OBJECTS, lambda: (Scaler(), row()))
def methods(scaler: Scaler, a: Any) -> Any:
    return scaler.scale(a)


@program(OBJECTS, lambda: (Scaler(), row()))
def a_property(scaler: Scaler, a: Any) -> Any:
    return a * scaler.doubled


@program(OBJECTS, lambda: (types.SimpleNamespace(gain=2, bias=row()), row()))
def namespace(options: Any, a: Any) -> Any:
    return a * options.gain + options.bias


@program(OBJECTS, lambda: (Options(), row()))
def optional_attribute(options: Any, a: Any) -> Any:
    return a * getattr(options, "extra", 2)
