"""Every way to change a dict that guards were assumed on: the next check notices.

By methods, statements, C functions, in loops that CPython has specialised, by another
thread. test_assumption_hazards.py has what sends no event at all.
"""

from __future__ import annotations

import collections
import ctypes
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import guardtree as gt
import pytest
from assumed import Guards, Thing, function_with, scope
from hazards import HIDES_ATTRIBUTES, Hazard, Hazards

api = ctypes.pythonapi
Change = Callable[[Any], Any]


def c(function: str, *arguments: Any) -> Any:
    """Calls CPython with objects, C strings and ints as they are."""
    plain = (bytes, ctypes._SimpleCData)
    given = [each if isinstance(each, plain) else ctypes.py_object(each)
             for each in arguments]  # fmt: skip
    return getattr(api, function)(*given)


class Text(str):
    """A key that is no plain str: it makes the table of keys a general one."""


def in_a_thread(function: Callable[..., Any], *arguments: Any) -> None:
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


# Changes of d["a"], which was 1000.

METHODS: dict[str, Change] = {
    "d[k] =": lambda d: d.__setitem__("a", 3),
    "d[k] = equal, of another type": lambda d: d.__setitem__("a", 1000.0),
    "d[subclass of str] =": lambda d: d.__setitem__(Text("a"), 3),
    "del d[k]": lambda d: d.__delitem__("a"),
    "del d[k], setdefault": lambda d: (d.pop("a"), d.setdefault("a", 3)),
    "update(dict)": lambda d: d.update({"a": 3}),
    "update(keyword)": lambda d: d.update(a=3),
    "update(pairs)": lambda d: d.update([("a", 3)]),
    "update(mapping)": lambda d: d.update(collections.ChainMap({"a": 3})),
    "|=": lambda d: d.__ior__({"a": 3}),
    "pop": lambda d: d.pop("a"),
    "popitem": lambda d: [d.popitem() for _ in range(len(d))],
    "clear": lambda d: d.clear(),
    "clear, update": lambda d: (d.clear(), d.update({"a": 3})),
    "dict.__init__": lambda d: dict.__init__(d, a=3),
    "many more keys": lambda d: d.update({f"k{i}": i for i in range(99)}, a=3),
    "a key of another kind": lambda d: (d.update({3: 4}), d.update(a=3)),
    "another thread": lambda d: in_a_thread(d.__setitem__, "a", 3),
    "STORE_SUBSCR, hot": lambda d: stored(d, [1000] * 300 + [3]),
    "locals of exec": lambda d: exec("a = 3", {}, d),
    "PyDict_SetItem": lambda d: c("PyDict_SetItem", d, "a", 3),
    "PyDict_SetItemString": lambda d: c("PyDict_SetItemString", d, b"a", 3),
    "PyDict_DelItem": lambda d: c("PyDict_DelItem", d, "a"),
    "PyDict_Update": lambda d: c("PyDict_Update", d, {"a": 3}),
    "PyDict_Merge": lambda d: c("PyDict_Merge", d, {"a": 3}, ctypes.c_int(1)),
    "PyDict_Clear": lambda d: c("PyDict_Clear", d),
    "PyObject_SetItem": lambda d: c("PyObject_SetItem", d, "a", 3),
    "_count_elements": lambda d: collections._count_elements(d, ["a"]),  # type: ignore
}


def stored(d: Any, values: list[Any]) -> None:
    for value in values:
        d["a"] = value


class Mine(dict):  # type: ignore[type-arg]
    """A subclass of dict."""


def as_item(d: Any) -> Guards:
    guards = Guards(function_with(d=d))
    guards.global_("d").dict_item("a").equals(1000)
    return guards


def globals_themselves() -> tuple[Guards, Any]:
    names = {"z": 1, "a": 1000, "y": 2}
    guards = Guards(types.FunctionType(scope.__code__, names))
    guards.global_("a").equals(1000)
    return guards, names


def module_dict() -> tuple[Guards, Any]:
    module = types.ModuleType("m")
    module.a = 1000  # type: ignore[attr-defined]
    guards = Guards(function_with(m=module))
    guards.global_("m").module_attr("a").equals(1000)
    return guards, vars(module)


def instance_dict() -> tuple[Guards, Any]:
    thing = Thing(a=1000, b=2)
    guards = Guards(function_with(thing=thing))
    guards.global_("thing").instance_attr("a").equals(1000)
    return guards, vars(thing)


def item_of(kind: Callable[..., Any]) -> Callable[[], tuple[Guards, Any]]:
    def make() -> tuple[Guards, Any]:
        d = kind({"z": 1, "a": 1000, "y": 2})
        return as_item(d), d

    return make


HOLDERS: dict[str, Callable[[], tuple[Guards, Any]]] = {
    "globals": globals_themselves,
    "a module": module_dict,
    "an instance": instance_dict,
    "a dict": item_of(dict),
    "an OrderedDict": item_of(collections.OrderedDict),
    "a defaultdict": item_of(lambda d: collections.defaultdict(int, d)),
    "a Counter": item_of(collections.Counter),
    "a subclass": item_of(Mine),
}

STORES = Hazards()


def store_into(make: Callable[[], tuple[Guards, Any]], change: Change) -> Any:
    def begin() -> Iterator[Any]:
        guards, d = make()
        yield guards
        change(d)

    return begin


