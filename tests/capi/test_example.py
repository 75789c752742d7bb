"""The example of a frame evaluator: built as its README says, and run.

It runs in processes of its own: a frame evaluator is the whole interpreter's.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "capi/examples/evaluator"

PRELUDE = """
import contextlib, importlib.util, sys

spec = importlib.util.spec_from_file_location("evaluator", sys.argv[1])
evaluator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(evaluator)

def slow(a, /, b=2, *, k=3):
    try:
        return "slow", a, b, k
    except BaseException:
        return "caught"

def fast(*arguments, **named):
    return "fast", *arguments, *named.items()

def raises(a, b, *, k):
    raise KeyError(a)

@contextlib.contextmanager
def installed():
    evaluator.install()
    yield
    evaluator.uninstall()
"""

Run = Callable[[str], None]


@pytest.fixture
def run(evaluator: str, run_python: Any) -> Run:
    """`run(source)`: the source behind the prelude, in a process; asserts fail it."""
    return lambda source: run_python(PRELUDE + source, evaluator)


def test_it_is_built_by_cmake_and_runs(tmp_path: Path, run_python: Any) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("there is no cmake")
    build = str(tmp_path / "build")
    options = [f"-Dguardtree_DIR={Path(gt.get_include()).parent / 'cmake'}"]
    options.append(f"-DPython_EXECUTABLE={sys.executable}")
    options += ["-GNinja"] if shutil.which("ninja") else []
    for command in (["-S", str(EXAMPLE), "-B", build, *options], ["--build", build]):
        done = subprocess.run(
            [cmake, *command], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    built = next(Path(build).glob("evaluator*.so"))
    source = """
    evaluator.guard(slow, "type(a) is int", fast)
    with installed():
        assert slow(1)[0] == "fast"
    """
    run_python(PRELUDE + source.replace("\n    ", "\n"), str(built))


def test_the_first_entry_that_passes_is_called_with_the_same_arguments(
    run: Run,
) -> None:
    run(
        """
evaluator.guard(slow, "type(a) is int and b != 5", fast)
assert slow(1) == ("slow", 1, 2, 3)
with installed():
    assert slow(1) == ("fast", 1, 2, ("k", 3))
    assert slow(1, k=None, b=9) == ("fast", 1, 9, ("k", None))
    assert slow(True) == ("slow", True, 2, 3)
    assert slow(1, 5) == ("slow", 1, 5, 3)
    assert evaluator.counts(slow) == (2, 2)
    evaluator.guard(slow, "type(a) is int", lambda a, b, *, k: "second")
    evaluator.guard(slow, "type(b) is str", lambda a, b, *, k: (a, b, k))
    assert slow(1) == ("fast", 1, 2, ("k", 3))
    assert slow(1, 5) == "second"
    assert slow(None, "b", k=5) == (None, "b", 5)
assert slow(1) == ("slow", 1, 2, 3)
"""
    )


def test_an_exception_of_the_replacement_reaches_the_caller(run: Run) -> None:
    run(
        """
import traceback

evaluator.guard(slow, "type(a) is int", raises)
with installed():
    try:
        slow(1)
    except KeyError as error:
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        # From 3.14 on the frame that was left is in it as well.
        assert names[0] == "<module>" and names[-1] == "raises", names
        assert set(names) <= {"<module>", "slow", "raises"}, names
        assert error.__context__ is None
    else:
        raise AssertionError("nothing was raised")
    assert sys.exc_info() == (None, None, None)
    assert slow("a")[0] == "slow"
"""
    )


def test_frames_that_are_left_release_what_they_hold(run: Run) -> None:
    run(
        """
evaluator.guard(slow, "type(b) is int", fast)
evaluator.guard(slow, "type(b) is str", raises)
value = object()
with installed():
    before = sys.getrefcount(value), sys.getrefcount(slow.__code__)
    for _ in range(100):
        assert slow(value, k=value)[1] is value
        with contextlib.suppress(KeyError):
            slow(value, "b")
    assert (sys.getrefcount(value), sys.getrefcount(slow.__code__)) == before
    assert evaluator.counts(slow) == (200, 0)
