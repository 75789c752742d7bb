"""``KeyPlan``: which facts of an example count in a key made from it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

Facts = str | tuple[str, ...]
"""Of an int: "exact", "free", or some of "one", "divisible", "width"."""

INT_FACTS = ("one", "divisible", "width")
CHOICES = {
    "bools": ("exact", "free"),
    "floats": ("exact", "free"),
    "strings": ("exact", "free"),
    "containers": ("value", "identity"),
    "callables": ("identity", "type"),
    "others": ("refuse", "type", "identity"),
}


@dataclass(frozen=True, repr=False)
class KeyPlan:
    """Which facts of an example its guards demand. ``str`` tells what is not usual."""

    ints: Facts = "exact"
    """"exact": the value; "free": the type alone; a tuple of facts: "one" (whether it
    is 1), "divisible" (by ``divisor``), "width" (32, 64 or unsigned 64 bits)."""
    bools: str = "exact"
    floats: str = "free"
    """Of float and complex: "exact" or "free", which leaves the type."""
    strings: str = "exact"
    """Of str and bytes."""
    divisor: int = 16
    shape: Facts | tuple[Facts, ...] = "exact"
    """Of each size of a tensor, as ``ints``; or a tuple of such facts, one for each
    dimension: ("free", "exact", ("divisible",)). The rank always counts."""
    strides: Facts | tuple[Facts, ...] = "exact"
    """The same for strides, in the library's own unit."""
    alignment: int | None = None
    """Bytes: whether the address of a tensor's data is a multiple."""
    device: bool = True
    containers: str = "value"
    """Tuples, lists, dicts, sets, dataclasses: their parts, or "identity"."""
    callables: str = "identity"
    """Functions, methods, partials: "identity" of what is called, or "type"."""
    others: str = "refuse"
    """Objects of other types: refused, or their "type" or "identity" counts."""

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                refuse_fact(name, choices, getattr(self, name))
        require_facts("ints", self.ints)
        for name in ("shape", "strides"):
            facts = getattr(self, name)
            for each in facts if is_by_dimension(facts) else (facts,):
                require_facts(name, each)
        for name in ("divisor", "alignment"):
            number = getattr(self, name)
            is_free = name == "alignment" and number is None
            if not is_free and (type(number) is not int or number < 1):
                refuse_fact(name, ("a positive int",), number)

    def __repr__(self) -> str:
        given = [
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if getattr(self, each.name) != each.default
        ]
        return f"KeyPlan({', '.join(given)})"


def refuse_fact(name: str, choices: tuple[str, ...], found: object) -> None:
    """ValueError: what may be said of a fact, what was said."""
    expected = " or ".join(each if " " in each else repr(each) for each in choices)
    raise ValueError(f"KeyPlan({name}): expected {expected}, found {found!r}")


def is_by_dimension(facts: Any) -> bool:
    """Whether facts of sizes or strides are said for each dimension."""
    return (
        isinstance(facts, tuple)
        and bool(facts)
        and not any(each in INT_FACTS for each in facts)
    )


def require_facts(name: str, facts: object) -> None:
    """ValueError for what are no facts of an int."""
    if isinstance(facts, tuple):
        if facts and all(each in INT_FACTS for each in facts):
            return
    elif facts in ("exact", "free"):
        return
    refuse_fact(name, ("exact", "free", f"a tuple of {', '.join(INT_FACTS)}"), facts)
