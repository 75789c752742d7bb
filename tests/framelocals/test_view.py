"""The view of a frame at entry equals what its own first statement finds.

Each shape's `target` records `locals()` in its first statement; the callback records
f_locals of the same frame just before.
"""

from __future__ import annotations

import inspect
import sys
from collections import ChainMap, OrderedDict
from typing import Any, NamedTuple

import guardtree as gt
import pytest
from frame_shapes import SHAPES, Shape

FILE = "<shape>"

# What the interpreter itself adds to a class namespace before the first statement.
CLASS_PRELUDE = {
    "__module__",
    "__qualname__",
    "__firstlineno__",
    "__classdict__",
    "__type_params__",
}


class Entry(NamedTuple):
    f_locals: dict[str, Any]
    closure: tuple[Any, ...]
    code: Any
    failures: list[str]


def guard_failures(frame: Any) -> list[str]:
    """Names whose identity guard does not pass, or passes for another object."""
    failures = []
    code = frame.f_code
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return failures  # names of a namespace, not slots
    for name, value in frame.f_locals.items():
        for expected, verdict in ((value, True), (object(), False)):
            guards = gt.GuardManager(frame)
            is_free = name in code.co_freevars
            node = guards.closure(name) if is_free else guards.local(name)
            node.id_match(expected)
            if guards.check(frame) is not verdict:
                failures.append(name)
    return failures


def run_shape(case: Shape) -> tuple[list[Entry], list[dict[str, Any]], dict[str, Any]]:
    entries: list[Entry] = []
    seen: list[dict[str, Any]] = []
    module = compile(case.source, FILE, "exec")

    def callback(frame, entry, state):
        code = frame.f_code
        if code.co_filename == FILE and code.co_name == case.target:
            closure = tuple(frame.closure or ())
            found = dict(frame.f_locals)
            entries.append(Entry(found, closure, code, guard_failures(frame)))
        return gt.ASK_AGAIN

    namespace: dict[str, Any] = {"seen": seen, "__name__": "shape"}
    with gt.optimize(callback):
        exec(module, namespace)
    return entries, seen, namespace


def identities(names: dict[str, Any], without: frozenset[str]) -> dict[str, int]:
    return {name: id(value) for name, value in names.items() if name not in without}


def supported(cases: list[Shape]) -> list[Any]:
    return [
        pytest.param(case, id=case.name)
        for case in cases
        if sys.version_info >= case.since
    ]


pytestmark = pytest.mark.usefixtures("hook")
ALL = pytest.mark.parametrize("case", supported(SHAPES))


@ALL
def test_f_locals_at_entry_equals_the_first_locals(case: Shape) -> None:
    entries, seen, _ = run_shape(case)
    assert len(entries) == len(seen) >= 1
    hidden = case.not_yet | CLASS_PRELUDE if "class target" in case.source else None
    for entry, first in zip(entries, seen, strict=True):
        without = hidden or case.not_yet
        assert identities(entry.f_locals, without) == identities(first, without)
        if case.target != "<module>":
            assert not case.not_yet & set(entry.f_locals)


@ALL
def test_the_closure_at_entry_is_the_functions_own(case: Shape) -> None:
    entries, _, namespace = run_shape(case)
    function = namespace.get("target")
    for entry in entries:
        assert len(entry.closure) == len(entry.code.co_freevars)
        if inspect.isfunction(function):
            assert entry.closure == (function.__closure__ or ())


@ALL
def test_an_identity_guard_on_every_local_passes_at_entry(case: Shape) -> None:
    entries, _, _ = run_shape(case)
    assert [entry.failures for entry in entries] == [[]] * len(entries)


@pytest.mark.parametrize("make", [dict, OrderedDict, ChainMap])
def test_exec_with_a_namespace_of_its_own_shows_that_namespace(make: Any) -> None:
    own = make()
    own["a"] = 1
    code = compile("b = a", FILE, "exec")
    found: list[dict[str, Any]] = []

    def callback(frame, entry, state):
        if frame.f_code is code:
            found.append(dict(frame.f_locals))
            assert frame.f_globals is names
        return gt.ASK_AGAIN

    names = {"__name__": "names"}
    with gt.optimize(callback):
        exec(code, names, own)
    assert found == [{"a": 1}]
    assert dict(own) == {"a": 1, "b": 1}


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="inlined from 3.12 on")
def test_a_comprehension_of_3_11_is_a_frame_with_one_argument(only) -> None:
    def f(a, n):
        return [i + n for i in a]

    [code] = [c for c in f.__code__.co_consts if inspect.iscode(c)]
    found: list[Any] = []

    def answer(frame, entry, state):
        found.append(frame.f_locals)
        return gt.ASK_AGAIN

    with gt.optimize(only(code, answer)):
        assert f([1, 2], 3) == [4, 5]
    assert set(found[0]) == {".0", "n"}
    assert found[0]["n"] == 3


def test_reading_the_view_changes_nothing_for_the_function(only) -> None:
    def outer(n):
        def f(a, *args, b=2, **kw):
            a = [a, n]
            return (lambda: (a, b)), args, kw

        return f

    f, argument = outer(5), object()
    callback = only(f, lambda frame, *_: frame.f_locals.clear() or gt.ASK_AGAIN)
    before = sys.getrefcount(argument)
    with gt.optimize(callback):
        for _ in range(100):
            cells, args, kw = f(argument, argument, b=argument, z=argument)
            assert cells() == ([argument, 5], argument)
            assert (args, kw) == ((argument,), {"z": argument})
    del cells, args, kw
    assert sys.getrefcount(argument) == before
    assert callback.calls == 100
