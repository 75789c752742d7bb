"""Guards as text: what is read, how it is refused, and what is written."""

from __future__ import annotations

import collections
import functools
import gc
import re
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree

FLAG = True
HERE = sys.modules[__name__]


def step(x: Any = 0, y: Any = 0, cfg: Any = None, items: Any = ()) -> None: ...


def lines(guards: gt.GuardManager) -> list[tuple[str, str]]:
    return [(each.path, each.kind) for each in guards.checks()]


def round_trip(guards: gt.GuardManager, scope: Any = step) -> str:
    """The text, which is read as the same tree."""
    text, names = guards.to_text()
    again = gt.parse(text, scope, names)
    assert str(again) == str(guards)
    return text


def test_the_words_of_python_are_guards() -> None:
    guards = gt.parse(
        "type(x) is int and x == 3 and cfg.training is True and len(items) == 2 "
        'and G["FLAG"] and y.shape[0] % 8 == 0 and x is not cfg',
        step,
    )
    assert lines(guards) == [
        ("x", "type_match"),
        ("x", "equals"),
        ("cfg.training", "is_true"),
        ("items", "length"),
        ("G['FLAG']", "is_truthy"),
    ]
    assert [each.kind for each in guards.relations()] == [
        "integers",
        "distinct_objects",
    ]
    cfg = types.SimpleNamespace(training=True)
    assert not guards.check({"x": 3, "cfg": cfg, "items": [1, 2], "y": 3})
    assert round_trip(guards).startswith("type(x) is int and x == 3 and cfg.training")


TREES = [
    ("x is None", [("x", "is_none")]),
    ("x is not None", [("x", "is_not_none")]),
    ("type(x) is int", [("x", "type_match")]),
    ("type(x) is collections.OrderedDict", [("x", "type_match")]),
    ("x is len", [("x", "id_match")]),
    ("x == 'a' 'b'", [("x", "equals")]),
    ("x == (1, -2.5, b'\\x00', None, ...)", [("x", "equals")]),
    ("x == 2**70", [("x", "equals")]),
    ("x == [1, {'k': {2}}]", [("x", "equals")]),
    ("x in (1, 2)", [("x", "one_of")]),
    ("'a' in x", [("x", "dict_contains")]),
    ("'a' not in x", [("x", "dict_lacks")]),
    ("isinstance(x, dict)", [("x", "instance_of")]),
    ("0 <= x <= 9", [("x", "int_range")]),
    ("x % 8 == 0", [("x", "divisible_by")]),
    ("x.startswith('ab')", [("x", "str_prefix")]),
    ("x", [("x", "is_truthy")]),
    ("not x", [("x", "not_")]),
    ("x is None or type(x) is int", [("x", "any_of")]),
    ("not (x is None or type(x) is int)", [("x", "not_")]),
    ("callable(x)", [("x", "python")]),
    ("x.a.b[0]['k'] is None", [("x.a.b[0]['k']", "is_none")]),
    ("x[1, 2] is None", [("x[(1, 2)]", "is_none")]),
    ("FLAG is True", [("G['FLAG']", "is_true")]),
    ("open is None", [("B['open']", "is_none")]),
    ("L['x'] is None", [("x", "is_none")]),
    ("getattr(x, 'n m') is None", [("getattr(x, 'n m')", "is_none")]),
    ("x() is None", [("x()", "is_none")]),
    ("type(x).__name__ == 'a'", [("type(x).__name__", "equals")]),
    ("guard.length(x, 3)", [("x", "length")]),
    ("guard.is_none(guard.list_item(x, 0))", [("list.__getitem__(x, 0)", "is_none")]),
    ("guard.any_of(x, (('is_none',), ('type_match', int)))", [("x", "any_of")]),
    ("True", []),
    ("x is None # why\n and y is None", [("x", "is_none"), ("y", "is_none")]),
]


@pytest.mark.parametrize(("text", "expected"), TREES, ids=[each[0] for each in TREES])
def test_texts_are_read_as_guards(text: str, expected: list[tuple[str, str]]) -> None:
    guards = gt.parse(text, step)
    assert lines(guards) == expected
    round_trip(guards)


