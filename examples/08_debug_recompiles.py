"""Why a function is compiled again and again: history, differences, a report."""

from __future__ import annotations

import tempfile
from pathlib import Path

import guardtree as gt


def train(batch: list[float], step: int) -> float:
    return sum(batch) / step


def compiled(batch: list[float], step: int) -> float:
    return sum(batch) / step


def compiler(
    frame: gt.Frame, cache_entry: gt.CacheEntry | None, frame_state: gt.FrameState
) -> gt.GuardedCode | None:
    if frame.f_code is not train.__code__:
        return None
    guards = gt.GuardManager(frame)
    guards.local("batch").type_match(list).length(len(frame.f_locals["batch"]))
    guards.local("step").equals(frame.f_locals["step"])  # it changes with each call
    return gt.GuardedCode(compiled.__code__, guards)


gt.set_policy(train, entry_limit=3)
with gt.record_history() as history, gt.optimize(compiler):
    for step in range(1, 6):
        train([1.0, 2.0], step)

for event in history.events:
    print(f"{event.what}: {event.text.splitlines()[-1].strip()}")
print("entries differ in:", list(gt.differences(train)))

call = {"batch": [1.0, 2.0], "step": 6}
report = gt.report(train, call, repeat=0, history=history)
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "report.html"
    report.save(page)  # open it in a browser
    print("the report is one file:", page.name, page.stat().st_size > 10_000)
