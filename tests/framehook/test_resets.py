"""State that is taken away while it is in use; each case in a process of its own."""

from __future__ import annotations

import pytest

PRELUDE = """
import gc, sys
import guardtree as gt
from guardtree import _guardtree

def f(a):
    return "old"

def new(a):
    b = [a]
    return "new", b

def guarded(check=lambda f_locals: True):
    return gt.GuardedCode(new.__code__, check)

def only_f(answer):
    def callback(frame, entry, state):
        if frame.f_code is not f.__code__:
            return gt.ASK_AGAIN
        return answer(frame, entry, state)
    return callback

def scrub():
    "Reuses the memory that was just freed."
    gc.collect()
    return [bytearray(n) for n in range(16, 600, 8) for _ in range(20)]

NEW = ("new", [1])
"""


def test_a_callback_dropped_while_it_runs_is_kept_until_it_returns(run_python) -> None:
    source = (
        PRELUDE
        + """
class Callback:
    def __call__(self, frame, entry, state):
        gt.set_eval_frame(None)
        scrub()
        return self.answer if frame.f_code is f.__code__ else None

callback = Callback()
callback.answer = guarded()
gt.set_eval_frame(callback)
del callback
print(f(1) == NEW, gt.set_eval_frame(None))
"""
    )
    assert run_python(source).stdout == "True None\n"


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("where", ["callback", "guard", "replacement", "bool"])
def test_a_reset_from_inside_frees_nothing_in_use(where, forced, run_python) -> None:
    source = (
        PRELUDE
        + f"""
WHERE = {where!r}
_guardtree._force_called({forced})

def reset():
    gt.reset_code(f.__code__)
    scrub()

class Truth:
    def __bool__(self):
        reset()
        return True

def guard(f_locals):
    if WHERE == "guard":
        reset()
    return Truth() if WHERE == "bool" else True

if WHERE == "replacement":
    def new(a):
        reset()
        b = [a]
        return "new", b

def answer(frame, entry, state):
    if WHERE == "callback":
        reset()
        state["seen"] = True
    scrub()
    return guarded(guard)

gt.set_eval_frame(only_f(answer))
for _ in range(20):
    assert f(1) == NEW
gt.set_eval_frame(None)
gt.reset_code(f.__code__)
assert f(1) == "old"
print("ok")
"""
    )
    assert run_python(source).stdout == "ok\n"


def test_a_reset_of_the_only_owner_of_running_code_is_safe(run_python) -> None:
    source = (
        PRELUDE
        + """
SOURCE = '''
def new(a):
    for n in range(3):
        gt.reset_code(f.__code__)
        scrub()
    return ["fresh", a, n]
'''
def answer(frame, entry, state):
    names = {}
    exec(SOURCE, globals(), names)
    return gt.GuardedCode(names["new"].__code__, lambda f_locals: True)

gt.set_eval_frame(only_f(answer))
for _ in range(20):
    assert f(1) == ["fresh", 1, 2]
gt.set_eval_frame(None)
print("ok")
"""
    )
    assert run_python(source).stdout == "ok\n"


def test_a_guards_destructor_may_look_at_the_code_that_is_reset(run_python) -> None:
    source = (
        PRELUDE
        + """
class Check:
    def __call__(self, f_locals):
        return True
    def __del__(self):
        deaths.append(len(gt.cache_entries(f.__code__)))
        gt.reset_code(f.__code__)
        f(2)

deaths = []
gt.set_eval_frame(only_f(lambda *_: guarded(Check())))
for _ in range(3):
    assert f(1) == NEW
    gt.reset_code(f.__code__)
gt.set_eval_frame(None)
gt.reset_code(f.__code__)
print(len(deaths) >= 3, set(deaths) <= {0, 1})
"""
    )
    assert run_python(source).stdout == "True True\n"