RELATIONS = [
    ("x is y", "same_object", "x is y"),
    ("x is y is cfg", "same_object", "x is y is cfg"),
    ("x is not y", "distinct_objects", "distinct_objects(x, y)"),
    ("distinct_objects(x, y, cfg)", "distinct_objects", "distinct_objects(x, y, cfg)"),
    ("x == y", "integers", "int64(x) == int64(y)"),
    ("x.n == y.n * 2", "integers", "int64(x.n) == int64(y.n) * 2"),
    ("0 < x < 64", "integers", "0 < int64(x) < 64"),
    ("len(x) % 8 == 0", "integers", "int64(builtin_len(x)) % 8 == 0"),
    ("x.shape[-1] == 4", "integers", "int64(tensor(x).shape[-1]) == 4"),
    ("x.shape[+1] == 4", "integers", "int64(tensor(x).shape[1]) == 4"),
    ("x.ndim == 2", "integers", "int64(tensor(x).ndim) == 2"),
    (
        "stride_of(x, 0) == y.shape[-1]",
        "integers",
        "int64(stride_of(x, 0)) == int64(tensor(y).shape[-1])",
    ),
    ("x == 0 or 10 // y > x", "integers", "int64(x) == 0 or 10 // int64(y) > int64(x)"),
    ("not x < y", "integers", "not int64(x) < int64(y)"),
    (
        "overlapping_pairs(x, y) == set(((0, 1),))",
        "overlapping_memory",
        "overlapping_pairs(x, y) == set(((0, 1),))",
    ),
]


@pytest.mark.parametrize(
    ("text", "kind", "python"), RELATIONS, ids=[each[0] for each in RELATIONS]
)
def test_texts_are_read_as_relations(text: str, kind: str, python: str) -> None:
    guards = gt.parse(text, step)
    (relation,) = guards.relations()
    assert (relation.kind, relation.python) == (kind, python)
    assert guards.checks() == []
    round_trip(guards)


REFUSED = [
    ("x is", SyntaxError, "expected a value, found the end"),
    ("x = 3", SyntaxError, "write == to compare"),
    ("x / 2 == 1", SyntaxError, "write // for floor division"),
    ("(lambda: x)()", SyntaxError, "text holds no lambda"),
    ("nothing is None", NameError, "for a global that is still to come write"),
    ("x == foo()", NameError, "a global or a builtin, found 'foo'"),
    ("x == len()", SyntaxError, "expected a constant, found 'len()'"),
    ("type(x) is Missing", NameError, "a global or a builtin, found 'Missing'"),
    ("type(x) is Missing.inner", NameError, "a global or a builtin, found 'Missing'"),
    ("x < 'a'", SyntaxError, "expected a value"),
    ("guard.length(x)", SyntaxError, "expected length with 1 operand(s)"),
    ("guard.length(x, -1)", ValueError, "expected an int >= 0, found -1"),
    ("x == {1: 2, [3]: 4}", SyntaxError, "keys that can be hashed"),
    ("x == 'a", SyntaxError, "a string that ends"),
    ("x == f'a'", SyntaxError, "a string without the prefix 'f'"),
    ("x == '\\q'", SyntaxError, "an escape that is known"),
    ("x == 9**9**9", SyntaxError, "found '9**9**9'"),
    ("x == 012", SyntaxError, "a whole number of 64 bits, found '012'"),
    ("x < 2.5", SyntaxError, "a whole number of 64 bits, found '2.5'"),
    ("x + 012 == y", SyntaxError, "a whole number of 64 bits, found '012'"),
    ("x ** 2 == y", SyntaxError, "a sum, product or remainder"),
    ("x + (y == 3) == 4", SyntaxError, "a comparison of ints, lengths or shapes"),
    ("x ==\n  $", SyntaxError, "line 2, column 3"),
    ("x." + "a." * 2000 + "b is None", SyntaxError, "less nesting"),
    ("(" * 500, SyntaxError, "less nesting"),
    ("not " * 500 + "x", SyntaxError, "less nesting"),
    ("False", SyntaxError, "a value: a variable, and steps from it"),
    ("x is None or y is None", SyntaxError, "about the same value"),
    ("x if y else 3", SyntaxError, "write any_of, or two trees"),
    ("caf\xe9 is None", SyntaxError, "names beyond ASCII"),
    ("", SyntaxError, "found the end"),
]


@pytest.mark.parametrize(
    ("text", "error", "said"), REFUSED, ids=[ascii(each[0][:30]) for each in REFUSED]
)
def test_what_is_outside_the_language_is_refused(
    text: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=re.escape(said)):
        gt.parse(text, step)


