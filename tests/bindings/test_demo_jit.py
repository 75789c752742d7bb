"""The demo's JIT: what it builds in, what its guards compare, what it leaves alone."""

from __future__ import annotations

import importlib
import inspect
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import guardtree as gt
import pytest
from guardtree.demo.jit import Jit
from guardtree.demo.specialise import Refused, specialise

HELPERS = """
    LIMIT, SEP = 3, "/"
    def is_small(x): return x < LIMIT
    def sep_of(path):
        if isinstance(path, bytes):
            return b"/"
        return SEP
    def pair(x, y=5, *, z=7): return x + y, z
    def first(items):
        try:
            return items[0]
        except IndexError:
            return None
    def last_index(items):
        found = -1
        for found, item in enumerate(items):
            if item is None:
                return found
        return found
"""

Make = Callable[[str], Any]


@pytest.fixture
def make(hook: None) -> Iterator[Make]:
    """`make("def f(x): ...")`: that function, in a module that has the helpers."""
    module = ModuleType("specimen")
    sys.modules["specimen"] = module

    def build(source: str) -> Any:
        text = textwrap.dedent(HELPERS) + textwrap.dedent(source)
        exec(compile(text, "specimen.py", "exec"), vars(module))
        return vars(module)["f"]

    yield build
    del sys.modules["specimen"]


