"""Strategies of hypothesis for guard trees and what they are asked about."""

from __future__ import annotations

import builtins
from collections import OrderedDict, deque
from typing import Any

import guardtree as gt
import hypothesis.strategies as st
from guard_values import (
    BIG,
    NAMES,
    STEP,
    Claims,
    DictThatLies,
    IntWithEq,
    Meta,
    Plain,
    StrWithEq,
    TupleOfItems,
    any_of,
    constants,
    fresh,
    hashables,
    is_constant,
    is_key,
    nested,
    no_nans,
    subjects,
    texts,
    values,
)

# Steps and kinds: any, and those that fit a value.

TYPES = [
    int, bool, float, str, tuple, list, dict, set, object, type, type(None),
    NAMES["Named"], NAMES["KeepsLen"], IntWithEq, StrWithEq, TupleOfItems, DictThatLies,
    Claims, Meta, Plain, deque, OrderedDict,
]  # fmt: skip
IDENTITIES = [
    None, True, False, ..., (), int, len, Claims,
    *(NAMES[name] for name in ("user", "other", "raising_eq", "lying_eq", "Named")),
]  # fmt: skip
FUNCTIONS = [NAMES[name] for name in ("is_big", "inner", "with_defaults", "raises")]
PREDICATES = [
    NAMES[name]
    for name in ("is_big", "is_list", "is_hashable", "has_no_truth", "raises", "always")
]

indices = st.integers(-3, 3) | st.sampled_from([2**62, -(2**63)])
sizes = st.integers(0, 3) | st.just(2**62)
ints = st.integers(-4, 4) | st.sampled_from([2**62, 2**63 - 1, -(2**63)])
one_constant = st.tuples(constants.map(fresh))
one_key = st.tuples(hashables.map(fresh))
one_text = st.tuples(st.sampled_from(["a", "b", "real", "__class__"]) | texts)
some_constants = st.tuples(st.lists(constants, max_size=3).map(tuple).map(fresh))
some_keys = st.tuples(st.sets(hashables, max_size=3).filter(no_nans).map(fresh))
one_type = st.tuples(any_of(TYPES))
no_operands = st.just(())

STEPS: dict[str, Any] = {
    **dict.fromkeys(["attr", "generic_attr", "slot", "module_attr"], one_text),
    **dict.fromkeys(["instance_attr", "plain_attr"], one_text),
    **dict.fromkeys(["item", "dict_item"], one_key),
    **dict.fromkeys(
        ["list_item", "tuple_item", "deque_item", "set_item", "dict_key"],
        st.tuples(indices),
    ),
    "tuple_iterator_item": st.tuples(sizes),
    "closure_cell": st.tuples(indices),
    **dict.fromkeys(
        [
            "type",
            "type_dict",
            "mro",
            "referent",
            "method_self",
            "method_function",
            "code",
            "defaults",
            "kwdefaults",
            "function_globals",
        ],
        no_operands,
    ),
    "compute": st.tuples(any_of([*PREDICATES, len])),
}

PLAIN_KINDS: dict[str, Any] = {
    **dict.fromkeys(
        [
            "is_none",
            "is_not_none",
            "is_true",
            "is_false",
            "is_truthy",
            "exists",
            "float_is_nan",
            "complex_is_nan",
            "weakref_alive",
        ],
        no_operands,
    ),
    **dict.fromkeys(["equals"], one_constant),
    **dict.fromkeys(["one_of", "dict_keys", "mapping_keys"], some_constants),
    **dict.fromkeys(["set_equals", "dict_key_set"], some_keys),
    **dict.fromkeys(
        ["dict_contains", "dict_lacks", "set_contains", "set_lacks"], one_key
    ),
    **dict.fromkeys(
        [
            "has_attr",
            "lacks_attr",
            "has_static_attr",
            "lacks_static_attr",
            "lacks_instance_attr",
            "lacks_plain_attr",
            "str_prefix",
        ],
        one_text,
    ),
    **dict.fromkeys(["type_match", "instance_of"], one_type),
    "type_version": st.tuples(any_of([int, NAMES["Named"], Plain, Claims])),
    **dict.fromkeys(["id_match", "id_match_held"], st.tuples(any_of(IDENTITIES))),
    "function_match": st.tuples(any_of(FUNCTIONS)),
    **dict.fromkeys(
        ["length", "user_length", "tuple_iterator_length"], st.tuples(sizes)
    ),
    "int_range": st.tuples(ints, ints),
    "int_sign": st.tuples(st.sampled_from([-1, 0, 1])),
    "data_aligned": st.tuples(ints.filter(bool)),
    "divisible_by": st.tuples(ints.filter(bool)),
    "range_iterator": st.tuples(st.builds(range, indices.filter(lambda n: abs(n) < 9))),
    "python": st.tuples(any_of(PREDICATES)),
}
# Kinds that random trees draw in another way, or that other tests draw.
OTHER_KINDS = {
    "below, around other kinds": "any_of not_",
    "what passes changes with each event: test_random_assumptions.py": "dict_version",
    "C functions: test_native_pure.py": "native native_pure",
    "tensors: tests/tensors": "tensor_match",
}


