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


class Keyed:
    """A mapping that is not a collections.abc.Mapping."""

    def __init__(self, **items: Any) -> None:
        self.items = items

    def keys(self) -> Any:
        return self.items.keys()

    def __getitem__(self, name: str) -> Any:
        return self.items[name]


@pytest.mark.parametrize("value", [3, "x", None, [1], (), {1}, object(), step])
def test_guards_of_one_local_take_its_value(value: Any) -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(type(value)).id_match(value)
    guards.global_("step").is_not_none()
    for ask in (guards.check, guards, guards.explain, guards.profile().check):
        assert ask(value)
        assert ask({"x": value})
        assert not ask(0.5)
    assert "found 0.5" in str(guards.explain(0.5))


def test_a_mapping_is_never_the_value_of_the_one_local() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").is_not_none()
    for ask in (guards.check, guards.explain, guards.profile().check):
        for mapping in ({"y": 1}, UserDict(y=1), Keyed(y=1)):
            assert not ask(mapping)
        for mapping in ({"x": 1}, UserDict(x=1), Keyed(x=1)):
            assert ask(mapping)


def test_python_guards_see_the_value_of_the_one_local_among_the_locals() -> None:
    seen = []
    guards = gt.GuardManager(step)
    guards.local("x").python(lambda x: seen.append(x) or True)
    guards.f_locals().python(lambda names: seen.append(dict(names)) or True)
    assert guards.check(7)
    assert seen == [7, {"x": 7}]


def test_the_one_local_may_be_a_free_variable() -> None:
    kept = 1

    def inner() -> int:
        return kept

    guards = gt.GuardManager(inner)
    guards.closure("kept").equals(5)
    assert guards.check({"kept": 5}) and guards.check(5) and not guards.check(6)


def test_python_guards_see_the_value_as_a_mapping_of_one_name() -> None:
    other = 1

    def inner(x: int) -> int:
        return x + other

    seen: list[Any] = []
    guards = gt.GuardManager(inner)
    guards.local("x").is_not_none()
    guards.f_locals().python(lambda names: seen.append(dict(names)) or True)
    assert guards.check({"x": 1}) and guards.check(1)
    assert seen == [{"x": 1}, {"x": 1}]


def test_a_python_frame_is_no_value() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").is_not_none()
    for ask in (guards.check, guards.explain, guards.profile().check):
        with pytest.raises(TypeError, match="a mapping of local names"):
            ask(sys._getframe())


def test_the_keys_of_a_mapping_are_asked_for_once() -> None:
    class Counted(Keyed):
        count = 0

        @property
        def keys(self) -> Any:
            self.count += 1
            return self.items.keys

    guards = gt.GuardManager(step)
    guards.local("x").is_not_none()
    subject = Counted(x=1)
    assert guards.check(subject) and subject.count == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, MemoryError])
def test_what_reading_the_keys_of_a_subject_raises_is_raised(error: Any) -> None:
    class Hostile:
        def __getitem__(self, name: str) -> Any: ...

        @property
        def keys(self) -> Any:
            raise error

    guards = gt.GuardManager(step)
    guards.local("x").is_not_none()
    for ask in (guards.check, guards.explain, guards.profile().check):
        with pytest.raises(error):
            ask(Hostile())


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
