"""The words of guards in plain Python: what each returns, raises, and does not run."""

from __future__ import annotations

import collections
import inspect
import pydoc
import re
import struct
import types
import weakref
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from guardtree import oracle, semantics
from guardtree.semantics import *  # noqa: F403
from guardtree.semantics import same_constant


def step(x: Any, y: Any = 0) -> None: ...


class Hostile(dict[Any, Any]):
    """Raises in each method that a word must not call."""

    def fail(self, *_: Any) -> Any:
        raise AssertionError("user code ran")

    __getitem__ = __contains__ = __iter__ = __len__ = __eq__ = fail
    __missing__ = get = keys = __getattr__ = fail
    __hash__ = None  # type: ignore[assignment]


class Key:
    """Has the hash of "a" and an __eq__ that must not run."""

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("user code ran")


class Slots:
    __slots__ = ("empty", "full")

    def __init__(self) -> None:
        self.full = 1


class HostileSet(set[Any]):
    """Lies about what it holds."""

    __contains__ = __iter__ = Hostile.fail


def raised(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error)


SAID: list[tuple[str, Any]] = [
    ("dict_has(Hostile(a=1), 'a')", True),
    ("dict_has({}, 'a')", False),
    ("dict_has({Key(): 1}, 'a')", None),
    ("dict_has([], 'a')", None),
    ("dict_item(Hostile(a=1), 'a')", 1),
    ("dict_item({}, 'a')", KeyError),
    ("dict_item({Key(): 1}, 'a')", KeyError),
    ("dict_item([], 'a')", TypeError),
    ("is_a(Hostile(), dict)", True),
    ("is_a(type('C', (), {'__class__': dict})(), dict)", False),
    ("mro_of(bool)", (bool, int, object)),
    ("mro_of(3)", TypeError),
    ("dict_of_type(3)", TypeError),
    ("dict_of_module(types) is vars(types)", True),
    ("dict_of_module(3)", TypeError),
    ("has_builtin_len(Hostile())", False),
    ("has_builtin_len(range(3))", True),
    ("has_builtin_len(3)", False),
    ("builtin_len([1])", 1),
    ("builtin_len(Hostile())", semantics.DoesNotHold),
    ("has_len(Hostile())", True),
    ("has_len(3)", False),
    ("is_a_set(HostileSet())", True),
    ("is_a_set({})", False),
    ("is_exact_set(HostileSet())", False),
    ("is_exact_set(frozenset())", True),
    ("plain_contains(HostileSet({1}), 1)", True),
    ("plain_contains({}, 1)", TypeError),
    ("plain_list(HostileSet({1}))", [1]),
    ("plain_list([1])", TypeError),
    ("deque_item(collections.deque('ab'), -1)", "b"),
    ("deque_item(collections.deque(), 0)", IndexError),
    ("deque_item([1], 0)", TypeError),
    ("left_of(iter((1, 2)))", [1, 2]),
    ("left_of(iter([1]))", TypeError),
    ("is_left(iter(range(2)), range(2))", True),
    ("is_left(range(2), range(2))", False),
    ("is_unchanged({}, {})", False),
    ("has_static_attr(Slots(), 'full')", True),
    ("has_static_attr(Slots(), 'empty')", False),
    ("has_static_attr(Hostile(), 'no_such')", False),
    ("has_instance_attr(Slots(), 'full')", False),
    ("has_instance_attr(Hostile(), 'no_such')", False),
    ("slot_value(Slots(), 'full')", 1),
    ("slot_value(Slots(), 'empty')", AttributeError),
    ("slot_value(Slots(), 'no_such')", LookupError),
    ("slot_value(1.0, 'real')", LookupError),
    ("lacks_plain_attr(Slots(), 'empty')", True),
    ("lacks_plain_attr(Slots(), 'full')", False),
    ("lacks_plain_attr(Hostile(), 'no_such')", False),
    ("plain_attr(Slots(), 'full')", 1),
    ("plain_attr(Slots(), 'empty')", LookupError),
    ("plain_attr(step, '__closure__')", None),
    ("plain_attr(step, '__name__')", LookupError),
    ("plain_attr(Slots, '__name__')", "Slots"),
    ("plain_attr(3, '__class__')", int),
    ("plain_attr(Slots, '__init__') is Slots.__init__", True),
    ("plain_attr(Slots, '__repr__') is object.__repr__", True),
    ("plain_attr(Slots, '__dict__')", LookupError),
    ("instance_attr(types.SimpleNamespace(a=1), 'a')", 1),
    ("instance_attr(Slots, '__slots__')", KeyError),
    ("instance_attr(3, 'a')", KeyError),
    ("plain_function(step) is step", True),
    ("plain_function(len)", TypeError),
    ("bound_method([].append)", TypeError),
    ("is_same_function(step, step)", True),
    ("is_same_function(len, step)", False),
    ("live_referent(weakref.ref(step)) is step", True),
    ("live_referent(weakref.ref(set()))", LookupError),
    ("live_referent(3)", TypeError),
    ("distinct_objects(1, 1.0, None)", True),
    ("distinct_objects(None, 1, None)", False),
    ("exists(None)", True),
    ("exists(Slots().empty)", AttributeError),
    ("int64(2**63 - 1) == 2**63 - 1", True),
    ("int64(2**63)", semantics.DoesNotHold),
    ("int64(2**62) + int64(2**62)", semantics.DoesNotHold),
    ("int64(True)", semantics.DoesNotHold),
    ("repr(-int64(3) // 2)", "int64(-2)"),
    ("int64(1) % 0", ZeroDivisionError),
    ("call_native(native_is_int, 3)", True),
    ("call_native(native_is_int, True)", False),
    ("call_native(native_type_of, 3)", ValueError),
    ("call_native(pure_is_int, 3)", True),
    ("get_native(native_type_of, 3)", int),
    ("tensor([])", TypeError),
    ("stride_of([], 0)", TypeError),
    ("overlapping_pairs([], [])", TypeError),
    ("has_tensor_facts([], TensorSpec(ndim=1))", False),
    ("has_aligned_data([], 1)", False),
    ("nan != nan and inf > 0", True),
    ("tuple_iterator is type(iter(())) and weak_reference is weakref.ref", True),
    ("TensorSpec is gt.TensorSpec", True),
]


