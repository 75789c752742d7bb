"""What things cost on this interpreter, measured: the compiler's idea of a gain."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from time import thread_time_ns
from typing import Any

LOOPS = 2000
ROUNDS = 7


@dataclass(frozen=True)
class Costs:
    """Nanoseconds. The defaults are those of a slow build of CPython 3.11."""

    check: float = 9.0  # `name is <object>`, and a jump
    member_check: float = 12.0  # `module.name is <object>`
    code_check: float = 28.0  # `function.__code__ is <code>`
    isinstance_call: float = 30.0
    conversion: float = 25.0  # `int(x)` of an int, os.fspath
    function_call: float = 35.0  # of Python code, hook off
    method_call: float = 45.0  # 'a'.encode('ascii', 'ignore')
    operation: float = 30.0  # `a + b` of short strings
    branch: float = 4.0  # `if flag:`
    hook: float = 8.0  # what a call loses under a frame evaluator; not measured here
    guard: float = 3.0  # one guard; not measured here
    global_guard: float = 20.0  # one guard on a global; not measured here


DEFAULT_COSTS = Costs()

SOURCES = {
    "check": "if name is other: pass",
    "member_check": "if os.fspath is other: pass",
    "code_check": "if function.__code__ is other: pass",
    "isinstance_call": "isinstance(text, bytes)",
    "conversion": "os.fspath(text)",
    "function_call": "function(text)",
    "method_call": "text.encode('ascii', 'ignore')",
    "operation": "long + text",
    "branch": "if not text: pass",
}


@cache
def measured_costs() -> Costs:
    """The costs here and now; CPU time, so that a busy machine changes them little."""
    empty = _time("pass")
    return Costs(
        **{name: max(0.5, _time(line) - empty) for name, line in SOURCES.items()}
    )


def _time(line: str) -> float:
    namespace: dict[str, Any] = {"repeat": repeat, "os": os, "name": 1, "other": None}
    namespace["long"] = "text" * 16
    exec("def function(text): return text", namespace)
    exec(f"def loop(text):\n for _ in repeat(None, {LOOPS}):\n  {line}", namespace)
    loop: Callable[[str], None] = namespace["loop"]
    best = float("inf")
    for _ in range(ROUNDS):
        start = thread_time_ns()
        loop("text")
        best = min(best, thread_time_ns() - start)
    return best / LOOPS