def outcome(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        return "value", function(*args)
    except Exception as error:
        return "error", type(error), str(error)


def specialised(function: Any, *calls: tuple[Any, ...], entries: int = 1) -> str:
    """Each call thrice under the JIT, which must do what it does without. What the JIT
    has done for the function, as text."""
    jit = Jit(frozenset({"specimen"}), worth=float("-inf"))
    for args in calls:
        plain = outcome(function, args)
        with gt.optimize(jit):
            for _ in range(3):
                assert outcome(function, args) == plain, args
    made = jit.functions[function.__code__].entries
    assert len(made) == entries
    assert gt.cache_entries(function)[0].hits > 0
    return "\n".join(note for entry in made for note in entry.made.notes)


@pytest.mark.parametrize(
    ("source", "args", "note"),
    [
        ("def f(x): return x in (LIMIT, 4), LIMIT - 1", (3,), "3 - 1 -> 2"),
        ("def f(x): return isinstance(x, (int, str))", (3,), "(int, str)) -> True"),
        ("def f(x): return type(x) is str", ("a",), "type(x) -> str"),
        ("def f(x, *, flag=False): return 1 if flag else x", (3,), "branch on False"),
        ("def f(x=None): return 1 if x is None else 2", (), "branch on None"),
        ("def f(x): return str(x) + SEP", ("a",), "str(x) -> x"),
        ("def f(x): return [is_small(i) for i in range(x)]", (5,), ""),
        ("def f(x): return not is_small(x) or is_small(x - 9)", (5,), "is_small"),
        ("def f(x): return sep_of(x).join((x, x))", ("a",), "bytes) -> False"),
        ("def f(x): return pair(x), pair(x, 1)", (3,), "inlined specimen.pair"),
        ("def f(x): return sum((1, *pair(first(x))[:1]))", ([4],), "specimen.first"),
        ("def f(x): return first(x), first(())", ((),), "inlined specimen.first"),
        ("def f(x): return first(x)", (7,), "inlined specimen.first"),
        ("def f(x): return [0, last_index(x), 0]", ([1, None, 2],), "last_index"),
    ],
)
def test_folded_code_does_what_the_function_does(
    make: Make, source: str, args: tuple[Any, ...], note: str
) -> None:
    function = make(source)
    if note:
        assert note in specialised(function, args)
    else:
        outcome(function, args)


FLOWS = """
    def f(x, n=2):
        a, b = 1, 2
        for i in range(n):
            if i: a = x
            else: b += 0
            c = a + b
        try:
            d = 5
            a[0]
        except TypeError:
            d += 1
        while n:
            n -= 1
            e = isinstance(a, int), n is None
        return a, b, c, d, e, isinstance(d, int)
"""


def test_what_is_known_of_a_local_ends_where_ways_meet(make: Make) -> None:
    assert specialised(make(FLOWS), (3,), ("a",), (2.5, 3), entries=3)


def test_calls_with_other_flags_types_and_values_are_misses(make: Make) -> None:
    function = make("def f(x, flag=False): return (x, isinstance(x, int), flag)")
    calls = [(1,), (True,), (1, True), (1, 0), ("a", None), (Ellipsis,)]
    jit = Jit(frozenset({"specimen"}), worth=float("-inf"))
    expected = [function(*each) for each in calls]
    with gt.optimize(jit):
        for _ in range(3):
            for each, result in zip(calls, expected, strict=True):
                assert repr(function(*each)) == repr(result)


@pytest.mark.parametrize(
    "change",
    [
        "LIMIT = 9",
        "is_small = bool",
        "is_small.__code__ = (lambda x: 'other').__code__",
        "def isinstance(*_): return 'hidden'",
    ],
)
def test_what_a_name_means_counts_from_the_next_call_on(
    make: Make, change: str
) -> None:
    function = make("def f(x): return is_small(x), isinstance(x, int)")
    specialised(function, (4,))
    exec(change, function.__globals__)
    expected = function(4)
    with gt.optimize(False):
        assert function(4) == expected


def test_other_defaults_of_an_inlined_function_are_a_miss(make: Make) -> None:
    function = make("def f(x): return pair(x)")
    specialised(function, (1,))
    function.__globals__["pair"].__defaults__ = (50,)
    with gt.optimize(False):
        assert function(1) == (51, 7)


def test_closures_have_an_entry_each(make: Make) -> None:
    make("def outer(g):\n  def inner(x): return g(x)\n  return inner\nf = None")
    outer, is_small = (vars(sys.modules["specimen"])[n] for n in ("outer", "is_small"))
    one, two = outer(is_small), outer(bool)
    jit = Jit(frozenset({"specimen"}), worth=float("-inf"))
    with gt.optimize(jit):
        for _ in range(3):
            assert (one(2), one(5), two(5), two(0)) == (True, False, True, False)
    (entry,) = jit.functions[one.__code__].entries
    assert "inlined specimen.is_small" in entry.made.notes


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return locals(), isinstance(x, int)",
        "def f(x):\n  global LIMIT\n  LIMIT = 3\n  return isinstance(x, int)",
        "def f(x):\n  yield isinstance(x, int)",
        "def f(x): return x",
    ],
)
def test_what_looks_at_its_frame_or_gains_nothing_is_left_alone(
    make: Make, source: str
) -> None:
    function = make(source)
    jit = Jit(frozenset({"specimen"}))
    with gt.optimize(jit):
        for _ in range(4):
            function(1)
    assert function.__code__ not in jit.functions


def functions_of(name: str) -> Iterator[FunctionType]:
    module = importlib.import_module(name)
    classes = [vars(each) for each in vars(module).values() if inspect.isclass(each)]
    for value in itertools.chain(vars(module).values(), *(c.values() for c in classes)):
        function = getattr(value, "__func__", value)
        if isinstance(function, FunctionType) and function.__module__ == name:
            yield function


@pytest.mark.parametrize(
    "name",
    ["argparse", "ast", "configparser", "difflib", "inspect", "ntpath", "tarfile"],
)
def test_whatever_the_types_are_the_code_can_be_verified(name: str) -> None:
    samples = itertools.cycle([1, "a", None, b"b", 1.5, (), True, [], {}])
    made = 0
    for function in functions_of(name):
        code = function.__code__
        if code.co_flags & inspect.CO_GENERATOR:
            continue
        frame: Any = SimpleNamespace(
            f_code=code,
            f_globals=function.__globals__,
            f_builtins=function.__builtins__,
            closure=function.__closure__,
        )
        count = code.co_argcount + code.co_kwonlyargcount
        arguments = dict(zip(code.co_varnames[:count], samples))
        try:
            specialise(frame, name, arguments, frozenset([*arguments][::2]))
            made += 1
        except Refused:
            pass
    assert made > 3
