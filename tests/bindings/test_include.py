"""include() and exists(): trees that are put together, values that need only be."""

from __future__ import annotations

import sys
from typing import Any

import guardtree as gt
import pytest


def area(shape: Any, scale: Any = 1) -> Any:
    return shape, scale


def other(shape: Any) -> Any:
    return shape


def common() -> gt.GuardManager:
    guards = gt.GuardManager(area)
    guards.local("shape").type_match(list).note("own")
    item = guards.local("shape").item(0)
    item.exists()
    guards.distinct_objects(item, guards.local("scale"))
    return guards


def test_an_included_tree_has_to_pass_too() -> None:
    guards = gt.GuardManager(area)
    guards.local("scale").type_match(int)
    assert guards.check({"shape": (), "scale": 2})
    assert guards.include(common()) is guards
    assert guards.check({"shape": [1], "scale": 2})
    for failing in (
        {"shape": (1,), "scale": 2},
        {"shape": [], "scale": 2},
        {"shape": [2], "scale": 2},
        {"shape": [1], "scale": 2.0},
        {"scale": 2},
    ):
        assert not guards.check(failing), failing
    assert len(guards.checks()) == 3
    assert len(guards.relations()) == 1


def test_notes_come_along_and_fill_in() -> None:
    guards = gt.GuardManager(area)
    guards.local("shape").type_match(list).note("first")
    guards.include(common(), note="common")
    notes = {check.kind: check.note for check in guards.checks()}
    assert notes == {"type_match": "first", "exists": "common"}
    assert guards.relations()[0].note == "common"
    plain = gt.GuardManager(area).include(common())
    notes = {check.kind: check.note for check in plain.checks()}
    assert notes == {"type_match": "own", "exists": None}


def test_a_tree_is_included_as_it_is_now_and_stays_as_it_was() -> None:
    guards, given = gt.GuardManager(area), common()
    before = given.to_text()
    guards.include(given)
    text = guards.to_text()
    assert text == before == given.to_text()
    given.local("scale").is_none()
    assert guards.to_text() == text
    guards.include(guards)  # equal checks are kept once, relations are not compared
    assert guards.simplified().guards.to_text() == text
    handle = guards.local("shape")  # handles that were there before stay
    guards.include(given)
    assert handle == guards.local("shape")
    assert not guards.check({"shape": [1], "scale": 2})


def test_what_the_included_guards_refer_to_lives_as_long_as_they() -> None:
    guards = gt.GuardManager(area)
    expected = [object()]
    count = sys.getrefcount(expected[0])

    def include() -> None:
        given = gt.GuardManager(area)
        given.local("shape").id_match_held(expected[0])
        guards.include(given)

    include()
    kept = sys.getrefcount(expected[0])
    assert kept > count
    assert guards.check({"shape": expected[0], "scale": 1})
    assert not guards.check({"shape": object(), "scale": 1})
    del guards
    kept = sys.getrefcount(expected[0])
    assert kept == count


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda guards: guards.include(3), TypeError, "expected a GuardManager"),
        (
            lambda guards: guards.include(gt.GuardManager(other)),
            ValueError,
            "expected guards of .*area.*, found guards of .*other",
        ),
        (
            lambda guards: guards.local("shape").include(common()),
            ValueError,
            "shape is a path: call it on the root",
        ),
    ],
)
def test_what_cannot_be_included_is_refused_and_adds_nothing(
    wrong: Any, error: type[Exception], says: str
) -> None:
    guards = common()
    before = guards.to_text()
    with pytest.raises(error, match=says):
        wrong(guards)
    assert guards.to_text() == before


def test_a_note_after_an_include_needs_a_guard() -> None:
    guards = common()
    guards.include(common())
    with pytest.raises(ValueError, match="no guard was added yet"):
        guards.note("on what?")


# --- exists()


class Asked:
    count = 0

    @property
    def value(self) -> int:
        self.count += 1
        if self.count > 2:
            raise AttributeError
        return 1


def test_exists_fetches_its_value_and_passes_any() -> None:
    guards = gt.GuardManager(area)
    guards.local("shape").attr("value")
    asked = Asked()
    assert guards.check({"shape": asked})
    assert asked.count == 0  # a step without a check is not evaluated
    guards.local("shape").attr("value").exists()
    assert guards.check({"shape": asked}) and guards.check({"shape": asked})
    assert not guards.check({"shape": asked})
    assert "shape" in str(guards.explain({}))


def test_exists_follows_from_any_check_of_the_value() -> None:
    guards = gt.GuardManager(area)
    guards.local("shape").type_match(int).exists()
    found = guards.simplified()
    assert found.removed == ["exists(shape): follows from type(shape) is int"]


def test_exists_in_text_and_json() -> None:
    guards = gt.parse("exists(shape.value)", area)
    assert [check.kind for check in guards.checks()] == ["exists"]
    assert guards.to_text()[0] == "exists(shape.value)"
    again = gt.from_json(guards.to_json(), area)
    assert again.to_text() == guards.to_text()
    assert not again.check({"shape": 1})
