"""Relations and notes as a user of GuardManager sees them."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import guardtree as gt


def step(x: Any, y: Any, z: Any = 0) -> None: ...


def test_values_are_given_by_position() -> None:
    guards = gt.GuardManager(step)
    guards.distinct_objects(guards.local("x"), guards.local("y"), guards.local("z"))
    one, two = [], []
    assert guards.check({"x": one, "y": two, "z": 0})
    assert not guards.check({"x": one, "y": two, "z": one})
    assert not guards.check({"x": one, "y": two})


def test_values_of_an_expression_are_given_by_name_too() -> None:
    guards = gt.GuardManager(step)
    x, y = guards.local("x"), guards.local("y")
    guards.integers("a == b * 2 and len(items) % 4 == 0", a=x, b=y.item(0), items=y)
    assert guards.check({"x": 6, "y": [3, 0, 0, 0]})
    assert not guards.check({"x": 7, "y": [3, 0, 0, 0]})
    assert not guards.check({"x": 6, "y": [3]})
    assert not guards.check({"x": 6.0, "y": [3, 0, 0, 0]})


def test_relations_read_values_across_user_code() -> None:
    class Fresh:
        @property
        def n(self) -> Any:
            return object()

    guards = gt.GuardManager(step)
    x = guards.local("x")
    guards.distinct_objects(x.attr("n"), guards.local("y").attr("n"))
    # Temporaries: alive at the same time, or an address could be given twice.
    assert all(guards.check({"x": Fresh(), "y": Fresh()}) for _ in range(100))


def test_a_relation_is_explained_with_its_values() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x")
    guards.integers("0 < n <= 64", n=x.attr("real")).note("from line 12")
    explanation = guards.explain({"x": 65})
    (failure,) = explanation.failures
    assert failure.kind == "integers"
    assert failure.python == "0 < int64(x.real) <= 64"
    assert failure.found == "65 (int)"
    assert failure.note == "from line 12"
    assert explanation.checks_run == 2


def test_a_note_belongs_to_the_guard_before_it() -> None:
    origin = object()
    guards = gt.GuardManager(step)
    guards.local("x").type_match(int).note(origin).equals(3)
    by_kind = {f.kind: f.note for f in guards.explain({"x": "a"}).failures}
    assert by_kind == {"type_match": origin, "equals": None}
    with pytest.raises(ValueError, match="no guard was added yet"):
        gt.GuardManager(step).note("too early")


def test_what_does_not_fit_is_refused() -> None:
    guards, other = gt.GuardManager(step), gt.GuardManager(step)
    x = guards.local("x")
    with pytest.raises(ValueError, match="at least two values"):
        guards.same_object(x)
    with pytest.raises(ValueError, match="another guard tree"):
        guards.same_object(x, other.local("x"))
    with pytest.raises(TypeError, match="expected a GuardManager"):
        guards.same_object(x, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the root is none"):
        guards.same_object(x, guards)
    with pytest.raises(ValueError, match="column 3: expected an operator"):
        guards.integers("a / 2 == 1", a=x)
    with pytest.raises(TypeError, match="no value for 'b'"):
        guards.integers("a == b", a=x)
    with pytest.raises(TypeError, match="does not speak of 'c'"):
        guards.integers("a == 1", a=x, c=x)
    assert guards.check({})


def test_the_tree_prints_relations_as_python() -> None:
    guards = gt.GuardManager(step)
    guards.same_object(guards.local("x"), guards.local("y").item("k"))
    assert "  - same_object: x is y['k']\n" in str(guards)


class Note:
    """What may hold the guards that it is said of."""

    guards: Any = None
    made: Any = None


def test_a_note_that_holds_its_guards_is_collected_with_them() -> None:
    note = Note()
    note.guards = gt.GuardManager(step)
    note.guards.local("x").type_match(int).note(note)
    assert note.guards.check({"x": 1})  # compiles: the program keeps the note too
    note.made = gt.GuardedCode(step.__code__, note.guards)
    alive = weakref.ref(note)
    del note
    gc.collect()
    assert alive() is None


def test_more_values_than_a_walk_has_room_for_are_refused() -> None:
    guards = gt.GuardManager(step)
    x, y = guards.local("x"), guards.local("y")
    guards.distinct_objects(x, y, *[x] * 65_536)
    with pytest.raises(OverflowError, match="65538 values"):
        guards.check({"x": 1, "y": 2})
