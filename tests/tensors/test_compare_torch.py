"""The benchmark against the peer: both engines guard the same, and the command runs."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.append(str(BENCH))

from changes import all_changes, changes_of  # noqa: E402
from engines import COMPARED, ENGINES, OURS, PEERS, Engine  # noqa: E402
from workload_costs import switched  # noqa: E402
from workloads import SMALL, Workload  # noqa: E402

pytestmark = pytest.mark.skipif(
    not gtt.has_plugin(), reason="no plugin: python -m guardtree.torch build"
)


def built(engine: Engine, workload: Workload) -> Any:
    """A tree that has passed often enough to keep what it keeps between checks."""
    with switched(engine):
        root = engine.build(workload, engine.plan(workload))
        assert [root.check(workload.values) for _ in range(3)] == [True] * 3
    return root


def said(engine: Engine, root: Any, workload: Workload) -> bool:
    with switched(engine):
        answer: bool = root.check(workload.values)
    return answer


@pytest.mark.parametrize("name", SMALL)
def test_both_engines_have_the_same_guards(name: str) -> None:
    workload = SMALL[name]()
    for engine in ENGINES:
        counts = engine.counts(built(engine, workload))
        assert counts["guards"] == len(workload.facts), engine.name


@pytest.mark.parametrize("name", ["sequential_100", "encoder_12"])
def test_of_a_model_tensors_alone_are_checked_again(name: str) -> None:
    workload = SMALL[name]()
    relied_on = built(COMPARED, workload).assumed()
    tensors = [fact for fact in workload.facts if fact.kind == "tensor_match"]
    assert len(workload.facts) - relied_on.assumed == len(tensors)
    assert relied_on.compared > 0


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("engine", (*OURS, PEERS[0]), ids=lambda engine: engine.name)
def test_each_change_of_a_fact_flips_the_verdict(engine: Engine, name: str) -> None:
    """But where the peer has a defect of its own."""
    workload = SMALL[name]()
    root = built(engine, workload)
    changed = 0
    for change in all_changes(workload):
        accepted = engine in PEERS and change.accepted_by == "peer"
        with change.applied():
            assert said(engine, root, workload) == accepted, change.name
        assert said(engine, root, workload), change.name
        changed += 1
    assert changed >= len(workload.facts)


@pytest.mark.parametrize("name", SMALL)
def test_a_change_makes_one_fact_false_and_no_other(name: str) -> None:
    workload, ours = SMALL[name](), OURS[0]
    for fact in workload.facts:
        others = [other for other in workload.facts if other is not fact]
        root = built(ours, dataclasses.replace(workload, facts=others))
        for change in changes_of(workload, fact):
            with change.applied():
                assert said(ours, root, workload), change.name


@pytest.mark.parametrize("name", ["sequential_100", "encoder_48"])
def test_recursive_tags_miss_only_classes_changed_in_place(name: str) -> None:
    """One miss switches them off for good: a new tree for each change."""
    workload, engine = SMALL[name](), PEERS[1]
    plan = engine.plan(workload)
    changes = list(all_changes(workload))
    for change in changes:
        root = engine.build(workload, plan)
        assert engine.can_have(root)
        assert [said(engine, root, workload) for _ in range(3)] == [True] * 3
        with change.applied():
            accepted = change.accepted_by != ""
            assert said(engine, root, workload) == accepted, change.name
    assert sum(change.accepted_by == "tags" for change in changes) >= 3


def test_the_command_measures_everything_for_a_moment() -> None:
    package = str(Path(gt.__file__).absolute().parent.parent)
    command = [sys.executable, str(BENCH / "compare_torch.py"), "--smoke", "--json"]
    done = subprocess.run(
        [*command, "--workloads", "two_tensors,encoder_12"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": package},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["environment"]["torch"] == torch.__version__
    for workload in found["workloads"].values():
        assert {engine.name for engine in OURS} <= set(workload["cpp"])
        for costs in (*workload["costs"].values(), workload["build"]):
            assert PEERS[0].name in costs
    assert "peer, tags" in found["workloads"]["1-layer encoder"]["costs"]["hit"]
    assert "numbers mean nothing" in done.stderr
