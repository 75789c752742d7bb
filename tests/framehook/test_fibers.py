"""Python on C stacks that the program allocated: ucontext, as other fibers do it.

CPython 3.14 and later bound the C stack themselves, and refuse to run on a stack that
they do not know. Before, the hook has to tell a fiber from a stack that is used up.
"""

from __future__ import annotations

import sys

import guardtree as gt
import pytest
from hooked_program import HOOKED

pytestmark = pytest.mark.skipif(
    gt.features()["checks_c_stack"] or not sys.platform.startswith("linux"),
    reason="CPython bounds the C stack itself, or there is no /proc",
)

PRELUDE = (
    HOOKED
    + """
import ctypes, mmap, sys, threading

libc = ctypes.PyDLL(None)  # keeps the GIL

class Stack(ctypes.Structure):
    _fields_ = [("low", ctypes.c_void_p), ("flags", ctypes.c_int),
                ("size", ctypes.c_size_t)]

class Context(ctypes.Structure):  # the first members of ucontext_t
    _fields_ = [("flags", ctypes.c_ulong), ("link", ctypes.c_void_p),
                ("stack", Stack), ("rest", ctypes.c_char * 8192)]

class Fiber:
    "Runs functions on a stack of its own, whose lowest page is protected."
    def __init__(self, size):
        self.memory = mmap.mmap(-1, size)
        self.low = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        assert libc.mprotect(ctypes.c_void_p(self.low), 4096, 0) == 0
        self.size = size

    def run(self, body):
        results = []
        def record():
            try:
                results.append(body())
            except BaseException as error:
                results.append(error)
        outer, inner = Context(), Context()
        libc.getcontext(ctypes.byref(inner))
        inner.stack.low, inner.stack.size = self.low, self.size
        inner.link = ctypes.addressof(outer)
        called = ctypes.PYFUNCTYPE(None)(record)
        libc.makecontext(ctypes.byref(inner), called, 0)
        libc.swapcontext(ctypes.byref(outer), ctypes.byref(inner))
        if isinstance(results[0], BaseException):
            raise results[0]
        return results[0]

counts_itself = sys.version_info >= (3, 12)  # CPython ends C recursion itself
least = 100 if counts_itself else 1000

def dive(n):
    global deepest
    deepest = n
    return dive(n + 1)

def overflows(run):
    try:
        run(lambda: dive(0))
    except RecursionError as error:
        return counts_itself or "C stack" in str(error)

gt.set_eval_frame(callback)
"""
)


def test_the_hook_serves_frames_on_a_fiber(run_python) -> None:
    run_python(
        PRELUDE
        + """
fibers = [Fiber(1 << 20) for _ in range(5)]
for _ in range(3):
    for fiber in fibers:
        assert fiber.run(lambda: f(1)) == "hit"
assert f(1) == "hit"
"""
    )


def test_fibers_of_a_thread_are_served_wherever_they_lie(run_python) -> None:
    run_python(
        PRELUDE
        + """
before = Fiber(1 << 20)
found = []
def work():
    gt.set_eval_frame(callback)
    for fiber in (before, Fiber(1 << 20), Fiber(1 << 18)):
        found.append(fiber.run(lambda: f(1)))
for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
assert found == ["hit"] * 6, found
"""
    )


def test_recursion_on_a_fiber_ends_in_recursion_error(run_python) -> None:
    run_python(
        PRELUDE
        + """
sys.setrecursionlimit(1_000_000)
for size in (1 << 18, 1 << 20, 1 << 22):
    fiber = Fiber(size)
    for _ in range(3):
        assert overflows(fiber.run)
        assert deepest > 100, deepest
        assert fiber.run(lambda: f(1)) == "hit"
assert f(1) == "hit"
"""
    )


def test_the_threads_own_stack_is_bounded_after_fibers_ran(run_python) -> None:
    run_python(
        PRELUDE
        + """
sys.setrecursionlimit(1_000_000)
Fiber(1 << 20).run(lambda: f(1))
assert overflows(lambda body: body())
on_main = deepest
Fiber(1 << 18).run(lambda: f(1))
assert overflows(lambda body: body())
assert deepest == on_main > least
"""
    )


def test_the_memory_of_a_fiber_that_is_gone_may_hold_another(run_python) -> None:
    """Bounds that were kept for its memory say nothing of the next one's."""
    run_python(
        PRELUDE
        + """
libc.mmap.restype = ctypes.c_void_p
def at(address, size):
    "A fiber at this very address."
    made = libc.mmap(ctypes.c_void_p(address), ctypes.c_size_t(size), 3, 0x32, -1,
                     ctypes.c_size_t(0))
    assert made == address
    fiber = Fiber.__new__(Fiber)
    fiber.low, fiber.size = address, size
    return fiber

span = 1 << 22
reserved = libc.mmap(None, ctypes.c_size_t(span), 0, 0x22, -1, ctypes.c_size_t(0))
small = 1 << 17
for low in (reserved + small, reserved, reserved + 2 * small, reserved + small):
    fiber = at(low, small)
    assert fiber.run(lambda: f(1)) == "hit"
    libc.mprotect(ctypes.c_void_p(low), ctypes.c_size_t(small), 0)
fiber = at(reserved + small, span - 2 * small)
assert fiber.run(lambda: f(1)) == "hit"
"""
    )


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs guard_function")
def test_a_guarded_function_is_called_on_a_fiber(run_python) -> None:
    run_python(
        PRELUDE
        + """
gt.set_eval_frame(None)
guarded = gt.guard_function(f)
guarded.add(gt.GuardManager(f), hit)
assert Fiber(1 << 20).run(lambda: f(1)) == "hit"
"""
    )
