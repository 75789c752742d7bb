"""tensor_match and what goes with it on NumPy arrays."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
from typing import Any

import guardtree as gt
import pytest

np = pytest.importorskip("numpy", reason="NumPy is not installed")

from support import NAMES, agreed, found, integers, matches, matching, step


class SubArray(np.ndarray):
    """Claims another shape and dtype than it has."""

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (1,)

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        return np.dtype("f8")


def test_an_example_gives_all_its_facts() -> None:
    spec = gt.TensorSpec.of(np.zeros((2, 3), "f"))
    assert spec == {
        "type": np.ndarray,
        "dtype": "float32",
        "device": "cpu",
        "shape": (2, 3),
        "strides": (12, 4),
        "writeable": True,
        "aligned": True,
    }
    assert repr(spec).startswith("TensorSpec(type=<class 'numpy.ndarray'>, dtype=")


@pytest.mark.parametrize(
    "other",
    [
        np.zeros((2, 3)), np.zeros((3, 2), "f"), np.zeros((2, 3, 1), "f"),
        np.zeros((3, 2), "f").T, np.zeros((2, 3), ">f4"), np.zeros((4, 3), "f")[::2],
        np.zeros((2, 3), "f").view(SubArray), [[0.0] * 3] * 2, None,
        np.float32(0), memoryview(np.zeros((2, 3), "f")), np.ndarray, gt,
        np.frombuffer(bytes(24), "f").reshape(2, 3),  # read-only
        np.frombuffer(bytes(25), "f", offset=1, count=6).reshape(2, 3),
    ],
)  # fmt: skip
def test_what_differs_in_one_fact_fails(other: Any) -> None:
    example = np.ones((2, 3), "f")
    assert matches(example, np.zeros((2, 3), "f"))
    assert not matches(example, other)
    assert found(example, other)
    assert not agreed(matching(example), other)


@pytest.mark.parametrize(
    "dtype",
    [
        "?",
        "b",
        "B",
        "h",
        "H",
        "i",
        "I",
        "l",
        "L",
        "q",
        "Q",
        "e",
        "f",
        "d",
        "g",
        "F",
        "D",
        "G",
        ">i4",
        ">f8",
        "S5",
        "U3",
        "O",
        "M8[s]",
        "m8[ns]",
        "V8",
    ]
    + [[("a", "i4"), ("b", ">f8")], {"names": ["z"], "formats": ["i1"], "itemsize": 9}],
)
def test_every_dtype_equals_itself_and_no_other(dtype: Any) -> None:
    value = np.zeros(3, dtype)
    guards = matching(gt.TensorSpec(dtype=value.dtype))
    assert agreed(guards, np.zeros((2, 2), dtype))
    others = ["?", "i1", "u2", "i4", "i8", "f2", "f8", "g", "F", ">i4", "S4", "O"]
    for other in [*others, "M8[ms]", "V7", [("a", "i4"), ("c", ">f8")]]:
        array = np.zeros(3, other)
        assert agreed(guards, array) == (array.dtype == value.dtype)
    text = str(guards)
    assert agreed(guards, eval("value", {"value": value})), text


@pytest.mark.parametrize("dtype", [*"?bBhHiIlLqQefdgFDG", ">i4", "S5", "O", "M8[s]"])
def test_an_example_matches_equal_dtypes_that_are_other_objects(dtype: str) -> None:
    value = np.zeros(3, dtype)
    guards = matching(value)
    apart = np.dtype(dtype, metadata={"made": "apart"})
    assert apart is not value.dtype
    assert agreed(guards, np.ones(3, dtype).astype(dtype))
    assert agreed(guards, np.zeros(3, apart))
    assert agreed(matching(np.zeros(3, apart)), value)
    for other in ("?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "F", ">i4", "<i4"):
        array = np.zeros(3, other)
        assert agreed(guards, array) == (array.dtype == value.dtype)


def test_subclasses_fail_an_exact_type_and_are_read_as_they_are() -> None:
    value = np.zeros((2, 3), "f").view(SubArray)
    assert value.shape == (1,)  # what it claims
    assert matches(gt.TensorSpec(shape=(2, 3), dtype="float32"), value)
    assert not matches(np.zeros((2, 3), "f"), value)
    assert matches(value, value)
    assert not matches(value, np.zeros((2, 3), "f"))


def test_sizes_are_exact_free_or_between_bounds() -> None:
    spec = gt.TensorSpec(shape=(None, (1, 8), 3))
    assert matches(spec, np.zeros((0, 8, 3)))
    assert not matches(spec, np.zeros((5, 9, 3)))
    assert not matches(spec, np.zeros((5, 8, 4)))
    assert not matches(spec, np.zeros((8, 3)))
    assert matches(gt.TensorSpec(shape=[(None, 2), (3, None)]), np.zeros((1, 30)))
    assert matches(gt.TensorSpec(strides=(None, 8)), np.zeros((3, 3)))
    assert not matches(gt.TensorSpec(strides=(None, 8)), np.zeros((3, 3)).T)
    assert found(spec, np.zeros((5, 9, 4))) == (
        "shape[1] 9 (expected 1 to 8), shape[2] 4 (expected 3)"
    )


def test_the_odd_shapes() -> None:
    for value in (
        np.zeros(()),
        np.zeros((0, 3)),
        np.zeros((1,) * 64),
        np.broadcast_to(np.zeros(3), (5, 3)),
        np.lib.stride_tricks.as_strided(np.zeros(9), (3,), (-8,)),
    ):
        assert agreed(matching(value), value)
        assert not matches(value, np.zeros((7, 7)))
    assert matches(gt.TensorSpec(shape=()), np.zeros(()))
    assert not matches(gt.TensorSpec(shape=()), np.zeros(1))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_changes_in_place_are_seen_by_the_next_check() -> None:
    value = np.zeros((2, 3), "f")
    guards = matching(value)
    assert guards.check({"x": value})
    for change, undo in (
        (("shape", (3, 2)), ("shape", (2, 3))),
        (("dtype", "i4"), ("dtype", "f4")),
    ):
        setattr(value, *change)
        assert not guards.check({"x": value})
        setattr(value, *undo)
        assert guards.check({"x": value})
    value.flags.writeable = False
    assert not guards.check({"x": value})
    value.flags.writeable = True
    value.resize((3, 3), refcheck=False)
    assert not guards.check({"x": value})


def test_an_array_that_is_gone_is_not_looked_at() -> None:
    def hold(x: Any) -> None: ...

    guards = gt.GuardManager(hold)
    guards.local("x").list_item(0).tensor_match(np.zeros((2, 3)))
    values = [np.zeros((2, 3))]
    assert guards.check({"x": values})
    values.clear()
    gc.collect()
    assert not guards.check({"x": values})


def test_the_alignment_of_the_first_element() -> None:
    memory = np.zeros(256, "u1")
    start = -memory.__array_interface__["data"][0] % 64
    at = [memory[start + i : start + i + 64] for i in range(129)]
    for alignment in (1, 2, 16, 64):
        guards = matching(gt.TensorSpec(dtype="uint8", alignment=alignment))
        for i, value in enumerate(at):
            assert agreed(guards, value) == (i % alignment == 0), i
    exact = gt.TensorSpec.of(at[0], alignment=32)
    assert matches(exact, at[64])
    assert not matches(exact, at[16])
    assert found(exact, at[16]) == "alignment 16 (expected 32)"


def test_specs_that_say_the_same_are_one_check() -> None:
    guards = gt.GuardManager(step)
    node = guards.local("x")
    node.tensor_match(np.zeros((2, 3))).tensor_match(np.ones((2, 3)))
    node.tensor_match(gt.TensorSpec.of(np.zeros((2, 3))))
    assert len(guards.checks()) == 1
    node.tensor_match(gt.TensorSpec(dtype="float64"))
    assert len(guards.checks()) == 2


def test_a_spec_is_copied() -> None:
    spec = gt.TensorSpec(shape=(2, 3))
    guards = matching(spec)
    spec["shape"] = (9, 9)
    assert guards.check({"x": np.zeros((2, 3))})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"shap": (1,)}, "expected a dict with some of the facts type, dtype"),
        ({"shape": 3}, "shape: expected a tuple, found 3"),
        ({"shape": (1.5,)}, r"shape: expected an int, None or \(low, high\)"),
        ({"shape": ((3, 1),)}, "shape: expected low <= high"),
        ({"shape": (2**70,)}, "shape: expected an int of 64 bits"),
        ({"shape": (1,), "ndim": 2}, "as many dimensions as in ndim, shape"),
        ({"shape": (1,), "strides": (1, 2)}, "strides: expected as many dimensions"),
        ({"shape": (1,) * 255}, "expected 0 to 254 dimensions"),
        ({"ndim": -1}, "ndim: expected 0 to 254 dimensions"),
        ({"dtype": "float33x"}, "dtype: expected the name of an element type"),
        ({"dtype": 3}, "dtype: expected the name of an element type"),
        ({"device": "gpu"}, "device: expected a device, such as 'cpu'"),
        ({"layout": "round"}, "layout: expected a layout"),
        ({"writeable": 1}, "writeable: expected a bool"),
        ({"type": list}, "found type list"),
        ({"type": 3}, "type: expected a class"),
        ({"type": np.ndarray, "requires_grad": True}, "of the reader 'numpy' have"),
        ({"type": np.ndarray, "storage_offset": 0}, "of the reader 'numpy' have"),
        ({"alignment": 0}, "alignment: expected a power of two, found 0"),
        ({"alignment": 24}, "alignment: expected a power of two, found 24"),
        ({"alignment": -16}, "alignment: expected a power of two, found -16"),
        ({"alignment": 16.0}, "alignment: expected an int, found 16.0"),
        ({"dispatch_keys": -1}, "dispatch_keys: expected an int of 64 bits"),
        (
            {"dispatch_keys": 1, "local_dispatch_keys": 1},
            "one of dispatch_keys and local_dispatch_keys",
        ),
        ([1, 2], "a tensor to take the facts from, or a TensorSpec"),
    ],
)
def test_what_is_no_spec_is_refused_and_leaves_nothing(spec: Any, message: str) -> None:
    guards = gt.GuardManager(step)
    with pytest.raises((TypeError, OverflowError), match=message):
        guards.local("x").tensor_match(spec)
    assert guards.checks() == []


def test_steps_fetch_sizes_and_strides() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x")
    x.size(0).equals(300)
    x.size(-1).int_range(1, 4)
    x.stride(0).equals(24)
    assert guards.check({"x": np.zeros((300, 3))})
    assert not guards.check({"x": np.zeros((301, 3))})
    assert not guards.check({"x": np.zeros(3)})
    assert not guards.check({"x": [1]})


def test_relations_read_shapes() -> None:
    a, b = np.zeros((2, 3)), np.zeros((3, 5))
    assert integers("x.shape[1] == y.shape[0]", x=a, y=b)
    assert not integers("x.shape[0] == y.shape[0]", x=a, y=b)
    assert integers("x.shape[-1] % 3 == 0 and x.ndim == 2", x=a)
    assert not integers("x.shape[2] >= 0", x=a)
    assert not integers("x.shape[0] >= 0", x=[1])
    assert not integers("x.ndim >= 0", x=np.float64(1))
    assert integers("stride_of(x, 0) == 24 and stride_of(x, -1) * 3 == 24", x=a)
    assert integers("stride_of(x, 0) < stride_of(y, 0) * y.shape[1]", x=a, y=b)
    assert integers("stride_of(x, 1) == 16", x=np.zeros((4, 4))[:, ::2])
    assert not integers("stride_of(x, 2) >= 0", x=a)
    assert not integers("stride_of(x, 0) >= 0", x=np.zeros(()))
    assert not integers("stride_of(x, 0) >= 0", x=[1])


def test_memory_that_overlaps() -> None:
    whole = np.zeros(12)
    values = {"x": whole[:6], "y": whole[4:8], "z": whole[8:]}

    def verdict(pairs: Any, **locals_: Any) -> bool:
        guards = gt.GuardManager(step)
        guards.overlapping_memory(pairs, *map(guards.local, locals_))
        answer = guards.check(locals_)
        wanted = {tuple(sorted(pair)) for pair in pairs}
        tensors = list(locals_.values())
        shared = {
            (i, j)
            for j in range(len(tensors))
            for i in range(j)
            if np.may_share_memory(tensors[i], tensors[j])
        }
        assert answer == (shared == wanted)
        return answer

    assert verdict(((1, 0),), **values)
    assert not verdict((), **values)
    assert not verdict(((0, 1), (1, 2)), **values)
    assert verdict((), x=whole[:0], y=whole, z=np.zeros(3))
    assert verdict(((0, 1), (0, 2), (1, 2)), x=whole, y=whole[::-1], z=whole[3:4])
    guards = gt.GuardManager(step)
    with pytest.raises(TypeError, match="tuple of pairs"):
        guards.overlapping_memory(((0, 0),), guards.local("x"), guards.local("y"))
    with pytest.raises(ValueError, match="pairs of their positions"):
        guards.overlapping_memory(((0, 2),), guards.local("x"), guards.local("y"))
    guards.overlapping_memory((), guards.local("x"), guards.local("y"))
    assert not guards.check({"x": whole, "y": [1]})


def any_array(chosen: random.Random) -> Any:
    """Views of small arrays of many element types."""
    shape = [chosen.choice((0, 1, 2, 3)) for _ in range(chosen.randrange(4))]
    dtype = chosen.choice(
        ("?", "u1", "i4", ">i4", "f2", "f8", "c8", "S3", "O", "M8[s]")
    )
    value = np.zeros(shape, dtype)
    for _ in range(chosen.randrange(4)):
        change = chosen.randrange(5)
        if change == 0:
            value = value.T
        elif change == 1 and value.ndim and value.shape[0]:
            value = value[chosen.choice((slice(1, None), slice(None, None, -1)))]
        elif change == 2:
            value = value[None]
        elif change == 3 and value.dtype.itemsize:
            value = np.broadcast_to(value, (2, *value.shape))
        elif change == 4:
            value = value.copy("F")
    return value.view(SubArray) if chosen.random() < 0.1 else value


def any_spec(chosen: random.Random, values: list[Any]) -> gt.TensorSpec:
    """Some facts of an array, some of them loosened."""
    like = chosen.choice(values)
    spec = gt.TensorSpec.of(
        like,
        c_contiguous=bool(like.flags.c_contiguous),
        f_contiguous=bool(like.flags.f_contiguous),
    )
    for fact in list(spec):
        if chosen.random() < 0.7:
            del spec[fact]
    if chosen.random() < 0.3:
        spec["alignment"] = chosen.choice((1, 4, 8, 64))
    for fact in {"shape", "strides"} & set(spec):
        spec[fact] = tuple(
            chosen.choice((size, None, (size, size + 1), (None, size)))
            for size in spec[fact]
        )
    return spec


def test_random_specs_on_random_arrays_agree_with_numpy_itself() -> None:
    """The oracle's facts are NumPy's own attributes; 160,000 cases."""
    chosen = random.Random(5)
    values = [any_array(chosen) for _ in range(400)]
    has_facts = NAMES["has_tensor_facts"]
    answers = [0, 0]
    for _ in range(400):
        spec = any_spec(chosen, values)
        guards = matching(spec)
        for value in values:
            answer = guards.check({"x": value})
            # A subclass is read as what it is, not as what it says it is.
            plain = value.view(np.ndarray)
            facts = {name: spec[name] for name in spec if name != "type"}
            is_type = "type" not in spec or type(value) is spec["type"]
            assert answer == (is_type and has_facts(plain, facts)), (spec, value)
            answers[answer] += 1
    assert min(answers) > 1000


def test_guards_are_built_before_numpy_is_imported() -> None:
    text = """
import sys
import guardtree as gt
guards = gt.GuardManager(lambda x: None)
guards.local("x").tensor_match(gt.TensorSpec(dtype="float32", shape=(2, None)))
assert not guards.check({"x": [1]})
assert "numpy" not in sys.modules
import numpy
assert guards.check({"x": numpy.zeros((2, 9), "f")})
assert not guards.check({"x": numpy.zeros((3, 9), "f")})
"""
    subprocess.run([sys.executable, "-c", text], check=True)