def test_a_refusal_shows_the_place() -> None:
    with pytest.raises(SyntaxError) as caught:
        gt.parse("type(x) is int and\n  x == {1: len()}", step)
    assert str(caught.value).splitlines()[:3] == [
        "line 2, column 12: expected a constant, found 'len()'",
        "      x == {1: len()}",
        "               ^~~~~",
    ]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("x = 3", 1, "="),
        ("x == '\u540d\u524d\u540d\u524d' and y = 3", 1, "= 3"),
        ("x == '\u540d\U0001f600' and\n y == '\u540d' and y = 3", 2, "= 3"),
        ("x == '\u540d' and\r\n y = 3\r\nand x", 2, "= 3"),
        ("x == '\u540d' and y == ['\u540d', len()]", 1, "len()"),
        ("x == '\u540d' and", 1, ""),
        ("x == '" + "\u540d" * 300 + "' and y / 2 == 1", 1, "/ 2"),
    ],
)
def test_a_syntax_error_has_line_and_characters_as_pythons_own(
    text: str, line: int, found: str
) -> None:
    with pytest.raises(SyntaxError) as caught:
        gt.parse(text, step)
    error = caught.value
    told = text.splitlines()[line - 1]
    column = told.rindex(found) + 1 if found else len(told) + 1
    assert (error.lineno, error.text, error.offset) == (line, told, column)
    assert (error.end_lineno, error.filename) == (line, "<guards>")
    assert str(error).startswith(f"line {line}, column {column}: expected ")
    if found == "len()":
        assert error.end_offset == column + len(found)


def test_a_traceback_shows_the_place_once() -> None:
    with pytest.raises(SyntaxError) as caught:
        gt.parse("x == '\u00e9' and y = 3", step)
    told = "".join(traceback.format_exception_only(caught.value)).splitlines()
    assert told[0] == '  File "<guards>", line 1'
    assert told[1] == "    x == '\u00e9' and y = 3"
    assert told[2].index("^") == 4 + caught.value.offset - 1
    assert told[3].endswith(
        "GuardSyntaxError: expected an operator or the end, found '='; "
        "hint: write == to compare"
    )
    assert len(told) == 4


def test_objects_without_a_name_are_given_one() -> None:
    thing, partial = object(), functools.partial(max, 0)
    guards = gt.GuardManager(step)
    guards.local("x").id_match_held(thing).python(partial)
    guards.local("y").id_match(thing)
    text, names = guards.to_text()
    assert text == "guard.id_match_held(x, _0) and _1(x) and y is _0"
    assert names == {"_0": thing, "_1": partial}
    again = gt.parse(text, step, names)
    assert again.check({"x": thing, "y": thing}) is False
    assert gt.parse("y is THING", step, {"THING": thing}).check({"y": thing})
    with pytest.raises(SyntaxError, match="the name of an object"):
        gt.parse(text, step)


def test_what_has_died_is_given_one_name_and_stays_dead() -> None:
    mortal = type("Mortal", (), {})()
    guards = gt.GuardManager(step)
    guards.local("x").id_match(mortal)
    guards.local("cfg").id_match(mortal)
    mortal = None
    gc.collect()
    text, names = guards.to_text()
    assert set(names) == {"_0", "_1"}
    assert all(name in text for name in names)
    again = gt.parse(text, step, names)
    assert not again.check({"x": mortal, "cfg": mortal, "items": []})


def test_names_mean_what_the_language_says_whatever_a_scope_calls_so() -> None:
    def shadowing(type: Any, G: Any, size: Any, _0: Any) -> None: ...

    guards = gt.GuardManager(shadowing)
    for name in ("type", "G", "size"):
        guards.local(name).type_match(int)
    text = round_trip(guards, shadowing)
    claimed = ["L['type']", "L['G']", "size"]
    assert text.split(" and ") == [f"type({each}) is int" for each in claimed]


def test_what_is_stricter_than_python_is_not_read_behind_not() -> None:
    """not x == 3 is false of 3.0, of which equals(3) fails."""
    guards = gt.parse("not x == 3 and not len(items) == 2", step)
    assert guards.checks() == []
    assert [each.kind for each in guards.relations()] == ["integers", "integers"]
    assert not guards.check({"x": 3.0, "items": ()})
    for text in ("not isinstance(x, int)", "not 'a' in x", "not x in (1, 2)",
                 "not x.startswith('a')", "not (x is None or x == 'a')"):  # fmt: skip
        with pytest.raises(SyntaxError):
            gt.parse(text, step)
    assert gt.parse("not x and not type(y) is int", step).check({"x": 0, "y": 1.0})


THING = object()


