"""The hook among others: evaluators above and below it, debuggers, coverage, tools.

The other evaluator is the example of capi/examples/evaluator, which looks its guards up
through the C interface. Each test is a process: an evaluator is the interpreter's.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PRELUDE = """
import ctypes, importlib.util, sys, warnings
import guardtree as gt
from guardtree._guardtree import _force_called, _hook_installed

spec = importlib.util.spec_from_file_location("evaluator", sys.argv[1])
theirs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(theirs)

api = ctypes.pythonapi
api.PyInterpreterState_Get.restype = ctypes.c_void_p
api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
interpreter = ctypes.c_void_p(api.PyInterpreterState_Get())

def current():
    return api._PyInterpreterState_GetEvalFrameFunc(interpreter)

def put(address):
    api._PyInterpreterState_SetEvalFrameFunc(interpreter, ctypes.c_void_p(address))

def f(a):
    return "plain"

def ours(a):
    b = "ours"
    return b

def callback(frame, entry, state):
    "A str is replaced by us, all else is declined."
    if frame.f_code is f.__code__ and type(frame.f_locals["a"]) is str:
        guards = gt.GuardManager(f)
        guards.local("a").type_match(str)
        return gt.GuardedCode(ours.__code__, guards)
    return gt.ASK_AGAIN

def calls():
    return [f("a"), f("b"), f(1), f(1.5)]

def caught(call, *arguments):
    "The texts of the warnings that a call gives."
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call(*arguments)
    return [f"{it.category.__name__}: {it.message}" for it in seen]

default = current()
theirs.guard(f, "type(a) is int", lambda a: "theirs")
PLAIN = ["plain"] * 4
THEIRS = ["plain", "plain", "theirs", "plain"]
OURS = ["ours", "ours", "plain", "plain"]
BOTH = ["ours", "ours", "theirs", "plain"]
"""

Run = Callable[..., Any]


@pytest.fixture
def run(evaluator: str, run_python: Any) -> Run:
    """`run(source, ...)`: the source behind the prelude; its asserts fail the test."""
    return lambda source, *more: run_python(PRELUDE + source, evaluator, *more)


@pytest.mark.parametrize("forced", [False, True])
def test_above_another_evaluator_what_we_decline_reaches_it(
    forced: bool, run: Run
) -> None:
    run(
        f"""
_force_called({forced})
theirs.install()
other = current()
assert calls() == THEIRS
for _ in range(3):
    with gt.optimize(callback):
        assert current() != other
        assert calls() == BOTH
    assert current() == other
    assert calls() == THEIRS
theirs.uninstall()
assert current() == default and calls() == PLAIN
"""
    )


@pytest.mark.parametrize("forced", [False, True])
def test_above_another_evaluator_it_sees_the_code_that_we_run(
    forced: bool, run: Run
) -> None:
    run(
        f"""
_force_called({forced})
theirs.guard(ours, "type(a) is str", lambda a: "theirs of ours")
theirs.install()
with gt.optimize(callback):
    assert calls() == ["theirs of ours"] * 2 + ["theirs", "plain"]
assert theirs.counts(ours) == (2, 0)
"""
    )


def test_below_another_evaluator_what_it_declines_reaches_us(run: Run) -> None:
    run(
        """
gt.set_eval_frame(callback)
us = current()
theirs.install()
assert calls() == BOTH
assert len(caught(gt.set_eval_frame, None)) == 1
assert current() not in (us, default)
assert calls() == THEIRS
for _ in range(3):
    assert caught(gt.set_eval_frame, callback) == []
    assert calls() == BOTH
    assert caught(gt.set_eval_frame, None) == []
    assert calls() == THEIRS
theirs.uninstall()
assert current() == us and calls() == PLAIN
with gt.optimize(callback):
    assert calls() == OURS
assert current() == default
"""
    )


def test_an_evaluator_is_left_in_place_with_one_warning(run: Run) -> None:
    run(
        """
for turn in range(2):
    gt.set_eval_frame(callback)
    theirs.install()
    (text,) = caught(gt.set_eval_frame, False)
    assert text.startswith("RuntimeWarning: another frame evaluator was installed")
    assert "Uninstall the other one first" in text
    assert caught(gt.set_eval_frame, None) == []
    theirs.uninstall()
    assert caught(gt.set_eval_frame, callback) == []
    assert caught(gt.set_eval_frame, None) == []
    assert current() == default
