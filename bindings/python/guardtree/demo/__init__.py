"""``python -m guardtree demo``: the standard library, specialised while it works."""

from __future__ import annotations

import json
import sys

from .. import set_policy
from .compiler import Compiler
from .measure import Mismatch, time_function, time_tasks
from .report import make_report
from .show import show
from .workload import MODULES, TASKS, read_corpus

MOST_ENTRIES = 6


def run(files: int = 24, rounds: int = 8, as_json: bool = False) -> int:
    """The demo; returns an exit status."""
    corpus = read_corpus(files)
    compiler = Compiler(MODULES)
    prior = set_policy(entry_limit=MOST_ENTRIES, when_full="keep")
    try:
        tasks = time_tasks(TASKS, corpus, compiler, rounds)
        functions = [each for each in compiler.functions.values() if each.entries]
        times = {each.name: time_function(each, rounds) for each in functions}
        report = make_report(corpus, tasks, compiler, times)
    except Mismatch as problem:
        print(f"guardtree demo: {problem}", file=sys.stderr)
        return 1
    finally:
        set_policy(**prior)
        compiler.forget()
    if as_json:
        json.dump(report, sys.stdout, indent=1)
        print()
    else:
        show(report)
    return 0
