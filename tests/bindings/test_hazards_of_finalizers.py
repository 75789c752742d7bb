"""Checks amid a store: what a store replaces ends before the store is complete.

Finalizers and weak callbacks of the replaced value ask guards that are assumed, and the
same guards that assume nothing: the answers must agree, then and afterwards. CPython
makes its event before the store, its new tag sometimes after the old value's end.
"""

from __future__ import annotations

import collections
import types
import weakref
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from assumed import function_with, scope

Node = gt.GuardManager
Add = Callable[[Node], Any]


class Ends:
    """Asks when it ends."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self.ask = ask

    def __del__(self) -> None:
        self.ask()


class Told:
    """Somebody is told of its end."""


TELLERS: list[Any] = []


def told(ask: Callable[[], None]) -> Told:
    made = Told()
    TELLERS[:] = [weakref.ref(made, lambda _: ask())]
    return made


LAST: dict[str, Callable[[Callable[[], None]], Any]] = {
    "a finalizer": Ends,
    "a weak callback": told,
}


class Asked:
    """Pairs of the same guards, assumed and plain, and what they said."""

    def __init__(self) -> None:
        self.pairs: dict[str, tuple[Node, Node]] = {}
        self.said: list[tuple[str, bool, bool]] = []

    def add(self, name: str, function: Any, add: Add) -> None:
        made = []
        for enabled in (True, False):
            prior = gt.set_assumptions(enabled)
            guards = gt.GuardManager(function)
            add(guards)
            assert all(guards.check({}) for _ in range(4))
            gt.set_assumptions(prior)
            made.append(guards)
        self.pairs[name] = (made[0], made[1])

    def ask(self) -> None:
        """More than once: they may be armed anew in between."""
        for name, (assumed, plain) in self.pairs.items():
            for _ in range(3):
                self.said.append((name, assumed.check({}), plain.check({})))

    def must_agree(self) -> None:
        assert self.said
        self.ask()
        assert [each for each in self.said if each[1] is not each[2]] == []


# What is said of {"a": what ends, "b": 1000, "c": 2000}.


def items(d: Callable[[Node], Node], of: type) -> dict[str, Add]:
    return {
        "a": lambda g: d(g).dict_item("a").type_match(of),
        "b": lambda g: d(g).dict_item("b").equals(1000),
        "c": lambda g: d(g).dict_item("c").equals(2000),
        "keys": lambda g: d(g).dict_keys(("a", "b", "c")),
        "length": lambda g: d(g).length(3),
        "lacks": lambda g: d(g).dict_lacks("z"),
        "contains": lambda g: d(g).dict_contains("a"),
        "key": lambda g: d(g).dict_key(0).equals("a"),
        "value": lambda g: d(g).dict_value(2).equals(2000),
    }


def attributes(of: type) -> dict[str, Add]:
    return {
        "a": lambda g: g.global_("o").instance_attr("a").type_match(of),
        "b": lambda g: g.global_("o").instance_attr("b").equals(1000),
        "c": lambda g: g.global_("o").instance_attr("c").equals(2000),
    }


def names(of: type) -> dict[str, Add]:
    return {
        "a": lambda g: g.global_("a").type_match(of),
        "b": lambda g: g.global_("b").equals(1000),
        "c": lambda g: g.global_("c").equals(2000),
    }


DICT_CHANGES: dict[str, Callable[[Any], Any]] = {
    "stored": lambda d: d.__setitem__("a", 3),
    "deleted": lambda d: d.__delitem__("a"),
    "popped": lambda d: d.pop("a"),
    "popped one by one": lambda d: [d.popitem() for _ in range(3)],
    "updated": lambda d: d.update(a=3, b=2000, c=4),
    "merged": lambda d: d.__ior__({"a": 3}),
    "cleared": lambda d: d.clear(),
    "by a statement": lambda d: exec("a = 3", {}, d),
    "grown": lambda d: d.update({f"k{i}": i for i in range(99)}, a=3),
    "a key that is no text": lambda d: d.update({4: 4, "a": 3}),
}


def stored(thing: Any, value: Any) -> None:
    """Specialised by then: CPython drops the old value first, on some versions."""
    thing.a = value


OBJECT_CHANGES: dict[str, Callable[[Any], Any]] = {
    "STORE_ATTR": lambda o: stored(o, 3),
    "setattr": lambda o: setattr(o, "a", 3),
    "delattr": lambda o: delattr(o, "a"),
    "__dict__ replaced": lambda o: setattr(o, "__dict__", {"b": 1000}),
    "__dict__ deleted": lambda o: delattr(o, "__dict__"),
    "__class__ replaced": lambda o: (setattr(o, "__class__", Other), stored(o, 3)),
}
for how, change in DICT_CHANGES.items():
    OBJECT_CHANGES[f"dict {how}"] = lambda o, change=change: change(vars(o))


LIST_CHANGES: dict[str, Callable[[list[Any]], Any]] = {
    "stored": lambda d: d.__setitem__(0, 3),
    "deleted": lambda d: d.__delitem__(0),
    "popped": lambda d: d.pop(0),
    "popped from the end": lambda d: [d.pop() for _ in range(3)],
    "cleared": lambda d: d.clear(),
    "a slice": lambda d: d.__setitem__(slice(0, 1), [3]),
    "all of it": lambda d: d.__setitem__(slice(None), [3, 1000]),
    "grown": lambda d: (d.extend(range(99)), d.__setitem__(0, 3)),
    "sorted": lambda d: (d.sort(key=lambda each: each not in (1000, 2000)), d.pop()),
}


def stored_in_slot(thing: Any, value: Any) -> None:
    """Specialised by then for slots; `stored` is for attributes in dicts."""
    thing.a = value


SLOT_CHANGES: dict[str, Callable[[Any], Any]] = {
    "STORE_ATTR_SLOT": lambda o: stored_in_slot(o, 3),
    "setattr": lambda o: setattr(o, "a", 3),
    "delattr": lambda o: delattr(o, "a"),
    "__class__ replaced": lambda o: (
        setattr(o, "__class__", OtherSlotted),
        setattr(o, "a", 3),
    ),
}


class Slotted:
    """Its values lie in slots."""

    __slots__ = ("a", "b", "c")

    def __init__(self, of: dict[str, Any]) -> None:
        self.a, self.b, self.c = of.values()


class OtherSlotted:
    """Another class of the same layout."""

    __slots__ = ("a", "b", "c")


class Bare:
    """Its values lie in it."""

    def __init__(self, of: dict[str, Any]) -> None:
        self.a, self.b, self.c = of.values()


class Other(Bare):
    """Another class of the same layout."""


class Touched(Bare):
    """Its values lie beside its dict."""

    def __init__(self, of: dict[str, Any]) -> None:
        super().__init__(of)
        vars(self)


class Kept(Bare):
    """Its values lie in its dict."""

    def __init__(self, of: dict[str, Any]) -> None:
        self.__dict__ = dict(of)


OWNED: list[Any] = []


def owned(thing: Any) -> Any:
    OWNED[:] = [thing]
    return thing


KINDS = {kind.__name__: kind for kind in (Bare, Touched, Kept)}
DICTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": lambda d: collections.defaultdict(int, d),
    "an instance's": lambda d: vars(owned(Touched(d))),
    "an instance's that died": lambda d: vars(Touched(d)),
}


def ending(last: str, asked: Asked) -> tuple[dict[str, Any], type]:
    value = LAST[last](asked.ask)
    return {"a": value, "b": 1000, "c": 2000}, type(value)


@pytest.fixture(autouse=True, scope="module")
def specialised() -> None:
    for kind in (Bare, Touched, Kept):
        for _ in range(300):
            stored(kind({"a": 1, "b": 2, "c": 3}), 5)
    for _ in range(300):
        stored_in_slot(Slotted({"a": 1, "b": 2, "c": 3}), 5)


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("how", OBJECT_CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_amid_a_change_of_an_instance(kind: str, how: str, last: str) -> None:
    asked = Asked()
    values, of = ending(last, asked)
    thing = KINDS[kind](values)
    values.clear()
    function = function_with(o=thing)
    for name, add in attributes(of).items():
        asked.add(name, function, add)
    OBJECT_CHANGES[how](thing)
    asked.must_agree()


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("how", SLOT_CHANGES)
def test_amid_a_change_of_slots(how: str, last: str) -> None:
    asked = Asked()
    values, of = ending(last, asked)
    thing = Slotted(values)
    values.clear()
    function = function_with(o=thing)
    asked.add("a", function, lambda g: g.global_("o").plain_attr("a").type_match(of))
    asked.add("b", function, lambda g: g.global_("o").plain_attr("b").equals(1000))
    asked.add("c", function, lambda g: g.global_("o").plain_attr("c").equals(2000))
    SLOT_CHANGES[how](thing)
    asked.must_agree()


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("how", LIST_CHANGES)
def test_amid_a_change_of_a_list(how: str, last: str) -> None:
    asked = Asked()
    values, of = ending(last, asked)
    found = [*values.values()]
    values.clear()
    function = function_with(d=found)
    asked.add("0", function, lambda g: g.global_("d").list_item(0).type_match(of))
    asked.add("1", function, lambda g: g.global_("d").list_item(1).equals(1000))
    asked.add("-1", function, lambda g: g.global_("d").list_item(-1).equals(2000))
    LIST_CHANGES[how](found)
    asked.must_agree()


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("how", DICT_CHANGES)
@pytest.mark.parametrize("kind", DICTS)
def test_amid_a_change_of_a_dict(kind: str, how: str, last: str) -> None:
    asked = Asked()
    values, of = ending(last, asked)
    d = DICTS[kind](values)
    values.clear()
    function = function_with(d=d)
    for name, add in items(lambda g: g.global_("d"), of).items():
        asked.add(name, function, add)
    DICT_CHANGES[how](d)
    asked.must_agree()


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("how", DICT_CHANGES)
def test_amid_a_change_of_globals(how: str, last: str) -> None:
    asked = Asked()
    values, of = ending(last, asked)
    function = types.FunctionType(scope.__code__, values)
    for name, add in names(of).items():
        asked.add(name, function, add)
    DICT_CHANGES[how](values)
    asked.must_agree()


@pytest.mark.parametrize("make_last", LAST.values(), ids=LAST)
@pytest.mark.parametrize("entries", [1, 50])
def test_dict_version_does_not_pass_amid_a_store(make_last: Any, entries: int) -> None:
    """3.11 makes the new version after the old value's end."""

    class Owner:
        x: Any

    def store(to: Owner, value: Any) -> None:
        to.x = value

    owner = Owner()
    names = vars(owner)
    owner.x = None
    for i in range(entries):  # with many the dict has a table of its own
        names[f"k{i}"] = i
    for _ in range(200):  # is specialised
        store(owner, 1)
    said: list[bool] = []
    asked = [gt.GuardManager(scope)]

    def ask() -> None:
        said.extend(guards.check({"x": names}) for guards in asked)

    store(owner, make_last(ask))
    asked[0].local("x").dict_version(names)
    assert asked[0].check({"x": names})
    store(owner, None)
    assert not asked[0].check({"x": names})
    assert not any(said)
    asked.clear()  # it held the value, which ends now, or has
    assert not any(said)