"""
    )


def test_a_warning_that_is_an_error_changes_the_callback_all_the_same(
    run: Run,
) -> None:
    run(
        """
seen = []
sys.unraisablehook = lambda it: seen.append(it.exc_type)
warnings.simplefilter("error")
with gt.optimize(callback):
    theirs.install()
assert seen == [RuntimeWarning], seen
assert gt.set_eval_frame(None) is None
assert calls() == THEIRS
"""
    )


def test_an_evaluator_that_hands_on_nothing_silences_us_with_a_warning(
    run: Run,
) -> None:
    run(
        """
gt.set_eval_frame(callback)
assert calls() == OURS
put(default)
assert calls() == PLAIN
assert len(caught(gt.set_eval_frame, None)) == 1
assert current() == default
with gt.optimize(callback):
    assert calls() == OURS
assert current() == default
"""
    )


@pytest.mark.parametrize("when", ["outside", "inside"])
def test_after_an_evaluator_that_replaced_ours_went_away_we_chain_again(
    when: str, run: Run
) -> None:
    """It puts ours back; the next evaluator that is found was never above ours."""
    run(
        f"""
gt.set_eval_frame(callback)
us = current()
put(default)
caught(gt.set_eval_frame, None)
if {when == "outside"}:
    put(us)
    gt.set_eval_frame(callback)
else:
    theirs.install()  # so that ours is not put above an evaluator that may call it
    gt.set_eval_frame(callback)
    assert current() != us and calls() == THEIRS
    theirs.uninstall()
    put(us)
assert calls() == OURS
assert caught(gt.set_eval_frame, None) == []
assert current() == default
theirs.install()
with gt.optimize(callback):
    assert calls() == BOTH
assert calls() == THEIRS
"""
    )


def test_an_evaluator_that_went_away_may_leave_the_one_we_found(run: Run) -> None:
    run(
        """
theirs.install()
found = current()
gt.set_eval_frame(callback)
put(default)
assert calls() == PLAIN
caught(gt.set_eval_frame, None)
put(found)
with gt.optimize(callback):
    assert calls() == BOTH
assert current() == found
"""
    )


MODULE = """
def plain(a):
    if a == "a":
        return 1
    return 2


def ours(a):
    b = 1
    if a == "a":
        b = 2
    return b


def theirs(a):
    if a:
        return 3
    return 4
"""

COVERAGE = """
import coverage

sys.path.insert(0, sys.argv[2])
import measured

def lines(call):
    tool = coverage.Coverage(data_file=None, include=[measured.__file__])
    tool.start()
    call()
    tool.stop()
    return sorted(tool.get_data().lines(measured.__file__) or [])

def swap(frame, entry, state):
    if frame.f_code is not measured.plain.__code__:
        return gt.ASK_AGAIN
    return gt.GuardedCode(measured.ours.__code__, gt.GuardManager(measured.plain))

direct = lines(lambda: measured.ours("b"))
assert len(direct) == 3, direct
with gt.optimize(swap):
    measured.plain("b")
    assert lines(lambda: measured.plain("b")) == direct
    both = lines(lambda: [measured.plain("a"), measured.theirs(1)])
theirs.guard(measured.theirs, "a == 0", lambda a: 5)
theirs.install()
with gt.optimize(False):
    assert measured.theirs(0) == 5
    assert lines(lambda: [measured.plain("a"), measured.theirs(1)]) == both
assert len(both) == 6, both
"""

CORES = ["ctrace", "pytrace"] + ["sysmon"] * (sys.version_info >= (3, 12))


@pytest.mark.skipif(
    importlib.util.find_spec("coverage") is None, reason="coverage is not installed"
)
@pytest.mark.parametrize("core", CORES)
def test_coverage_sees_the_lines_of_the_code_that_runs(
    core: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if core == "ctrace" and importlib.util.find_spec("coverage.tracer") is None:
        pytest.skip("this coverage was built without its C tracer")
    monkeypatch.setenv("COVERAGE_CORE", core)
    (tmp_path / "measured.py").write_text(MODULE)
    run(COVERAGE, str(tmp_path))


DEBUGGER = """
import bdb, inspect, linecache

