"""Every public operation while allocations fail: MemoryError or the right answer, and
nothing that was there before is damaged. sweep.py makes the calls.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import guardtree as gt

HERE = Path(__file__).resolve().parent
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
AT_ONCE = 2
WAYS = ("nomemory", "malloc")
IS_LONG = "GUARDTREE_TEST_LONG" in os.environ


def listed() -> tuple[ModuleType, ...]:
    """The modules that list trials, and those of hostile/ and growth/."""
    path = list(sys.path)
    sys.path.insert(0, str(HERE))
    try:
        names = ("trials", "cpython", "others", "known", "scene", "plain")
        return tuple(map(importlib.import_module, names))
    finally:
        sys.path[:] = path


trials, cpython, others, known, scene, plain = listed()
LIST = HERE / "known_failures.txt"
KNOWN = known.known_failures(LIST)
growth = sys.modules["growth_operations"]
# Of NumPy's tensors in one trial, or of torch's alone.
OF_TENSORS = ("data_aligned", "size", "storage_offset", "stride", "tensor_match")
NAMES = [name for name in trials.listed() if not name.startswith("CPython: ")]

Said = dict[str, list[str]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What failing_malloc.c becomes."""
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    target = tmp_path_factory.mktemp("failing") / "failing_malloc.so"
    command = [str(COMPILER), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    command += [str(HERE / "failing_malloc.c"), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def swept(hostile_client: Path, request: pytest.FixtureRequest) -> Any:
    """`swept(way)`: what is wrong with each trial, by name."""
    done: dict[str, Said] = {}
    package = str(Path(gt.__file__).absolute().parent.parent)
    parts = [package, str(hostile_client), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, parts))}

    def run(way: str) -> Said:
        if way not in done:
            added = {}
            if way == "malloc":
                added["LD_PRELOAD"] = str(request.getfixturevalue("library"))
            names = list(trials.listed())
            running = [
                subprocess.Popen(
                    [sys.executable, str(HERE / "sweep.py"), way, *names[i::AT_ONCE]],
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**environment, **added},
                )
                for i in range(AT_ONCE)
            ]
            written = [each.communicate()[0] for each in running]
            lines = [line for each in written for line in each.splitlines()]
            assert not any(each.returncode for each in running)
            done[way] = {
                name: [f"{how} {place}: {text}" for place, how, text in wrong]
                for name, _, wrong in map(json.loads, lines)
            }
        return done[way]

    return run


def demand(way: str) -> None:
    """Skips where allocations cannot be made to fail, or take too long for CI."""
    if sys.version_info[:2] != (3, 11) and not IS_LONG:
        pytest.skip("runs on CPython 3.11, and on others with --long")
    if way == "nomemory" and find_spec("_testcapi") is None:
        pytest.skip("this CPython has no module _testcapi")
    if way == "malloc" and COMPILER is None:
        pytest.skip("there is no C compiler")
    if way == "malloc" and "LD_PRELOAD" in os.environ:
        pytest.skip("another malloc is preloaded")


def text_of(said: str) -> str:
    return said.split(": ", 1)[1]


@pytest.mark.parametrize(
    ("way", "name"),
    [
        pytest.param(
            way,
            name,
            marks=[pytest.mark.xfail(strict=True)] * ((way, name) in KNOWN),
            id=f"{way}-{name}",
        )
        for way in WAYS
        for name in NAMES
    ],
)
def test_without_memory_it_raises_memory_error_or_is_right(
    way: str, name: str, swept: Any
) -> None:
    demand(way)
    wrong = [
        each
        for each in swept(way)[name]
        if not cpython.is_cpythons(way, name, text_of(each))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("way", "name"),
    [(way, name) for name, each in cpython.CONTROLS.items() for way in each.ways],
)
def test_cpython_does_the_same_without_guardtree(
    way: str, name: str, swept: Any
) -> None:
    control = cpython.CONTROLS[name]
    demand(way)
    said = swept(way)[f"CPython: {name}"]
    if not any(re.match(control.says, text_of(each)) for each in said):
        pytest.skip(f"this CPython does not: {said}")


def test_failures_in_kinds_inside_kinds_do_not_count_as_nesting(library: Path) -> None:
    """They nest at most 32 deep; a failed allocation ends all levels at once."""
    if "LD_PRELOAD" in os.environ:
        pytest.skip("another malloc is preloaded")
    program = """
import failing
import guardtree as gt

def make():
    gt.GuardManager(lambda x: 0).local("x").not_(("not_", ("equals", (1, 2))))

make()
way = failing.NoMalloc()
failures = 0
for place in range(1500):
    try:
        way.call(make, place % 50, "one")
    except MemoryError:
        failures += 1
assert failures > 500, failures
make()
"""
    package = str(Path(gt.__file__).absolute().parent.parent)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([package, str(HERE)]),
        "LD_PRELOAD": str(library),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_tried() -> None:
    """By itself, or as an attribute of what is."""
    tried = {name.split(":")[0].split(",")[0] for name in NAMES} | scene.COVERED
    tried |= {f"GuardManager.{name}" for name in [*growth.VALUES, *growth.STEPS]}
    of_objects = {
        name.removeprefix("attributes of ")
        for name in NAMES
        if name.startswith("attributes of ")
    }
    words = [*gt._guardtree._kinds(), *gt._guardtree._steps()]
    of_trees = {f"GuardManager.{each['method']}" for each in words}
    of_trees -= {f"GuardManager.{name}" for name in OF_TENSORS}
    missing = [
        name
        for name in plain.PLAIN
        if name not in tried
        and (name in of_trees or name.split(".")[0] not in of_objects)
        and name not in others.SETTINGS
        and plain.PLAIN[name] != plain.TYPE
    ]
    assert not missing


def test_known_failures_are_trials() -> None:
    assert KNOWN <= {(way, name) for way in WAYS for name in NAMES}


def test_a_first_callback_says_that_it_needs_memory(run_python: Any) -> None:
    """CPython makes the dict of a thread then, and says nothing where it cannot."""
    pytest.importorskip("_testcapi")
    run_python(
        """
        import _testcapi
        import guardtree as gt

        odd, held = [], [{} for _ in range(1000)]  # CPython keeps some free dicts
        for place in range(12):
            _testcapi.set_nomemory(place, place + 1)
            try:
                gt.set_eval_frame(False)
            except MemoryError:
                pass
            except Exception as error:
                odd.append((place, error))
            finally:
                _testcapi.remove_mem_hooks()
        assert not odd, odd
        """
    )
