"""Guard trees as JSON: what is written, what is not, and that it comes back.

What a text from elsewhere can do is asked in test_json_reading.py.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import re
import sys
import types
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree, oracle

try:
    import numpy
except ImportError:
    numpy = None

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "bindings"))  # guard_strategies

Run = Callable[..., Any]


def step(x: Any, y: Any = 0, z: Any = 0) -> None: ...


def predicate(value: Any) -> bool:
    return value == 3


class Thing:
    """A class with a name."""

    def method(self) -> None: ...


def load_oracle() -> dict[str, Any]:
    """The names that examples are evaluated in."""
    module = types.ModuleType("json_oracle")
    vars(module).update(vars(oracle))
    vars(module).update(oracle.NAMESPACE, FLAG=True, numpy=numpy)
    return vars(module)


NAMES = load_oracle()
NEVER = {
    "python", "native", "native_pure", "dict_version", "type_version",
    "compute", "native_get", "context_var",
}  # fmt: skip
UNNAMED = {  # operands that no name leads to
    "function_match": "__import__('os').environ.encodekey",
    "id_match_held": "1",
    "tensor_match": "TensorSpec(dtype=numpy.dtype('>i4'), writeable=True)",
}


def evaluated(operands: str) -> tuple[Any, ...]:
    return eval(f"({operands},)" if operands else "()", NAMES)


def examples(entries: list[dict[str, Any]]) -> list[Any]:
    """The documented cases that can run here, with the method's name first."""
    found = []
    for entry in entries:
        for texts in entry["examples"]:
            told = " ".join(texts)
            if "torch." in told or ("numpy" in told and NAMES["numpy"] is None):
                continue
            name = f"{entry['method']}({texts[0]})"
            found.append(pytest.param(entry["method"], *texts, id=name))
    return found


def reloaded(guards: gt.GuardManager, scope: Any = step) -> gt.GuardManager:
    """The guards written and read; their text is what CPython's json would write."""
    text = guards.to_json()
    canonical = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert text == canonical
    again = gt.from_json(text, scope, allow_calls=True)
    assert again.to_json() == text
    assert again.digest() == guards.digest()
    assert again.counts() == guards.counts()
    assert guards.to_portable_json() == (text, [])
    return again


def refusal(guards: gt.GuardManager) -> str:
    with pytest.raises(ValueError, match="has no form in JSON") as caught:
        guards.to_json()
    return str(caught.value)


# What is written.


def test_the_canonical_text() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x")
    x.type_match(OrderedDict).note("from a test")
    x.dict_item("k").equals({2, 1}).is_not_none()
    guards.module("sys").module_attr("maxsize").int_range(0, 2**63 - 1)
    guards.same_object(x, x.dict_item("k")).note(3)
    assert guards.to_json() == (
        '{"guardtree":1,"nodes":['
        '{"checks":[{"kind":"type_match","note":"from a test",'
        '"operands":[{"ref":["collections","OrderedDict"]}]}],'
        '"operands":["x"],"parent":-1,"step":"local"},'
        '{"checks":[{"kind":"equals","operands":[{"set":[1,2]}]},'
        '{"kind":"is_not_none","operands":[]}],'
        '"operands":["k"],"parent":0,"step":"dict_item"},'
        '{"checks":[],"operands":["sys"],"parent":-1,"step":"module"},'
        '{"checks":[{"kind":"int_range","operands":[0,{"int":"0x7fffffffffffffff"}]}],'
        '"operands":["maxsize"],"parent":2,"step":"module_attr"}],'
        '"relations":[{"operands":[],"relation":"same_object","values":[0,1]}]}'
    )
    reloaded(guards)


def test_notes_are_read_and_are_no_part_of_the_digest() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").is_none()
    plain = guards.digest()
    guards.note("a \ud800 note")
    assert guards.digest() == plain
    again = gt.from_json(guards.to_json(), step)
    assert again.checks()[0].note == "a \ud800 note"
    assert again.to_json() == guards.to_json()
    guards.note(("not", "portable"))
    assert gt.from_json(guards.to_json(), step).checks()[0].note is None


@pytest.mark.parametrize(
    ("method", "operands", "passing", "failing"), examples(_guardtree._kinds())
)
def test_every_kind_comes_back(
    method: str, operands: str, passing: str, failing: str
) -> None:
    guards = gt.GuardManager(step)
    kept = evaluated(operands)
    getattr(guards.local("x"), method)(*kept)
    if method in NEVER or operands == UNNAMED.get(method):
        assert guards.checks()[0].python in refusal(guards)
        return
    again = reloaded(guards)
    for text, expected in ((passing, True), (failing, False)):
        if not text:  # a kind that passes every value
            continue
        value = eval(text, NAMES)
        assert guards.check({"x": value}) is expected
        assert again.check({"x": value}) is expected


def with_free_variable() -> Any:
    x = 3

    def scope() -> int:
        return x

    return scope


STEPS = _guardtree._steps()
ROOTS = {entry["method"] for entry in STEPS if entry["is_root"]}


