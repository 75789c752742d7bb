"""mypy --strict and pyright accept programs of users, and refuse wrong calls.

Checked are the program of every call, one of all kinds, steps and relations, the Python
blocks of pages, and examples/. A checker that is not installed is skipped.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Its code reads a local variable that only the guards bind.
PAGES.remove(ROOT / "docs/functions.md")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PACKAGE = Path(gt.__file__).parent


def run(command: list[Any], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def mypy(files: list[Path], folder: Path, *options: str, follow: str = "silent") -> str:
    """What mypy finds in the files, empty for nothing; errors of the package are not
    the user's, as when it is installed. All runs share what it knows of torch."""
    (folder / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {folder / 'path'}\nfollow_imports = {follow}\n"
        f"cache_dir = {folder.parent / 'mypy-cache'}\n"
        "[mypy-numpy.*,torch.*,triton.*,numba.*,optree.*,jax.*,helion.*]\n"
        "ignore_missing_imports = True\nfollow_imports = silent\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", *options, *files]
    done = run(command, folder)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@cache
def pyright_works() -> bool:
    """It is there, and has fetched the part that is written for Node."""
    if importlib.util.find_spec("pyright") is None or shutil.which("node") is None:
        return False
    return run([sys.executable, "-m", "pyright", "--version"], HERE).returncode == 0


def pyright(files: list[Path], folder: Path, *_: str) -> str:
    """The same of pyright."""
    settings = {
        "include": ["program"],
        "extraPaths": [str(folder / "path")],
        "reportMissingModuleSource": False,
        "reportMissingImports": "warning",  # of NumPy and others, which may be absent
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    (folder / "program").mkdir()
    for file in files:
        shutil.copy(file, folder / "program")
    command = [sys.executable, "-m", "pyright", "-p", folder]
    done = run([*command, "--pythonpath", sys.executable], folder)
    return "" if done.returncode == 0 else done.stdout + done.stderr


Checker = Callable[..., str]


@pytest.fixture(params=["mypy", "pyright"])
def checker(request: pytest.FixtureRequest, tmp_path: Path) -> Checker:
    """A type checker, which finds guardtree in an otherwise empty folder."""
    name = request.param
    if name == "mypy" and importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    if name == "pyright" and not pyright_works():
        pytest.skip("pyright is not installed, or has no Node")
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "guardtree").symlink_to(PACKAGE)
    return {"mypy": mypy, "pyright": pyright}[name]


def test_a_program_of_every_call_is_accepted(checker: Checker, tmp_path: Path) -> None:
    assert checker([HERE / "every_call.py"], tmp_path) == ""


def test_wrong_calls_are_refused(checker: Checker, tmp_path: Path) -> None:
    assert checker([HERE / "wrong_calls.py"], tmp_path) == ""


def test_the_program_of_every_call_runs(run_python: Any) -> None:
    run_python(HERE / "every_call.py")


def test_it_has_every_public_name() -> None:
    derived = {
        row["method"]
        for rows in (_guardtree._kinds(), _guardtree._steps(), _guardtree._relations())
        for row in rows
    }
    text = (HERE / "every_call.py").read_text()
    told = set(re.findall(r"\w+", text.split('"""', 2)[2]))
    for name in gt.__all__:
        assert name in told, name
        thing = getattr(gt, name)
        if inspect.isclass(thing) and thing.__module__ == "guardtree._guardtree":
            members = {each for each in vars(thing) if not each.startswith("_")}
            assert members - derived <= told, (name, members - derived - told)


def program_of_guards() -> str:
    """Each kind, step and relation with the operands of its first example."""
    lines = ["from typing import Any", "import guardtree as gt", ""]
    lines += ["pure_is_int: Any = None"]
    lines += ["native_is_int: Any = None", "native_type_of: Any = None"]
    lines += ["numpy: Any = None", ""]
    lines += ["def user(value: Any, other: Any) -> None: ...", ""]
    lines += ["guards = gt.GuardManager(user)"]
    lines += ["value, other = guards.local('value'), guards.local('other')"]
    for row in _guardtree._kinds():
        lines.append(f"value.{row['method']}({row['examples'][0][0]}).note('')")
    for row in _guardtree._steps():
        owner = "guards" if row["is_root"] else "value"
        lines.append(f"{owner}.{row['method']}({row['examples'][0][0]}).is_none()")
    for row in _guardtree._relations():
        given = ", ".join(filter(None, [row["examples"][0][0], "value", "other"]))
        lines.append(f"guards.{row['method']}({given}).is_none()")
    return "\n".join(lines) + "\n"


def test_kinds_steps_and_relations_are_accepted(
    checker: Checker, tmp_path: Path
) -> None:
    (tmp_path / "source").mkdir()
    program = tmp_path / "source" / "guards_of_all_kinds.py"
    program.write_text(program_of_guards())
    assert checker([program], tmp_path) == ""


def test_blocks_of_pages_are_accepted(checker: Checker, tmp_path: Path) -> None:
    """Their functions have no types, for brevity; all calls are checked."""
    (tmp_path / "source").mkdir()
    files = []
    text = "".join(page.read_text() for page in PAGES)
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    for number, block in enumerate(blocks):
        files.append(tmp_path / "source" / f"block_{number}.py")
        files[-1].write_text(block)
    assert files
    loose = ("--allow-untyped-defs", "--allow-untyped-calls", "--check-untyped-defs")
    assert checker(files, tmp_path, *loose, "--allow-untyped-decorators") == ""


@pytest.mark.skipif(not EXAMPLES, reason="there are no examples")
def test_examples_are_accepted(checker: Checker, tmp_path: Path) -> None:
    assert checker(EXAMPLES, tmp_path) == ""


def test_the_package_is_typed_itself(tmp_path: Path) -> None:
    """With mypy alone: what users' programs lean on has no errors of its own."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    sources = ROOT / "bindings/python/guardtree"
    options = ("--ignore-missing-imports",)
    assert mypy([sources], tmp_path, *options, follow="normal") == ""
