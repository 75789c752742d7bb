"""What guardtree.bytecode costs for a function of the standard library.

    PYTHONPATH=<build>/python python bench/break_costs.py [--every N]

Medians and 90th percentiles over every N-th code object of the standard library's
modules, in the thread's CPU time, each measured once: reading, reading and assembling,
verifying, finding the active `with` blocks, and breaking a function after one of its
instructions (chosen at random, seed 0), its continuation included.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from types import CodeType

from guardtree.bytecode import (
    NotResumable,
    Withs,
    assemble,
    graph_break,
    read,
    verify,
)


def codes() -> Iterator[CodeType]:
    """Every code object of the standard library's modules."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        work = [compile(path.read_bytes(), str(path), "exec")]
        while work:
            code = work.pop()
            yield code
            work += [each for each in code.co_consts if isinstance(each, CodeType)]


def breakable(code: CodeType, chosen: random.Random) -> int | None:
    """An offset at which the code can be broken; None where there is none."""
    offsets = [each.offset for each in read(code)]
    chosen.shuffle(offsets)
    for offset in offsets:
        try:
            graph_break(code.replace(), offset)
            return offset
        except NotResumable as error:
            if error.offset is None:
                break
    return None


def timed(jobs: list[Callable[[], object]]) -> list[float]:
    times = []
    for job in jobs:
        start = time.thread_time()
        job()
        times.append(time.thread_time() - start)
    return sorted(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=4)
    every = parser.parse_args().every
    warnings.simplefilter("ignore")
    found, chosen = [*codes()][::every], random.Random(0)
    offsets = [(code, breakable(code, chosen)) for code in found]
    # A copy of each: continuations are kept for the code object that they are of.
    functions = [(code.replace(), at) for code, at in offsets if at is not None]
    rows = {
        "read": [lambda code=code: read(code) for code in found],
        "read, assemble": [
            lambda code=code: assemble(read(code), code) for code in found
        ],
        "verify": [lambda code=code: verify(code, nested=False) for code in found],
        "active with blocks": [lambda code=code: Withs(code) for code in found],
        "graph_break": [lambda it=it: graph_break(*it) for it in functions],
    }
    gc.disable()
    print(f"CPython {sys.version.split()[0]}, ms, median and 90th percentile")
    for name, jobs in rows.items():
        times = timed(jobs)
        high = times[len(times) * 9 // 10]
        print(f"{name:20}{len(jobs):6}{median(times) * 1e3:8.3f}{high * 1e3:8.3f}")


if __name__ == "__main__":
    main()
