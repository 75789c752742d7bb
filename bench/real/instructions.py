"""What a check of a kept tree executes, as callgrind counts instructions.

Needs a release build and valgrind, and no torch:

    PYTHONPATH=<build>/python python bench/real/instructions.py [--json] [--write]

The trees are those of `trees/`, on objects that `lookalike.py` makes. Each runs in
processes of its own, in loops of two lengths; what they differ in is one check, as in
`bench/instructions.py`. `ceilings.json` has the most that a check may take, by CPython;
`--write` stores what was counted, with some room. The exit status tells whether a tree
is above its ceiling.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

if __name__ == "__main__":
    # As a part of the package, beside the modules that it shares with other benchmarks.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import callgrind

from real import lookalike

FEW, MANY = 20, 120
ROOM = 1.05
CEILINGS = Path(__file__).parent / "ceilings.json"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def run(name: str, count: int) -> int:
    """So many checks, in this process."""
    kept = lookalike.load(name)
    sys.modules.update(kept.modules)
    check, values = kept.guards.check, kept.locals
    if not all(check(values) for _ in range(5)):
        sys.exit(f"{name} does not pass: nothing to count")
    for _ in range(count):
        check(values)
    # Without the modules' own end: some of them are replaced.
    sys.stdout.flush()
    os._exit(0)


def count_all(name: str, times: int) -> int:
    """Instructions of a whole process."""
    return callgrind.count([sys.executable, __file__, "--run", name, str(times)], name)


def count_one(name: str) -> float:
    """Instructions of one check, the loop included."""
    return (count_all(name, MANY) - count_all(name, FEW)) / (MANY - FEW)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="store the ceilings")
    parser.add_argument("--only", nargs="+", choices=lookalike.names())
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Runs the command; its exit status."""
    options = arguments()
    if options.run:
        return run(options.run[0], int(options.run[1]))
    import guardtree as gt

    if not gt.features()["optimized"]:
        sys.exit("this guardtree is a debug build: its numbers would mean nothing")
    callgrind.require_valgrind()
    found = {name: count_one(name) for name in options.only or lookalike.names()}
    ceilings = json.loads(CEILINGS.read_text()) if CEILINGS.exists() else {}
    known = ceilings.setdefault(VERSION, {})
    above = [name for name in found if found[name] > known.get(name, float("inf"))]
    if options.write:
        known |= {name: round(count * ROOM) for name, count in found.items()}
        CEILINGS.write_text(json.dumps(ceilings, indent=4, sort_keys=True) + "\n")
    if options.json:
        print(json.dumps(found))
    else:
        print(f"{'instructions of one check':36}{'':>12}{'ceiling':>12}")
        for name, count in found.items():
            most = known.get(name, "-")
            print(f"{name:36}{count:12.0f}{most:>12}{' ABOVE' * (name in above)}")
    return 1 if above and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