def test_a_variable_is_compared_as_it_is_then() -> None:
    space: dict[str, Any] = {"THING": THING}
    exec("def f(x): ...", space)  # noqa: S102
    guards = gt.parse("x is THING", space["f"])
    (relation,) = guards.relations()
    assert relation.python == "x is G['THING']"
    round_trip(guards, space["f"])


def test_constants_can_be_given_by_name() -> None:
    guards = gt.parse("x == LIMIT and y in (1, LIMIT)", step, {"LIMIT": 3})
    assert guards.check({"x": 3, "y": 3})
    assert not guards.check({"x": 4, "y": 3})


def test_keys_that_only_their_address_finds_are_given_a_name() -> None:
    key = (float("nan"),)
    guards = gt.GuardManager(step)
    guards.local("x").dict_item(key).is_none()
    text, names = guards.to_text()
    assert text == "dict_item(x, _0) is None"
    again = gt.parse(text, step, names)
    assert again.check({"x": {key: None}})
    assert not again.check({"x": {(float("nan"),): None}})


def test_names_that_a_scope_has_for_something_else_are_not_used() -> None:
    space: dict[str, Any] = {"dict": list, "__name__": "shadowing"}
    exec("def shadowed(collections, _0, x): ...", space)  # noqa: S102
    shadowed = space["shadowed"]
    guards = gt.GuardManager(shadowed)
    guards.local("x").type_match(dict)
    guards.local("_0").type_match(collections.OrderedDict)
    text, names = guards.to_text()
    assert text == "type(x) is dict and type(_0) is _1"
    assert names == {"_1": collections.OrderedDict}
    assert str(gt.parse(text, shadowed, names)) == str(guards)


def test_a_refusal_cuts_long_lines_between_characters() -> None:
    for count in range(150, 156):
        text = "x == '" + "\xe9" * count + "' and y == len() and x == '" + "\xe9" * 90
        with pytest.raises(SyntaxError, match="a string that ends"):
            gt.parse(text, step)
        with pytest.raises(SyntaxError, match=r"found 'len\(\)'"):
            gt.parse(text + "'", step)
    with pytest.raises(SyntaxError, match="found ' '"):
        gt.parse("x is \0", step)


def test_free_variables_are_found() -> None:
    free = 3

    def inner(x: Any) -> Any:
        return free + x

    guards = gt.parse("free == 3 and x is free", inner)
    assert guards.children()[0].step == "closure"
    round_trip(guards, inner)


def test_paths_without_checks_are_written() -> None:
    guards = gt.GuardManager(step)
    guards.local("cfg").attr("a")
    guards.local("x").is_none()
    assert round_trip(guards) == "guard.present(cfg.a) and x is None"


def test_nothing_of_the_users_runs_while_text_is_read() -> None:
    class Loud(type):
        def __getattribute__(cls, name: str) -> Any:
            raise AssertionError(name)

    class Trap(metaclass=Loud):
        inner = 3

    with pytest.raises(SyntaxError):
        gt.parse("type(x) is Trap.missing", step, {"Trap": Trap})
    assert gt.parse("type(x) is Trap", step, {"Trap": Trap}).checks()


def examples() -> list[tuple[str, str]]:
    """Every kind with the operands of each of its examples."""
    return [
        (kind["method"], operands)
        for kind in _guardtree._kinds()
        for operands in dict.fromkeys(each[0] for each in kind["examples"])
    ]


def oracle_names() -> dict[str, Any]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings"))
    try:
        import guard_strategies
    finally:
        sys.path.pop(0)
    return guard_strategies.NAMES


@pytest.mark.parametrize(("kind", "operands"), examples())
def test_every_kind_has_a_text_that_is_read(kind: str, operands: str) -> None:
    pytest.importorskip("hypothesis")
    names = oracle_names()
    if "numpy" in operands:
        names["numpy"] = pytest.importorskip("numpy")
    guards = gt.GuardManager(step)
    eval(f"x.{kind}({operands})", {**names, "x": guards.local("x")})
    text, given = guards.to_text()
    again = gt.parse(text, step, given)
    assert [each.python for each in again.checks()] == [
        each.python for each in guards.checks()
    ]
    by_name = text.startswith("guard.")
    assert not by_name or kind in {
        "any_of",
        "id_match",
        "id_match_held",
        "type_version",
    }


def test_every_pattern_is_recognised() -> None:
    """A text that the reader cannot parse would never be read as its kind."""
    reserved = _guardtree._reserved_words()
    assert {"type", "len", "is_a", "same_constant", "guard"} <= set(reserved)
    assert collections.Counter(reserved).most_common(1)[0][1] == 1
