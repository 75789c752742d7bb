"""What a Failure tells as data: nodes of the tree, and the facts that differ."""

from __future__ import annotations

import json
from typing import Any

import guardtree as gt
import pytest


def kernel(x: Any, y: Any = None) -> Any:
    return x, y


def failing(guards: gt.GuardManager, **subject: Any) -> gt.Failure:
    (failure,) = guards.explain(subject).failures
    return failure


def test_a_check_names_the_node_of_its_value() -> None:
    guards = gt.GuardManager(kernel)
    guards.local("x").type_match(list)
    item = guards.local("x").list_item(0)
    item.equals(3)
    found = guards.explain({"x": ()}).failures
    assert [failure.nodes for failure in found] == [[guards.local("x")], [item]]
    assert failing(guards, x=[4]).nodes == [item]
    assert failing(guards, x=[4]).nodes[0].path == "list.__getitem__(x, 0)"
    (failure,) = item.explain({"x": [4]}).failures  # from any handle of the tree
    assert failure.nodes == [item]


def test_a_step_that_finds_nothing_is_the_node() -> None:
    guards = gt.GuardManager(kernel)
    item = guards.local("x").list_item(2)
    item.equals(3)
    assert failing(guards, x=[]).nodes == [item]
    assert failing(guards).nodes == [item]  # it starts at an unbound local
    guards.local("y").equals(3)
    assert guards.explain({"x": [1, 2, 3]}).failures[0].nodes == [guards.local("y")]


def test_a_relation_names_the_nodes_of_its_values() -> None:
    guards = gt.GuardManager(kernel)
    nodes = [guards.local("x"), guards.local("y").attr("real")]
    guards.distinct_objects(*nodes)
    assert failing(guards, x=3, y=3).nodes == nodes


def test_nodes_are_those_of_the_tree_whatever_blocks_cover_them() -> None:
    guards = gt.GuardManager(kernel)
    nodes = [guards.local("x").dict_item(name) for name in "abcdefgh"]
    for node in nodes:
        node.type_match(int)
    found = guards.explain({"x": dict.fromkeys("abcdefgh", "")}).failures
    assert [failure.nodes for failure in found] == [[node] for node in nodes]


def test_entries_name_nodes_of_their_guards() -> None:
    table, guards = gt.Table(kernel), gt.GuardManager(kernel)
    guards.local("x").equals(3)
    table.add(guards, "payload", captures={"y": guards.local("y").attr("real")})
    (entry,) = table.explain({"x": 4, "y": 5}).entries
    assert entry.failures[0].nodes == [guards.local("x")]
    dispatcher = gt.Dispatcher(kernel)
    dispatcher.add(guards, kernel)
    (entry,) = dispatcher.explain(4).entries
    assert entry.failures[0].nodes == [guards.local("x")]


def test_a_callable_has_no_nodes() -> None:
    gt.add_entry(kernel, gt.GuardedCode(kernel.__code__, lambda f_locals: False))
    try:
        (entry,) = gt.explain(kernel, {"x": 1, "y": 2}).entries
        assert entry.failures[0].nodes == []
    finally:
        gt.reset_code(kernel)


def test_the_facts_of_a_tensor_that_differ_are_data() -> None:
    numpy = pytest.importorskip("numpy")
    guards = gt.GuardManager(kernel)
    spec = gt.TensorSpec(dtype="float32", shape=(8, (1, 4), None))
    guards.local("x").tensor_match(spec)
    failure = failing(guards, x=numpy.zeros((9, 5, 6)))
    assert failure.differences == [
        gt.FactDifference("dtype", None, "float32", "float64"),
        gt.FactDifference("shape", 0, "8", "9"),
        gt.FactDifference("shape", 1, "1 to 4", "5"),
    ]
    assert failure.found == (
        "dtype float64 (expected float32), shape[0] 9 (expected 8), "
        "shape[1] 5 (expected 1 to 4)"
    )
    data = json.loads(guards.explain({"x": numpy.zeros(3)}).to_json())
    assert data["failures"][0]["differences"][1] == {
        "fact": "ndim",
        "index": None,
        "expected": "3",
        "found": "1",
    }


def test_other_kinds_have_no_facts() -> None:
    guards = gt.GuardManager(kernel)
    guards.local("x").equals(3)
    assert failing(guards, x=4).differences == []
