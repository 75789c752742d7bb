"""Guards as entries use them: verdicts, errors, and exceptions that must pass."""

from __future__ import annotations

import sys
from typing import Any

import guardtree as gt
import pytest


def old(a, b=2):
    return "old"


def new(a, b=2):
    return "new"


@pytest.fixture(autouse=True)
def clean_code(hook: None) -> Any:
    yield
    gt.reset_code(old.__code__)


@pytest.fixture(params=["callable", "tree"])
def as_guards(request: pytest.FixtureRequest) -> Any:
    """Both spellings of a Python guard: the bare callable, and a node of a tree."""

    def make(function: Any) -> Any:
        if request.param == "callable":
            return function
        guards = gt.GuardManager(old)
        guards.python(function)
        return guards

    return make


def test_a_python_guard_gets_the_locals_by_name(as_guards, swap) -> None:
    given: list[dict[str, Any]] = []

    def guard(f_locals):
        given.append(dict(f_locals))
        return True

    with gt.optimize(swap(old, new, as_guards(guard))):
        old(1)
        assert given == [], "the entry's first run is not checked"
        old(3, b=4)
        old(5)
    assert given == [{"a": 3, "b": 4}, {"a": 5, "b": 2}]


def test_the_dict_is_built_once_a_lookup_however_many_guards_ask(swap) -> None:
    tree = gt.GuardManager(old)
    for _ in range(3):
        tree.python(lambda f_locals: True)
    tree.local("a").python(lambda value: value > 0)
    tree.python(lambda f_locals: f_locals["a"] == 2)
    with gt.optimize(swap(old, new, tree)):
        old(1)
        old(1)  # a miss: the same guards again
        assert old(2) == "new"
    stats = gt.code_stats(old.__code__)
    assert (stats["hits"], stats["entries"], stats["dicts_built"]) == (1, 2, 2)


def test_a_tree_without_python_guards_builds_no_dict(swap) -> None:
    tree = gt.GuardManager(old)
    tree.local("a").type_match(int).equals(3)
    tree.local("b").type_match(int)
    tree.global_("new").id_match(new)
    tree.builtin("len").id_match(len)
    with gt.optimize(swap(old, new, tree)):
        old(3)
        assert [old(3), old(3)] == ["new"] * 2
    stats = gt.code_stats(old.__code__)
    assert (stats["hits"], stats["dicts_built"]) == (2, 0)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError])
def test_the_exceptions_that_must_pass_leave_a_guard(kind, as_guards, swap) -> None:
    raising: list[BaseException] = []

    def guard(f_locals):
        if raising:
            raise raising[0]
        return True

    callback = swap(old, new, as_guards(guard))
    argument = object()
    count = sys.getrefcount(argument)
    with gt.optimize(callback):
        old(argument)
        raising.append(kind("why"))
        for _ in range(3):
            with pytest.raises(kind, match="why"):
                old(argument)
        raising.clear()
        assert gt.set_eval_frame(callback) is callback, "still installed"
        assert old(argument) == "new"
    assert callback.calls == 1
    assert len(gt.cache_entries(old.__code__)) == 1
    assert sys.getrefcount(argument) == count


@pytest.mark.parametrize("run_only", [False, True])
def test_any_other_exception_in_a_guard_is_a_miss_that_is_kept(
    run_only, as_guards, swap
) -> None:
    error = ZeroDivisionError("in the guard")

    def guard(f_locals):
        raise error

    callback = swap(old, new, as_guards(guard))
    with gt.optimize(callback):
        assert old(1) == "new"
        with gt.optimize(False if run_only else callback):
            assert old(1) == ("old" if run_only else "new")
    entries = gt.cache_entries(old.__code__)
    assert callback.calls == len(entries) == (1 if run_only else 2)
    assert entries[0].last_error is error
    assert gt.code_stats(old.__code__)["errors"] == 1
    assert sys.exc_info() == (None, None, None)


def test_an_entry_without_an_error_says_none(swap) -> None:
    with gt.optimize(swap(old, new)):
        old(1)
        old(1)
    [entry] = gt.cache_entries(old.__code__)
    assert entry.last_error is None


def test_an_error_in_one_entry_does_not_hide_the_next(only) -> None:
    def broken(f_locals):
        raise KeyError

    checks = [broken, lambda f_locals: True]
    callback = only(old, lambda *_: gt.GuardedCode(new.__code__, checks.pop(0)))
    with gt.optimize(callback):
        assert [old(1) for _ in range(4)] == ["new"] * 4
    first, second = gt.cache_entries(old.__code__)
    assert (first.hits, second.hits) == (0, 2)
    assert isinstance(first.last_error, KeyError)
    assert second.last_error is None


@pytest.mark.parametrize("value", [1, "x", [0], object()])
def test_a_true_answer_of_a_guard_passes(value, as_guards, swap) -> None:
    callback = swap(old, new, as_guards(lambda f_locals: value))
    with gt.optimize(callback):
        old(1)
        old(1)
    assert callback.calls == 1


@pytest.mark.parametrize("value", [0, "", [], None])
def test_a_false_answer_of_a_guard_fails(value, as_guards, swap) -> None:
    callback = swap(old, new, as_guards(lambda f_locals: value))
    with gt.optimize(callback):
        old(1)
        old(1)
    assert callback.calls == 2


def test_an_answer_whose_truth_raises_is_an_error(as_guards, swap) -> None:
    class Undecided:
        def __bool__(self):
            raise ValueError("undecided")

    callback = swap(old, new, as_guards(lambda f_locals: Undecided()))
    with gt.optimize(callback):
        old(1)
        old(1)
    first, _ = gt.cache_entries(old.__code__)
    assert isinstance(first.last_error, ValueError)


def test_a_guard_may_keep_and_change_its_dict_without_touching_the_frame(
    as_guards, swap
) -> None:
    kept: list[dict[str, Any]] = []

    def echo(a, b=2):
        return a, b

    def guard(f_locals):
        f_locals["a"] = "changed"
        f_locals.pop("b")
        kept.append(f_locals)
        return True

    with gt.optimize(swap(old, echo, as_guards(guard))):
        old(1)
        assert old(1) == (1, 2)
    assert kept == [{"a": "changed"}]


def test_a_guard_that_deletes_the_last_other_reference_is_safe(as_guards, swap) -> None:
    held = [object()]

    def first(a, b=2):
        return type(a[0])

    def guard(f_locals):
        box.clear()
        return len(f_locals["a"]) == 1

    box = {"held": held}
    del held
    with gt.optimize(swap(old, first, as_guards(guard))):
        old([1])
        assert old(box["held"]) is object
    assert box == {}


def test_an_equality_that_raises_in_a_tree_is_an_error_not_a_crash(swap) -> None:
    class Hostile:
        @property
        def value(self):
            raise RuntimeError("hostile")

    tree = gt.GuardManager(old)
    tree.local("a").attr("value").equals(1)
    callback = swap(old, new, tree)
    with gt.optimize(callback):
        for _ in range(3):
            assert old(Hostile()) == "new"
    entries = gt.cache_entries(old.__code__)
    assert len(entries) == 3
    assert isinstance(entries[0].last_error, RuntimeError)