class Debugger(bdb.Bdb):
    "Writes down where it stops, and goes on."
    def __init__(self, step, **options):
        super().__init__(**options)
        self.stops, self.step = [], step
    def user_line(self, frame):
        self.stops.append((frame.f_code.co_name, frame.f_lineno))
        (self.set_step if self.step else self.set_continue)()
    def debug(self, call):
        self.runcall(call)
        return [stop for stop in self.stops if stop[0] in ("plain", "ours", "theirs")]

folder, *backend = sys.argv[2:]
sys.path.insert(0, folder)
import measured
options = {"backend": backend[0]} if backend else {}

def stops(call, *broken, step=False):
    debugger = Debugger(step, **options)
    for function in broken:
        line = function.__code__.co_firstlineno + 1
        assert not debugger.set_break(measured.__file__, line)
    return debugger.debug(call)

def swap(frame, entry, state):
    if frame.f_code is not measured.plain.__code__:
        return gt.ASK_AGAIN
    return gt.GuardedCode(measured.ours.__code__, gt.GuardManager(measured.plain))

for step in (False, True):
    direct = stops(lambda: measured.ours("b"), measured.ours, step=step)
    assert [name for name, _ in direct] == ["ours"] * (3 if step else 1), direct
    with gt.optimize(swap):
        measured.plain("b")
    with gt.optimize(False):
        hit = stops(
            lambda: measured.plain("b"), measured.ours, measured.plain, step=step
        )
    assert hit == direct, (hit, direct)
"""

BACKENDS = [["settrace"], ["monitoring"]] if sys.version_info >= (3, 14) else [[]]


@pytest.mark.parametrize("backend", BACKENDS, ids=str)
def test_a_debugger_stops_in_the_code_that_runs(
    backend: list[str], run: Run, tmp_path: Path
) -> None:
    (tmp_path / "measured.py").write_text(MODULE)
    run(DEBUGGER, str(tmp_path), *backend)


def test_a_tracing_debugger_sees_what_another_evaluator_guards_as_it_is_written(
    run: Run, tmp_path: Path
) -> None:
    """The example stands aside while somebody traces; ours goes on above it."""
    (tmp_path / "measured.py").write_text(MODULE)
    backend = BACKENDS[0]
    source = """
theirs.guard(measured.theirs, "a == 1", lambda a: 5)
theirs.install()
with gt.optimize(False):
    calls = [measured.plain, measured.theirs]
    assert [call(1) for call in calls] == [1, 5]
    seen = stops(lambda: [call(1) for call in calls], measured.ours, measured.theirs)
assert [name for name, _ in seen] == ["ours", "theirs"], seen
"""
    run(DEBUGGER + source, str(tmp_path), *backend)


@pytest.mark.skipif(
    not hasattr(sys, "monitoring"), reason="sys.monitoring came with 3.12"
)
def test_tools_see_as_many_ends_as_starts(run: Run) -> None:
    run(
        """
from collections import Counter

monitoring = sys.monitoring
names = ["PY_START", "PY_THROW", "PY_RETURN", "PY_UNWIND", "LINE"]
mask = 0
events = Counter()
monitoring.use_tool_id(3, "guest")
for name in names:
    def record(code, *details, name=name):
        if code in (f.__code__, ours.__code__):
            events[name, code.co_name] += 1
    mask |= getattr(monitoring.events, name)
    monitoring.register_callback(3, getattr(monitoring.events, name), record)
theirs.install()
with gt.optimize(callback):
    assert calls() == BOTH
    monitoring.set_events(3, mask)
    results = calls()
    monitoring.set_events(3, 0)
assert results == BOTH
assert events == {
    ("PY_START", "ours"): 2, ("LINE", "ours"): 4, ("PY_RETURN", "ours"): 2,
    ("PY_START", "f"): 1, ("LINE", "f"): 1, ("PY_RETURN", "f"): 1,  # f(1.5)
    ("PY_THROW", "f"): 1, ("PY_UNWIND", "f"): 1,  # f(1), which theirs serves
}, events
"""
    )
