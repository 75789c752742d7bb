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
    assert failure.expected == "integers('0 < x.real <= 64')"
    assert failure.found == "65 (int)"
    assert failure.note == "from line 12"
    assert explanation.checks_run == 2


def found(guards: gt.GuardManager, **values: Any) -> list[str]:
    return [each.found for each in guards.explain(values).failures]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int64(x.real) < 9", "integers('x.real < 9')"),
        ("int64(x['k']) == int64(y)", "integers(\"x['k'] == y\")"),
        ("int64(builtin_len(x)) % 8 == 0", "integers('len(x) % 8 == 0')"),
    ],
)
def test_an_expression_is_told_over_paths(text: str, expected: str) -> None:
    """Also one of a text, which gives its values no names of the user's."""
    guards = gt.parse(text, step)
    subject = {"x": {"k": 1} if "k" in text else "abc", "y": 2}
    (failure,) = guards.explain(subject).failures[-1:]
    assert failure.expected == expected


def test_a_relation_tells_its_values_by_their_paths() -> None:
    guards = gt.GuardManager(step)
    guards.same_object(guards.local("x").item(0), guards.local("y").attr("real"))
    report = guards.explain({"x": [[1]], "y": 2})
    assert str(report) == (
        "x[0] is y.real: expected same_object(), that is `x[0] is y.real`; "
        "found x[0] = [1] (list), y.real = 2 (int); "
        "x[0] and y.real are different objects"
    )
    assert "had from" not in str(report)


def test_a_relation_names_the_objects_that_are_one() -> None:
    guards = gt.GuardManager(step)
    guards.distinct_objects(guards.local("x"), guards.local("y"), guards.local("z"))
    one, other = [1], [1]
    (told,) = found(guards, x=one, y=other, z=one)
    assert told == (
        "x = [1] (list), y = [1] (list), z = [1] (list); x and z are the same object"
    )


def test_a_relation_shows_the_first_of_many_values() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x")
    guards.distinct_objects(*[x.item(i) for i in range(20)])
    (told,) = found(guards, x=[*range(19), 0])
    assert told.startswith("x[0] = 0 (int), x[1] = 1 (int), ")
    assert told.endswith("x[7] = 7 (int), ...; x[0] and x[19] are the same object")


@pytest.mark.parametrize(
    ("expression", "value", "told"),
    [
        ("n < 9", 12, "12 (int)"),
        ("n < 9", True, "True (bool); x is not exactly an int"),
        ("n < 9", 2**70, f"{2**70} (int); x does not fit in 64 bits"),
        ("n * n < 9", 2**40, f"{2**40} (int); "
         "it divides by zero, or a number does not fit in 64 bits"),
        ("9 // n < 9", 0, "0 (int); "
         "it divides by zero, or a number does not fit in 64 bits"),
        ("len(n) < 2", "abc", "'abc' (str)"),
        ("len(n) < 2", 3, "3 (int); x is not a builtin container"),
        ("n.shape[0] < 2", 3, "3 (int); x is not a tensor that has this dimension"),
        ("stride_of(n, 0) < 2", 3,
         "3 (int); x is not a tensor that has this dimension"),
        ("n.ndim < 2", 3, "3 (int); x is not a tensor"),
    ],
)  # fmt: skip
def test_an_expression_tells_why_it_has_no_value(
    expression: str, value: Any, told: str
) -> None:
    guards = gt.GuardManager(step)
    guards.integers(expression, n=guards.local("x"))
    assert found(guards, x=value) == [told]


def test_a_relation_tells_which_of_its_values_is_missing() -> None:
    guards = gt.GuardManager(step)
    guards.integers("a < b", a=guards.local("x"), b=guards.local("y"))
    assert found(guards, y=3) == ["x is unbound, y = 3 (int)"]


def test_notes_are_printed_in_the_tree_and_in_the_report() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x").type_match(int).note("losses.py:12\nsecond line")
    guards.distinct_objects(x, guards.local("y")).note(("tuple", 1))
    assert str(guards).splitlines()[2:] == [
        "    - type_match(int): type(x) is int  # losses.py:12 second line",
        "  local('y')",
        "  - distinct_objects: distinct_objects(x, y)  # ('tuple', 1)",
    ]
    report = guards.explain({"x": "a", "y": 1})
    assert str(report).endswith("found 'a' (str) (note: losses.py:12 second line)")
    assert report.to_dict()["failures"][0]["note"] == "losses.py:12\nsecond line"


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
