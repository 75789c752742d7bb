"""Recursion under the hook ends in RecursionError, never in a crash."""

from __future__ import annotations

import pytest

# Each child runs one way of going deep and prints what happened. `kind` says what
# the hook does with the function; `limit` is the recursion limit.
PRELUDE = """
import sys, threading
import guardtree as gt
from guardtree import _guardtree

def copy_of(function):
    return function.__code__.replace(co_name=function.__name__ + "_new")

def install(kind, *functions):
    codes = {f.__code__: copy_of(f) for f in functions}
    def callback(frame, entry, state):
        new = codes.get(frame.f_code)
        if new is None or kind == "skipped":
            return None
        if kind == "asked":
            return gt.ASK_AGAIN
        if kind == "python guard":
            return gt.GuardedCode(new, lambda f_locals: True)
        return gt.GuardedCode(new, gt.GuardManager(frame.f_code))
    _guardtree._force_called(kind == "called")
    gt.set_eval_frame(callback)

def dive(n):
    global deepest
    deepest = n
    return dive(n + 1)

def attempt(function=dive, *args):
    try:
        function(*args or (0,))
    except (RecursionError, MemoryError) as error:
        print(type(error).__name__)
    else:
        print("finished")
"""
KINDS = ["skipped", "asked", "substituted", "called", "python guard"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_limit_raises_recursion_error(kind, run_python) -> None:
    source = (
        PRELUDE
        + f"""
install({kind!r}, dive)
for _ in range(3):
    attempt()
    assert deepest > 100, deepest
gt.set_eval_frame(None)
attempt()
"""
    )
    assert run_python(source).stdout.split() == ["RecursionError"] * 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_huge_limit_does_not_overflow_the_stack(kind, run_python) -> None:
    source = (
        PRELUDE
        + f"""
sys.setrecursionlimit(10**6)
install({kind!r}, dive)
attempt()
print(deepest > 500)
attempt()
"""
    )
    words = run_python(source).stdout.split()
    assert words == ["RecursionError", "True", "RecursionError"]


@pytest.mark.parametrize("kind", ["skipped", "substituted", "called"])
@pytest.mark.parametrize("stack", [0, 256 * 1024, 64 * 1024 * 1024])
def test_a_thread_with_its_own_stack_does_not_overflow_it(
    kind, stack, run_python
) -> None:
    source = (
        PRELUDE
        + f"""
sys.setrecursionlimit(10**6)
threading.stack_size({stack})

def work():
    install({kind!r}, dive)
    attempt()

thread = threading.Thread(target=work)
thread.start()
thread.join()
attempt(lambda n: n)
"""
    )
    assert run_python(source).stdout.split() == ["RecursionError", "finished"]


@pytest.mark.parametrize("kind", ["skipped", "substituted", "called"])
def test_recursion_through_c_code_does_not_overflow_the_stack(kind, run_python) -> None:
    source = (
        PRELUDE
        + f"""
class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x"[:0])
    def __repr__(self):
        return repr([self, *map(repr, [self])])

def by_map(n):
    return list(map(by_map, [n + 1]))

sys.setrecursionlimit(10**6)
functions = (by_map, Deep.__getattr__, Deep.__repr__)
install({kind!r}, *functions)
attempt(by_map)
attempt(getattr, Deep(), "x")
attempt(repr, Deep())
"""
    )
    assert run_python(source).stdout.split() == ["RecursionError"] * 3


@pytest.mark.parametrize("kind", ["skipped", "substituted", "called"])
def test_recursion_through_generators_does_not_overflow_the_stack(
    kind, run_python
) -> None:
    source = (
        PRELUDE
        + f"""
def chain(n):
    yield n
    yield from chain(n + 1)

async def wait(n):
    return await wait(n + 1)

def drain(n):
    for deepest in chain(n):
        pass

def send(n):
    wait(n).send(None)

sys.setrecursionlimit(2000)  # each item walks the whole chain
install({kind!r}, chain, wait)
attempt(drain)
attempt(send)
"""
    )
    assert run_python(source).stdout.split() == ["RecursionError"] * 2


@pytest.mark.parametrize("where", ["callback", "guard"])
def test_endless_recursion_in_a_callback_or_guard_is_an_error_there(
    where, run_python
) -> None:
    # A guard's RecursionError is an ordinary exception: a miss that is kept.
    source = (
        PRELUDE
        + f"""
def callback(frame, entry, state):
    if frame.f_code is not f.__code__:
        return gt.ASK_AGAIN
    if {where!r} == "callback":
        dive(0)
    return gt.GuardedCode(f.__code__, lambda f_locals: dive(0))

def f():
    return "ran"

gt.set_eval_frame(callback)
for _ in range(2):
    try:
        print(f())
    except RecursionError:
        print("raised")
gt.set_eval_frame(None)
print([type(e.last_error).__name__ for e in gt.cache_entries(f.__code__)])
"""
    )
    out = run_python(source).stdout.splitlines()
    if where == "callback":
        assert out == ["raised", "raised", "[]"]
    else:
        assert out == ["ran", "ran", "['RecursionError', 'NoneType']"]


@pytest.mark.parametrize("kind", ["substituted", "called"])
def test_a_recovered_recursion_error_leaves_everything_usable(kind, run_python) -> None:
    source = (
        PRELUDE
        + f"""
def fact(n):
    return 1 if n == 0 else n * fact(n - 1)

expected = fact(50)
install({kind!r}, dive, fact)
for _ in range(5):
    attempt()
    assert fact(50) == expected
"""
    )
    assert run_python(source).stdout.split() == ["RecursionError"] * 5
