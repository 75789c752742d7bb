"""More defects of the nearest peer's guards: user code that ran, lifetimes, reports.

As in test_peer_defects.py, each has a test named after it; tests/DEFECTS.md is the
table.
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections import OrderedDict, UserDict, deque
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest


def step(x: Any, y: Any = 0, z: Any = 0) -> None: ...


def replacement(x: Any, y: Any = 0, z: Any = 0) -> str:
    return "replaced"


def on_x() -> tuple[gt.GuardManager, gt.GuardManager]:
    guards = gt.GuardManager(step)
    return guards, guards.local("x")


def verdict(value: Any, kind: str, *operands: Any) -> str:
    """By explain, with which check agrees."""
    guards, x = on_x()
    getattr(x, kind)(*operands)
    found = guards.explain({"x": value}).verdict
    assert guards.check({"x": value}) is (found == "pass")
    return found


# User code that ran where the value's own fields say all.


def ran(self: Any, *arguments: Any) -> Any:
    raise AssertionError("user code ran")


LOOKUPS = ("__len__", "__contains__", "__getitem__", "__iter__", "__eq__", "__bool__")


def hostile(kind: type, *arguments: Any) -> Any:
    """An instance of a subclass whose every look-up raises."""
    methods = {**dict.fromkeys(LOOKUPS, ran), "__hash__": kind.__hash__}
    return type(f"Hostile{kind.__name__}", (kind,), methods)(*arguments)


@pytest.mark.parametrize(
    "made",  # a type and what it is made of: pytest compares parameters
    [
        (list, [1]),
        (tuple, [1]),
        (dict, {"a": 1}),
        (set, {1}),
        (str, "a"),
        (deque, [1]),
        (object,),
        (UserDict, {"a": 1}),
    ],
)
def test_length_check_calls_a_user_len(made: tuple[Any, ...]) -> None:
    kind, *arguments = made
    value = kind(*arguments) if kind is UserDict else hostile(kind, *arguments)
    assert verdict(value, "length", 1) == "fail"
    guards, x = on_x()
    guards.integers("len(a) == 1", a=x)
    assert not guards.check({"x": value})
    assert guards.explain({"x": value}).verdict == "fail"


@pytest.mark.parametrize("kind", [dict, OrderedDict, type("D", (dict,), {})])
def test_length_check_fails_for_a_dict(kind: type) -> None:
    assert verdict(kind(a=1), "length", 1) == "pass"
    assert verdict(kind(a=1), "length", 2) == "fail"


def test_lookups_in_subclasses_call_user_code() -> None:
    guards, x = on_x()
    x.dict_item("d").dict_contains("a").dict_lacks("b").dict_keys(("a",))
    x.dict_item("d").dict_item("a").equals(1)
    x.dict_item("d").dict_key(0).equals("a")
    x.dict_item("s").set_contains(1).set_lacks(2).set_item(0).equals(1)
    x.dict_item("l").list_item(0).equals(1)
    x.dict_item("t").tuple_item(0).equals(1)
    x.dict_item("q").deque_item(0).equals(1)
    subject = {
        "d": hostile(dict, {"a": 1}),
        "s": hostile(set, {1}),
        "l": hostile(list, [1]),
        "t": hostile(tuple, [1]),
        "q": hostile(deque, [1]),
    }
    assert guards.check({"x": hostile(dict, subject)})
    assert guards.explain({"x": subject})


def test_set_items_of_a_non_set_are_fetched_by_iteration() -> None:
    for value in ([1], (1,), {1: 2}, iter([1]), hostile(list, [1]), "a", None):
        guards, x = on_x()
        x.set_item(0).is_not_none()
        assert guards.explain({"x": value}).verdict == "fail"
        if hasattr(value, "__next__"):
            assert list(value) == [1], "the iterator was not advanced"


class NoEq:
    __hash__ = None  # type: ignore[assignment]
    __eq__ = __ne__ = ran  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("kind", "operands"),
    [
        ("equals", ("a",)),
        ("one_of", (("a", 1, (1,)),)),
        ("set_equals", ({1},)),
        ("dict_key_set", ({"a"},)),
        ("dict_keys", (("a",),)),
        ("str_prefix", ("a",)),
        ("int_range", (0, 9)),
        ("divisible_by", (2,)),
        ("id_match", (3,)),
        ("is_true", ()),
        ("float_is_nan", ()),
        ("set_contains", (1,)),
        ("dict_contains", ("a",)),
    ],
)
def test_kinds_call_eq_hash_and_bool_of_the_value(kind: str, operands: Any) -> None:
    values = [NoEq(), hostile(object), hostile(str, "a"), hostile(int, 3)]
    values += [hostile(float, "nan"), hostile(complex, "nan"), [NoEq()], (NoEq(),)]
    for value in values:
        assert verdict(value, kind, *operands) == "fail"


def test_a_class_that_lies_about_itself_is_believed() -> None:
    class Meta(type):
        def __instancecheck__(cls, value: object) -> bool:
            return True

        def __subclasscheck__(cls, value: type) -> bool:
            return True

    class Liar(metaclass=Meta):
        __class__ = int  # type: ignore[assignment]

    assert verdict(Liar(), "instance_of", int) == "fail"
    assert verdict(Liar(), "type_match", int) == "fail"
    assert verdict(3, "instance_of", Liar) == "fail"


# Attributes.


class Raises:
    @property
    def a(self) -> Any:
        raise ValueError("no a")

    def __getattr__(self, name: str) -> Any:
        raise OSError(name)


@pytest.mark.parametrize("name", ["a", "b"])
def test_no_hasattr_takes_an_exception_for_absence(name: str, capfd: Any) -> None:
    assert verdict(Raises(), "lacks_attr", name) == "error"
    assert verdict(Raises(), "has_attr", name) == "error"
    assert verdict(3, "lacks_attr", name) == "pass"
    assert capfd.readouterr() == ("", ""), "nothing is printed as unraisable"


def test_a_generic_dict_makes_a_dict() -> None:
    class Point:
        def __init__(self) -> None:
            self.a = 1

    point = Point()
    guards, x = on_x()
    x.instance_attr("a").equals(1)
    x.has_static_attr("a").lacks_static_attr("b")
    assert guards.check({"x": point})
    assert not any(type(each) is dict for each in gc.get_referents(point))


@pytest.mark.parametrize("kind", ["dict_lacks", "set_lacks"])
@pytest.mark.parametrize("value", [None, 3, [], (), "b", object(), iter(())])
def test_contains_false_passes_for_what_is_no_container(kind: str, value: Any) -> None:
    assert verdict(value, kind, "a") == "fail"


def test_contains_false_of_a_set_passes_for_a_dict() -> None:
    assert verdict({}, "set_lacks", "a") == "fail"
    assert verdict(set(), "dict_lacks", "a") == "fail"


def test_a_range_iterator_must_fit_a_machine_word_or_fails_late() -> None:
    _, x = on_x()
    with pytest.raises((ValueError, OverflowError, TypeError)):
        x.range_iterator(range(2**70))
    assert verdict(iter(range(2**70)), "range_iterator", range(3)) == "fail"


# Values that user code frees while they are looked at.


def test_a_borrowed_value_is_freed_by_a_property(run_python: Any) -> None:
    out = run_python("""