def one_of_table(table: dict[str, Any]) -> Any:
    return st.sampled_from(sorted(table)).flatmap(
        lambda name: table[name].map(lambda operands: (name, *operands))
    )


kinds = nested(
    one_of_table(PLAIN_KINDS),
    lambda inner: (
        st.tuples(st.just("not_"), inner)
        | st.tuples(st.just("any_of"), st.lists(inner, max_size=3).map(tuple))
    ),
)
steps = one_of_table(STEPS)
roots = st.sampled_from(
    [("local", "x")] * 4
    + [("local", "y"), ("local", "z"), ("f_locals",), ("module", "json")]
    + [("global_", "user"), ("global_", "absent"), ("builtin", "len")]
)


# By identity: the metaclass of a base may say that it equals all.
is_a = NAMES["is_a"]


def fitting_steps(value: Any) -> list[tuple[Any, ...]]:
    """Steps that fetch something from the value."""
    found: list[tuple[Any, ...]] = [("type",), ("attr", "__class__")]
    if is_a(value, dict):
        keys = [fresh(key) for key in list(dict.keys(value))[:3] if is_key(key)]
        found += [("dict_item", key) for key in keys] + [("dict_key", -1)]
        found += [("item", key) for key in keys]
    places = {list: "list_item", tuple: "tuple_item", deque: "deque_item"}
    found += [(step, 0) for kind, step in places.items() if is_a(value, kind)]
    found += [(step, -1) for kind, step in places.items() if is_a(value, kind)]
    if type(value) in (list, tuple, str):
        found.append(("item", 0))
    if is_a(value, set) or is_a(value, frozenset):
        found.append(("set_item", 0))
    if is_a(value, type):
        found += [("mro",), ("type_dict",)]
    if type(value) is type(iter(())):
        found.append(("tuple_iterator_item", 0))
    for name in NAMES["own_dict"](value) if not is_a(value, type) else ():
        if type(name) is str:
            steps = ("attr", "instance_attr", "generic_attr", "plain_attr")
            found += [(step, name) for step in steps]
    return found


def fitting_kinds(value: Any) -> list[tuple[Any, ...]]:
    """Kinds that pass for the value, mostly."""
    found: list[tuple[Any, ...]] = [("is_not_none",)]
    found += [("type_match", each) for each in TYPES if each is type(value)]
    found += [("instance_of", each) for each in TYPES if is_a(value, each)]
    found += [("id_match", each) for each in IDENTITIES if each is value]
    if is_constant(value):
        again = fresh(value)
        found += [("equals", again), ("one_of", (None, again))]
        if type(value) is dict:
            found += [("dict_keys", tuple(again)), ("mapping_keys", tuple(again))]
            found += [("dict_key_set", frozenset(again))]
            found += [("dict_contains", key) for key in again]
        if type(value) in (set, frozenset):
            found += [("set_equals", again), *(("set_contains", k) for k in again)]
        if type(value) is str:
            found.append(("str_prefix", value[:1]))
    if NAMES["has_builtin_len"](value):
        found += [("length", len(value)), ("user_length", len(value))]
    if type(value) is int and -(2**63) <= value < 2**63:
        found += [("int_range", value, value), ("int_sign", (value > 0) - (value < 0))]
    return found


def value_of(node: gt.GuardManager, subject: dict[str, Any]) -> tuple[Any, ...]:
    """What the node's path is in Python; empty where it cannot be told."""
    names = {**NAMES, **subject, "L": subject, "G": NAMES, "B": vars(builtins)}
    try:
        return (eval(node.path, names),)
    except Exception:  # noqa: BLE001
        return ()


def one_call(draw: Any, fitting: list[Any], others: Any) -> Any:
    """Mostly one that fits, else any. What is drawn does not depend on what fits, which
    may hang on addresses: a set holds its NaNs in the order of theirs."""
    use_fitting, index = draw(st.integers(0, 3)), draw(st.integers(0, 719))
    other = draw(others)
    return fitting[index % len(fitting)] if fitting and use_fitting else other


