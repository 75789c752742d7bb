"""Explanations as data, and every cache entry of a code object explained."""

from __future__ import annotations

import json
from typing import Any

import guardtree as gt
import pytest

LIMIT = 3


def old(x: Any, y: Any = 0) -> str:
    return "old"


def new(x: Any, y: Any = 0) -> str:
    return "new"


class NoJson:
    def __repr__(self) -> str:
        return "<no json>"


class NoRepr:
    def __repr__(self) -> str:
        raise ZeroDivisionError


def test_a_failure_is_plain_data_with_stable_keys() -> None:
    guards = gt.GuardManager(old)
    guards.local("x").attr("real").equals(3).note("line 12")
    explanation = guards.explain({"x": 4})
    assert explanation.to_dict() == {
        "verdict": "fail",
        "checks_run": 2,
        "failures": [
            {
                "path": "x.real",
                "kind": "equals",
                "python": "same_constant(x.real, 3)",
                "expected": "equals(3)",
                "found": "4 (int)",
                "error": "",
                "differences": [],
                "note": "line 12",
            }
        ],
        "invalidated": [],
    }
    assert json.loads(explanation.to_json()) == explanation.to_dict()


loop: list[Any] = []
loop.append(loop)


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (NoJson(), "<no json>"),
        (NoRepr(), "<NoRepr object, its repr raises>"),
        (loop, "[[...]]"),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (float("nan"), "nan"),
        ({"file": "a.py", "line": 3}, {"file": "a.py", "line": 3}),
        ("\ud800", "\ud800"),
    ],
)
def test_json_never_fails_for_a_note(note: Any, told: Any) -> None:
    guards = gt.GuardManager(old)
    guards.local("x").is_none().note(note)
    explanation = guards.explain({"x": NoRepr()})
    (failure,) = json.loads(explanation.to_json())["failures"]
    assert failure["note"] == told
    assert explanation.to_dict()["failures"][0]["note"] is note


def add_entries(only: Any, *all_guards: Any) -> None:
    waiting = list(all_guards)
    answer = only(old, lambda *_: gt.GuardedCode(new.__code__, waiting.pop(0)))
    with gt.optimize(answer):
        for _ in all_guards:
            assert old(object()) == "new"


def on_x(*kinds: str) -> gt.GuardManager:
    guards = gt.GuardManager(old)
    for number, kind in enumerate(kinds):
        getattr(guards.local("x"), kind)(*[[int, str][number]] * (kind == "type_match"))
    return guards


def test_entries_are_told_nearest_first(only: Any) -> None:
    far = on_x("is_none")
    far.local("y").is_true()
    nearest = gt.GuardManager(old)
    nearest.local("x").type_match(int)
    nearest.local("y").equals(0)
    add_entries(only, far, lambda f_locals: 1 / 0, nearest)
    report = gt.explain(old, {"x": 1, "y": 1})
    assert [entry.index for entry in report.entries] == [1, 2, 0]
    assert [len(entry.failures) for entry in report.entries] == [1, 1, 2]
    raised = report.entries[0].failures[0]
    assert raised.error == "ZeroDivisionError: division by zero"
    assert report.entries[1].failures[0].path == "y"
    text = str(report)
    assert text.startswith("old:\nentry 1 (0 hits): 1 guard does not pass\n  ")
    assert "entry 0 (0 hits): 2 guards do not pass" in text
    assert "raised ZeroDivisionError: division by zero" in text


def test_a_report_counts_hits_and_is_json(only: Any) -> None:
    add_entries(only, gt.GuardManager(old))
    with gt.optimize(False):
        old(1)
    report = gt.explain(old.__code__, {})
    assert str(report) == "old:\nentry 0 (1 hit): all guards pass"
    assert json.loads(report.to_json()) == {
        "name": "old",
        "entries": [
            {
                "index": 0, "hits": 1, "verdict": "pass", "checks_run": 0,
                "failures": [], "invalidated": [],
            }
        ],
        "differences": {},
        "removed": [],
    }  # fmt: skip


def test_a_report_reads_the_globals_of_the_function(only: Any) -> None:
    guards = gt.GuardManager(old)
    guards.global_("LIMIT").equals(3)
    guards.builtin("len").id_match(len)
    add_entries(only, guards)
    for code in (old, old.__code__):
        assert gt.explain(code, {}).entries[0].failures == []


def test_a_report_takes_the_frame_of_a_callback(only: Any) -> None:
    add_entries(only, on_x("type_match"))
    told: list[gt.CacheExplanation] = []

    def answer(frame: Any, entry: Any, state: Any) -> Any:
        told.append(gt.explain(frame.f_code, frame))
        return gt.ASK_AGAIN

    with gt.optimize(only(old, answer)):
        old("text")
    (report,) = told
    assert report.entries[0].failures[0].found == "'text' (str)"


def test_code_without_entries_has_an_empty_report() -> None:
    def fresh() -> None: ...

    report = gt.explain(fresh, {})
    assert report.entries == ()
    assert str(report).endswith("fresh: no entries")


def test_what_is_no_code_or_no_subject_is_refused(only: Any) -> None:
    add_entries(only, gt.GuardManager(old))
    with pytest.raises(TypeError, match="expected a code object or a function"):
        gt.explain(3, {})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a mapping of local names"):
        gt.explain(old, 3)  # type: ignore[arg-type]


def test_exceptions_that_must_pass_leave_a_report(only: Any) -> None:
    def stop(f_locals: Any) -> bool:
        raise KeyboardInterrupt

    add_entries(only, stop)
    with pytest.raises(KeyboardInterrupt):
        gt.explain(old, {})
