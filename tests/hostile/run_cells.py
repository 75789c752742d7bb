"""Runs cells of the matrix, each in a forked child that ends as an interpreter does.

    python run_cells.py CONDITION [ENTRY_POINT...]

Prints a line of JSON for each: the entry point, the exit status, what it wrote.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

import building
import c_interface
import callbacks
import dispatchers
import lookups
from conditions import CONDITIONS, applies, hook_works
from scene import ENTRY_POINTS, Act, Hook

import guardtree as gt

LISTED = (building, c_interface, callbacks, dispatchers, lookups)
AT_ONCE = 4
SECONDS = 60
SKIPPED = 77


def cell(name: str, condition: str) -> None:
    """One cell; what is wrong is raised."""
    if name.startswith("C ") and c_interface.client is None:
        sys.exit(SKIPPED)
    act = Act()
    gt.set_eval_frame(Hook.callback)
    case = ENTRY_POINTS[name](act)
    if not applies(condition, case):
        sys.exit(SKIPPED)
    hook_works()
    CONDITIONS[condition](case, act)
    hook_works()
    if condition != "daemon":
        gt.set_eval_frame(None)


def started(name: str, condition: str) -> tuple[int, Any]:
    """A child that runs a cell: its process, the file it writes to. In the child this
    returns process 0 when the cell is done."""
    output = tempfile.TemporaryFile()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        cell(name, condition)
    return child, output


def main() -> None:
    condition, *names = sys.argv[1:]
    waiting = list(names or ENTRY_POINTS)[::-1]
    running: dict[int, tuple[str, Any, float]] = {}
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            name = waiting.pop()
            child, output = started(name, condition)
            if child == 0:
                return
            running[child] = name, output, time.monotonic() + SECONDS
        for child, (name, output, deadline) in list(running.items()):
            done, status = os.waitpid(child, os.WNOHANG)
            if not done and time.monotonic() > deadline:
                os.kill(child, 9)
                done, status = os.waitpid(child, 0)
            if done:
                del running[child]
                output.seek(0)
                written = output.read().decode(errors="replace")[-3000:]
                code = os.waitstatus_to_exitcode(status)
                print(json.dumps([name, code, written]), flush=True)
        time.sleep(0.001)


if __name__ == "__main__":
    main()