@pytest.mark.parametrize(
    ("method", "operands", "value", "result", "failing"), examples(STEPS)
)
def test_every_step_comes_back(
    method: str, operands: str, value: str, result: str, failing: str
) -> None:
    scope = with_free_variable() if method == "closure" else step
    guards = gt.GuardManager(scope)
    kept = evaluated(operands)
    start = guards if method in ROOTS else guards.local("x")
    node = getattr(start, method)(*kept)
    node.not_(("equals", "nothing that a step fetches"))
    if method in NEVER:
        assert node.path in refusal(guards)
        return
    again = reloaded(guards, scope)
    for text in (value, failing):
        found = eval(text or "None", NAMES)
        if method in ROOTS:
            subject = found if isinstance(found, dict) else {}
        else:
            subject = {"x": found}
        expected = guards.explain(subject).verdict
        assert again.explain(subject).verdict == expected


@pytest.mark.parametrize(
    ("method", "operands", "passing", "failing"), examples(_guardtree._relations())
)
def test_every_relation_comes_back(
    method: str, operands: str, passing: str, failing: str, fresh: Run
) -> None:
    tuples = [eval(text, NAMES) for text in (passing, failing)]
    names = [f"v{i}" for i in range(max(map(len, tuples)))]
    scope = fresh(f"def scope({', '.join(names)}): ...", "scope")
    for values, expected in zip(tuples, (True, False), strict=True):
        guards = gt.GuardManager(scope)
        nodes = [guards.local(name) for name in names[: len(values)]]
        getattr(guards, method)(*evaluated(operands), *nodes)
        again = reloaded(guards, scope)
        subject = dict(zip(names, values))
        assert guards.check(subject) is expected
        assert again.check(subject) is expected


CONSTANTS = [
    2**53 - 1, 2**53, -(2**53), 10**5000, -(10**5000), 0.1, -0.0, 5e-324, float("inf"),
    float("nan"), complex(-0.0, float("nan")), "\ud83d\ude00", "\U0001f600", "\0\x7f\"",
    b"", b"\xff\0", (), [[]], {}, set(), frozenset({frozenset()}), ...,
    {(1, b"2"): [{"a": {None}}], True: 1.0, "1": True}, {1, "1", b"1", (1,), None},
]  # fmt: skip


@pytest.mark.parametrize("value", CONSTANTS, ids=lambda value: ascii(type(value)))
def test_constants_come_back(value: Any) -> None:
    guards = gt.GuardManager(step)
    guards.local("x").equals(value)
    assert reloaded(guards).check({"x": value})


def test_equal_trees_are_equal_texts_whatever_their_sets_were_made_of() -> None:
    texts = set()
    for order in itertools.permutations([0, 8, 16, "a", b"b"]):
        guards = gt.GuardManager(step)
        guards.local("x").set_equals(set(order)).equals(dict.fromkeys(order))
        texts.add(guards.to_json())
    assert len(texts) == 1


def test_objects_are_written_by_the_name_that_leads_to_them() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").id_match(Thing).id_match(Thing.method).id_match(json)
    guards.local("x").id_match(len).id_match(None).function_match(json.dumps)
    guards.local("x").instance_of(json.JSONDecoder)
    named = re.findall(r'"ref":(\[.*?\])', guards.to_json())
    assert [tuple(json.loads(name)) for name in named] == [
        (__name__, "Thing"),
        (__name__, "Thing.method"),
        ("json", ""),
        ("builtins", "len"),
        ("json", "dumps"),
        ("json.decoder", "JSONDecoder"),
    ]
    again = reloaded(guards)
    assert again.checks()[1].operands == {"expected": Thing.method}


# What is refused, or dropped.


def test_objects_without_a_name_are_refused() -> None:
    class Local:
        """Of a function: `<locals>` leads nowhere."""

    stolen = types.FunctionType(step.__code__, {}, "step")  # another has its name
    stolen.__module__ = __name__
    for unnamed in (Local, stolen, object(), Thing(), Thing().method, [].append, ()):
        guards = gt.GuardManager(step)
        guards.local("x").attr("a").id_match(unnamed)
        told = refusal(guards)
        assert told.startswith(guards.checks()[0].python + ": id_match has no form")
        assert "that no name leads to" in told


@pytest.mark.parametrize(
    "kind",
    [
        ("not_", ("python", predicate)),
        ("any_of", (("is_none",), ("type_version", int))),
        ("not_", ("any_of", (("id_match", object()),))),
    ],
    ids=lambda kind: ascii(kind[0]),
)
def test_a_kind_inside_a_kind_is_refused(kind: tuple[Any, ...]) -> None:
    guards = gt.GuardManager(step)
    getattr(guards.local("x"), kind[0])(*kind[1:])
    assert guards.checks()[0].python in refusal(guards)


def test_what_died_is_not_written_as_none() -> None:
    for kind in ("id_match", "type_match", "not_"):
        mortal = type("Mortal", (), {"__module__": __name__})
        globals()["Mortal"] = mortal
        guards = gt.GuardManager(step)
        x = guards.local("x")
        if kind == "not_":
            x.not_(("id_match", mortal))
        else:
            getattr(x, kind)(mortal)
        reloaded(guards)
        del mortal, globals()["Mortal"]
        gc.collect()
        assert "has died" in refusal(guards)


