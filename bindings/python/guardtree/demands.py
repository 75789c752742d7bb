"""What a plan demands of values like an example, as data: steps, kinds, operands."""

from __future__ import annotations

import dataclasses
import enum
import functools
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import (
    BuiltinFunctionType,
    EllipsisType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    NotImplementedType,
)
from typing import Any

from . import _guardtree
from ._guardtree import GuardManager
from .key_plans import Facts, KeyPlan, is_by_dimension
from .tensors import TensorSpec

INT32, INT64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)

Step = tuple[Any, ...]
"""The name of a step and its operands."""


@dataclass(frozen=True)
class Demand:
    """One check on a value that some steps lead to."""

    steps: tuple[Step, ...]
    kind: str
    operands: tuple[Any, ...] = ()


@dataclass
class Demands:
    """What a plan demands of values like an example."""

    plan: KeyPlan
    open: set[int] = field(default_factory=set)
    """The containers that are being looked into."""

    def of(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Demand]:
        """The demands on a value, the cheap and telling ones first."""
        for types, demands in READERS:
            # isinstance would ask the value's __class__, which may be user code.
            if not issubclass(type(value), types):
                continue
            if found := demands(self, value, steps):
                yield from found
                return
        if (facts := tensor_facts(value)) is not None:
            yield from self.of_tensor(value, facts, steps)
        elif is_numpy_dtype(value) or is_of_torch(value, "device"):
            yield self.of_equal(value, steps)
        elif dataclasses.is_dataclass(value):
            yield from self.of_dataclass(value, steps)
        elif is_of_torch(value, "dtype", "layout", "memory_format"):
            yield Demand(steps, "id_match_held", (value,))
        else:
            yield self.of_other(value, steps)

    def of_other(self, value: Any, steps: tuple[Step, ...]) -> Demand:
        if self.plan.others == "refuse":
            raise TypeError(
                f"specialize: nothing is known of {type(value).__name__} objects such "
                f"as {place_of(steps)}: say others='type' or others='identity', or "
                "free this value and guard it by hand"
            )
        if self.plan.others == "type":
            return Demand(steps, "type_match", (type(value),))
        return Demand(steps, "id_match", (value,))

    def of_constant(self, value: Any, steps: tuple[Step, ...]) -> list[Demand]:
        return [Demand(steps, "id_match_held", (value,))]

    def of_none(self, value: Any, steps: tuple[Step, ...]) -> list[Demand]:
        return [Demand(steps, "is_none")]

    def of_bool(self, value: Any, steps: tuple[Step, ...]) -> list[Demand]:
        return [self.exactly(value, steps, self.plan.bools)]

    def of_float(self, value: Any, steps: tuple[Step, ...]) -> list[Demand] | None:
        if type(value) not in (float, complex):
            return None
        return [self.exactly(value, steps, self.plan.floats)]

    def of_string(self, value: Any, steps: tuple[Step, ...]) -> list[Demand] | None:
        if type(value) not in (str, bytes):
            return None
        return [self.exactly(value, steps, self.plan.strings)]

    def exactly(self, value: Any, steps: tuple[Step, ...], how: str) -> Demand:
        if how == "exact":
            return Demand(steps, "equals", (value,))
        return Demand(steps, "type_match", (type(value),))

    def of_int(self, value: Any, steps: tuple[Step, ...]) -> list[Demand] | None:
        if type(value) is not int:
            return None
        if isinstance(self.plan.ints, str):
            return [self.exactly(value, steps, self.plan.ints)]
        made = [*self.of_number(value, steps, self.plan.ints)]
        if all(demand.kind == "not_" for demand in made):
            made.insert(0, Demand(steps, "type_match", (int,)))
        # A guard that an int passes, bool and others do not; it rules out the most.
        return sorted(made, key=lambda demand: demand.kind == "not_")

    def of_number(
        self, value: int, steps: tuple[Step, ...], facts: tuple[str, ...]
    ) -> Iterator[Demand]:
        """Facts of an int, of a size or of a stride."""

        def either(holds: bool, *kind: Any) -> Demand:
            if holds:
                return Demand(steps, kind[0], kind[1:])
            return Demand(steps, "not_", (kind,))

        divisor = self.plan.divisor
        is_divisible = is_int64(value) and value % divisor == 0
        if "one" in facts and value == 1:  # which says all
            yield Demand(steps, "equals", (1,))
            return
        is_said = "divisible" in facts and is_divisible and divisor > 1
        is_said |= "width" in facts and not is_int32(value)
        if "one" in facts and not is_said:
            yield Demand(steps, "not_", (("equals", 1),))
        if "divisible" in facts:
            yield either(is_divisible, "divisible_by", divisor)
        if "width" in facts:
            yield either(is_int32(value), "int_range", *INT32)
            if not is_int32(value):
                yield either(is_int64(value), "int_range", *INT64)
            if not is_int64(value):
                yield either(is_uint64(value), "python", is_uint64)

    def of_tensor(
        self, value: Any, facts: Mapping[str, Any], steps: tuple[Step, ...]
    ) -> Iterator[Demand]:
        plan = self.plan
        shape = of_dimensions(plan.shape, "shape", facts)
        strides = of_dimensions(plan.strides, "strides", facts)
        spec = {**facts, "storage_offset": None}
        spec["shape"] = exact_ones(facts.get("shape"), shape)
        spec["strides"] = exact_ones(facts.get("strides"), strides)
        if not plan.device:
            spec["device"] = None
        yield Demand(steps, "tensor_match", (TensorSpec(**spec),))
        if plan.alignment is not None:
            aligned = ("data_aligned", plan.alignment)
            if passes(value, *aligned):
                yield Demand(steps, aligned[0], aligned[1:])
            else:
                yield Demand(steps, "not_", (aligned,))
        for name, step, planned in (
            ("shape", "size", shape),
            ("strides", "stride", strides),
        ):
            for index, each in enumerate(planned):
                if isinstance(each, tuple):
                    at = (*steps, (step, index))
                    yield from self.of_number(facts[name][index], at, each)

    def of_equal(self, value: Any, steps: tuple[Step, ...]) -> Demand:
        """Dtypes of NumPy: one object of each builtin one, any number of others."""
        if is_numpy_dtype(value) and value.isbuiltin == 1:
            return Demand(steps, "id_match_held", (value,))
        return Demand(steps, "python", (SameValue(value),))

    def of_type(self, value: Any, steps: tuple[Step, ...]) -> list[Demand]:
        return [Demand(steps, "id_match", (value,))]

    def of_function(self, value: Any, steps: tuple[Step, ...]) -> list[Demand]:
        if self.plan.callables == "type":
            return [Demand(steps, "type_match", (type(value),))]
        return [Demand(steps, "id_match", (value,))]

    def of_method(self, value: Any, steps: tuple[Step, ...]) -> list[Demand]:
        if self.plan.callables == "type":
            return [Demand(steps, "type_match", (MethodType,))]
        return [
            Demand(steps, "type_match", (MethodType,)),
            Demand((*steps, ("method_function",)), "id_match", (value.__func__,)),
            Demand((*steps, ("method_self",)), "id_match", (value.__self__,)),
        ]

    def of_partial(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Demand]:
        yield Demand(steps, "type_match", (type(value),))
        if self.plan.callables == "identity":
            for name in ("func", "args", "keywords"):
                yield from self.inside(value, getattr(value, name), steps, "slot", name)

    def inside(
        self, owner: Any, value: Any, steps: tuple[Step, ...], *step: Any
    ) -> Iterator[Demand]:
        """The demands on a part of a container."""
        if id(owner) in self.open:
            raise ValueError(
                f"specialize: {place_of(steps)} contains itself, so its parts have no "
                "end: say containers='identity'"
            )
        self.open.add(id(owner))
        yield from self.of(value, (*steps, step))
        self.open.discard(id(owner))

    def by_identity(self, value: Any, steps: tuple[Step, ...]) -> list[Demand] | None:
        """Where the plan says so of containers."""
        if self.plan.containers == "identity":
            return [Demand(steps, "id_match", (value,))]
        return None

    def of_sequence(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Demand]:
        if found := self.by_identity(value, steps):
            yield from found
            return
        yield Demand(steps, "type_match", (type(value),))
        yield Demand(steps, "length", (len(value),))
        base = tuple if isinstance(value, tuple) else list
        for index in range(len(value)):
            each = base.__getitem__(value, index)
            step = f"{base.__name__}_item"
            yield from self.inside(value, each, steps, step, index)

    def of_list(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Demand] | None:
        return self.of_sequence(value, steps) if type(value) is list else None

    def of_dict(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Demand] | None:
        if type(value) not in (dict, OrderedDict, defaultdict):
            return None
        return self.of_mapping(value, steps)

    def of_mapping(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Demand]:
        if found := self.by_identity(value, steps):
            yield from found
            return
        yield Demand(steps, "type_match", (type(value),))
        yield Demand(steps, "dict_keys", (tuple(value),))
        for key, each in value.items():
            yield from self.inside(value, each, steps, "dict_item", key)

    def of_set(self, value: Any, steps: tuple[Step, ...]) -> list[Demand] | None:
        if type(value) not in (set, frozenset):
            return None
        return self.by_identity(value, steps) or [
            Demand(steps, "type_match", (type(value),)),
            Demand(steps, "set_equals", (frozenset(value),)),
        ]

    def of_dataclass(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Demand]:
        if found := self.by_identity(value, steps):
            yield from found
            return
        yield Demand(steps, "type_match", (type(value),))
        own = getattr(value, "__dict__", {})
        for each in dataclasses.fields(value):
            part = getattr(value, each.name)
            in_type = getattr(type(value), each.name, None)
            if each.name in own:
                step = "instance_attr"
            else:
                step = "slot" if type(in_type) is MemberDescriptorType else "attr"
            yield from self.inside(value, part, steps, step, each.name)


