"""What a call costs under the hook, and what ``check`` costs from Python (hook_hit)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import guardtree as gt

from ..progress import Tell, tell_nobody
from .rounds import EMPTY, EMPTY_CHECK, TRIVIAL, Batch, Plan, Spread


@dataclass(frozen=True)
class HookCost:
    """Nanoseconds per call that a hit adds, and what is promised of it."""

    arguments: int
    guards: str
    over_pass_through: Spread | None
    over_plain: Spread
    limit_over_pass_through: float
    limit_over_plain: float


@dataclass(frozen=True)
class HookResult:
    """Everything measured from Python."""

    hits: list[HookCost]
    plain: dict[int, Spread]  # gross, the loop included
    pass_through: dict[int, Spread]  # over a plain call; empty without the baseline
    checks: dict[str, Spread]  # over an empty loop
    check_over_lambda: Spread  # check of an empty guard over a call of a lambda
    rounds_kept: int
    rounds_run: int


def jit_is_on() -> bool:
    """Whether CPython's own JIT compiles in this process."""
    jit = getattr(sys, "_jit", None)
    return bool(jit and jit.is_enabled())


def limits(guards: str) -> tuple[float, float]:
    """What is promised: ns over the pass-through function, ns over a plain call."""
    extra = 5.0 if jit_is_on() else 0.0
    return (8.0, 25.0 + extra) if guards == "empty" else (10.0, 30.0 + extra)


def costs(batches: list[Batch], has_baseline: bool) -> list[HookCost]:
    """The table's rows out of all batches."""

    def spread(name: str, baseline: str) -> Spread:
        return Spread.of([batch.difference(name, baseline) for batch in batches])

    rows = []
    for arguments in (1, 2):
        for guards in ("empty", "type_match"):
            name = f"hit_{guards}{arguments}"
            over_pass, over_plain = limits(guards)
            row = HookCost(
                arguments=arguments,
                guards=guards,
                over_pass_through=(
                    spread(name, f"pass_through{arguments}") if has_baseline else None
                ),
                over_plain=spread(name, f"plain{arguments}"),
                limit_over_pass_through=over_pass,
                limit_over_plain=over_plain,
            )
            rows.append(row)
    return rows


def run_in_process(plan: Plan, folder: Path | None, number: int) -> dict[str, Batch]:
    """One batch (batch.py) in a new interpreter like this one."""
    package_parent = str(Path(gt.__file__).absolute().parents[1])
    inherited = os.environ.get("PYTHONPATH")
    paths = [package_parent, *([inherited] if inherited else [])]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
    environment["PYTHONHASHSEED"] = str(number)
    wanted = json.dumps([asdict(plan), str(folder) if folder else None])
    done = subprocess.run(
        [sys.executable, "-m", "guardtree.bench.batch", wanted],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"a batch failed: {done.stderr.strip()}")
    return {name: Batch(times) for name, times in json.loads(done.stdout).items()}


def measure(plan: Plan, folder: Path | None, tell: Tell = tell_nobody) -> HookResult:
    """Runs all batches."""
    runs = []
    for number in range(plan.batches):
        tell(f"calls under the hook, batch {number + 1} of {plan.batches}")
        runs.append(run_in_process(plan, folder, number))
    batches = [run["calls"] for run in runs]
    checks = [run["checks"] for run in runs]

    def spread(among: list[Batch], name: str, other: str) -> Spread:
        return Spread.of([batch.difference(name, other) for batch in among])

    def gross(name: str) -> Spread:
        return Spread.of([median(batch.times[name]) for batch in batches])

    names = [name for name in checks[0].times if name != EMPTY.name]
    has_baseline = "pass_through1" in batches[0].times
    passing = (1, 2) if has_baseline else ()
    return HookResult(
        hits=costs(batches, has_baseline),
        plain={count: gross(f"plain{count}") for count in (1, 2)},
        pass_through={
            count: spread(batches, f"pass_through{count}", f"plain{count}")
            for count in passing
        },
        checks={name: spread(checks, name, EMPTY.name) for name in names},
        check_over_lambda=spread(checks, EMPTY_CHECK, TRIVIAL),
        rounds_kept=sum(len(batch.kept()) for batch in batches),
        rounds_run=plan.rounds * plan.batches,
    )
