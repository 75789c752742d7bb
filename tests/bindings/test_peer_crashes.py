"""Crashes and hangs of the nearest peer's guards; each has a test, named after it.

As in test_peer_defects.py; each runs in a process of its own. tests/DEFECTS.md is the
table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PRELUDE = """
import types
import guardtree as gt

def step(x, y=0, z=0): ...

class Odd:
    def keys(self): return 3

class Meta(type):
    __mro__ = 3

left = iter((1, 2))
list(left)
VALUES = [
    None, True, 3, 2**70, -1.5, 1j, float("nan"), "a", b"a", ..., NotImplemented,
    (), (1, 2), [], {}, {"a": 1}, set(), frozenset({1}), range(3), object(), Odd(),
    Odd, Meta("M", (), {}), type, int, len, step, [].append, types, left, iter(()),
    iter([1]), iter({}), iter("a"), iter(range(3)), iter(range(2**70)), (n for n in ""),
    types.MappingProxyType({"a": 1}), types.SimpleNamespace(), memoryview(b"a"),
]

def passing(add):
    # How many of the values pass; asked, explained and profiled.
    guards = gt.GuardManager(step)
    add(guards.local("x"))
    profile = guards.profile()
    found = 0
    for value in VALUES:
        answer = guards.check({"x": value})
        assert answer == bool(guards.explain({"x": value}))
        assert answer == profile.check({"x": value})
        found += answer
    return found
"""


@pytest.fixture
def child(run_python: Any) -> Callable[[str], str]:
    """What a child prints after the prelude."""
    return lambda source: run_python(PRELUDE + source).stdout


# Segmentation faults on values of unexpected types.


def test_mapping_keys_of_a_non_mapping_crashes(child) -> None:
    out = child("print(passing(lambda x: x.mapping_keys(('a',))))")
    assert out == "2\n", "the dict and its proxy"


def test_mro_of_a_non_type_crashes(child) -> None:
    out = child("print(passing(lambda x: x.mro().tuple_item(-1).id_match(object)))")
    assert out == "4\n", "Odd, the class of a lying metaclass, type and int"


def test_type_dict_of_a_non_type_is_undefined_behaviour(child) -> None:
    out = child(
        "print(passing(lambda x: x.type_dict().dict_item('__doc__').is_not_none()))"
    )
    assert out == "2\n", "type and int"


def test_tuple_iterator_item_of_an_exhausted_iterator_crashes(child) -> None:
    out = child("""
print(passing(lambda x: x.tuple_iterator_item(0).is_not_none()))
VALUES[:] = [iter((1, 2)), left, iter(())]
print(passing(lambda x: x.tuple_iterator_item(1).equals(2)))
print(passing(lambda x: x.tuple_iterator_item(2**62).equals(2)))
""")
    assert out == "0\n1\n0\n"


def test_tuple_iterator_item_of_a_foreign_object_crashes(child) -> None:
    out = child("""
VALUES[:] = [value for value in VALUES if type(value) is not type(iter(()))]
for index in (0, 1, 2**62):
    print(passing(lambda x: x.tuple_iterator_item(index).is_not_none()))
print(passing(lambda x: x.tuple_iterator_length(0)))
print(passing(lambda x: x.range_iterator(range(3))))
""")
    assert out == "0\n0\n0\n0\n1\n"


def test_symbolic_shapes_of_a_non_tuple_crash(child) -> None:
    out = child("""
def related(text):
    def add(x):
        x.integers(text, a=x)
    return add

VALUES.extend([2**63, -2**63, 2**63 - 1, type("I", (int,), {})(3)])
print(passing(related("a > -5")), passing(related("a - 1 < a")))
print(passing(related("len(a) == 1")), passing(related("a // (a - 3) == 0")))
""")
    # 3 and 2**63 - 1; 3, as -2**63 - 1 overflows, and 2**63 - 1.
    assert out == "2 2\n4 0\n"


def test_a_failed_constructor_leaves_a_half_built_guard(child) -> None:
    out = child("""
guards = gt.GuardManager(step)
x = guards.local("x")
wrong = [
    lambda: x.type_match(3), lambda: x.equals(object()), lambda: x.length(-1),
    lambda: x.equals([object()]), lambda: x.dict_keys("a"), lambda: x.int_sign(2),
    lambda: x.not_(("type_match", 3)), lambda: x.any_of((("is_none",), ("no",))),
    lambda: x.range_iterator(3), lambda: x.python(3), lambda: x.native(3),
    lambda: x.divisible_by(0), lambda: x.dict_contains([]), lambda: x.str_prefix(1),
    lambda: guards.integers("a <", a=x), lambda: guards.same_object(x),
    lambda: guards.distinct_objects(x, 3), lambda: guards.integers("a < b", a=x),
    lambda: x.dict_item([]), lambda: x.list_item("a"), lambda: x.attr(3),
    lambda: x.tuple_iterator_item(-1), lambda: guards.local("nothing").is_none(),
]
for each in wrong:
    try:
        each()
    except (TypeError, ValueError, NameError):
        continue
    print("accepted")
print(guards.counts().checks, guards.counts().relations, guards.counts().nodes)
for value in VALUES:
    assert guards.check({"x": value}) and guards.explain({"x": value})
""")
    assert out == "0 0 1\n"


# A mutex that is not recursive.


def test_a_guard_that_checks_its_own_root_deadlocks(child) -> None:
    out = child("""
guards = gt.GuardManager(step)
x = guards.local("x")
asks = [guards.check, guards.explain, guards]
def inner(n):
    return n == 0 or bool(asks[n % len(asks)]({"x": n - 1, "y": 1}))
x.python(inner)
guards.distinct_objects(x, guards.local("y").attr("real").attr("__class__"))
asks.append(guards.profile().check)
print(guards.check({"x": 9, "y": 1}))
""")
    assert out == "True\n"