for holder, make in HOLDERS.items():
    for how, change in METHODS.items():
        # A Counter counts the pairs, and keeps what is larger.
        if (holder, how) not in {("a Counter", "update(pairs)"), ("a Counter", "|=")}:
            STORES.add(Hazard(f"dict of {holder}", how, store_into(make, change)))


@pytest.mark.parametrize("hazard", STORES.rows)
def test_a_store_into_a_dict_is_noticed(hazard: Hazard) -> None:
    hazard.must_be_noticed()


# Statements that bind or unbind the global `a`, most many times over: they are
# specialised by then. In functions: STORE_GLOBAL and DELETE_GLOBAL; else STORE_NAME.

sys.modules["bound_by_hazards"] = types.ModuleType("bound_by_hazards")
vars(sys.modules["bound_by_hazards"]).update(a=3)

STATEMENTS = [
    "a = 3", "a += 1", "a: int = 3", "del a", "a, b = 1, 2", "*a, = [1]",
    "for a in [3]: pass", "import sys as a", "from bound_by_hazards import a",
    "from bound_by_hazards import *", "def a(): pass", "async def a(): pass",
    "class a: pass", "class C:\n global a\n a = 3", "[a := 3 for _ in [0]]",
    "with open('/dev/null') as a: pass", "match 3:\n case a: pass",
    "try: 1 / 0\nexcept Exception as a: pass",
    "exec('a = 3')", "eval('[a := 3 for _ in [0]]')",
    "globals()['a'] = 3", "locals()['a'] = 3", "vars().update(a=3)",
    "import sys\nsys._getframe().f_locals['a'] = 3",
    "import sys\nsys._getframe().f_globals['a'] = 3",
    "import sys\ndef f(): sys._getframe(1).f_locals['a'] = 3\nf()",
    "for _ in range(2000): a = 1000\na = 3",
    "for _ in range(2000): a = 1000\ndel a",
    "def f():\n global a\n for i in range(2000): a = 1000 if i < 1999 else 3\nf()",
    "def f():\n global a\n for _ in range(2000): a = 1000\n del a\nf()",
    "def f():\n global a\n for _ in range(2000):\n  del a\n  a = 1000\n a = 3\nf()",
    "def f(n):\n global a\n a = n\nfor i in range(2000): f(1000)\nf(3)",
]  # fmt: skip
if sys.version_info >= (3, 12):
    STATEMENTS.append("type a = int")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_binds_a_global_is_noticed(statement: str) -> None:
    def begin() -> Iterator[Any]:
        guards, names = globals_themselves()
        yield guards
        exec(compile(statement, "<hazard>", "exec"), names)

    Hazard("globals", statement, begin).must_be_noticed()


# What is said of the keys of a dict that has "a" and "b".

Node = gt.GuardManager
KEYS: dict[str, Callable[[Node], Any]] = {
    "dict_keys": lambda d: d.dict_keys(("a", "b")),
    "dict_key_set": lambda d: d.dict_key_set({"a", "b"}),
    "length": lambda d: d.length(2),
    "dict_key": lambda d: d.dict_key(1).equals("b"),
    "dict_contains": lambda d: d.dict_contains("b"),
    "dict_lacks": lambda d: d.dict_lacks("c"),
}
ADDED = {"dict_keys", "dict_key_set", "length", "dict_lacks"}
REMOVED = set(KEYS) - {"dict_lacks"}
KEY_CHANGES: dict[str, tuple[set[str], Change]] = {
    "added": (ADDED, lambda d: d.__setitem__("c", 1)),
    "added by update": (ADDED, lambda d: d.update(c=1)),
    "added by setdefault": (ADDED, lambda d: d.setdefault("c", 1)),
    "removed": (REMOVED, lambda d: d.pop("b")),
    "the last removed": (REMOVED, lambda d: d.popitem()),
    "cleared": (REMOVED, lambda d: d.clear()),
    "moved": ({"dict_keys", "dict_key"}, lambda d: d.update(a=d.pop("a"))),
}


def shared_keys() -> Any:
    """The dict of an instance whose class knows one more attribute, the next."""
    kind = type("Kind", (), {})
    other, one = kind(), kind()
    other.a = other.b = other.c = 1
    one.a, one.b = 1, 2
    return vars(one)


KEYED: dict[str, Callable[[], Any]] = {
    "a dict": lambda: {"a": 1, "b": 2},
    "an OrderedDict": lambda: collections.OrderedDict(a=1, b=2),
    "a defaultdict": lambda: collections.defaultdict(int, a=1, b=2),
    "an instance": shared_keys,
    "a copy of an instance's": lambda: shared_keys().copy(),
}
SPLIT = {"an instance", "a copy of an instance's"}


def change_of_keys(holder: str, kind: str, how: str) -> Any:
    def begin() -> Iterator[Any]:
        d = KEYED[holder]()
        guards = Guards(function_with(d=d))
        KEYS[kind](guards.global_("d"))
        yield guards
        KEY_CHANGES[how][1](d)

    return begin


OF_KEYS = Hazards()
for holder in KEYED:
    for how, (kinds, _) in KEY_CHANGES.items():
        for kind in sorted(kinds):
            begin = change_of_keys(holder, kind, how)
            reread = None if holder in SPLIT and HIDES_ATTRIBUTES else 0
            hazard = Hazard(f"keys of {holder}", f"{kind}, {how}", begin, reread)
            OF_KEYS.add(hazard)


@pytest.mark.parametrize("hazard", OF_KEYS.rows)
def test_a_change_of_which_keys_there_are_is_noticed(hazard: Hazard) -> None:
    hazard.must_be_noticed()
