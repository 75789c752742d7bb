"""Replacement code of every shape runs in the frame, with the frame's own values."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import guardtree as gt
import pytest


def run_hot(call: Any, callback: Any) -> Any:
    """The result of a hit: the first call compiles, the second one hits."""
    with gt.optimize(callback):
        call()
        return call()


def test_fewer_locals(path, swap) -> None:
    def old(a):
        b = c = d = e = a
        return (b, c, d, e)

    def new(a):
        return a

    assert run_hot(lambda: old(7), swap(old, new)) == 7


@pytest.mark.parametrize("count", [1, 8, 100, 700, 5000, 40000])
def test_more_locals_than_the_frame_was_made_for(count, path, swap, fresh) -> None:
    def old(a):
        return a

    body = "\n".join(f"    v{i} = a + {i}" for i in range(count))
    new = fresh(f"def new(a):\n{body}\n    return v0, v{count - 1}", "new")
    assert run_hot(lambda: old(1), swap(old, new)) == (1, count)
    if count == 40000 and path == "substituted":
        # No data-stack chunk has room for this one: the fall-back serves it.
        assert gt.code_stats(old.__code__)["called"] >= 1


def test_a_deeper_value_stack_than_the_frame_was_made_for(path, swap, fresh) -> None:
    def old(a):
        return a

    nested = "a"
    for i in range(80):
        nested = f"[{i}, {nested}]"
    wide = ", ".join(["a"] * 3000)
    new = fresh(f"def new(a): return {nested}, ({wide},)", "new")
    assert run_hot(lambda: old(1), swap(old, new)) == new(1)


def test_a_large_replacement_is_right_at_every_depth_of_a_recursion(
    path, swap, fresh
) -> None:
    body = "; ".join(f"v{i} = n + {i}" for i in range(300))
    source = f"def new(n):\n  {body}\n  return 0 if not n else v1 - n + down(n - 1)"
    namespace: dict[str, Any] = {}
    exec("def down(n): return -1", namespace)
    exec(source, namespace)
    down = namespace["down"]
    depth = 150
    assert run_hot(lambda: down(depth), swap(down, namespace["new"])) == depth


def test_locals_of_the_replacement_start_unbound(path, swap) -> None:
    def litter(a):
        b = c = d = e = f = g = h = a
        return (b, c, d, e, f, g, h)

    def old(a):
        return a

    def new(a):
        if a:
            b = c = d = e = f = a
        return (b, c, d, e, f)

    litter(object())
    with gt.optimize(swap(old, new)):
        for _ in range(3):
            litter(object())
            with pytest.raises(UnboundLocalError):
                old(0)
        assert old(1) == (1,) * 5


def test_an_argument_that_is_a_cell(path, swap) -> None:
    def old(a, b=2):
        return [lambda: a + b]

    def new(a, b):
        def inner():
            nonlocal a
            a += b
            return a

        return inner(), inner(), a

    assert run_hot(lambda: old(1), swap(old, new)) == (3, 5, 5)


def test_a_cell_that_is_no_argument(path, swap) -> None:
    def old(a):
        cell = a
        return (lambda: cell)()

    def new(a):
        other = [a, a]
        cell = other

        def change():
            nonlocal cell
            cell = (cell, "new")

        change()
        return cell

    assert run_hot(lambda: old(1), swap(old, new)) == ([1, 1], "new")


def test_a_free_variable_is_shared_with_its_function(path, swap) -> None:
    def outer():
        n = 0

        def old(a):
            nonlocal n
            n += a
            return n

        def new(a):
            nonlocal n
            n += 100 * a
            return n

        return old, new, lambda: n

    old, new, read = outer()
    with gt.optimize(swap(old, new)):
        assert (old(1), old(2), old(3)) == (100, 300, 600)
    assert read() == 600
    assert old(1) == 601


def test_two_functions_of_one_code_keep_their_closures_defaults_and_globals(
    path, swap
) -> None:
    source = """
