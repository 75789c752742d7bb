"""check from Python: inside itself, from several threads, on odd subjects."""

from __future__ import annotations

import os
import sys
import threading
from collections import UserDict
from collections.abc import Iterator
from typing import Any

import guardtree as gt
import pytest

# Of all threads together.
CHECKS = int(os.environ.get("GUARDTREE_TEST_CHECKS", "1000000"))
THREADS = 4


def step(x: Any, y: Any = 0) -> None: ...


@pytest.fixture
def many_switches() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_an_empty_tree_passes_on_every_mapping_and_on_nothing_else() -> None:
    guards = gt.GuardManager(step)
    for subject in ({}, {"x": 1}, UserDict()):
        assert guards.check(subject) is True
    for wrong in (3, None, [], "x"):
        with pytest.raises(TypeError, match="a mapping of local names"):
            guards.check(wrong)  # type: ignore[arg-type]


def test_an_empty_tree_whose_code_is_gone_says_so(fresh: Any) -> None:
    function = fresh("def f(x): pass", "f")
    guards = gt.GuardManager(function)
    del function
    with pytest.raises(ValueError, match="is gone"):
        guards.check({})


def test_a_guard_may_check_its_own_tree() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x").type_match(int)
    guards.local("y").attr("real").type_match(int)
    depths: list[int] = []

    def inner(value: int) -> bool:
        depths.append(value)
        return value == 0 or guards.check({"x": value - 1, "y": value})

    x.python(inner)
    assert guards.check({"x": 20, "y": 1})
    assert depths == list(range(20, -1, -1))
    assert not guards.check({"x": 20, "y": "a"})


def test_a_guard_may_add_to_its_own_tree() -> None:
    guards = gt.GuardManager(step)

    def grow(f_locals: Any) -> bool:
        guards.local("y").equals(guards.counts().checks)
        return True

    guards.python(grow)
    assert guards.check({"x": 1, "y": 0})
    assert not guards.check({"x": 1, "y": 0})


def test_one_tree_is_checked_by_several_threads_at_once(many_switches: None) -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x").type_match(list)
    x.list_item(0).python(lambda value: value >= 0)
    x.list_item(1).attr("real").type_match(int)
    guards.distinct_objects(x, guards.local("y"))
    wrong: list[Any] = []

    def run(number: int) -> None:
        subjects: list[tuple[dict[str, Any], bool]] = [
            ({"x": [number, 1], "y": []}, True),
            ({"x": [-1 - number, 1], "y": []}, False),
            ({"x": [number, "1"], "y": []}, False),
            ({"x": [], "y": number}, False),
        ]
        for i in range(CHECKS // THREADS):
            subject, expected = subjects[i % 4]
            if guards.check(subject) is not expected:
                wrong.append((number, i))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_mapping_is_asked_for_the_names_that_guards_read() -> None:
    class Asked(dict[str, Any]):
        names: list[str]

        def __getitem__(self, name: str) -> Any:
            self.names.append(name)
            return super().__getitem__(name)

    subject = Asked(x=3, y=4)
    subject.names = []
    guards = gt.GuardManager(step)
    guards.global_("CHECKS").type_match(int)
    assert guards.check(subject)
    assert subject.names == []
    guards.local("y").equals(4)
    assert guards.check(subject)
    assert subject.names == ["y"]
