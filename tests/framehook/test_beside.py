"""Debuggers, coverage, profilers and perf beside the hook: what BESIDE.md says."""

from __future__ import annotations

import cProfile
import io
import os
import pdb
import pstats
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest
from hooked_program import HOOKED

pytestmark = pytest.mark.usefixtures("hook")

SUBJECT = """
def f(a):
    b = a
    return "plain"

def new(a):
    b = [a]
    return "hit"

def calls(a):
    return f(a)
"""


@pytest.fixture
def subject(tmp_path: Path) -> tuple[str, dict[str, Any]]:
    """A source file and what it defines."""
    path = tmp_path / "subject.py"
    path.write_text(SUBJECT)
    names: dict[str, Any] = {}
    exec(compile(SUBJECT, str(path), "exec"), names)
    return str(path), names


def debugged(
    path: str, line: int, calls: Callable[[int], str]
) -> tuple[str, list[str]]:
    """What a call gives under pdb with a breakpoint, and where it stopped."""
    stops: list[str] = []

    class Debugger(pdb.Pdb):
        def user_line(self, frame: Any) -> None:
            if frame.f_code.co_filename == path:
                stops.append(f"{frame.f_code.co_name}:{frame.f_lineno}")
            super().user_line(frame)

    debugger = Debugger(
        stdin=io.StringIO("continue\nnext\ncontinue\n"), stdout=io.StringIO()
    )
    debugger.use_rawinput = False
    debugger.nosigint = True
    assert debugger.set_break(path, line) is None
    try:
        result = debugger.runcall(calls, 1)
    finally:
        debugger.clear_all_breaks()
        sys.settrace(None)
    return result, stops


def test_pdb_stops_and_steps_in_the_replacement(subject, swap) -> None:
    path, names = subject
    with gt.optimize(swap(names["f"], names["new"])):
        names["f"](1)
        result, stops = debugged(path, 7, names["calls"])
    assert result == "hit"
    assert stops[-2:] == ["new:7", "new:8"]


def test_pdb_does_not_stop_in_an_original_that_is_replaced(subject, swap) -> None:
    path, names = subject
    with gt.optimize(swap(names["f"], names["new"])):
        names["f"](1)
        result, stops = debugged(path, 3, names["calls"])
        assert (result, "f:3" in stops) == ("hit", False)
        gt.skip_code(names["f"])
        result, stops = debugged(path, 3, names["calls"])
        assert (result, "f:3" in stops) == ("plain", True)


def test_cprofile_counts_the_replacement(subject, swap) -> None:
    path, names = subject
    with gt.optimize(swap(names["f"], names["new"])):
        names["f"](1)
        profile = cProfile.Profile()
        profile.enable()
        for _ in range(5):
            names["calls"](1)
        profile.disable()
    counts = {
        name: calls
        for (file, _, name), (_, calls, *_) in pstats.Stats(profile).stats.items()
        if file == path
    }
    assert counts == {"calls": 5, "new": 5}


CORES = ["pytrace", "ctrace", *(["sysmon"] if sys.version_info >= (3, 12) else [])]


@pytest.mark.parametrize("begins", ["hook", "coverage"])
@pytest.mark.parametrize("core", CORES)
def test_coverage_records_the_lines_that_ran(
    core, begins, subject, swap, monkeypatch
) -> None:
    coverage = pytest.importorskip("coverage")
    if sys.gettrace() or os.environ.get("COVERAGE_RUN"):
        pytest.skip("coverage measures this very test")
    monkeypatch.setenv("COVERAGE_CORE", core)
    path, names = subject
    measured = coverage.Coverage(data_file=None, include=[path])
    callback = swap(names["f"], names["new"])
    if begins == "coverage":
        measured.start()
    with gt.optimize(callback):
        if begins == "hook":
            names["f"](1)
            measured.start()
        results = [names["calls"](1) for _ in range(3)]
    measured.stop()
    assert results == ["hit"] * 3
    assert sorted(measured.get_data().lines(path) or []) == [7, 8, 11]


PERF = (
    HOOKED
    + """
import os, sys
from guardtree._guardtree import _hook_installed

def refused(call, *arguments):
    try:
        call(*arguments)
    except RuntimeError as error:
        return "custom eval frame" in str(error)
    return False

REFUSES = sys.version_info < (3, 15)

try:
    sys.activate_stack_trampoline("perf")
    sys.deactivate_stack_trampoline()
except (AttributeError, ValueError):
    print("no trampolines")
    raise SystemExit
"""
)


def run_perf(run_python: Any, source: str) -> None:
    if run_python(PERF + source).stdout == "no trampolines\n":
        pytest.skip("this CPython has no perf trampolines")


def test_perf_trampolines_that_were_active_first_see_the_replacement(
    run_python,
) -> None:
    run_perf(
        run_python,
        """
sys.activate_stack_trampoline("perf")
gt.set_eval_frame(callback)
assert [f(1), f(2)] == ["hit", "hit"]
assert not REFUSES or refused(sys.deactivate_stack_trampoline)
assert f(1) == "hit"
gt.set_eval_frame(None)
assert f(1) == "plain"
path = os.path.join(os.sep, "tmp", f"perf-{os.getpid()}.map")  # as CPython names it
with open(path) as written:
    names = written.read()
os.remove(path)
assert "py::hit:" in names
os._exit(0)  # CPython 3.14 crashes at exit after this, without guardtree too
""",
    )


def test_perf_trampolines_are_refused_while_the_hook_is_installed(run_python) -> None:
    run_perf(
        run_python,
        """
gt.set_eval_frame(callback)
assert f(1) == "hit"
assert refused(sys.activate_stack_trampoline, "perf") is REFUSES
assert _hook_installed() is REFUSES and f(1) == "hit"
gt.set_eval_frame(None)
sys.activate_stack_trampoline("perf")
gt.set_eval_frame(callback)
assert f(1) == "hit"
gt.set_eval_frame(None)
sys.deactivate_stack_trampoline()
gt.set_eval_frame(callback)
assert f(1) == "hit"
os._exit(0)  # as above
""",
    )