def test_what_has_no_form_is_dropped_and_listed() -> None:
    guards = gt.GuardManager(step)
    x, y = guards.local("x"), guards.local("y")
    x.type_match(int).python(predicate)
    fetched = y.compute(predicate)
    fetched.is_true()
    deeper = fetched.attr("a")
    deeper.equals(1).id_match(object())
    guards.same_object(x, fetched).same_object(x, y)
    lost = [fetched.path, deeper.path]
    lost += [each.python for each in fetched.checks()]
    lost += [guards.checks()[1].python, guards.relations()[0].python]
    text, dropped = guards.to_portable_json()
    assert Counter(dropped) == Counter(lost)
    again = gt.from_json(text, step)
    assert [each.python for each in again.checks()] == ["type(x) is int"]
    assert [each.python for each in again.relations()] == ["x is y"]
    assert refusal(guards).startswith(guards.checks()[1].python)


def test_a_repr_that_adds_guards_meanwhile_does_no_harm() -> None:
    class Adds:
        def __repr__(self) -> str:
            x.attr(f"a{guards.counts().nodes}").is_true()
            guards.same_object(x, x.attr("b"))
            return "adds"

    guards = gt.GuardManager(step)
    x = guards.local("x")
    objects = [Adds() for _ in range(4)]
    for each in objects:
        x.id_match(each)
    guards.same_object(x, x)
    text, dropped = guards.to_portable_json()
    assert len(dropped) == 4
    assert len(gt.from_json(text, step).relations()) == 1


# Another process.

SAVED = """
import json, sys
from collections import OrderedDict
import guardtree as gt

def step(x, y=0, z=0): ...

texts, subjects = map(json.loads, sys.argv[1:])
guards = [gt.from_json(text, step) for text in texts]
print([[each.check(eval(s)) for s in subjects] for each in guards])
print([each.to_json() for each in guards] == texts)
"""


def test_guards_saved_here_give_the_same_verdicts_there(run_python: Run) -> None:
    saved = [gt.GuardManager(step) for _ in range(5)]
    saved[0].local("x").type_match(OrderedDict).dict_keys(("a", "b"))
    saved[1].local("x").equals([1, {2.5, "b"}, b"\xff", float("inf")])
    saved[2].local("x").any_of((("id_match", len), ("int_range", 0, 9)))
    saved[3].integers("a < b", saved[3].local("x"), saved[3].local("y"))
    saved[4].builtin("len").id_match(len)
    saved[4].local("x").attr("real").one_of((0, "0"))
    subjects = [
        "{'x': OrderedDict(a=1, b=2)}", "{'x': OrderedDict(b=1, a=2)}", "{'x': {}}",
        "{'x': [1, {'b', 2.5}, b'\\xff', float('inf')]}", "{'x': len}", "{'x': 9}",
        "{'x': 0, 'y': 1}", "{'x': True}", "{}",
    ]  # fmt: skip
    expected = [[each.check(eval(s)) for s in subjects] for each in saved]
    assert {answer for row in expected for answer in row} == {True, False}
    texts = json.dumps([each.to_json() for each in saved])
    done = run_python(SAVED, texts, json.dumps(subjects))
    assert done.stdout == f"{expected}\nTrue\n"


def test_a_digest_is_the_same_in_every_process(
    run_python: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
        import guardtree as gt
        def step(x): ...
        guards = gt.GuardManager(step)
        guards.local("x").set_equals({"a", "b", "c", b"d", 1, None})
        guards.local("x").equals({"a": {"x", "y"}, "b": frozenset("pqr")})
        print(guards.digest())
    """
    digests = set()
    for seed in ("0", "1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        digests.add(run_python(source).stdout)
    assert len(digests) == 1
    assert re.fullmatch(r"[0-9a-f]{64}\n", digests.pop())


# Random trees.


def test_random_trees_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    hypothesis = pytest.importorskip("hypothesis")
    made = pytest.importorskip("guard_strategies")
    monkeypatch.setitem(sys.modules, "oracle", made.NAMES["oracle"])
    settings = hypothesis.settings(
        max_examples=int(os.environ.get("GUARDTREE_TEST_EXAMPLES", "150")),
        deadline=None,
        print_blob=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )

    @settings
    @hypothesis.given(made.cases() | made.one_kind_cases() | made.expression_cases())
    def come_back(case: Any) -> None:
        text, dropped = case.guards.to_portable_json()
        assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == (
            text
        )
        again = gt.from_json(text, made.STEP, allow_calls=True)
        assert again.to_json() == text
        kept = Counter(again.counts().kinds)
        assert kept <= Counter(case.guards.counts().kinds)
        if not dropped:
            assert case.guards.to_json() == text
        for subject in case.subjects:
            verdict = again.explain(subject).verdict
            expected = case.guards.explain(subject).verdict
            if not dropped or expected == "pass":
                assert verdict == expected, f"{text}\n{case}"
        hypothesis.event("dropped" if dropped else "whole")

    come_back()
