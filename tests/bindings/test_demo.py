"""`python -m guardtree`: the demo runs, tells the truth in JSON, and fails aloud."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import guardtree as gt

QUICK = ("demo", "--repeat", "1", "--files", "3")


def command(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """`python -m guardtree ...` in a fresh interpreter."""
    parent = str(Path(gt.__file__).absolute().parent.parent)
    inherited = os.environ.get("PYTHONPATH")
    paths = [parent, *([inherited] if inherited else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **settings}
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "guardtree", *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )


@cache
def report() -> dict[str, Any]:
    done = command(*QUICK, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_functions_are_specialised_and_hit() -> None:
    functions = report()["functions"]
    assert functions
    for each in functions:
        assert each["entries"]
        assert each["hits"] <= each["lookups"] <= each["hits"] + each["misses"]
        for entry in each["entries"]:
            assert entry["guards"] and entry["notes"], each["name"]
    assert sum(each["hits"] > 0 for each in functions) > len(functions) / 2


def test_look_ups_build_no_dict_and_entries_run_in_the_callers_frame() -> None:
    totals = report()["totals"]
    assert totals["dicts_built"] == totals["errors"] == totals["called"] == 0
    assert totals["substituted"] > 0


def test_a_tree_is_printed_and_a_miss_explained() -> None:
    tree = report()["tree"]
    assert tree["text"].startswith("guard tree\n  local(")
    assert "expected" in tree["explanation"] and "found" in tree["explanation"]


def test_a_function_that_is_called_in_two_ways_has_two_entries() -> None:
    both = report()["polymorphic"]
    assert len(both["hits"]) >= 2
    assert both["differences"]
    assert "expected" in both["explanation"]


def test_times_are_measured() -> None:
    ways = ["hooked", "specialised"]
    if gt.features()["guards_calls_by"] == "entry":
        ways.append("guarded")
    for each in report()["jobs"]:
        assert each["plain_ms"] > 0 and all(each[way] > 0 for way in ways)
    assert all(report()["speeds"][way] > 0 for way in ways)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"NO_COLOR": "1", "TERM": "dumb"},
        {"PYTHONIOENCODING": "ascii"},
        {"COLUMNS": "40"},
    ],
    ids=["plain", "no colour", "ascii", "narrow"],
)
def test_text_fits_100_columns_of_any_terminal(settings: dict[str, str]) -> None:
    done = command(*QUICK, **settings)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert "Functions that were specialised" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_another_result_ends_the_demo_with_a_message() -> None:
    program = """
        import guardtree.demo as demo
        from guardtree import get_eval_frame
        def fickle(corpus):
            "a job whose result depends on the hook"
            return get_eval_frame()
        demo.JOBS = (fickle,)
        raise SystemExit(demo.run(files=1, rounds=1))
    """
    lines = "\n".join(line[8:] for line in program.splitlines())
    parent = str(Path(gt.__file__).absolute().parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", lines],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": parent},
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "'fickle' gave another result" in done.stderr


def test_features_and_version_are_told() -> None:
    assert "cpython: 3." in command("features").stdout
    assert gt.__version__ in command("--version").stdout


@pytest.mark.parametrize("words", [(), ("nonsense",), ("demo", "--files", "0")])
def test_bad_words_are_refused_with_usage(words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert "usage: python -m guardtree" in done.stderr
    assert "Traceback" not in done.stderr
