"""Relations that read values of assumed guards, which the assumption hands over."""

from __future__ import annotations

import sys
from typing import Any

import guardtree as gt
import pytest
from assumed import Assumed, Guards, Thing, function_with


def aliases() -> tuple[Assumed, dict[str, Any]]:
    """Two names of one object, and three objects, all below globals."""
    shared = Thing(a=1)
    parts = {"a": Thing(), "b": Thing(), "c": Thing()}
    guards = Guards(function_with(x=Thing(f=shared), y=Thing(f=shared), parts=parts))
    names = guards.function.__globals__
    guards.same_object(*(guards.global_(each).instance_attr("f") for each in "xy"))
    table = guards.global_("parts").type_match(dict)
    guards.distinct_objects(*(table.dict_item(each) for each in parts))
    return Assumed(guards), names


def test_relations_see_each_change_of_what_they_read() -> None:
    assumed, names = aliases()
    x, y, parts = names["x"], names["y"], names["parts"]
    shared, b = x.f, parts["b"]
    for change, undo in (
        (lambda: setattr(x, "f", Thing()), lambda: setattr(x, "f", shared)),
        (lambda: setattr(y, "f", None), lambda: setattr(y, "f", shared)),
        (lambda: delattr(y, "f"), lambda: setattr(y, "f", shared)),
        (lambda: names.update(y=Thing(f=1)), lambda: names.update(y=y)),
        (lambda: parts.update(b=parts["a"]), lambda: parts.update(b=b)),
        (lambda: names.update(parts={}), lambda: names.update(parts=parts)),
    ):
        change()
        assert not assumed.check()
        undo()
        for _ in range(3):
            assert assumed.check()
    x.f = y.f = Thing()
    assert assumed.check()


@pytest.mark.skipif(
    not gt.features()["dict_watcher"], reason="without events words are compared"
)
def test_relations_between_values_that_do_not_change_cost_no_comparisons() -> None:
    assumed, _ = aliases()
    assert assumed.guards.assumed().reread == 0


def test_values_are_kept_while_user_code_runs_before_the_relation() -> None:
    """The relation sees what the run fetched; the walk owns it until then."""

    def replace(value: Any) -> bool:
        if acting:
            value.f, value.g = Thing(), Thing()
        return True

    acting = False
    guards = Guards(function_with(x=Thing(f=Thing(), g=Thing())))
    x = guards.function.__globals__["x"]
    first, second = (guards.global_("x").instance_attr(each) for each in "fg")
    guards.same_object(first, second)
    guards.local("x").python(replace)
    x.g = x.f
    subject = {"x": x}
    counts = sys.getrefcount(x.f)
    for _ in range(50):
        assert guards.check(subject)
    left = sys.getrefcount(x.f)
    assert left == counts
    acting = True
    for _ in range(20):
        assert guards.check(subject)
        assert x.f is not x.g
        assert not guards.check(subject)
        x.g = x.f


def test_a_relation_that_fails_leaves_nothing_owned() -> None:
    guards = Guards(function_with(x=Thing(f=Thing(), g=1)))
    x = guards.function.__globals__["x"]
    root = guards.global_("x")
    n, k = root.instance_attr("g"), guards.local("x").type_match(int)
    for text in ("n < k", "n * n < k + 1"):  # which are joined
        guards.integers(text, n=n, k=k)
    guards.distinct_objects(root.instance_attr("f"), guards.local("y"))
    guards.local("y").python(lambda value: True)
    counts = sys.getrefcount(x.f)
    passing, failing = (2, None, True), [(0, None, False), (2, x.f, False)]
    for number, y, answer in [passing] * 9 + failing * 9:
        assert guards.check({"x": number, "y": y}) is answer
    del y, failing
    left = sys.getrefcount(x.f)
    assert left == counts
