"""The public operations that take something of n parts, each as a program makes it.

`python growth_operations.py [name ...]` runs them at n and at 4n parts. Callgrind, told
to write its counts before each call of `os.getloadavg`, counts what lies between two.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import guardtree as gt

SIZES = (50, 200)

Run = Callable[[], object]
Make = Callable[[int], Run]

OPERATIONS: dict[str, Make] = {}
"""By `<public name>: <what has n parts>`; `str` is that of a GuardManager."""


def operation(*names: str) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        for name in names:
            assert name not in OPERATIONS, name
            OPERATIONS[name] = make
        return make

    return add


def subject(a: Any, b: Any = None) -> Any:
    return a


def other(a: Any, b: Any = None) -> Any:
    return b


def fresh(arguments: str = "a, b=None") -> Any:
    """A function with code of its own."""
    names: dict[str, Any] = {}
    exec(f"def made({arguments}): return 1", names)
    return names["made"]


# Trees of n nodes, and what passes them.


def siblings(n: int, function: Any = subject) -> gt.GuardManager:
    guards = gt.GuardManager(function)
    local = guards.local("a")
    for i in range(n):
        local.list_item(i).equals(i)
    return guards


def items(n: int) -> gt.GuardManager:
    """Behind `item`, which may run Python code."""
    guards = gt.GuardManager(subject)
    local = guards.local("a")
    for i in range(n):
        local.item(i).type_match(int)
    return guards


def attributes(n: int) -> gt.GuardManager:
    guards = gt.GuardManager(subject)
    local = guards.local("a")
    for i in range(n):
        local.attr(f"name_{i}").equals(i)
    return guards


def checks(n: int) -> gt.GuardManager:
    """Different checks of one value."""
    guards = gt.GuardManager(subject)
    local = guards.local("a")
    for i in range(n):
        local.not_(("equals", -1 - i))
    return guards


def chain(n: int) -> gt.GuardManager:
    """As deep as text goes at the larger size."""
    guards = gt.GuardManager(subject)
    node = guards.local("a")
    for _ in range(n):
        node = node.attr("next")
    node.is_none()
    return guards


def related(n: int) -> gt.GuardManager:
    guards = gt.GuardManager(subject)
    local = guards.local("a")
    nodes = [local.list_item(i) for i in range(n)]
    for one, two in zip(nodes, nodes[1:], strict=False):
        guards.distinct_objects(one, two)
    return guards


def linked(n: int) -> SimpleNamespace | None:
    value = None
    for _ in range(n):
        value = SimpleNamespace(next=value)
    return value


Subject = tuple[Callable[[int], gt.GuardManager], Callable[[int], Any]]
TREES: dict[str, Subject] = {
    "siblings": (siblings, lambda n: list(range(n))),
    "items": (items, lambda n: list(range(n))),
    "attributes": (
        attributes,
        lambda n: SimpleNamespace(**{f"name_{i}": i for i in range(n)}),
    ),
    "checks": (checks, lambda n: 1),
    "chain": (chain, linked),
    "relations": (related, lambda n: list(range(n))),
}

tree = lru_cache(maxsize=None)(lambda name, n: TREES[name][0](n))
value = lru_cache(maxsize=None)(lambda name, n: TREES[name][1](n))


def each_tree(name: str, run: Callable[[gt.GuardManager, Any], object]) -> None:
    for sort in TREES:

        def make(n: int, sort: str = sort) -> Run:
            guards, passing = tree(sort, n), value(sort, n)
            guards.check({"a": passing})
            return lambda: run(guards, passing)

        operation(f"{name}: {sort}")(make)


for sort, (build, _) in TREES.items():
    operation(f"GuardManager: {sort}")(lambda n, build=build: lambda: build(n))

each_tree("GuardManager.check", lambda guards, passing: guards.check({"a": passing}))
each_tree(
    "GuardManager.check, first time", lambda guards, a: guards.clone().check({"a": a})
)
each_tree("GuardManager.explain", lambda guards, a: guards.explain({"a": a}))
each_tree("GuardManager.explain, failing", lambda guards, a: guards.explain({"a": 0}))
each_tree("GuardManager.profile", lambda guards, a: guards.profile().check({"a": a}))
SPECIALISED: dict[str, Callable[[int], Any]] = {
    "tuple": lambda n: tuple(range(n)),
    "list": lambda n: [[i] for i in range(n)],
    "dict": lambda n: {f"k{i}": i for i in range(n)},
    "set": lambda n: set(range(n)),
}
for kind, example_of in SPECIALISED.items():

    @operation(f"GuardManager.specialize: {kind}")
    def _(n: int, example_of: Any = example_of) -> Run:
        guards, example = gt.GuardManager(subject).local("a"), example_of(n)
        return lambda: guards.specialize(example)


each_tree("GuardManager.clone", lambda guards, a: guards.clone())
each_tree("GuardManager.include", lambda guards, a: guards.clone().include(guards))
each_tree("GuardManager.clone, filtered", lambda guards, a: guards.clone(bool))
each_tree("GuardManager.simplified", lambda guards, a: guards.simplified())
each_tree("GuardManager.to_json", lambda guards, a: guards.to_json())
each_tree("GuardManager.to_portable_json", lambda guards, a: guards.to_portable_json())
each_tree("GuardManager.digest", lambda guards, a: guards.digest())
each_tree("GuardManager.to_text", lambda guards, a: guards.to_text())
each_tree("GuardManager.counts", lambda guards, a: guards.counts())
each_tree("GuardManager.relations", lambda guards, a: guards.relations())
each_tree("GuardManager.assumed", lambda guards, a: guards.assumed())
each_tree("GuardManager.children", lambda guards, a: guards.local("a").children())
each_tree("GuardManager.checks", lambda guards, a: guards.local("a").checks())
each_tree("from_json", lambda guards, a: gt.from_json(guards.to_json(), subject))


for sort in TREES:

    def read_it(n: int, sort: str = sort) -> Run:
        text, names = tree(sort, n).to_text()
        return lambda: gt.parse(text, subject, names)

    operation(f"parse: {sort}")(read_it)


def _profiled(guards: gt.GuardManager, passing: Any) -> Any:
    profile = guards.profile()
    profile.check({"a": passing})
    return profile


each_tree("GuardProfile.rows", lambda guards, a: _profiled(guards, a).rows())
each_tree(
    "GuardManager.reordered", lambda guards, a: guards.reordered(_profiled(guards, a))
)
each_tree("Explanation.to_dict", lambda guards, a: guards.explain({"a": 0}).to_dict())
each_tree("Explanation.to_json", lambda guards, a: guards.explain({"a": 0}).to_json())
each_tree("report", lambda guards, a: gt.report(guards, {"a": a}, repeat=1))
for sort in TREES:
    if sort != "chain":  # a report of it is as long as all its paths together

        def page_of(n: int, sort: str = sort) -> Run:
            made = gt.report(tree(sort, n))
            return lambda: (made.to_html(), made.to_json())

        operation(f"Report.to_html, Report.to_json: {sort}")(page_of)
each_tree("Table.add", lambda guards, a: gt.Table(subject).add(guards, 1))
for sort in TREES:
    if sort != "chain":
        operation(f"GuardManager.nodes: {sort}")(
            lambda n, sort=sort: lambda: list(tree(sort, n).nodes())
        )
        operation(f"str: {sort}")(lambda n, sort=sort: lambda: str(tree(sort, n)))


@operation("GuardManager.path: chain", "GuardManager.parent: chain")
def _(n: int) -> Run:
    node = tree("chain", n).local("a")
    for _ in range(n):
        node = node.attr("next")
    return lambda: (node.path, node.parent)


# Kinds whose operand has n parts, or whose value has.

CONSTANTS: dict[str, Callable[[int], Any]] = {
    "list": lambda n: list(range(n)),
    "tuple": lambda n: tuple(range(n)),
    "pairs": lambda n: [(i, str(i)) for i in range(n)],
    "str": lambda n: "x" * n,
    "bytes": lambda n: b"x" * n,
    "int": lambda n: 1 << n,
    "set of int": lambda n: set(range(n)),
    "set of float": lambda n: {i / 2 for i in range(n)},
    "set of str": lambda n: {str(i) for i in range(n)},
    "set of tuple": lambda n: {(i, "x") for i in range(n)},
    "frozenset": lambda n: frozenset(range(n)),
    "dict of int": lambda n: dict.fromkeys(range(n), 0),
    "dict of str": lambda n: {str(i): i for i in range(n)},
    "dict of tuple": lambda n: {(i,): i for i in range(n)},
}


def read_json(guards: gt.GuardManager) -> gt.GuardManager:
    return gt.from_json(guards.to_json(), subject)


def read_text(guards: gt.GuardManager) -> gt.GuardManager:
    return gt.parse(guards.to_text()[0], subject)


def with_kind(kind: str, *operands: Any) -> gt.GuardManager:
    guards = gt.GuardManager(subject)
    getattr(guards.local("a"), kind)(*operands)
    return guards


def each_operand(kind: str, parts: str, operand: Any, passing: Any) -> None:
    """Making the check, checking what is equal and not the same, telling of it."""

    def add(what: str, run: Callable[[int, gt.GuardManager, Any], object]) -> None:
        def make(n: int) -> Run:
            guards, a = with_kind(kind, operand(n)), passing(n)
            assert guards.check({"a": a}), (kind, parts)
            return lambda: run(n, guards, a)

        operation(f"{what}: {kind} of {parts}")(make)

    operation(f"GuardManager.{kind}: {parts}")(
        lambda n: lambda operand=operand(n): with_kind(kind, operand)
    )
    add("GuardManager.check", lambda n, guards, a: guards.check({"a": a}))
    add("GuardManager.explain", lambda n, guards, a: guards.explain({"a": object()}))
    add("GuardManager.to_json", lambda n, guards, a: read_json(guards))
    add("GuardManager.to_text", lambda n, guards, a: read_text(guards))
    add("str", lambda n, guards, a: str(guards))


for parts, constant in CONSTANTS.items():
    each_operand("equals", parts, constant, constant)
    if "set" in parts:
        each_operand("set_equals", parts, constant, constant)
        each_operand(
            "dict_key_set", parts, constant, lambda n, c=constant: dict.fromkeys(c(n))
        )
each_operand(
    "dict_keys", "names", lambda n: tuple(map(str, range(n))),
    lambda n: dict.fromkeys(map(str, range(n))),
)  # fmt: skip
each_operand(
    "mapping_keys", "names", lambda n: tuple(map(str, range(n))),
    lambda n: dict.fromkeys(map(str, range(n))),
)  # fmt: skip
each_operand("one_of", "ints", lambda n: tuple(range(n)), lambda n: n - 1)
each_operand(
    "any_of", "kinds", lambda n: tuple(("equals", i) for i in range(n)), lambda n: n - 1
)
each_operand("not_", "list", lambda n: ("equals", list(range(n))), lambda n: None)
each_operand("str_prefix", "str", lambda n: "x" * n, lambda n: "x" * n + "y")

VALUES: dict[str, tuple[tuple[Any, ...], Callable[[int], Any]]] = {
    "dict_contains": ((1,), lambda n: dict.fromkeys(range(n))),
    "dict_lacks": ((-5,), lambda n: dict.fromkeys(range(n))),
    "dict_version": ((), lambda n: None),
    "set_contains": ((1,), lambda n: set(range(n))),
    "set_lacks": ((-5,), lambda n: set(range(n))),
    "is_truthy": ((), lambda n: list(range(n))),
}
for kind, (operands, constant) in VALUES.items():
    if kind == "dict_version":
        constant = lambda n: dict.fromkeys(range(n), 0)  # noqa: E731

    def make(n: int, kind: str = kind, o: Any = operands, c: Any = constant) -> Run:
        operands, a = o, c(n)
        guards = with_kind(kind, *((a,) if kind == "dict_version" else operands))
        assert guards.check({"a": a}), kind
        return lambda: guards.check({"a": a})

    operation(f"GuardManager.check: {kind} of a value")(make)

STEPS: dict[str, tuple[Callable[[int], tuple[Any, ...]], Callable[[int], Any]]] = {
    "list_item": (lambda n: (n - 1,), lambda n: list(range(n))),
    "tuple_item": (lambda n: (n - 1,), lambda n: tuple(range(n))),
    "set_item": (lambda n: (n // 2,), lambda n: set(range(n))),
    "deque_item": (lambda n: (n // 2,), lambda n: deque(range(n))),
    "dict_item": (lambda n: (n - 1,), lambda n: dict.fromkeys(range(n), 0)),
    "dict_key": (lambda n: (n - 1,), lambda n: dict.fromkeys(range(n), 0)),
    "dict_value": (lambda n: (n - 1,), lambda n: dict.fromkeys(range(n), 0)),
    "item": (lambda n: (n - 1,), lambda n: dict.fromkeys(range(n), 0)),
}  # fmt: skip
for step, (operands_of, values_of) in STEPS.items():

    def make(n: int, step: str = step, o: Any = operands_of, v: Any = values_of) -> Run:
        guards = gt.GuardManager(subject)
        getattr(guards.local("a"), step)(*o(n)).type_match(int)
        a = v(n)
        assert guards.check({"a": a}), step
        return lambda: guards.check({"a": a})

    operation(f"GuardManager.check: {step} of a value")(make)


# Relations over n values.


def over(n: int, relation: str) -> gt.GuardManager:
    guards = gt.GuardManager(subject)
    local = guards.local("a")
    nodes = [local.list_item(i) for i in range(n)]
    getattr(guards, relation)(*nodes)
    return guards


RELATIONS: dict[str, Callable[[int], Any]] = {
    "distinct_objects": lambda n: [object() for _ in range(n)],
    "same_object": lambda n: [None] * n,
}
for relation, values_of in RELATIONS.items():

    def build_it(n: int, r: str = relation) -> Run:
        return lambda: over(n, r)

    def check_it(n: int, r: str = relation, v: Any = values_of) -> Run:
        guards, a = over(n, r), v(n)
        assert guards.check({"a": a}), r
        return lambda: guards.check({"a": a})

    operation(f"GuardManager.{relation}: values")(build_it)
    operation(f"GuardManager.check: {relation} of values")(check_it)


def counted(names: list[str]) -> None:
    """Each operation once with few parts, then at both sizes between two marks."""
    gc.disable()
    for name in names or OPERATIONS:
        make = OPERATIONS[name]
        make(4)()
        for size in SIZES:
            run = make(size)
            os.getloadavg()
            run()
            os.getloadavg()


if __name__ == "__main__":
    # Under its own name the module is another one, which the entries are added to.
    import growth_entries

    growth_entries.operations.counted(sys.argv[1:])
