"""Element types that no word describes, compared without code of the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

np: Any = pytest.importorskip("numpy")

from support import agreed, matching, step  # noqa: E402


class Name(str):
    """The name of a field that may do anything when it is compared."""

    asked: Callable[[], None] | None = None
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if Name.asked:
            Name.asked()
        return True


class Title:
    """A title of a field: any object may be one."""

    def __eq__(self, other: object) -> bool:
        raise KeyboardInterrupt

    def __hash__(self) -> int:
        return hash("aa")


def nested(depth: int) -> Any:
    dtype: Any = "i4"
    for _ in range(depth):
        dtype = [("inner", dtype)]
    return np.dtype(dtype)


QUIET: list[Callable[[], Any]] = [
    lambda: np.dtype([("aa", "i4"), ("bb", "f8")]),
    lambda: np.dtype([("aa", "i4"), ("bb", "f4")]),
    lambda: np.dtype([("aa", "i4"), ("cc", "f8")]),
    lambda: np.dtype([(("title", "aa"), "i4"), ("bb", "f8")]),
    lambda: np.dtype([(("other", "aa"), "i4"), ("bb", "f8")]),
    lambda: np.dtype([("aa", "i4"), ("bb", [("cc", ">f8")])]),
    lambda: np.dtype([("aa", "i4", (2, 3))]),
    lambda: np.dtype([("aa", "i4", (3, 2))]),
    lambda: np.dtype([("aa", [("bb", "i4")], (2,))]),
    lambda: np.dtype({"names": ["aa"], "formats": ["i4"], "itemsize": 16}),
    lambda: np.dtype({"names": ["aa"], "formats": ["i4"], "offsets": [4]}),
    lambda: nested(20),
    lambda: np.dtype([]),
    lambda: np.dtype("V8"),
    lambda: np.dtype("S8"),
    lambda: np.dtype("U2"),
    lambda: np.dtype(">i4"),
    lambda: np.dtype("M8[ns]"),
    lambda: np.dtype("M8[25s]"),
]

STRING: Any = getattr(getattr(np, "dtypes", None), "StringDType", None)
if STRING:
    QUIET += [lambda: STRING(na_object=None), lambda: STRING(na_object=np.nan)]
    QUIET += [STRING, lambda: STRING(na_object=""), lambda: STRING(na_object="-")]
    QUIET += [lambda: STRING(coerce=False, na_object=1.5)]


@pytest.mark.parametrize("number", range(len(QUIET)))
def test_each_matches_its_equals_alone(number: int) -> None:
    guards = matching(np.zeros(2, QUIET[number]()))
    for other, make in enumerate(QUIET):
        assert agreed(guards, np.zeros(2, make())) == (other == number)


def named(name: Any) -> Any:
    return np.dtype([(name, "i4"), ("zz", "i4")])


LOUD: dict[str, Callable[[], Any]] = {
    "a name": lambda: named(Name("aa")),
    "a title": lambda: named((Title(), "aa")),
    "a title that is a name": lambda: named((Name("tt"), "aa")),
    "an inner name": lambda: np.dtype([("aa", named(Name("aa")))]),
    "a name in an array": lambda: np.dtype([("aa", named(Name("aa")), (2,))]),
    "too deep": lambda: nested(80),
}
if STRING:
    LOUD["missing strings"] = lambda: STRING(na_object=Name("aa"))


@pytest.mark.parametrize("make", LOUD.values(), ids=LOUD)
def test_what_would_run_code_is_no_fact_and_equals_none(
    make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    value = np.zeros(2, make())
    monkeypatch.setattr(Name, "asked", lambda: pytest.fail("was asked"))
    for spec in (value, gt.TensorSpec(dtype=value.dtype)):
        with pytest.raises(TypeError, match="dtype: expected a dtype that NumPy comp"):
            matching(spec)
    for quiet in QUIET:
        guards = matching(gt.TensorSpec(dtype=quiet()))
        assert not guards.check({"x": value})
        assert not guards.explain({"x": value})
    shape = matching(gt.TensorSpec(type=np.ndarray, shape=(2,)))
    assert agreed(shape, value)


@pytest.mark.skipif(STRING is None, reason="NumPy 1")
def test_strings_of_any_length_match_their_equals() -> None:
    guards = matching(np.array(["a"], STRING()))
    assert guards.check({"x": np.array(["b"], STRING())})
    assert not guards.check({"x": np.array(["b"], STRING(coerce=False))})


def test_a_name_cannot_take_the_value_that_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values: list[Any] = [np.zeros(2, named(Name("aa")))]
    guards = gt.GuardManager(step)
    first = guards.local("x").list_item(0)
    first.tensor_match(gt.TensorSpec(type=np.ndarray, dtype=named("aa")))
    first.has_static_attr("shape")
    monkeypatch.setattr(Name, "asked", values.clear)
    assert not guards.check({"x": values})
    assert len(values) == 1