READERS: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (type(None), Demands.of_none),
    ((EllipsisType, NotImplementedType), Demands.of_constant),
    (enum.Enum, Demands.of_constant),
    (bool, Demands.of_bool),
    (int, Demands.of_int),
    ((float, complex), Demands.of_float),
    ((str, bytes), Demands.of_string),
    ((type, ModuleType), Demands.of_type),
    ((FunctionType, BuiltinFunctionType), Demands.of_function),
    (MethodType, Demands.of_method),
    (functools.partial, Demands.of_partial),
    (tuple, Demands.of_sequence),
    (list, Demands.of_list),
    (dict, Demands.of_dict),
    ((set, frozenset), Demands.of_set),
)
"""The first that takes a value says what is demanded of it; None: it takes none."""


def is_int32(value: int) -> bool:
    return INT32[0] <= value <= INT32[1]


def is_int64(value: int) -> bool:
    return INT64[0] <= value <= INT64[1]


def is_uint64(value: object) -> bool:
    """An int that takes 64 bits without a sign, and no fewer."""
    return type(value) is int and INT64[1] < value < 2**64


@dataclass(frozen=True)
class SameValue:
    """A guard: of the same type, and equal as that says."""

    expected: Any

    def __call__(self, value: Any) -> bool:
        return type(value) is type(self.expected) and bool(value == self.expected)


