"""Runs the C++ benchmarks (bench_evaluate) and keeps what tables and plot need."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import guardtree as gt

BINARY = "bench_evaluate"
VARIABLE = "GUARDTREE_BENCH"
HOW_TO_BUILD = (
    f"{BINARY} was not found: 'python3 dev.py bench' builds and runs it, or set "
    f"{VARIABLE} to the program (in the bench folder of a release build)"
)

SECONDS = 0.002  # the least time of one benchmark in one round
ROUNDS = 9

# Google Benchmark adds a run's settings to its name.
SETTINGS = re.compile(r"/(min_time|iterations|repeats):[^/]*$")
CELL = re.compile(r"evaluate/(raw|dict|built_dict)/locals:(\d+)/guards:(\d+)$")

Cell = tuple[int, int]


@dataclass
class Rounds:
    """Nanoseconds of every benchmark, one number for each round."""

    times: dict[str, list[float]] = field(default_factory=dict)
    checks: dict[str, list[float]] = field(default_factory=dict)
    bytes: dict[str, float] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)

    def add(self, document: dict[str, Any]) -> None:
        """Takes in one run of the program."""
        self.context = document["context"]
        for run in document["benchmarks"]:
            if run.get("error_occurred") or run.get("skipped"):
                raise RuntimeError(f"{run['name']}: {run.get('error_message')}")
            name = SETTINGS.sub("", run["name"])
            self.times.setdefault(name, []).append(run["cpu_time"])
            if "check" in run:
                self.checks.setdefault(name, []).append(run["check"] * 1e9)
            if "bytes" in run:
                self.bytes[name] = run["bytes"]

    def time(self, name: str) -> float:
        """The median over the rounds."""
        return median(self.times[name])

    def check(self, name: str) -> float:
        """The median time of one check, where a program has several alike."""
        return median(self.checks[name])

    def cells(self) -> list[Cell]:
        """The sweep's (locals, guards), in order."""
        found = {
            (int(match[2]), int(match[3]))
            for match in map(CELL.match, self.times)
            if match
        }
        return sorted(found)

    def ratio(self, form: str, cell: Cell) -> float:
        """How many times as long as raw slots: the median of the rounds' own ratios."""
        where = f"locals:{cell[0]}/guards:{cell[1]}"
        slow = self.times[f"evaluate/{form}/{where}"]
        fast = self.times[f"evaluate/raw/{where}"]
        return median(theirs / ours for theirs, ours in zip(slow, fast, strict=True))


def bench_folder() -> Path | None:
    """The bench folder of the build that this package is staged in."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).absolute().parent
    # Not resolved: a build stages the package as links to its sources.
    staged = Path(gt.__file__).absolute().parents[2] / "bench"
    return staged if staged.is_dir() else None


def find_binary() -> Path | None:
    """The program that the variable names, or that was built with this package."""
    given = os.environ.get(VARIABLE)
    folder = bench_folder()
    path = Path(given).absolute() if given else folder / BINARY if folder else None
    return path if path and os.access(path, os.X_OK) and path.is_file() else None


def run(binary: Path, *options: str) -> dict[str, Any]:
    """One run of the program; RuntimeError with its own words where it refuses."""
    command = [str(binary), "--benchmark_format=json", *options]
    # It starts the CPython it was built for: this one's settings are not for it.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{binary} gave {done.returncode}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def measure(binary: Path, smoke: bool, only: str = "") -> Rounds:
    """All benchmarks, or those whose names begin with ``only``, round by round."""
    rounds = Rounds()
    options = ["--smoke"] if smoke else [f"--seconds={SECONDS}"]
    if only:
        options.append(f"--benchmark_filter=^{only}")
    for _ in range(1 if smoke else ROUNDS):
        rounds.add(run(binary, *options))
    return rounds
