"""What is told of entries and of misses: as text, as JSON, and in torch's logs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

import guardtree.torch.dynamo as gd  # noqa: E402
from guardtree.torch.dynamo import installation  # noqa: E402
from guardtree.torch.dynamo.user_stack import UserStack  # noqa: E402

X = torch.ones(2)


def scale(x: Any, k: Any) -> Any:
    return x * k


def program(x: Any, k: Any) -> Any:
    y = x + 1
    return scale(y, k)


def compiled() -> Any:
    return torch.compile(program, backend="eager", dynamic=False)


def line_of(function: Any, offset: int) -> str:
    """Where a line of a function is, as stacks have it."""
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


class Lines(logging.Handler):
    """What was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def logged(*names: str) -> Iterator[list[str]]:
    """torch's own logs of these names."""
    lines = Lines()
    loggers = [logging.getLogger(f"torch._dynamo.guards.__{name}") for name in names]
    torch._logging.set_logs(**dict.fromkeys(names, True))
    for each in loggers:
        each.addHandler(lines)
    try:
        yield lines.lines
    finally:
        for each in loggers:
            each.removeHandler(lines)
        torch._logging.set_logs()


def test_reports() -> None:
    with gd.installed():
        f = compiled()
        for k in (1, 2, 2, 2):
            f(X, k)
        found = gd.report(f)
        text = str(found)
        assert "2 entries, 2 hits, 2 misses" in text and "differ in k: 1, 2" in text
        assert "2 hits (2 at once), backend eager, compiled as 0/1 in " in text
        (code,) = json.loads(found.to_json())["codes"]
        assert code == found.to_dict()["codes"][0]
        assert (code["name"], code["file"]) == ("program", __file__)
        assert [each["hits"] for each in code["entries"]] == [0, 2]
        for each in code["entries"]:
            assert 0 < each["compile_seconds"] < 60 and 0 < each["guard_ns"] < 10**8
        assert code["differences"] == {"k": ["1", "2"]}
        with pytest.raises(TypeError, match="not what torch.compile gives"):
            gd.explain(program, 1)
    assert installation._session is None


def test_explanations_have_the_stacks_of_the_user() -> None:
    with gd.installed():
        f = compiled()
        f(X, 1), f(X, 2)
        found = gd.explain(f, X.double(), 2)
        assert [each[0] for each in found.entries] == [1, 0]
        document = json.loads(found.to_json())
        nearest, other = document["entries"]
        (failure,) = nearest["failures"]
        assert failure["path"] == "x" and "float64" in failure["found"]
        assert failure["note"] == [f"{line_of(program, 1)} in program: y = x + 1"]
        notes = {each["path"]: each["note"] for each in other["failures"]}
        assert notes["k"] == [
            f"{line_of(scale, 1)} in scale: return x * k",
            f"{line_of(program, 2)} in program: return scale(y, k)",
        ]
        text = str(found)
        assert "entry 1 (0 hits): 1 guard does not pass" in text
        assert f"    {line_of(scale, 1)} in scale: return x * k" in text
        assert "all guards pass" in str(gd.explain(f, X, 2))
        with torch.no_grad():
            text = str(gd.explain(f, X, 2))
        assert "torch state: found grad_mode=False (expected True)" in text


def test_a_note_reads_its_lines_when_it_is_asked() -> None:
    line = f"{line_of(program, 1)} in program: y = x + 1"
    with gd.installed():
        f = compiled()
        f(X, 1)
        ((_, _, said),) = gd.explain(f, X.double(), 1).entries
        (failure,) = said.failures
        assert failure.note.lines() == [line]
        assert f"(note: {[line]})" in str(said)
    assert UserStack(None, "no gradient").all_lines() == ["no gradient"]
    assert UserStack(failure.note.stack, "a gradient").all_lines() == [
        "a gradient",
        line,
    ]


def test_guards_on_shapes_name_their_line() -> None:
    def sized(x: Any) -> Any:
        return x * 2 if x.shape[0] > 3 else x

    with gd.installed():
        f = torch.compile(sized, backend="eager", dynamic=True)
        f(torch.ones(8))
        (entry,) = gd.explain(f, torch.ones(3)).to_dict()["entries"]
        assert any("in sized" in str(each["note"]) for each in entry["failures"])


def test_torchs_logs_have_our_lines() -> None:
    with gd.installed(), logged("recompiles", "guards") as lines:
        f = compiled()
        f(X, 1)
        assert not any(each.startswith("guardtree: ") for each in lines)
        f(X.double(), 2)
        (line,) = (each for each in lines if each.startswith("guardtree: "))
        assert "program" in line and "2 guards do not pass" in line
        assert "x: expected" in line and "k: expected" in line
        assert f"{line_of(scale, 1)} in scale: return x * k" in line
        guards = [e for e in lines if e.startswith("guardtree's guards of program")]
        assert len(guards) == 2 and "local('k')" in guards[0]
    with gd.installed():
        f = compiled()
        f(X, 1), f(X, 2)
    assert sum(each.startswith("guardtree") for each in lines) == 3


def test_an_explanation_says_that_a_gradient_came() -> None:
    with gd.installed():
        f = torch.compile(lambda p: p * (1 if p.grad is None else 2), backend="eager")
        p = torch.nn.Parameter(torch.ones(2))
        f(p)
        p.grad = torch.ones(2)
        said = str(gd.explain(f, p))
        assert "p: expected no gradient; found a gradient" in said
        assert "test_dynamo_reports.py" in said