"""
    )


@pytest.mark.skipif(
    not hasattr(sys, "monitoring"), reason="sys.monitoring came with 3.12"
)
def test_what_a_tool_raises_at_a_frame_that_is_left_reaches_the_caller(
    run: Run,
) -> None:
    run(
        """
def refuse(code, offset, exception):
    seen.append(type(exception))
    raise ZeroDivisionError

seen = []
throw = sys.monitoring.events.PY_THROW
sys.monitoring.use_tool_id(3, "test")
sys.monitoring.register_callback(3, throw, refuse)
evaluator.guard(slow, "type(a) is int", fast)
with installed():
    sys.monitoring.set_events(3, throw)
    try:
        slow(1)
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("nothing was raised")
    finally:
        sys.monitoring.set_events(3, 0)
    assert seen == [evaluator.FrameLeft]
    assert slow(1)[0] == "fast"
"""
    )


def test_replacements_may_recurse_and_guards_may_call_what_they_guard(
    run: Run,
) -> None:
    run(
        """
class Odd:
    @property
    def own(self):
        asked.append(slow(1))

asked = []
evaluator.guard(slow, "type(a) is int and a > 0", lambda a, b, *, k: slow(a - 1, b))
evaluator.guard(slow, "b.own is None", fast)
with installed():
    assert slow(50) == ("slow", 0, 2, 3)
    assert slow(None, Odd())[:2] == ("fast", None)
    assert asked == [("slow", 1, 2, 3)]  # while a look-up goes on frames run plain
    evaluator.guard(slow, "type(a) is int", lambda a, b, *, k: slow(a, b, k=k))
    try:
        slow(0)
    except RecursionError:
        pass
    else:
        raise AssertionError("no RecursionError")
    assert slow("a")[0] == "slow"
"""
    )


def test_a_replacement_may_forget_its_function(run: Run) -> None:
    run(
        """
def forget(a, b, *, k):
    evaluator.forget(slow)
    return "forgot", a

evaluator.guard(slow, "type(a) is int", forget)
with installed():
    assert slow(1) == ("forgot", 1)
    assert slow(1)[0] == "slow"
    for function in (slow, 3):
        try:
            evaluator.forget(function)
        except LookupError as error:
            assert "expected a guarded function" in str(error)
        else:
            raise AssertionError(function)
"""
    )


def test_threads_have_look_ups_of_their_own(run: Run) -> None:
    run(
        """
import threading

def work():
    results.extend(slow(number) for number in range(100))

results = []
evaluator.guard(slow, "type(a) is int", fast)
with installed():
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
expected = [("fast", number, 2, ("k", 3)) for number in range(100)]
assert sorted(results) == sorted(expected * 4)
"""
    )


REFUSED = [
    ("slow, 'type(a) is', fast", r"guardtree\.\w+|\w+Error"),
    ("slow, 'type(a) is int', 3", "TypeError: expected a callable, found 3"),
    ("3, 'type(a) is int', fast", "TypeError: .* must be function, not int"),
    ("fast, 'True', slow", r"ValueError: expected a function without \* and \*\*"),
    ("generator, 'True', fast", "ValueError: .* no generator or coroutine"),
    ("large, 'type(a0) is int', fast", "ValueError: .* at most 32 arguments"),
]


def test_what_cannot_be_guarded_is_refused(run: Run) -> None:
    run(
        f"""
import re

def generator(a):
    yield a

large = eval("lambda " + ", ".join(f"a{{i}}" for i in range(40)) + ": 1")
with installed():
    for arguments, problem in {REFUSED!r}:
        try:
            eval(f"evaluator.guard({{arguments}})")
        except Exception as error:
            text = f"{{type(error).__name__}}: {{error}}"
            assert re.match(problem, text), text
        else:
            raise AssertionError(arguments)
    assert slow(1) == ("slow", 1, 2, 3)
"""
    )
