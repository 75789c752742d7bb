"""Strict mode: three answers to each lookup, and what becomes of a difference."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import guardtree as gt
import pytest
from guardtree import oracle


@pytest.fixture(autouse=True)
def strict(hook: None) -> Iterator[None]:
    assert gt.strict() is False
    yield
    assert gt.strict(False) is True


def scope(x: Any, y: Any = None) -> None: ...


def table_of(*kinds: Any) -> gt.Table:
    """A table of one entry for each, which adds its guards."""
    table = gt.Table(scope)
    for number, add in enumerate(kinds):
        guards = gt.GuardManager(scope)
        add(guards)
        table.add(guards, number)
    return table


def changes_its_mind() -> Any:
    """A guard that passes every second time."""
    asked: list[Any] = []

    def guard(value: Any) -> bool:
        asked.append(value)
        return len(asked) % 2 == 1

    return guard


def test_what_agrees_is_answered_as_ever() -> None:
    table = table_of(
        lambda g: g.local("x").equals(1),
        lambda g: g.local("x").type_match(str),
        lambda g: g.local("x").attr("real").python(lambda value: value > 5),
        lambda g: g.local("x").id_match_held(scope),
        lambda g: g.integers("x % 2 == 0", g.local("x")),
        lambda g: g.same_object(g.local("x"), g.local("y")),
    )
    given = [1, "a", 7, scope, 4, 3.0, None]
    assert [table.lookup({"x": x, "y": None}) for x in given] == [
        0,
        1,
        2,
        3,
        4,
        None,
        5,
    ]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("stride_of(a, 0) > b.shape[0]", 2),
        ("a.shape[0] * 8 == stride_of(b, -1) * 2", 2),
        ("not stride_of(a, 0) % 8 == 1 and a.ndim == b.ndim", 2),
        ("stride_of(tensor, 0) == 8 and stride_of.ndim == 1", 2),
        ("len(a) + len(b) == 4", None),
        ("len(len) == 2 and len(stride_of) == 2", None),
    ],
)
def test_an_expression_by_its_own_name_agrees(text: str, size: int | None) -> None:
    value: Any = [1, 2]
    if size is not None:
        value = pytest.importorskip("numpy").zeros(size)
    guards = gt.GuardManager(scope)
    guards.integers(text, guards.local("x"), guards.local("x"))
    assert "guard.integers(" in guards.to_text()[0]
    table = gt.Table(scope)
    table.add(guards, 0)
    assert table.lookup({"x": value, "y": None}) == 0
    assert table.lookup({"x": 2, "y": None}) is None


def test_a_table_whose_scan_differs_is_told_of() -> None:
    table = table_of(
        lambda g: g.local("x").python(changes_its_mind()),
        lambda g: g.local("x").equals(1),
    )
    with pytest.raises(gt.StrictError, match="the table says entry 0") as caught:
        table.lookup({"x": 1})
    error = caught.value
    assert (error.found, error.scanned) == (0, 1)
    assert error.texts[1] == "same_constant(x, 1)" or "1" in error.texts[1]
    assert "entry 1:" in str(error)


def test_what_python_means_otherwise_is_told_of(monkeypatch) -> None:
    table = table_of(lambda g: g.local("x").equals(1))
    monkeypatch.setattr(oracle, "text_passes", lambda *_, **__: False)
    with pytest.raises(gt.StrictError, match="that no entry passes") as caught:
        table.lookup({"x": 1})
    assert (caught.value.found, caught.value.scanned, caught.value.meant) == (
        0,
        0,
        None,
    )
    monkeypatch.setattr(oracle, "text_passes", lambda *_, **__: True)
    with pytest.raises(gt.StrictError, match="their text in Python says entry 0"):
        table.lookup({"x": 2})


def test_what_python_cannot_tell_is_judged_by_the_scan(monkeypatch) -> None:
    monkeypatch.setattr(oracle, "text_passes", None)  # is not called
    value = {"a": 1}
    table = table_of(lambda g: g.local("x").dict_version(value))
    assert table.lookup({"x": value}) == 0
    value["b"] = 2
    assert table.lookup({"x": value}) is None


def test_texts_keep_nothing_alive() -> None:
    class Thing: ...

    thing = Thing()
    table = table_of(lambda g: g.local("x").id_match(thing))
    assert table.lookup({"x": thing}) == 0
    address = id(thing)
    del thing
    gc.collect()
    assert not any(
        id(each) == address and type(each) is Thing for each in gc.get_objects()
    )
    assert table.lookup({"x": 1}) is None


def test_the_hook_raises_out_of_the_call(only) -> None:
    def f(x):
        return "plain"

    def instead(x):
        return "replaced"

    def callback(frame, entry, state):
        guards = gt.GuardManager(f)
        guards.local("x").type_match(int)
        guards.local("x").python(changes_its_mind())
        return gt.GuardedCode(instead.__code__, guards)

    with gt.optimize(only(f, callback)):
        assert f(1) == "replaced"
        with pytest.raises(gt.StrictError, match="a lookup of .*f has different"):
            f(2)
    assert f(3) == "plain"


def test_builtins_of_the_frames_own_and_its_values_are_left_alone(only) -> None:
    names: dict[str, Any] = {"__builtins__": {"len": len}}
    exec("def f(x): return 'plain'", names)
    f = names["f"]

    def instead(x):
        return "replaced"

    def callback(frame, entry, state):
        guards = gt.GuardManager(f)
        guards.local("x").type_match(type(frame.f_locals["x"]))
        guards.local("x").python(lambda value: 1 / 0 if value == 2 else True)
        return gt.GuardedCode(instead.__code__, guards)

    with gt.optimize(only(f, callback)):
        x = object()
        before = sys.getrefcount(x)
        assert [f(x), f(1), f(x)] == ["replaced"] * 3
        assert sys.getrefcount(x) == before
        assert f(2) == "replaced"
    assert gt.code_stats(f)["errors"] == 1


def test_the_hook_runs_what_agrees(only) -> None:
    def f(x):
        return "plain"

    def instead(x):
        return "replaced"

    def callback(frame, entry, state):
        guards = gt.GuardManager(f)
        guards.local("x").equals(frame.f_locals["x"])
        return gt.GuardedCode(instead.__code__, guards)

    with gt.optimize(only(f, callback)):
        assert [f(i % 5) for i in range(20)] == ["replaced"] * 20
    assert gt.code_stats(f)["hits"] == 15


@pytest.mark.parametrize(("value", "is_on"), [("1", True), ("0", False), ("", False)])
def test_the_environment_turns_it_on(value: str, is_on: bool) -> None:
    program = "import guardtree as gt; print(gt.strict(False))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "GUARDTREE_STRICT": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(is_on)
