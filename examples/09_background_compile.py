"""Compile in another thread: calls run the original code until the entry is there."""

from __future__ import annotations

import threading

import guardtree as gt


def work(x: int) -> int:
    return sum(range(x + 1))


def closed_form(x: int) -> int:
    return x * (x + 1) // 2


jobs: list[threading.Thread] = []


def compile_later(guards: gt.GuardManager) -> None:
    gt.add_entry(work, gt.GuardedCode(closed_form.__code__, guards))


def compiler(
    frame: gt.Frame, cache_entry: gt.CacheEntry | None, frame_state: gt.FrameState
) -> gt.GuardedCode | gt.Answer | None:
    if frame.f_code is not work.__code__:
        return None
    if not frame_state.get("started"):
        frame_state["started"] = True
        guards = gt.GuardManager(work)
        guards.local("x").type_match(int)
        jobs.append(threading.Thread(target=compile_later, args=(guards,)))
        jobs[-1].start()
    return gt.ASK_AGAIN


with gt.optimize(compiler):
    print("while it compiles:", work(1000))
    jobs[0].join()
    print("afterwards:", work(1000), work(2000))
(entry,) = gt.cache_entries(work)
print("hits:", entry.hits)