import gc
import guardtree as gt

def step(x, y=0): ...

class Frees:
    @property
    def a(self):
        holder.clear()
        others.clear()
        gc.collect()
        return [[n] * 9 for n in range(999)]

guards = gt.GuardManager(step)
x = guards.local("x")
one, two = x.list_item(0), x.list_item(1)
one.attr("a").list_item(0).length(9)
two.list_item(0).type_match(list)
one.attr("a").list_item(1).list_item(0).equals(1)
guards.distinct_objects(one, two, two.list_item(0))
for ask in (guards.check, guards.explain, guards.profile().check):
    others = [[object()]]
    holder = [Frees(), others]
    print(bool(ask({"x": holder})))
elements = {str(n) + "text" for n in range(99)}
guards = gt.GuardManager(step)
element = guards.local("x").set_item(0)
element.compute(lambda text: elements.clear()).is_none()
element.type_match(str).attr("upper").call().str_prefix("")
print(guards.check({"x": elements}))
""").stdout
    # The second list is empty by then: its item fetches nothing.
    assert out == "False\nFalse\nFalse\nTrue\n"


# Identities: no reference was held, or it was trusted after the object's death.


class Thing:
    """Weakly referable."""


@pytest.mark.parametrize("kind", ["id_match", "type_match", "instance_of"])
def test_an_address_that_is_used_again_matches(kind: str) -> None:
    make: Callable[[], Any] = Thing if kind == "id_match" else lambda: type("T", (), {})
    guards, x = on_x()
    operand = make()
    address = id(operand)
    getattr(x, kind)(operand)
    del operand
    gc.collect()
    for _ in range(50):
        again = [make() for _ in range(20)]
        for each in again:
            value = each if kind == "id_match" else each()
            assert not guards.check({"x": value}), id(each) == address


@pytest.mark.parametrize("make", [lambda: [1], lambda: (object(),), lambda: 2**70])
def test_what_has_no_weak_references_is_unprotected(make: Callable[[], Any]) -> None:
    guards, x = on_x()
    x.id_match(make())
    assert not any(guards.check({"x": make()}) for _ in range(50))


def test_an_identity_of_a_function_is_that_of_its_code() -> None:
    def function() -> None: ...

    twin = types.FunctionType(function.__code__, {})
    assert verdict(function, "id_match", function) == "pass"
    assert verdict(twin, "id_match", function) == "fail"
    guards, x = on_x()
    x.id_match(function)
    gone = weakref.ref(function)
    del function, twin
    gc.collect()
    assert gone() is None, "the guard does not keep it"
    assert not guards.check({"x": None})


def test_a_dead_weak_reference_gives_none() -> None:
    guards, x = on_x()
    x.referent().is_none()
    assert not guards.check({"x": weakref.ref(set())})
    assert not guards.check({"x": None})


def test_entries_of_dead_objects_stay_for_ever(swap, hook) -> None:
    kinds = [type("T", (), {}) for _ in range(3)]
    for kind in kinds:
        guards, x = on_x()
        x.type_match(kind)
        with gt.optimize(swap(step, replacement, guards)):
            step(kind())
    assert len(gt.cache_entries(step)) == 3
    del kind, kinds, guards, x
    gc.collect()
    guards, x = on_x()
    x.type_match(int)
    with gt.optimize(swap(step, replacement, guards)):
        step(1)
        assert step(2) == "replaced"
    assert [entry.check_fn for entry in gt.cache_entries(step)] == [guards]


def test_repeated_clones_leak() -> None:
    guards, x = on_x()
    for i in range(20):
        x.item(i).equals(("text", i))
    guards.distinct_objects(x.item(0), x.item(1))

    def blocks() -> int:
        for _ in range(100):
            guards.clone().check({"x": list(range(20))})
        gc.collect()
        return sys.getallocatedblocks()

    blocks()
    before = blocks()
    assert blocks() - before < 50


# Reports.


def test_a_text_is_taken_apart_into_characters() -> None:
    guards, x = on_x()
    x.is_none().note("one text")
    assert guards.explain({"x": 1}).failures[0].note == "one text"


def test_only_the_first_failure_is_told() -> None:
    guards, x = on_x()
    x.type_match(int).equals(3)
    x.attr("missing").is_none()
    guards.local("y").item(0).is_true()
    guards.local("z").python(lambda value: 1 // 0)
    guards.same_object(x, guards.local("y"))
    report = guards.explain({"x": "a", "y": [1], "z": 0})
    told = {failure.kind for failure in report.failures}
    assert {"type_match", "equals", "attr", "is_true", "python"} <= told


@pytest.mark.parametrize(
    ("fetch", "value"),
    [
        (lambda x: x.set_item(1), {1}),
        (lambda x: x.dict_key(1), {"a": 1}),
        (lambda x: x.tuple_iterator_item(1), iter((1,))),
        (lambda x: x.mro(), 3),
        (lambda x: x.referent(), 3),
        (lambda x: x.item("a"), {}),
        (lambda x: x.attr("a"), 3),
        (lambda x: x.list_item(-2), [1]),
    ],
)
def test_a_failed_fetch_is_told_without_a_reason(fetch: Any, value: Any) -> None:
    guards, x = on_x()
    node = fetch(x)
    node.is_not_none()
    (failure,) = guards.explain({"x": value}).failures
    assert failure.path == node.path
    assert node.path in str(failure)
    assert "is_not_none" not in failure.kind


def test_executed_guards_are_counted_inconsistently() -> None:
    guards, x = on_x()
    x.type_match(dict).length(1)
    x.item("a").equals(1)
    guards.local("y").is_none()
    assert guards.explain({"x": {"a": 1}, "y": None}).checks_run == 5
    assert guards.explain({"x": {"a": 2}, "y": None}).checks_run == 5


def test_a_failed_fetch_never_moves_to_the_front() -> None:
    guards, x = on_x()
    x.dict_item("there").is_not_none()
    x.dict_item("absent").is_not_none()
    profile = guards.profile()
    for _ in range(3):
        assert not profile.check({"x": {"there": 1}})
    copy = guards.reordered(profile)
    assert [check.node.operands["key"] for check in copy.checks()] == [
        "absent",
        "there",
    ]


def test_a_failing_check_changes_the_tree() -> None:
    guards, x = on_x()
    x.attr("real").equals(1)
    x.attr("imag").equals(0)
    guards.same_object(x.attr("real"), x)
    before = str(guards), guards.counts()
    for value in (1, 2, 1.0, 3j, "a", 1):
        assert guards.check({"x": value}) is (value == 1 and type(value) is int)
        guards.explain({"x": value})
    assert (str(guards), guards.counts()) == before


def test_dunder_attributes_are_assumed_to_stay() -> None:
    def function(a: int = 1, *, b: int = 2) -> None: ...

    class Base:
        a = 1

    class Other:
        a = 2

    class Derived(Base):
        """Its bases and the function's defaults are changed."""

    guards, x = on_x()
    x.function_match(function)
    y = guards.local("y").type_version(Derived)
    y.mro().tuple_item(1).id_match(Base)
    assert guards.check({"x": function, "y": Derived})
    function.__defaults__ = (3,)
    assert not guards.check({"x": function, "y": Derived})
    function.__defaults__ = (1,)
    assert guards.check({"x": function, "y": Derived})
    Derived.__bases__ = (Other,)
    assert len(guards.explain({"x": function, "y": Derived}).failures) == 2


@pytest.mark.parametrize(
    "kind",
    [
        "GuardManager",
        "GuardedCode",
        "GuardProfile",
        "CacheEntry",
        "Frame",
        "Explanation",
        "Failure",
    ],
)
def test_an_object_made_without_its_constructor_crashes(
    kind: str, run_python: Any
) -> None:
    run_python(f"""
import guardtree as gt
from guardtree import _guardtree

def step(x, y=0, z=0): ...

kind = _guardtree.{kind}
guards = gt.GuardManager(step)
uses = [str, repr, bool, guards.check, guards.explain, guards.reordered]
uses += [
    gt.GuardManager,
    lambda made: made.check({{}}),
    lambda made: gt.GuardedCode(step.__code__, made),
    lambda made: _guardtree._explain_entry(made, step, {{}}),
]
for name in dir(kind):
    if not name.startswith("_"):
        uses.append(lambda made, name=name: getattr(made, name))
        uses.append(lambda made, name=name: getattr(made, name)())
for use in uses:
    try:
        use(kind.__new__(kind))
    except (AttributeError, RuntimeError, TypeError, ValueError):
        continue
""")
