"""How programs that tests run begin: a function whose calls the hook replaces."""

from __future__ import annotations

HOOKED = """
import guardtree as gt

def f(a):
    return "plain"

def hit(a):
    return "hit"

def callback(frame, entry, state):
    if frame.f_code is f.__code__:
        return gt.GuardedCode(hit.__code__, gt.GuardManager(frame.f_code))
    return gt.ASK_AGAIN
"""