@pytest.mark.parametrize(("text", "answer"), SAID, ids=[text for text, _ in SAID])
def test_a_word_says(text: str, answer: Any) -> None:
    assert same_constant(raised(lambda: eval(text, globals())), answer)


def test_every_word_is_asked() -> None:
    asked = {word for text, _ in SAID for word in re.findall(r"\w+", text)}
    others = {"CannotSay", "DoesNotHold", "Int64", "nan_of_bits", "same_constant"}
    assert [each for each in semantics.__all__ if each not in asked] == sorted(others)


def test_a_nan_has_the_bits_that_it_is_made_of() -> None:
    bits = 0x7FF8_0000_0000_0001
    made = semantics.nan_of_bits(bits)
    assert struct.unpack("Q", struct.pack("d", made)) == (bits,)
    assert same_constant(made, made) and not same_constant(made, semantics.nan)


@pytest.mark.parametrize("name", semantics.__all__)
def test_every_function_says_what_it_does(name: str) -> None:
    word = getattr(semantics, name)
    if isinstance(word, types.FunctionType) or name in ("CannotSay", "DoesNotHold"):
        assert inspect.cleandoc(word.__doc__ or "").split("\n")[0].endswith(".")
        assert word.__module__.startswith("guardtree.semantics.")
    assert pydoc.render_doc(word, renderer=pydoc.plaintext)


def test_help_of_the_words_works() -> None:
    text = pydoc.render_doc(semantics, renderer=pydoc.plaintext)
    assert "from guardtree.semantics import *" in text
    for name in semantics.__all__:
        assert name in text, name


def test_strict_mode_judges_by_these_very_functions() -> None:
    for name in semantics.__all__:
        assert oracle.NAMESPACE[name] is getattr(semantics, name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plain_dict_item(x, 'a') is None", "dict_item"),
        ("plain_deque_item(x, 0) is None", "deque_item"),
        ("all_distinct(x, y)", "distinct_objects"),
        ("has_static(x, 'a')", "has_static_attr"),
    ],
)
def test_an_old_word_is_refused_and_the_new_one_named(old: str, new: str) -> None:
    word = old.split("(")[0]
    with pytest.raises((SyntaxError, NameError)) as refusal:
        gt.parse(old, step)
    assert f"hint: write {new} instead of {word}" in str(refusal.value)
    assert gt.parse(old.replace(word, new), step).to_text()[0].startswith(new)
