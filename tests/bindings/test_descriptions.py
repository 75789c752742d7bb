"""What a GuardManager says of itself, and copies of chosen guards."""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from typing import Any

import guardtree as gt
import pytest


def step(x: Any, y: Any, z: Any = 0) -> None: ...


class Thing:
    """A class that dies with its test."""


@pytest.fixture
def guards() -> gt.GuardManager:
    made = gt.GuardManager(step)
    x, y = made.local("x"), made.local("y")
    x.type_match(int).note("first").equals(3)
    y.item("k").attr("flag").is_true()
    y.type_match(dict)
    made.integers("a < 10", a=x).note("small")
    return made


def test_nodes_tell_step_operands_parent_and_children(guards: gt.GuardManager) -> None:
    told = [(node.path, node.step, node.operands) for node in guards.nodes()]
    assert told == [
        ("x", "local", {"name": "x"}),
        ("y", "local", {"name": "y"}),
        ("y['k']", "item", {"key": "k"}),
        ("y['k'].flag", "attr", {"name": "flag"}),
    ]
    assert (guards.step, guards.operands, guards.parent) == (None, {}, None)
    assert [child.path for child in guards.children()] == ["x", "y"]
    flag = guards.nodes()[-1]
    assert flag.parent is not None
    assert flag.parent.path == "y['k']"
    assert [child.path for child in flag.parent.children()] == ["y['k'].flag"]
    assert guards.children()[0].parent is guards


def test_checks_tell_kind_operands_python_and_note(guards: gt.GuardManager) -> None:
    told = [
        (each.python, each.kind, each.operands, each.note) for each in guards.checks()
    ]
    assert told == [
        ("type(x) is int", "type_match", {"expected": int}, "first"),
        ("same_constant(x, 3)", "equals", {"expected": 3}, None),
        ("type(y) is dict", "type_match", {"expected": dict}, None),
        ("y['k'].flag is True", "is_true", {}, None),
    ]
    assert [each.node.path for each in guards.checks()] == [
        "x",
        "x",
        "y",
        "y['k'].flag",
    ]


def test_relations_tell_their_values(guards: gt.GuardManager) -> None:
    (relation,) = guards.relations()
    assert relation.paths == ("x",)
    assert relation.kind == "integers"
    assert relation.operands == {"expression": "a < 10"}
    assert (relation.python, relation.note) == ("int64(x) < 10", "small")
    assert relation.nodes[0].path == "x"


def test_a_node_tells_of_what_is_at_and_below_it(guards: gt.GuardManager) -> None:
    y = guards.local("y")
    assert [node.path for node in y.nodes()] == ["y", "y['k']", "y['k'].flag"]
    assert {each.path for each in y.checks()} == {"y", "y['k'].flag"}
    assert y.relations() == []
    assert len(guards.local("x").relations()) == 1


def test_counts_are_by_kind(guards: gt.GuardManager) -> None:
    kinds = {"type_match": 2, "equals": 1, "is_true": 1, "integers": 1}
    assert guards.counts() == gt.GuardCounts(4, 4, 1, kinds)
    assert gt.GuardManager(step).counts() == gt.GuardCounts(0, 0, 0, {})


def test_an_operand_that_died_is_none() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(type("Gone", (), {}))
    gc.collect()
    (check,) = guards.checks()
    assert check.operands == {"expected": None}


def test_asking_again_for_a_path_gives_the_same_node(guards: gt.GuardManager) -> None:
    for node in guards.nodes():
        assert node.parent is not None
        assert node.step is not None
        again = getattr(node.parent, node.step)(*node.operands.values())
        assert again.path == node.path
    assert guards.counts().nodes == 4


def test_a_clone_has_all_guards_and_notes(guards: gt.GuardManager) -> None:
    copy = guards.local("x").clone()
    assert str(copy) == str(guards)
    assert [each.note for each in copy.checks()] == ["first", None, None, None]
    assert copy.relations()[0].note == "small"
    copy.local("z").is_none()
    assert guards.counts().nodes == 4, "the original is another tree"


def test_a_clone_keeps_what_the_filter_accepts(guards: gt.GuardManager) -> None:
    asked: list[str] = []

    def keep(each: gt.GuardCheck | gt.GuardRelation) -> bool:
        asked.append(each.kind)
        return each.kind == "is_true"

    copy = guards.clone(keep)
    assert asked == ["type_match", "equals", "type_match", "is_true", "integers"]
    assert [each.python for each in copy.checks()] == ["y['k'].flag is True"]
    assert [node.path for node in copy.nodes()] == ["y", "y['k']", "y['k'].flag"]
    assert copy.relations() == []
    assert not guards.check({"x": 3, "y": {"k": Thing}})
    Thing.flag = True  # type: ignore[attr-defined]
    assert copy.check({"y": {"k": Thing}})


