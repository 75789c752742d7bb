"""A function gets other code while its frame is decided: the frame runs as called.

CPython sizes a generator by its function's code when the generator's first instruction
runs, so these programs overflow the heap where the hook does not look again. They run
in processes of their own, under CPython's debug allocators, which find that.
"""

from __future__ import annotations

import sys
from typing import Any

import guardtree as gt
import pytest

PRELUDE = r"""
import sys, threading, types
import guardtree as gt
from guardtree import _guardtree

# What f is, the code that it gets, and an entry of f's.
KINDS = {
    "generator": "def {name}(n):\n{body}\n    yield ('{name}', {values})",
    "coroutine": "async def {name}(n):\n{body}\n    return ('{name}', {values})",
    "async generator": "async def {name}(n):\n{body}\n    yield ('{name}', {values})",
    "function": "def {name}(n):\n{body}\n    return ('{name}', {values})",
}

def define(kind, name, variables):
    names = [f"v{i}" for i in range(variables)]
    body = "".join(f"    {each} = n\n" for each in names) or "    pass\n"
    values = f"[{', '.join(names)}]"
    exec(KINDS[kind].format(name=name, body=body, values=values), globals())

def give_other_code():
    f.__code__ = other.__code__

def result(made):
    if isinstance(made, types.AsyncGeneratorType):
        made = made.__anext__()
    if isinstance(made, tuple):
        return made
    try:
        return next(made) if hasattr(made, "__next__") else made.send(None)
    except StopIteration as stop:
        return stop.value

def hook(answer):
    gt.set_eval_frame(
        lambda frame, entry, state:
            answer(frame) if frame.f_code is code else gt.ASK_AGAIN
    )

def run(expected):
    kept = []
    for i in range(30):
        f.__code__ = code
        made = f(i)
        kept.append((made, [i] * 30, bytearray(30 * i)))
        assert type(made) is type(kept[0][0]), made
        got = result(made)
        assert got == (expected, [i] * 26), got

def start(way):
    global code
    for forced in (False, True):
        _guardtree._force_called(forced)
        for kind in KINDS:
            for other_kind, count in (kind, 0), ("function", 0), ("generator", 9):
                print(kind, other_kind, forced, flush=True)
                define(kind, "f", 26)
                define(kind, "entry", 26)
                define(other_kind, "other", count)
                code = f.__code__
                way()
                gt.set_eval_frame(None)
    print("all ran")

"""

WAYS = {
    "a callback": """
def way():
    def answer(frame):
        give_other_code()
        return gt.ASK_AGAIN
    hook(answer)
    run("f")
""",
    "a callback that makes an entry": """
def way():
    def answer(frame):
        give_other_code()
        return gt.GuardedCode(entry.__code__, lambda f_locals: False)
    hook(answer)
    run("entry")
""",
    "a guard that passes": """
def way():
    changes = False
    def check(f_locals):
        if changes:
            give_other_code()
        return True
    hook(lambda frame: gt.GuardedCode(entry.__code__, check))
    assert result(f(7)) == ("entry", [7] * 26)
    changes = True
    run("entry")
""",
    "a guard that fails": """
def way():
    changes = False
    def check(f_locals):
        if changes:
            give_other_code()
        return False
    hook(lambda frame: gt.GuardedCode(entry.__code__, check))
    assert result(f(7)) == ("entry", [7] * 26)
    changes = True
    hook(lambda frame: gt.ASK_AGAIN)
    run("f")
""",
    "a guard of an entry that binds": """
def check(n):
    give_other_code()
    return True
def way():
    def answer(frame):
        guards = gt.GuardManager(frame)
        guards.local("n").python(check)
        captures = {"v1": guards.local("n")}
        return gt.GuardedCode(entry.__code__, guards, captures=captures)
    _guardtree._force_called(False)  # values are bound in place or not at all
    hook(answer)
    run("entry")
""",
    "another thread": """
changes = threading.Event()
def change():
    while changes.wait():
        give_other_code()
        changes.clear()
threading.Thread(target=change, daemon=True).start()
def way():
    def answer(frame):
        changes.set()
        while changes.is_set():
            pass
        return gt.ASK_AGAIN
    hook(answer)
    run("f")
""",
    "the end of the frame's dict": """
class Last:
    def __del__(self):
        give_other_code()
def way():
    def answer(frame):
        frame.f_locals["last"] = Last()
        return gt.ASK_AGAIN
    hook(answer)
    run("f")
""",
    "a listener to new entries": """
def way():
    _guardtree._observe(lambda *told: give_other_code(), None)
    hook(lambda frame: gt.GuardedCode(entry.__code__, lambda f_locals: False))
    run("entry")
    _guardtree._observe(None, None)
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_frame_runs_its_own_code_though_its_function_has_other(
    run_python: Any, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("PYTHONMALLOC", "debug")
    done = run_python(PRELUDE + WAYS[way] + "\nstart(way)\n")
    assert done.stdout.endswith("all ran\n")


def test_the_generator_of_such_a_frame_has_the_functions_names(hook: None) -> None:
    def f():
        yield sys._getframe().f_code

    def other():
        yield None

    code = f.__code__
    f.__name__, f.__qualname__ = "its", "its.own"

    def answer(frame, entry, state):
        if frame.f_code is code:
            f.__code__ = other.__code__
        return gt.ASK_AGAIN

    with gt.optimize(answer):
        generator = f()
    assert generator.gi_code is code
    assert (generator.__name__, generator.__qualname__) == ("its", "its.own")
    assert next(generator) is code


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 has no vectorcall entry")
@pytest.mark.parametrize("passes", [True, False])
def test_a_guard_of_a_guarded_function_may_give_it_other_code(passes: bool) -> None:
    def f(n):
        a = b = c = d = e = n
        yield [a, b, c, d, e]

    def other(n):
        yield "other"

    def entry(n):
        a = b = c = d = e = n
        yield ["entry", a, b, c, d, e]

    def check(n):
        f.__code__ = other.__code__
        return passes

    guards = gt.GuardManager(f)
    guards.local("n").python(check)
    gt.guard_function(f).add(guards, entry.__code__)
    expected: Any = ["entry", 1, 1, 1, 1, 1] if passes else "other"
    assert list(f(1)) == [expected]
