"""Fixtures of the Python tests: a clean hook, callbacks for one function, processes."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, ClassVar

import pytest

# greenlet copies stacks, with the red zones in them, and AddressSanitizer stops it.
if "asan" in os.environ.get("LD_PRELOAD", ""):
    sys.modules["greenlet"] = None  # type: ignore[assignment]

EXAMPLE = Path(__file__).resolve().parents[1] / "capi/examples/evaluator"
CLIENT = Path(__file__).with_name("hostile") / "client.c"

Code = CodeType | FunctionType
Answer = Callable[[Any, Any, dict[str, Any]], Any]


def code_of(target: Code) -> CodeType:
    """The code object of a function, or the code object itself."""
    return target if isinstance(target, CodeType) else target.__code__


class OnlyFor:
    """A callback that answers for one code object and asks again for all others.

    The answer for the others is never None: None would mark code of pytest and of
    the standard library as skipped for the rest of the process. The code of a test's
    inner functions is one object for all of the test's parameters, so `hook` resets
    what was used.
    """

    used: ClassVar[list[CodeType]] = []

    def __init__(self, target: Code, answer: Answer) -> None:
        self.code = code_of(target)
        self.used.append(self.code)
        self.answer = answer
        self.calls = 0

    def __call__(self, frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        import guardtree as gt

        if frame.f_code is not self.code:
            return gt.ASK_AGAIN
        self.calls += 1
        return self.answer(frame, entry, state)


def settings() -> dict[str, object]:
    """What holds for this thread and process; nothing before guardtree is imported."""
    if "guardtree" not in sys.modules:
        return {}
    import guardtree as gt

    assumes = gt.set_assumptions(True)
    gt.set_assumptions(assumes)
    return {
        "callback": gt.get_eval_frame(),
        "policy": gt.get_policy(),
        "assumptions": assumes,
    }


@pytest.fixture(autouse=True)
def settings_stay() -> Iterator[None]:
    """Fails a test that leaves settings behind which others would run under."""
    before = settings()
    yield
    after = settings()
    if before and after != before:
        import guardtree as gt

        gt.set_eval_frame(None)  # so that this test alone fails
    assert not before or after == before, "the test left a setting behind"


@pytest.fixture
def hook() -> Iterator[None]:
    """Fails a test that leaves a callback or the evaluator behind, and cleans up.

    Hypothesis has a function called at each collection: tests that count what a
    callback is asked about would count that, too.
    """
    import guardtree as gt
    from guardtree import _guardtree

    at_collections, gc.callbacks[:] = gc.callbacks[:], []
    yield
    gc.callbacks[:] = at_collections
    _guardtree._force_called(False)
    prior = gt.set_eval_frame(None)
    while OnlyFor.used:
        gt.reset_code(OnlyFor.used.pop())
    assert prior is None, f"the test left the callback {prior!r} installed"
    assert not _guardtree._hook_installed(), "the test left the evaluator installed"


@pytest.fixture(params=["substituted", "called"])
def path(request: pytest.FixtureRequest, hook: None) -> Iterator[str]:
    """Runs a test on both ways of running an entry's code; the value is the counter
    of `code_stats` which has to move."""
    from guardtree import _guardtree

    _guardtree._force_called(request.param == "called")
    yield request.param
    _guardtree._force_called(False)


@pytest.fixture
def default_policy(hook: None) -> Iterator[None]:
    """Puts the default policy back."""
    import guardtree as gt

    prior = gt.get_policy()
    yield
    gt.set_policy(**prior)


@pytest.fixture
def only(hook: None) -> type[OnlyFor]:
    """`only(fn, answer)`: a callback that answers for fn and counts how often."""
    return OnlyFor


@pytest.fixture
def swap(hook: None) -> Callable[..., OnlyFor]:
    """`swap(fn, replacement, guards)`: a callback that replaces one function.

    Without guards the entry has an empty tree, which always passes.
    """
    import guardtree as gt

    def make(original: Code, replacement: Code, guards: Any = None) -> OnlyFor:
        old, new = code_of(original), code_of(replacement)
        check = gt.GuardManager(old) if guards is None else guards
        return OnlyFor(old, lambda frame, entry, state: gt.GuardedCode(new, check))

    return make


@pytest.fixture
def fresh() -> Callable[..., Any]:
    """`fresh(source, name)`: what exec makes of source under that name.

    The code object of a function that a test defines inside itself lives as long as
    the test's own code does; one made here dies with the function.
    """

    def make(source: str, name: str, **names: Any) -> Any:
        namespace: dict[str, Any] = dict(names)
        exec(textwrap.dedent(source), namespace)
        return namespace.pop(name)

    return make


@pytest.fixture(scope="session")
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run_python(source, ...)`: the source in a fresh interpreter.

    Anything that might crash runs this way, so that a crash is one failing test.
    A status other than `status` (None: any) fails with what the child wrote.
    """
    import guardtree as gt

    # Not resolved: a build stages the package as links to its sources.
    package_parent = str(Path(gt.__file__).absolute().parent.parent)

    def run(
        source: str | Path, *args: str, status: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ)
        inherited = environment.get("PYTHONPATH")
        parts = [package_parent, *([inherited] if inherited else [])]
        environment["PYTHONPATH"] = os.pathsep.join(parts)
        program = (
            [str(source)]
            if isinstance(source, Path)
            else ["-c", textwrap.dedent(source)]
        )
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", *program, *args],
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
            check=False,
        )
        if status is not None:
            assert done.returncode == status, (
                f"status {done.returncode}\n{done.stdout}\n{done.stderr[-4000:]}"
            )
        return done

    return run


@pytest.fixture(scope="session")
def evaluator(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the example's frame evaluator, built as its README says."""
    import guardtree as gt

    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    target = tmp_path_factory.mktemp("evaluator") / f"evaluator{suffix}"
    command = [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra"]
    command += ["-Werror", "-pedantic", "-isystem", sysconfig.get_path("include")]
    command += ["-I", gt.get_include(), str(EXAMPLE / "evaluator.cpp")]
    command += ["-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(target)


@pytest.fixture(scope="session")
def hostile_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the extension that hostile/client.c becomes; without a compiler it
    is empty."""
    import guardtree as gt

    folder = tmp_path_factory.mktemp("client")
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is not None:
        target = folder / f"client{sysconfig.get_config_var('EXT_SUFFIX')}"
        command = [compiler, "-std=c99", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra"]
        command += ["-Werror", "-isystem", sysconfig.get_path("include")]
        command += ["-I", gt.get_include(), str(CLIENT), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder
