"""The graph-breaking example: functions run in parts, each part by way of the hook."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import alone
import pytest
from subjects import CASES, LOG, Case, outcome

if not alone.IS_BUILT:
    pytest.skip("needs the frame hook, which is not built", allow_module_level=True)

import guardtree as gt
from guardtree.examples.graph_breaks import GraphBreaker, example, first_call, show


class OfSubjects(GraphBreaker):
    """Breaks the subjects at their calls of `say`, and skips nothing else for good."""

    def __call__(self, frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        if frame.f_code.co_filename != outcome.__code__.co_filename:
            return gt.ASK_AGAIN
        return super().__call__(frame, entry, state)


@pytest.fixture
def breaker(hook: None) -> Iterator[GraphBreaker]:
    yield OfSubjects("say")
    for case in CASES:
        gt.reset_code(case.code)


def test_the_example_runs_in_two_parts(
    hook: None, capsys: pytest.CaptureFixture[str]
) -> None:
    gt.reset_code(example.__code__)
    breaker = show(example, 1, 2)
    ((part, name),) = breaker.parts
    assert (part, name) == ("example", "print")
    assert [each for each in breaker.whole if each.startswith("__resume_in_example")]
    lines = capsys.readouterr().out.splitlines()
    assert [each.strip() for each in lines if each.startswith("  ")] == [
        *("enter", "hello", "exit")
    ] * 3


def test_both_parts_are_hits_the_second_time(hook: None) -> None:
    gt.reset_code(example.__code__)
    breaker = GraphBreaker()
    with gt.optimize(breaker):
        first = example(1, 2)
        asked = [*breaker.parts, *breaker.whole]
        assert example(1, 2) == first
    assert [*breaker.parts, *breaker.whole] == asked
    assert gt.code_stats(example)["hits"] == 1


def test_the_guard_sees_that_the_name_means_something_else(
    hook: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    gt.reset_code(example.__code__)
    with gt.optimize(GraphBreaker()):
        example(1, 2)
        monkeypatch.setattr(builtins, "print", lambda text: "other")
        assert example(1, 2) == ("relu", ("sin", "other"))
    entries = gt.cache_entries(example)
    assert len(entries) == 2
    assert entries[0].hits == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_functions_run_in_as_many_parts_as_they_have_calls(
    case: Case, breaker: GraphBreaker
) -> None:
    expected = outcome(case)
    with gt.optimize(breaker):
        found = outcome(case)
        again = outcome(case)
    assert found == again == expected
    called = [each for each in LOG if each[0] == "say"]
    if called and first_call(case.code, breaker.names) is not None:
        assert breaker.parts


def test_parts_of_a_loop_are_not_made_anew_each_round(breaker: GraphBreaker) -> None:
    case = next(case for case in CASES if case.function.__name__ == "loops")
    with gt.optimize(breaker):
        outcome(case)
        made = len(breaker.parts)
        outcome(case)
    assert len(breaker.parts) == made
    assert len({name for name, _ in breaker.parts}) == made


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("print(x)", True),
        ("print(print(x))", True),
        ("print(*x, sep='')", True),
        ("x if x else print(x, end=x)", True),
        ("g(print)", False),
        ("print.__name__", False),
        ("x.print(x)", False),
    ],
)
def test_calls_are_told_from_other_uses(source: str, found: bool) -> None:
    made: Callable[..., Any] = eval(f"lambda x: {source}")
    assert (first_call(made.__code__, frozenset({"print"})) is not None) == found
