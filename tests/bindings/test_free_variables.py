"""Free variables in checks of a mapping: it speaks for them, cells for what it lacks,
and an argument of the same name comes first."""

from __future__ import annotations

import types
from collections import ChainMap
from typing import Any

import guardtree as gt
import pytest


def outer(y: Any, z: Any) -> Any:
    def scope(x: Any = None) -> Any:
        return y, z

    return scope


def guards_with(code: Any, cells: tuple[Any, ...]) -> tuple[gt.GuardManager, Any]:
    closure = tuple(types.CellType(each) for each in cells)
    function = types.FunctionType(code, {}, closure=closure)
    return gt.GuardManager(function), function


CODE = outer(1, 2).__code__


@pytest.mark.parametrize("mapping", [dict, ChainMap])
def test_the_mapping_speaks_for_free_variables(mapping: Any) -> None:
    guards, _function = guards_with(CODE, (10, 20))
    guards.closure("y").equals(3)
    guards.closure("z").equals(20)
    guards.local("x").is_none()
    for _ in range(3):
        assert guards.check(mapping({"x": None, "y": 3}))
        assert guards.check(mapping({"z": 20, "y": 3, "x": None}))
        assert not guards.check(mapping({"x": None, "y": 3, "z": 21}))
        assert not guards.check(mapping({"x": None, "z": 20}))
        assert not guards.check(mapping({"y": 3, "z": 20}))


@pytest.mark.parametrize("mapping", [dict, ChainMap])
def test_an_argument_hides_the_free_variable_of_its_name(mapping: Any) -> None:
    code = CODE.replace(co_freevars=("x", "z"))
    guards, function = guards_with(code, (10, 20))
    guards.closure("x").equals(10)
    guards.local("x").equals(3)
    for _ in range(3):
        assert guards.check(mapping({"x": 3}))
        assert not guards.check(mapping({"x": 10}))
    function.__closure__[0].cell_contents = 11
    assert not guards.check(mapping({"x": 3}))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 40])
def test_a_name_that_a_dict_of_any_size_lacks_comes_from_its_cell(size: int) -> None:
    guards, _function = guards_with(CODE, (10, 20))
    guards.closure("y").equals(10)
    guards.closure("z").equals(20)
    read = gt.GuardManager(guards_with(CODE, (10, 20))[1])
    read.local("x").equals(3)
    others: dict[str, Any] = {f"n{i}": i for i in range(size)}
    deleted = {"gone": 1, **others}
    del deleted["gone"]
    for given in (others, deleted):
        for _ in range(2):
            assert guards.check(given)
            assert not read.check(given)
            assert guards.check({**given, "".join("y"): 10})
            assert not guards.check({**given, "z": 10})
            assert read.check({**given, "x": 3})
        assert not given.keys() & {"x", "y", "z"}
