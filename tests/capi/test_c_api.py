"""The C interface: outside clients, built here as anyone would build them, and run."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import guardtree as gt
import pytest

HERE = Path(__file__).resolve().parent
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def f(a: Any, b: Any = 2, *rest: Any, k: Any = 3) -> Any:
    return a


def calls() -> None:
    """Frames for an evaluator: two that pass type(a) is int and b == 2, and others."""
    f(1)
    f(1, b=2)
    f(True)
    assert list(number for number in (1, 2)) == [1, 2]  # noqa: C400


class Raises(dict[str, Any]):
    """A mapping whose items cannot be had."""

    def __getitem__(self, key: str) -> Any:
        return 1 // 0


def names() -> dict[str, Any]:
    """What the clients' tests are given."""
    guards = gt.GuardManager(f)
    guards.local("a").type_match(int)

    def make() -> Any:
        return eval("lambda a, b=2: a", {})

    return {"f": f, "guards": guards, "calls": calls, "make": make, "raises": Raises()}


Build = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`build("client", ...)`: the extension of tests/capi/client.c, in a folder of its
    own, against what the package gives alone."""

    def compile_it(
        name: str,
        *options: str,
        header: str | Path = "guardtree.h",
        language: tuple[str, ...] = ("-std=c99",),
    ) -> Path:
        folder = tmp_path_factory.mktemp(name)
        target = folder / f"{name}{SUFFIX}"
        include = sysconfig.get_path("include")
        command = [COMPILER, "-shared", "-fPIC", "-O1", *WARNINGS, *language, *options]
        command += ["-isystem", include, "-I", gt.get_include()]
        command += [f'-DGUARDTREE_HEADER="{header}"', str(HERE / f"{name}.c")]
        command += ["-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return target

    return compile_it


def load(path: Path) -> ModuleType:
    """A built extension, imported."""
    spec = importlib.util.spec_from_file_location(path.name.split(".")[0], path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_all(module: ModuleType) -> None:
    """Every test of a client, from first to last; the failures of all."""
    failures = []
    for name in module.tests():
        try:
            module.run(name, names())
        except Exception as error:  # noqa: BLE001
            failures.append(f"{name}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
    assert len(module.tests()) > 5


def test_a_client_in_c99(build: Build) -> None:
    run_all(load(build("client")))


def test_a_client_in_cpp20(build: Build) -> None:
    module = build("client", language=("-xc++", "-std=c++20"))
    run_all(load(module))


def test_the_function_of_the_readme(build: Build, tmp_path: Path) -> None:
    readme = (HERE.parents[1] / "README.md").read_text()
    function = readme.split("```c\n")[1].split("```")[0]
    (tmp_path / "kernel_for.h").write_text(f"static {function}")
    look_up = load(build("readme", "-I", str(tmp_path))).look_up
    assert look_up(f, "type(a) is int and b == 2", 1) == "kernel"
    assert look_up(f, "type(a) is int and b == 2", 1, 2, 3) == "kernel"
    assert look_up(f, "type(a) is int and b == 2", 1.0) is None
    assert look_up(f, "type(a) is int and b == 2", 1, 3) is None
    assert look_up(f, "type(a) is int") is None  # no call of f


def test_a_client_of_the_first_header(build: Build) -> None:
    """It was built against the header as it was first: the table only grows."""
    run_all(load(build("client", header=HERE / "guardtree_1.h")))


@pytest.fixture
def quiet_unraisable(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    seen: list[str] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda it: seen.append(str(it.exc_value))
    )
    yield seen


def test_a_hostile_client_meets_errors(
    build: Build, quiet_unraisable: list[str]
) -> None:
    run_all(load(build("hostile")))
    assert "of a destructor" in quiet_unraisable


def test_a_client_takes_what_guards_checked(build: Build) -> None:
    run_all(load(build("captured")))


def pointer_of(capsule: Any) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, b"guardtree._C_API"))


def table_like(change: Callable[[Any], bytes]) -> Any:
    """A capsule of a table made of ours, which lives as long as the process."""
    present = pointer_of(gt._C_API)
    size = ctypes.c_size_t.from_address(present + 8).value
    table = bytearray(ctypes.string_at(present, size))
    made = ctypes.create_string_buffer(bytes(change(table)))
    KEPT.append(made)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.addressof(made), b"guardtree._C_API", None)


KEPT: list[Any] = []


def with_size(table: bytearray, size: int) -> bytes:
    return bytes(table[:8] + size.to_bytes(8, sys.byteorder) + table[16:])


def test_an_older_client_runs_with_a_longer_table(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = table_like(lambda table: with_size(table, len(table) + 64) + bytes(64))
    monkeypatch.setattr(gt, "_C_API", longer)
    run_all(load(build("client", header=HERE / "guardtree_1.h")))


def test_a_newer_client_says_what_is_wrong(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorter = table_like(lambda table: with_size(table, len(table) - 8))
    monkeypatch.setattr(gt, "_C_API", shorter)
    path = build("client")
    with pytest.raises(ImportError, match="older than the one .* install a newer"):
        load(path)
    monkeypatch.setattr(gt, "_C_API", table_like(lambda table: b"\7" + table[1:]))
    with pytest.raises(ImportError, match="C interface 1, the installed .* has 7"):
        load(path)
    monkeypatch.delattr(gt, "_C_API")
    with pytest.raises(ImportError, match="no C interface"):
        load(path)


def test_an_outside_cmake_project_is_built(tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("there is no cmake")

    def run(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    told = run(sys.executable, "-m", "guardtree", "--cmake-dir")
    assert run(sys.executable, "-m", "guardtree", "--include") == gt.get_include()
    build, version = str(tmp_path / "build"), gt.__version__
    run(
        cmake,
        *("-S", str(HERE / "outside"), "-B", build, f"-Dguardtree_DIR={told}"),
        *(f"-DWANTED_VERSION={version}", f"-DSOURCE={HERE}"),
        f"-DPython_EXECUTABLE={sys.executable}",
        *(["-GNinja"] if shutil.which("ninja") else []),
    )
    run(cmake, "--build", build)
    run_all(load(next((tmp_path / "build").glob("client*.so"))))


def test_an_outside_setuptools_package_is_built_and_runs(
    tmp_path: Path, run_python: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed")
    for name in ("outside/pyproject.toml", "outside/setup.py", "client.c", "client.h"):
        shutil.copy(HERE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    run_python(Path("setup.py"), "-q", "build", "--build-lib", "built")
    run_python(
        """
        import sys
        sys.path[:0] = sys.argv[1:]
        import outside.client, test_c_api
        assert outside.client.__file__.startswith(sys.argv[1])
        test_c_api.run_all(outside.client)
        """,
        str(tmp_path / "built"),
        str(HERE),
    )