def test_a_filter_may_drop_everything(guards: gt.GuardManager) -> None:
    copy = guards.clone(lambda each: False)
    assert copy.counts() == gt.GuardCounts(0, 0, 0, {})
    assert copy.check({})


def test_a_kept_relation_keeps_its_paths(guards: gt.GuardManager) -> None:
    copy = guards.clone(lambda each: isinstance(each, gt.GuardRelation))
    assert [node.path for node in copy.nodes()] == ["x"]
    assert copy.check({"x": 9})
    assert not copy.check({"x": 10})


def test_what_a_filter_raises_is_raised(guards: gt.GuardManager) -> None:
    before = str(guards)
    with pytest.raises(ZeroDivisionError):
        guards.clone(lambda each: 1 // 0)
    assert str(guards) == before


def test_a_filter_may_add_guards_which_the_clone_lacks(guards: gt.GuardManager) -> None:
    def keep(each: object) -> bool:
        guards.local("z").attr(f"a{guards.counts().nodes}").is_true()
        return True

    copy = guards.clone(keep)
    assert copy.counts().checks == 4
    assert guards.counts().checks == 9


def test_methods_take_keywords_and_show_their_signatures() -> None:
    guards = gt.GuardManager(scope=step)
    guards.local(name="x").type_match(expected=int)
    assert str(inspect.signature(gt.GuardManager.type_match)) == "(self, /, expected)"
    assert "exactly `expected`" in (gt.GuardManager.type_match.__doc__ or "")
    for wrong in ({"other": 1}, {"expected": int, "other": 1}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            guards.local("x").type_match(**wrong)
    with pytest.raises(TypeError, match="given twice"):
        guards.local("x").type_match(int, expected=int)
    with pytest.raises(TypeError, match="takes 1 operand"):
        guards.local("x").type_match()  # type: ignore[call-arg]


def test_methods_refuse_what_is_no_guard_manager() -> None:
    kind = gt.GuardManager
    profile = kind(step).profile()
    calls = [
        (kind.type_match, (int,)),
        (kind.local, ("x",)),
        (kind.check, ({},)),
        (kind.same_object, ()),
        (kind.explain, ({},)),
        (kind.note, ("said",)),
        (kind.nodes, ()),
        (kind.clone, ()),
        (kind.profile, ()),
        (kind.reordered, (profile,)),
        (kind.__str__, ()),
        (kind.path.__get__, ()),
        (kind.step.__get__, ()),
    ]
    for method, arguments in calls:
        with pytest.raises(TypeError, match="GuardManager"):
            method(3, *arguments)


def test_handles_leave_no_references_behind() -> None:
    class Mine(gt.GuardManager):
        """A subclass counts its objects too."""

    def use() -> None:
        for kind in (gt.GuardManager, Mine):
            guards = kind(step)
            guards.local("x").list_item(0).type_match(int)
            guards.clone().checks()
            guards.reordered(guards.profile()).check({"x": [1]})

    def counts() -> list[int]:
        counted = (gt.GuardManager, Mine, step, step.__code__)
        return [sys.getrefcount(each) for each in counted]

    use()
    gc.collect()
    before = counts()
    for _ in range(10):
        use()
    gc.collect()
    assert counts() == before


def test_a_guard_manager_may_be_subclassed_and_weakly_referred_to() -> None:
    class Mine(gt.GuardManager):
        def __init__(self, scope: Any, extra: str) -> None:
            super().__init__(scope)
            self.extra = extra

    guards = Mine(step, "more")
    guards.local("x").is_none()
    assert guards.check({"x": None})
    gone = weakref.ref(guards)
    del guards
    gc.collect()
    assert gone() is None


def test_a_guard_manager_without_a_scope_says_so() -> None:
    class Forgetful(gt.GuardManager):
        def __init__(self) -> None: ...

    for use in (lambda g: g.local("x"), lambda g: g.check({}), str, repr):
        with pytest.raises(TypeError, match="was not initialised"):
            use(Forgetful())
    guards = gt.GuardManager(step)
    with pytest.raises(TypeError, match="has its scope already"):
        guards.__init__(step)  # type: ignore[misc]
    with pytest.raises(TypeError, match="expected a function"):
        gt.GuardManager(3)  # type: ignore[arg-type]


def test_a_tree_that_refers_to_itself_is_collected() -> None:
    class Mark:
        """Weakly referable."""

    mark = Mark()
    guards = gt.GuardManager(step)
    handle = guards.local("x")
    profile = guards.profile()
    guards.python(lambda f_locals, held=(guards, handle, profile, mark): True)
    later = guards.profile()
    guards.python(lambda f_locals, held=later: True)
    assert guards.check({"x": 1})
    gone = weakref.ref(mark)
    del mark, guards, handle, profile, later
    gc.collect()
    assert gone() is None
