"""Every entry point that runs user code, in every condition (conditions.py).

The list is in lookups.py, building.py, callbacks.py and c_interface.py; plain.py has
the rest of the API. All cells of a condition run in children of one process when the
first of them is asked for.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import guardtree as gt

HERE = Path(__file__).resolve().parent
SPECIAL = ("__init__", "__call__", "__eq__", "__hash__", "__repr__", "__str__")
SPECIAL += ("__len__", "__iter__", "__enter__", "__exit__", "__reduce__")


Cells = dict[str, tuple[int, str]]


@pytest.fixture(scope="module")
def cells(hostile_client: Path) -> Any:
    """`cells(condition)`: what each entry point did in it, by name."""
    done: dict[str, Cells] = {}
    package = str(Path(gt.__file__).absolute().parent.parent)
    parts = [package, str(hostile_client), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, parts))}

    def run(condition: str) -> Cells:
        if condition not in done:
            command = [sys.executable, "-X", "faulthandler"]
            ran = subprocess.run(
                [*command, str(HERE / "run_cells.py"), condition],
                capture_output=True,
                text=True,
                env=environment,
                timeout=600,
                check=False,
            )
            assert ran.returncode == 0, ran.stderr
            lines = map(json.loads, ran.stdout.splitlines())
            done[condition] = {name: (status, said) for name, status, said in lines}
        return done[condition]

    return run


def listed() -> tuple[ModuleType, ...]:
    """The modules that list entry points and conditions."""
    names = ("scene", "conditions", "plain", "known", "run_cells")
    sys.path.insert(0, str(HERE))
    try:
        return tuple(map(importlib.import_module, names))
    finally:
        sys.path.remove(str(HERE))


scene, conditions, plain, known, run_cells = listed()
KNOWN = known.known_failures()
NAMES = [*scene.ENTRY_POINTS]


def parameters() -> list[Any]:
    """All cells; those that are known to fail are expected to."""
    return [
        pytest.param(
            condition,
            name,
            marks=[pytest.mark.xfail(strict=True)] * ((condition, name) in KNOWN),
            id=f"{condition}-{name}",
        )
        for condition in conditions.CONDITIONS
        for name in NAMES
    ]


@pytest.mark.parametrize(("condition", "name"), parameters())
def test_user_code_may_do_this_inside_a_call(
    condition: str, name: str, cells: Any
) -> None:
    if condition == "greenlet":
        if find_spec("greenlet") is None:
            pytest.skip("needs greenlet")
    status, said = cells(condition)[name]
    if status == run_cells.SKIPPED:
        pytest.skip("nothing to do this to, or no C compiler")
    assert status == 0, f"exit status {status}\n{said}"
    assert not said.strip(), said


def public_names() -> set[str]:
    """The names of the package, and Class.member for what its classes have."""
    found, seen = set(), set()
    for name in gt.__all__:
        each = getattr(gt, name)
        if not isinstance(each, type):
            found.add(name)
        elif id(each) not in seen:
            seen.add(id(each))
            found |= {
                f"{each.__name__}.{member}"
                for member in vars(each)
                if not member.startswith("_") or member in SPECIAL
            }
    return found


def is_inherited(name: str) -> bool:
    """A special method that says nothing of its own: object's, or pybind11's."""
    owner, _, member = name.partition(".")
    inherited = getattr(object, member, None)
    return inherited is not None and getattr(getattr(gt, owner), member) is inherited


def test_every_public_name_is_listed() -> None:
    names, listed = public_names(), scene.COVERED | plain.PLAIN.keys()
    missing = sorted(name for name in names - listed if not is_inherited(name))
    assert not missing, (
        "these run user code, and need an entry point, or do not, and belong into "
        f"plain.py: {missing}"
    )
    # Members that only some versions or platforms have may be listed and absent.
    absent = sorted(each for each in listed - names if not hasattr_of(each))
    assert not absent, f"these are listed, and there is no such name: {absent}"
    both = sorted(scene.COVERED & plain.PLAIN.keys())
    assert not both, f"these are listed as both: {both}"


def test_kinds_and_steps_that_run_user_code_are_not_listed_as_plain() -> None:
    words = [*gt._guardtree._kinds(), *gt._guardtree._steps()]
    run = {f"GuardManager.{each['method']}" for each in words if each["calls_python"]}
    assert not sorted(run & plain.PLAIN.keys())


def hasattr_of(name: str) -> bool:
    """Whether there is such a name, inherited or not."""
    owner, _, member = name.partition(".")
    return hasattr(gt, owner) and (not member or hasattr(getattr(gt, owner), member))


def test_known_failures_are_cells() -> None:
    cells = {(condition, name) for condition in conditions.CONDITIONS for name in NAMES}
    assert KNOWN <= cells, f"there are no such cells: {sorted(KNOWN - cells)}"
