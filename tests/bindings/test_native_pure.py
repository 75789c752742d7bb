"""native_pure: a C function that promises to run no Python code."""

from __future__ import annotations

import guardtree as gt
import pytest
from assumed import Guards, armed, function_with
from guardtree.semantics import native_is_int, pure_is_int


def test_the_function_decides() -> None:
    guards = Guards(function_with())
    guards.local("x").native_pure(pure_is_int)
    answers = [guards.check({"x": value}) for value in (3, True, "a")]
    assert answers == [True, False, False]
    (failure,) = guards.explain({"x": "a"}).failures
    assert "native_pure" in str(failure)


def test_only_capsules_of_its_name_are_taken() -> None:
    guards = gt.GuardManager(function_with())
    for kind, other in (("native_pure", native_is_int), ("native", pure_is_int)):
        with pytest.raises(TypeError, match=f"a capsule called guardtree.{kind}"):
            getattr(guards.local("x"), kind)(other)


def test_guards_beside_it_are_assumed_and_it_is_asked_each_time() -> None:
    guards = Guards(function_with(a=1000, cfg={"b": 2}))
    guards.global_("cfg").dict_item("b").equals(2)
    guards.global_("a").native_pure(pure_is_int).is_not_none()
    before = armed()
    for _ in range(4):
        assert guards.check({})
    assert armed() == before + 1
    assert guards.assumed().reread >= 1
    guards.function.__globals__["a"] = "text"
    assert not guards.check({})
    guards.function.__globals__["a"] = 1000
    assert guards.check({})