def outer(n, default):
    def old(a=default): return ("old", where, n, a)
    def new(a): return ("new", where, n, a)
    return old, new
"""
    made = []
    code = compile(source, "<two>", "exec")
    for where in ("here", "there"):
        namespace: dict[str, Any] = {"where": where}
        exec(code, namespace)
        made.append(namespace["outer"](where.upper(), len(where)))
    (first, new), (second, _) = made
    assert first.__code__ is second.__code__
    with gt.optimize(swap(first, new)):
        for _ in range(3):
            assert first() == ("new", "here", "HERE", 4)
            assert second() == ("new", "there", "THERE", 5)


def test_super_and_the_class_cell_work_in_a_replacement(path, swap) -> None:
    class Base:
        def who(self):
            return "base"

    class Child(Base):
        def who(self):
            return super().who()

        def new(self):
            return "new " + super().who() + __class__.__name__

    call = Child().who
    assert run_hot(call, swap(Child.who, Child.new)) == "new baseChild"


def test_the_frame_shows_the_replacement_code_and_the_true_caller(path, swap) -> None:
    def old(a):
        return a

    def new(a):
        b = a + 1
        return sys._getframe(), dict(locals()), b

    def caller():
        return old(1)

    with gt.optimize(swap(old, new)):
        caller()
        frame, namespace, _ = caller()
    assert frame.f_code is new.__code__
    assert namespace == {"a": 1, "b": 2}
    assert frame.f_locals == {"a": 1, "b": 2}
    assert frame.f_globals is globals()
    assert frame.f_lineno >= new.__code__.co_firstlineno
    assert old.__code__ is not new.__code__


def test_the_true_caller_is_the_next_frame_outwards(path, swap) -> None:
    def old():
        return []

    def new():
        names, frame = [], sys._getframe()
        while frame and len(names) < 3:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        return names

    def caller():
        return old()

    def outermost():
        return caller()

    expected = ["new", "caller", "outermost"]
    assert run_hot(outermost, swap(old, new)) == expected


def test_arguments_are_released_when_the_replacement_returns(path, swap) -> None:
    class Thing:
        pass

    def old(a, *args, k=None, **kw):
        return None

    def new(a, *args, k=None, **kw):
        kept = [a, args, k, kw]
        return len(kept)

    with gt.optimize(swap(old, new)):
        for _ in range(3):
            things = [Thing() for _ in range(4)]
            alive = [weakref.ref(thing) for thing in things]
            assert old(things[0], things[1], k=things[2], z=things[3]) == 4
            del things
            assert [ref() for ref in alive] == [None] * 4


def test_hits_leave_every_reference_count_as_it_was(path, swap) -> None:
    def old(a, b=None, *args, k=None, **kw):
        return a

    def new(a, b, *args, k, **kw):
        c = [a, b, args, k, kw]
        return c[0]

    o = object()
    with gt.optimize(swap(old, new)):
        old(o)

        def counts():
            return [sys.getrefcount(x) for x in (o, old, old.__code__, new.__code__)]

        before = counts()
        for _ in range(1000):
            old(o, o, o, k=o, z=o)
            old(o)
        assert counts() == before


def test_python_code_that_runs_while_a_call_is_set_up_changes_nothing(
    path, swap
) -> None:
    # Matching this key with the parameter names calls __eq__ before there is a frame.
    class Key(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            return str(self) == str(other)

    def old(a, *, b=2, **kw):
        return "old"

    def new(a, *, b, **kw):
        c = [a, b, kw]
        return c

    asked: list[Any] = []
    answer = swap(old, new)

    def callback(frame, entry, state):
        asked.append(frame.f_code)
        return answer(frame, entry, state)

    with gt.optimize(callback):
        for _ in range(3):
            assert old(1, **{Key("z"): 3}) == [1, 2, {"z": 3}]
    assert new.__code__ not in asked
    assert gt.code_stats(old.__code__)["hits"] == 2
