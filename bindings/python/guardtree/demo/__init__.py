"""``python -m guardtree demo``: the standard library, specialised while it works."""

from __future__ import annotations

import json
import sys

from .. import set_policy
from ..progress import Progress
from .jit import MAX_ENTRIES, Jit
from .measure import Mismatch, time_jobs
from .report import make_report
from .show import show
from .workload import JOBS, MODULES, read_corpus


def run(files: int = 24, rounds: int = 8, as_json: bool = False) -> int:
    """The demo; returns an exit status."""
    corpus = read_corpus(files)
    jit = Jit(MODULES)
    prior = set_policy(entry_limit=MAX_ENTRIES, when_full="keep")
    try:
        with Progress("guardtree demo") as progress:
            jobs = time_jobs(JOBS, corpus, jit, rounds, progress)
        report = make_report(corpus, jobs, jit)
    except Mismatch as problem:
        print(f"guardtree demo: {problem}", file=sys.stderr)
        return 1
    finally:
        set_policy(**prior)
        jit.forget()
    if as_json:
        json.dump(report, sys.stdout, indent=1)
        print()
    else:
        show(report)
    return 0