def is_numpy_dtype(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), numpy.dtype)


def is_of_torch(value: object, *names: str) -> bool:
    return type(value).__module__ == "torch" and type(value).__name__ in names


def tensor_facts(value: Any) -> dict[str, Any] | None:
    """What a tensor's guard compares; None for what is no tensor."""
    try:
        return _guardtree.tensor_facts(value)
    except TypeError:
        return None


def passes(value: Any, kind: str, *operands: Any) -> bool:
    """Whether a value passes one guard."""
    guards = GuardManager(scope_of_value)
    getattr(guards.local("value"), kind)(*operands)
    return guards.check({"value": value})


def scope_of_value(value: Any) -> None:
    """What `passes` makes guards for."""


def of_dimensions(
    planned: Facts | tuple[Facts, ...], name: str, facts: Mapping[str, Any]
) -> tuple[Facts, ...]:
    """The facts that count of each size or stride; none where there are none."""
    if name not in facts:
        return ()
    rank = len(facts[name])
    if not is_by_dimension(planned):
        return (planned,) * rank  # type: ignore[return-value]
    if len(planned) == rank:
        return planned  # type: ignore[return-value]
    raise ValueError(
        f"KeyPlan({name}): expected facts of {rank} dimensions, as many as the tensor "
        f"has, found {planned!r}"
    )


def exact_ones(
    found: tuple[int, ...] | None, planned: tuple[Facts, ...]
) -> tuple[int | None, ...] | None:
    """The sizes or strides that count as they are, None in the place of the others."""
    if found is None:
        return None
    return tuple(
        number if facts == "exact" else None
        for number, facts in zip(found, planned, strict=True)
    )


def place_of(steps: tuple[Step, ...]) -> str:
    """A value by the steps that lead to it."""
    return "".join(
        f".{step[1]}"
        if step[0] in ("local", "attr", "instance_attr", "slot")
        else f"[{step[1]!r}]"
        if len(step) > 1
        else f".{step[0]}"
        for step in steps
    ).removeprefix(".") or "this one"  # fmt: skip
