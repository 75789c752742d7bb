"""fork, subinterpreters and the end of the interpreter, with the hook installed."""

from __future__ import annotations

import os

import pytest

PRELUDE = """
import atexit, gc, os, sys, threading, weakref
import guardtree as gt
from guardtree import _guardtree

def f(a):
    return "old", a

def new(a):
    b = [a]
    return "new", b[0]

asked = 0
def callback(frame, entry, state):
    global asked
    if frame.f_code is not f.__code__:
        return gt.ASK_AGAIN
    asked += 1
    return gt.GuardedCode(new.__code__, lambda f_locals: True)

def in_child(work):
    "Runs work in a forked child; its exit status."
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@needs_fork
def test_a_forked_child_goes_on_with_hook_and_entries(run_python) -> None:
    source = (
        PRELUDE
        + """
def work():
    assert f(1) == ("new", 1)
    assert asked == 1
    gt.reset_code(f.__code__)
    assert f(2) == ("new", 2)
    assert asked == 2
    assert gt.set_eval_frame(None) is callback
    assert f(3) == ("old", 3)
    assert not _guardtree._hook_installed()

gt.set_eval_frame(callback)
f(0)
print(in_child(work), f(4), asked)
gt.set_eval_frame(None)
print(_guardtree._hook_installed())
"""
    )
    assert run_python(source).stdout == "0 ('new', 4) 1\nFalse\n"


OTHER_THREAD = """
inside, leave = threading.Event(), threading.Event()
def body():
    gt.set_eval_frame(callback)
    f(0)
    inside.set()
    leave.wait()
    gt.set_eval_frame(None)

thread = threading.Thread(target=body)
thread.start()
inside.wait()
status = in_child(work)
leave.set()
thread.join()
print(status, _guardtree._hook_installed())
"""


@needs_fork
def test_a_forked_child_works_while_another_thread_had_the_hook(run_python) -> None:
    source = (
        PRELUDE
        + """
def work():
    assert f(1) == ("old", 1)
    assert gt.set_eval_frame(callback) is None
    assert f(2) == ("new", 2)
    assert gt.set_eval_frame(None) is callback
    assert f(3) == ("old", 3)
"""
        + OTHER_THREAD
    )
    assert run_python(source).stdout == "0 False\n"


@needs_fork
def test_a_forked_child_does_not_count_threads_it_does_not_have(run_python) -> None:
    source = (
        PRELUDE
        + """
def work():
    gt.set_eval_frame(callback)
    gt.set_eval_frame(None)
    assert not _guardtree._hook_installed()
"""
        + OTHER_THREAD
    )
    assert run_python(source).stdout == "0 False\n"


@needs_fork
@pytest.mark.parametrize("where", ["callback", "guard", "replacement"])
def test_a_fork_inside_the_machinery_leaves_both_sides_working(
    where, run_python
) -> None:
    source = (
        PRELUDE
        + f"""
WHERE = {where!r}
statuses = []
parent = os.getpid()

def fork():
    if os.getpid() == parent and len(statuses) < 3:
        child = os.fork()
        if child:
            statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

def new(a):
    if WHERE == "replacement":
        fork()
    return "new", a

def guard(f_locals):
    if WHERE == "guard":
        fork()
    return f_locals["a"] != "miss"

def callback(frame, entry, state):
    if frame.f_code is not f.__code__:
        return gt.ASK_AGAIN
    if WHERE == "callback":
        fork()
    return gt.GuardedCode(new.__code__, guard)

gt.set_eval_frame(callback)
for a in (1, 2, "miss", 3, "miss", 4):
    assert f(a) == ("new", a)
assert gt.set_eval_frame(None) is callback
assert f(5) == ("old", 5)
if os.getpid() != parent:
    os._exit(0)
print(statuses)
"""
    )
    assert run_python(source).stdout == "[0, 0, 0]\n"


def test_the_interpreter_ends_quietly_with_the_hook_installed(run_python) -> None:
    source = (
        PRELUDE
        + """
# Module globals are None by the time the last objects die: defaults keep these.
class Late:
    def __del__(self, f=f, print=print):
        print("del", f(3))

def callback(frame, entry, state, code=f.__code__, again=gt.ASK_AGAIN):
    if frame.f_code is not code:
        return again
    return gt.GuardedCode(new.__code__, lambda f_locals: True)

atexit.register(lambda: print("atexit", f(2)))
gt.set_eval_frame(callback)
late = Late()
f(1)
print("main", f(1))
"""
    )
    done = run_python(source)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["main ('new', 1)", "atexit ('new', 2)"]
    assert lines[2] in ("del ('new', 3)", "del ('old', 3)")
    assert len(lines) == 3
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("end", "status"),
    [("sys.exit(3)", 3), ("raise KeyError", 1), ("os._exit(4)", 4), ("pass", 0)],
)
@pytest.mark.parametrize("where", ["main", "callback", "guard", "replacement"])
def test_any_way_of_ending_gives_its_status(where, end, status, run_python) -> None:
    if where == "guard" and status == 1:
        status = 0  # an ordinary exception in a guard is a miss
    source = (
        PRELUDE
        + f"""
WHERE = {where!r}
def end():
    {end}

def new(a):
    if WHERE == "replacement":
        end()
    return a

def guard(f_locals):
    if WHERE == "guard":
        end()
    return True

def callback(frame, entry, state):
    if frame.f_code is not f.__code__:
        return gt.ASK_AGAIN
    if WHERE == "callback":
        end()
    return gt.GuardedCode(new.__code__, guard)

gt.set_eval_frame(callback)
f(1)
f(1)
if WHERE == "main":
    end()
"""
    )
    run_python(source, status=status)


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("where", ["callback", "guard", "replacement"])
def test_daemon_threads_inside_the_machinery_do_not_disturb_the_end(
    where, forced, run_python
) -> None:
    # A daemon thread ends where it next asks for the GIL. Up to 3.13 that unwinds its
    # C++ frames, and an unwinding that meets a noexcept frame ends the process.
    source = (
        PRELUDE
        + f"""
import time
WHERE = {where!r}
_guardtree._force_called({forced})

def rest(place):
    if place == WHERE and threading.current_thread() is not threading.main_thread():
        started.set()
        for _ in range(10000):
            time.sleep(0.0002)

def new(a):
    rest("replacement")
    return "new", a

def guard(f_locals):
    rest("guard")
    return WHERE != "callback"

def callback(frame, entry, state):
    if frame.f_code is not f.__code__:
        return gt.ASK_AGAIN
    rest("callback")
    return gt.GuardedCode(new.__code__, guard)

def body():
    gt.set_eval_frame(callback)
    while True:
        f(1)

started = threading.Event()
for _ in range(8):
    threading.Thread(target=body, daemon=True).start()
started.wait()
gt.set_eval_frame(callback)
print(f(1))
"""
    )
    done = run_python(source)
    assert done.stdout == "('new', 1)\n"
    assert done.stderr == ""
