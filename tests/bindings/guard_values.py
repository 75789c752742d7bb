"""Values that guards are asked about, as strategies of hypothesis: odd ones above all.

Operands print as text that evaluates to them (that is how trees are compared with plain
Python), so identities are of objects with a name.
"""

from __future__ import annotations

import collections
import struct
import sys
import types
import weakref
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import guardtree as gt
import hypothesis.strategies as st
from guardtree import oracle
from guardtree.semantics.objects import own_dict

try:
    import numpy
except ImportError:
    numpy = None

SUPPORT = Path(__file__).resolve().parents[1] / "support"


def load_oracle() -> dict[str, Any]:
    """The oracle's names in one module, the globals of guarded functions."""
    module = types.ModuleType("oracle")
    names = vars(module)
    names.update((name, each) for name, each in vars(oracle).items() if name[0] != "_")
    names.update(names["NAMESPACE"], own_dict=own_dict, numpy=numpy)
    path = SUPPORT / "oracle_values.py"
    exec(compile(path.read_text(), path, "exec"), names)  # noqa: S102
    # Printed operands say `collections.deque`, `oracle.is_big`, `<this module>.Plain`.
    names.update(collections=collections, types=types, weakref=weakref, oracle=module)
    names[__name__] = sys.modules[__name__]
    return names


NAMES = load_oracle()


def scope(x: Any, y: Any = 0, z: Any = 0) -> None: ...


# Its globals are the oracle's names.
STEP = types.FunctionType(scope.__code__, NAMES)


def any_of(pool: list[Any]) -> Any:
    """One of a list: as sampled_from, which takes their reprs, and some raise."""
    return st.integers(0, len(pool) - 1).map(lambda index: pool[index])


def nested(base: Any, extend: Any, depth: int = 2) -> Any:
    """What st.recursive gives, at a tenth of the time: nothing is drawn twice."""
    for _ in range(depth):
        base = base | extend(base)
    return base


# Constants.

# As texts: hypothesis prints what it samples, and the last is too long to be printed.
BIG = ["2**31", "2**62", "2**63-1", "2**63", "-2**63", "-2**63-1", "2**70", "10**4400"]
NAN_BITS = [0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1, (0x7FF0 << 48) + 1]


def float_of(bits: int) -> float:
    return struct.unpack("d", struct.pack("Q", bits))[0]


texts = st.text(st.characters(), max_size=3) | st.sampled_from(
    ["a", "b", "\ud800", "\0"]
)
numbers = (
    st.integers(-3, 4)
    | st.sampled_from(BIG).map(eval)
    | st.booleans()
    | st.sampled_from([0.0, -0.0, 1.0, 2.0, 1e308 * 10, -1e308 * 10, 5e-324])
    | st.floats()
    | st.sampled_from(NAN_BITS).map(float_of)
    | st.builds(complex, st.sampled_from([0.0, -0.0, 1.0]), st.floats())
)
scalars = st.none() | st.just(...) | numbers | texts | st.binary(max_size=2)


def has_nan(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return any(map(has_nan, value))
    return bool(value != value)  # noqa: PLR0124


# A NaN among keys or elements equals nothing: such constants are refused.
def no_nans(keys: Any) -> bool:
    return not any(map(has_nan, keys))


hashables = nested(
    scalars,
    lambda inner: (
        st.tuples(inner)
        | st.tuples(inner, inner)
        | st.frozensets(inner, max_size=2).filter(no_nans)
    ),
)
constants = nested(
    hashables,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(hashables, inner, max_size=3).filter(no_nans)
        | st.sets(hashables, max_size=3).filter(no_nans)
    ),
)


def fresh(value: Any) -> Any:
    """A copy with floats of its own: a NaN is found in a dict by its address, which a
    text does not say."""
    kind = type(value)
    if kind is float:
        return struct.unpack("d", struct.pack("d", value))[0]
    if kind is complex:
        return complex(value.real, value.imag)
    if kind in (tuple, list, set, frozenset):
        return kind(map(fresh, value))
    if kind is dict:
        return {fresh(key): fresh(item) for key, item in value.items()}
    return value


def is_constant(value: Any) -> bool:
    try:
        gt.GuardManager(STEP).local("x").equals(value)
    except (TypeError, ValueError):
        return False
    return True


def is_key(value: Any) -> bool:
    return type(value) in (str, bytes, int, bool, tuple) and is_constant(value)


# Values: subclasses with odd methods, instances, containers that hold themselves.


class IntWithEq(int):
    """Equals everything; its hash is that of 1."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class StrWithEq(str):
    """Equality raises; hashes as 'a' does."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("no equality")

    def __hash__(self) -> int:
        return hash("a")


class FloatBelow(float):
    """A plain subclass."""


class TupleOfItems(tuple[Any, ...]):
    """A tuple whose own look-ups lie."""

    def __getitem__(self, index: Any) -> Any:
        return "overridden"

    def __len__(self) -> int:
        return 7


class DictThatLies(dict[Any, Any]):
    """A dict whose own look-ups lie; it has a `__dict__` too."""

    def __getitem__(self, key: Any) -> Any:
        return (key,)

    def __len__(self) -> int:
        raise ValueError("no length")

    def __contains__(self, key: object) -> bool:
        raise ValueError("no keys")


class SetBelow(set[Any]):
    """A set of nothing, it says."""

    def __len__(self) -> int:
        return 0

    __hash__ = None  # type: ignore[assignment]


class Meta(type):
    """Types that claim everything."""

    def __instancecheck__(cls, value: object) -> bool:
        return True

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(name)


class Claims(metaclass=Meta):
    """An instance says that it is an int."""

    a = 1

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return int

    def __getattr__(self, name: str) -> Any:
        return 3


class Plain:
    """Attributes of any values."""

    def __init__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)


ODD = [
    IntWithEq(3), StrWithEq("a"), StrWithEq("b"), FloatBelow("nan"), FloatBelow(1),
    TupleOfItems((1, "a")), DictThatLies(a=1), SetBelow({1}), Claims(), Claims, Meta,
    {IntWithEq(3): 1}, {StrWithEq("a"): 1}, {StrWithEq("b"): 1, "b": 2}, {1, "a"},
]  # fmt: skip


def holding_itself(kind: type, items: list[Any]) -> Any:
    if kind is dict:
        made: Any = dict(enumerate(items))
        made["a"] = made
        return made
    if kind is tuple:
        inside: list[Any] = list(items)
        inside.append((inside,))
        return inside[-1]
    made = kind(items)
    made.append(made)
    return made


leaves = constants | any_of(NAMES["VALUES"]) | any_of(ODD)
names_of_attributes = st.sampled_from(["a", "b", "real", "__class__"])
values = nested(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(TupleOfItems)
        | st.lists(inner, max_size=3).map(deque)
        | st.lists(inner, max_size=3).map(tuple).map(iter)
        | st.dictionaries(hashables, inner, max_size=3)
        | st.dictionaries(hashables, inner, max_size=3).map(DictThatLies)
        | st.dictionaries(hashables, inner, max_size=3).map(OrderedDict)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(Plain)
        | st.dictionaries(hashables, inner, max_size=2).map(types.MappingProxyType)
        | st.frozensets(hashables, max_size=3)
        | st.sets(hashables, max_size=3)
        | st.builds(
            holding_itself,
            any_of([list, dict, tuple, deque]),
            st.lists(inner, max_size=2),
        )
    ),
)
subjects = st.fixed_dictionaries({"x": values}, optional={"y": values, "z": values})