def grown(draw: Any, node: gt.GuardManager, subject: dict[str, Any]) -> gt.GuardManager:
    """A node one step further, mostly one that is there."""
    at = value_of(node, subject)
    name, *operands = one_call(draw, fitting_steps(*at) if at else [], steps)
    return getattr(node, name)(*operands)


def add_check(draw: Any, node: gt.GuardManager, subject: dict[str, Any]) -> None:
    at = value_of(node, subject)
    name, *operands = one_call(draw, fitting_kinds(*at) if at else [], kinds)
    getattr(node, name)(*operands)


# `value op constant`: no operation is on constants alone, which Python would compute
# beyond 64 bits.
terms = nested(
    st.sampled_from(["a", "b", "a", "b", "len(a)", "len(b)"]),
    lambda inner: (
        st.builds(
            "({} {} {})".format,
            inner,
            st.sampled_from(["+", "-", "*", "//", "%"]),
            inner
            | st.sampled_from(["0", "1", "2", "3", "7", str(2**62), str(2**63 - 1)]),
        )
        | inner.map("-({})".format)
    ),
)
orders = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
expressions = nested(
    st.builds("{} {} {}".format, terms, orders, terms | st.integers(0, 9).map(str))
    | st.builds("0 {} {} {} {}".format, orders, terms, orders, terms),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | inner.map("not ({})".format)
    ),
)


class Case:
    """A tree and what it is asked about, printed without asking the values."""

    def __init__(self, guards: gt.GuardManager, *subjects: dict[str, Any]) -> None:
        self.guards = guards
        self.subjects = subjects

    def __repr__(self) -> str:
        told = [str(self.guards)]
        for subject in self.subjects:
            for name, value in subject.items():
                told.append(f"{name}: {type(value).__name__} {safe_repr(value)}")
        return ascii("; ".join(told))


def safe_repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001
        return f"its repr raises {type(error).__name__}"


@st.composite
def cases(draw: Any) -> Case:
    """A tree for the first subject, which is asked about others too."""
    subject = draw(subjects)
    guards = tree(draw, subject)
    return Case(guards, subject, *draw(st.lists(subjects, max_size=2)), {})


@st.composite
def expression_cases(draw: Any) -> Case:
    """An integer expression on ints of all sizes, lengths, and what is neither."""
    guards = gt.GuardManager(STEP)
    x, y = guards.local("x"), guards.local("y")
    add_expression(guards, draw(expressions), x, y)
    some = (
        st.integers(-9, 9)
        | st.sampled_from(BIG).map(eval)
        | st.integers(-(2**63), 2**63 - 1)
        | st.lists(st.none(), max_size=4)
        | any_of([True, 1.0, "ab", b"a", {"a": 1}, IntWithEq(3), TupleOfItems((1,))])
    )
    pairs = draw(st.lists(st.tuples(some, some), min_size=1, max_size=4))
    return Case(guards, *({"x": a, "y": b} for a, b in pairs))


@st.composite
def one_kind_cases(draw: Any) -> Case:
    """One check on one value, and on another."""
    value = draw(values)
    guards = gt.GuardManager(STEP)
    add_check(draw, guards.local("x"), {"x": value})
    return Case(guards, {"x": value}, {"x": draw(values)})


def tree(draw: Any, subject: dict[str, Any]) -> gt.GuardManager:
    """A tree of which many checks pass on the subject."""
    guards = gt.GuardManager(STEP)
    nodes: list[gt.GuardManager] = []
    for _ in range(draw(st.integers(1, 5))):
        if nodes and draw(st.booleans()):
            node = draw(any_of(nodes))
        else:
            root, *operands = draw(roots)
            node = getattr(guards, root)(*operands)
        for _ in range(draw(st.integers(0, 2))):
            node = grown(draw, node, subject)
        nodes.append(node)
        add_check(draw, node, subject)
    if draw(st.integers(0, 3)) == 0:
        chosen = [draw(any_of(nodes)) for _ in range(2)]
        kind = draw(st.sampled_from(["same_object", "distinct_objects", "integers"]))
        if kind == "integers":
            add_expression(guards, draw(expressions), *chosen)
        elif not any("dict_of_type" in each.path for each in chosen):
            # Python cannot reach a type's own dict: the word gives a copy.
            getattr(guards, kind)(*chosen)
    return guards


def add_expression(
    guards: gt.GuardManager, text: str, a: gt.GuardManager, b: gt.GuardManager
) -> None:
    """An expression is given the values that it speaks of."""
    bare = text.replace("len", "").replace("and", "").replace("not", "")
    spoken = {name: each for name, each in (("a", a), ("b", b)) if name in bare}
    guards.integers(text, **spoken)
