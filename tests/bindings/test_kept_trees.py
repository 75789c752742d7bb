"""Trees that Dynamo built, kept as data: they pass on look-alikes, without torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import guardtree as gt
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.append(str(BENCH))

from real import lookalike  # noqa: E402


@pytest.fixture(params=lookalike.names())
def kept(request: pytest.FixtureRequest) -> lookalike.Kept:
    return lookalike.load(request.param)


def test_a_kept_tree_passes_on_its_lookalikes(kept: lookalike.Kept) -> None:
    assert [kept.check() for _ in range(3)] == [True] * 3


def test_no_guard_is_lost_but_those_of_torch(kept: lookalike.Kept) -> None:
    document = json.loads((lookalike.FOLDER / f"{file_of(kept)}.json").read_text())
    counts = kept.guards.counts()
    steps = {each["name"] for each in gt._guardtree._steps()} | {"global_", "absent"}
    # A tensor's facts became its type, which may be guarded anyhow.
    checks = {str(call) for call in document["calls"] if call[1] not in steps}
    assert counts.checks + counts.relations == len(checks)
    # Torch's state, and the gradients of an optimizer's parameters.
    gradients = 8 if kept.name in ("adam, part 3", "sgd, part 3") else 0
    assert kept.left_out <= 1 + gradients


def test_a_kept_tree_fails_without_each_of_its_locals(kept: lookalike.Kept) -> None:
    names = [*kept.locals]
    for name in names:
        value = kept.locals.pop(name)
        assert not kept.check(), name
        kept.locals[name] = object()
        assert not kept.check(), name
        kept.locals[name] = value
    assert kept.check()


def file_of(kept: lookalike.Kept) -> str:
    return kept.name.replace(", part ", "_")


def test_the_kept_trees_need_no_torch() -> None:
    program = "import sys; sys.modules['torch'] = None; sys.path.append(sys.argv[1])\n"
    program += "from real import lookalike; assert lookalike.load('linear').check()\n"
    package = str(Path(gt.__file__).absolute().parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, str(BENCH)],
        env={**os.environ, "PYTHONPATH": package},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_is_counted_runs() -> None:
    package = str(Path(gt.__file__).absolute().parent.parent)
    done = subprocess.run(
        [sys.executable, str(BENCH / "real/instructions.py"), "--run", "linear", "5"],
        env={**os.environ, "PYTHONPATH": package},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_each_kept_tree_has_a_ceiling() -> None:
    """On each CPython for which there is any."""
    ceilings = json.loads((BENCH / "real/ceilings.json").read_text())
    for version, known in ceilings.items():
        assert sorted(known) == lookalike.names(), version
