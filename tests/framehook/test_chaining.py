"""Living with a second frame evaluator, such as a debugger's, before or after ours.

The other evaluator is a few bytes of machine code that count a call and jump to the
evaluator they were told to chain to: no compiler is needed to run these tests.
"""

from __future__ import annotations

import platform

import pytest

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the second evaluator is x86-64 code"
)

PRELUDE = """
import ctypes, mmap, struct
import guardtree as gt
from guardtree import _guardtree

api = ctypes.pythonapi
api.PyInterpreterState_Get.restype = ctypes.c_void_p
interpreter = ctypes.c_void_p(api.PyInterpreterState_Get())
api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p

def current():
    return api._PyInterpreterState_GetEvalFrameFunc(interpreter)

def install(address):
    api._PyInterpreterState_SetEvalFrameFunc(interpreter, ctypes.c_void_p(address))

class Evaluator:
    "Counts each frame and hands it to `chained`."
    def __init__(self, chained):
        self.memory = mmap.mmap(-1, 4096, prot=7)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        counter = self.address + 2048
        code = b"\\x49\\xbb" + struct.pack("<Q", counter)    # mov r11, counter
        code += b"\\x49\\xff\\x03"                          # inc qword [r11]
        code += b"\\x49\\xbb" + struct.pack("<Q", chained)   # mov r11, chained
        code += b"\\x41\\xff\\xe3"                          # jmp r11
        self.memory[: len(code)] = code
        self.counted = ctypes.c_uint64.from_address(counter)
    def count(self):
        return self.counted.value

def f(a):
    return "old"

def new(a):
    b = [a]
    return "new"

asked = 0
def callback(frame, entry, state):
    global asked
    if frame.f_code is not f.__code__:
        return gt.ASK_AGAIN
    asked += 1
    return gt.GuardedCode(new.__code__, gt.GuardManager(f))

default = current()
"""


def test_the_second_evaluator_of_this_test_works(run_python) -> None:
    source = (
        PRELUDE
        + """
other = Evaluator(default)
install(other.address)
print([f(1) for _ in range(10)] == ["old"] * 10, other.count() >= 10)
install(default)
"""
    )
    assert run_python(source).stdout == "True True\n"


@pytest.mark.parametrize("forced", [False, True])
def test_an_evaluator_found_at_installation_keeps_running(forced, run_python) -> None:
    source = (
        PRELUDE
        + f"""
_guardtree._force_called({forced})
other = Evaluator(default)
install(other.address)
with gt.optimize(callback):
    print(current() != other.address)
    f(1)
    before = other.count()
    results = []
    for _ in range(10):
        results.append(f(1))
    after = other.count()
print(results == ["new"] * 10, after - before >= 10, asked)
print(current() == other.address)
install(default)
"""
    )
    assert run_python(source).stdout == "True\nTrue True 1\nTrue\n"


def test_an_evaluator_that_came_later_is_not_thrown_out(run_python) -> None:
    source = (
        PRELUDE
        + """
gt.set_eval_frame(callback)
other = Evaluator(current())
install(other.address)
print([f(1), f(1)], asked)
gt.set_eval_frame(None)
print(current() == other.address)
before = other.count()
print(f(1), other.count() > before)
"""
    )
    expected = "['new', 'new'] 1\nTrue\nold True\n"
    assert run_python(source).stdout == expected


def test_installing_again_below_a_later_evaluator_does_not_loop(run_python) -> None:
    source = (
        PRELUDE
        + """
gt.set_eval_frame(callback)
other = Evaluator(current())
install(other.address)
for _ in range(5):
    gt.set_eval_frame(None)
    print(f(1), end=" ")
    gt.set_eval_frame(callback)
    print(f(1), end=" ")
gt.set_eval_frame(None)
install(default)
print(f(1), asked)
gt.set_eval_frame(callback)
print(f(1), asked, gt.set_eval_frame(None) is callback, _guardtree._hook_installed())
"""
    )
    expected = "old new " * 5 + "old 1\nnew 1 True False\n"
    assert run_python(source).stdout == expected


def test_another_evaluator_that_takes_the_slot_silences_us_without_harm(
    run_python,
) -> None:
    source = (
        PRELUDE
        + """
gt.set_eval_frame(callback)
install(default)
print(f(1), asked)
print(gt.set_eval_frame(None) is callback, current() == default)
gt.set_eval_frame(callback)
print(f(1), asked)
gt.set_eval_frame(None)
print(current() == default)
"""
    )
    assert run_python(source).stdout == "old 0\nTrue True\nnew 1\nTrue\n"
