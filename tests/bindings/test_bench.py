"""The benches run: smoke runs of the command and of the C++ program, nothing timed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from importlib.util import find_spec
from typing import Any

import guardtree as gt
import pytest


BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def binary() -> Path:
    """The C++ program; some builds lack it (no Development.Embed, no benches)."""
    sys.path.insert(0, str(BENCH))
    try:
        import evaluate
    finally:
        sys.path.remove(str(BENCH))

    found = evaluate.find_binary()
    if found is None:
        pytest.skip(evaluate.HOW_TO_BUILD)
    return found


def run_smoke(run_python: Callable[..., Any], *arguments: str) -> Any:
    """`python bench/run.py --smoke ...`."""
    return run_python(BENCH / "run.py", "--smoke", *arguments)


@pytest.fixture(scope="module")
def results(
    run_python: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
    binary: Path,
) -> tuple[Any, Path]:
    """One smoke run of the whole command: the process, and the folder it wrote to."""
    folder = tmp_path_factory.mktemp("bench") / "results"
    return run_smoke(run_python, "--output", str(folder)), folder


def test_smoke_run_writes_its_files(results: tuple[Any, Path]) -> None:
    done, folder = results
    assert "its numbers mean nothing" in done.stderr
    assert "MISSED" not in done.stdout
    (table,) = folder.glob("bench-*.md")
    text = table.read_text()
    for title in (
        "A hit through the hook",
        "A dict that exists",
        "A dict built for the call",
        "Kinds and steps",
    ):
        assert title in text


def can_run(entry: dict[str, Any]) -> bool:
    """Some example needs no library that is not here; torch is never there."""
    absent = ["torch."] + (["numpy"] if find_spec("numpy") is None else [])
    return any(
        not any(name in " ".join(example) for name in absent)
        for example in entry["examples"]
    )


def test_a_debug_build_says_so() -> None:
    """Benchmarks refuse one, and the ceilings of instructions are not for it."""
    cache = Path(gt.__file__).absolute().parents[2] / "CMakeCache.txt"
    if not cache.exists():
        pytest.skip("the package is not in the folder that it was built in")
    is_debug = "CMAKE_BUILD_TYPE:STRING=Debug\n" in cache.read_text()
    assert gt.features()["optimized"] is not is_debug


def test_json_has_every_kind_and_step(
    run_python: Callable[..., Any], tmp_path: Path, binary: Path
) -> None:
    from guardtree import _guardtree

    done = run_smoke(run_python, "--json", "--output", str(tmp_path))
    measured = " ".join(json.loads(done.stdout)["check"])
    for kind in filter(can_run, _guardtree._kinds()):
        assert f"kind/{kind['name']}(" in measured
    for step in filter(can_run, _guardtree._steps()):
        assert f"step/{step['name']}(" in measured


def test_plot_is_drawn_where_matplotlib_is(results: tuple[Any, Path]) -> None:
    pytest.importorskip("matplotlib")
    sweep, entries = sorted(results[1].glob("bench-*.svg"), key=lambda p: len(p.name))
    assert "times as long as raw slots" in sweep.read_text()
    assert "guards of all entries in turn" in entries.read_text()


def test_without_the_program_the_hook_is_measured(
    run_python: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUARDTREE_BENCH", str(tmp_path / "absent"))
    done = run_smoke(run_python, "--output", str(tmp_path))
    assert "dev.py bench" in done.stderr
    assert "A hit through the hook" in done.stdout


@pytest.mark.parametrize("words", [(), ("--build",)], ids=["all", "build"])
def test_an_installed_package_measures_the_hook_and_building(
    run_python: Callable[..., Any], tmp_path: Path, words: tuple[str, ...]
) -> None:
    source = """
        import os, sys
        from guardtree.bench import main
        os.chdir(sys.argv.pop())
        sys.exit(main(sys.argv[1:]))
    """
    done = run_python(source, "--smoke", *words, str(tmp_path))
    assert "its numbers mean nothing" in done.stderr
    assert "At most 500 ns and 120 bytes a value" in done.stdout
    assert ("check(mapping) from Python" in done.stdout) is not bool(words)
    assert not list(tmp_path.iterdir())


def test_every_benchmark_does_what_it_measures(binary: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(binary), "--smoke"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "benchmarks run" in done.stdout


def test_launches_are_measured(run_python: Callable[..., Any]) -> None:
    pytest.importorskip("numpy")
    done = run_python(BENCH / "dispatch.py", "--smoke", "--json")
    told = json.loads(done.stdout)
    assert len(told["launches"]) == 6
    assert all(row["Dispatcher"] for row in told["launches"].values())
    assert len(told["adding"]) == 2
