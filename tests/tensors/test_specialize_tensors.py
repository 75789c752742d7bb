"""GuardManager.specialize of arrays: dtype, rank, sizes, strides, alignment."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest

np = pytest.importorskip("numpy")


def scope(x: Any) -> None: ...


def guards_of(example: Any, **facts: Any) -> Any:
    guards = gt.GuardManager(scope)
    guards.local("x").specialize(example, **facts)
    assert guards.check({"x": example}), str(guards.explain({"x": example}))
    return lambda value: guards.check({"x": value})


def zeros(*shape: int, dtype: str = "f4") -> Any:
    return np.zeros(shape, dtype)


def at_address(remainder: int, count: int = 8) -> Any:
    """Bytes whose address leaves this remainder when divided by 64."""
    memory = np.zeros(count + 128, "u1")
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start + remainder :][:count]


@pytest.mark.parametrize(
    ("facts", "example", "same", "others"),
    [
        ({}, zeros(2, 3), [np.ones((2, 3), "f4")],
         [zeros(3, 2), zeros(2, 3, dtype="f8"), zeros(6), zeros(3, 2).T, [1]]),
        ({"shape": "free", "strides": "free"}, zeros(2, 3),
         [zeros(5, 7), zeros(3, 2).T], [zeros(6), zeros(2, 3, dtype="i4")]),
        ({"shape": ("free", "exact")}, zeros(2, 3), [zeros(5, 3)],
         [zeros(2, 4), zeros(3, 5).T]),
        ({"shape": ("divisible",), "strides": "free"}, zeros(16, 3),
         [zeros(32, 5)], [zeros(8, 3), zeros(16, 16)]),
        ({"shape": ("one", "divisible"), "strides": "free"}, zeros(1, 32),
         [zeros(1, 64)], [zeros(2, 32), zeros(1, 31), zeros(1, 1)]),
        ({"strides": "free"}, zeros(2, 3), [zeros(3, 2).T], [zeros(3, 2)]),
        ({"shape": "free", "strides": ("divisible",)}, zeros(2, 4),
         [zeros(3, 8)], [zeros(2, 3), zeros(3, 8)[:, ::4]]),
        ({"alignment": 16}, at_address(0), [at_address(16), at_address(48)],
         [at_address(1), at_address(8)]),
        ({"alignment": 16}, at_address(8), [at_address(1)], [at_address(32)]),
        ({}, zeros(), [zeros()], [zeros(1), 0.0]),
    ],
)  # fmt: skip
def test_facts_of_arrays(facts: Any, example: Any, same: Any, others: Any) -> None:
    check = guards_of(example, **facts)
    for value in same:
        assert check(value), value
    for value in others:
        assert not check(value), value


def test_subclasses_and_read_only_arrays_are_others() -> None:
    class Sub(np.ndarray):
        pass

    check = guards_of(zeros(3))
    assert not check(zeros(3).view(Sub))
    frozen = zeros(3)
    frozen.flags.writeable = False
    assert not check(frozen)


def test_dtypes_are_compared_as_numpy_does() -> None:
    check = guards_of(np.dtype("f4"))
    assert check(np.dtype("float32"))
    assert not check(np.dtype("f8"))
    record = np.dtype([("a", "i4"), ("b", "f8")])
    check = guards_of(record)
    assert check(np.dtype([("a", "i4"), ("b", "f8")]))
    assert not check(np.dtype([("a", "i4"), ("b", "f4")]))
    assert guards_of(np.dtype(">i4"))(np.dtype(">i4"))


def test_a_pytree_of_arrays() -> None:
    tree = {"w": zeros(2, 3), "more": [zeros(3), (1, None)]}
    check = guards_of(tree)
    assert check({"w": np.ones((2, 3), "f4"), "more": [zeros(3), (1, None)]})
    assert not check({"w": zeros(2, 4), "more": [zeros(3), (1, None)]})
    assert not check({"w": zeros(2, 3), "more": [zeros(3), (2, None)]})


def test_dimensions_are_said_for_each() -> None:
    guards = gt.GuardManager(scope)
    with pytest.raises(ValueError, match="facts of 2 dimensions"):
        guards.local("x").specialize(zeros(2, 3), shape=("free",) * 3)
    assert not guards.checks()


@pytest.mark.parametrize("divisor", [1, 2, 16, 64, -8])
@pytest.mark.parametrize("offset", [0, 1, 2, 8, 16, 32])
def test_data_aligned_is_the_address(divisor: int, offset: int) -> None:
    array = at_address(offset)
    guards = gt.GuardManager(scope)
    guards.local("x").data_aligned(divisor)
    address = array.__array_interface__["data"][0]
    assert guards.check({"x": array}) is (address % divisor == 0)
    assert not guards.check({"x": [1]})
