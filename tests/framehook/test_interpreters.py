"""Subinterpreters are refused the import; other processes start on their own."""

from __future__ import annotations

PRELUDE = """
import os, sys
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
"""

SUBINTERPRETER = """
try:
    import _interpreters as api          # 3.13 and later
except ImportError:
    import _xxsubinterpreters as api     # 3.11 and 3.12

read, write = os.pipe()

def in_subinterpreter(body):
    "What the body leaves in `found`, run in an interpreter of its own."
    script = f'''
import os, sys
sys.path[:] = {sys.path!r}
{body}
os.write({write}, found.encode())
'''
    identity = api.create()
    try:
        if hasattr(api, "exec"):
            failure = api.exec(identity, script)
            assert failure is None, failure
        else:
            api.run_string(identity, script)
    finally:
        api.destroy(identity)
    return os.read(read, 4096).decode()

IMPORT = '''
try:
    import guardtree
    found = "imported"
except ImportError as error:
    found = "ImportError: " + str(error)
'''
"""


def test_a_subinterpreter_is_refused_and_the_main_one_goes_on(run_python) -> None:
    source = (
        PRELUDE
        + SUBINTERPRETER
        + """
gt.set_eval_frame(callback)
print(f(1))
gt.set_eval_frame(None)
print(in_subinterpreter(IMPORT))
gt.set_eval_frame(callback)
print(f(2), asked)
print(in_subinterpreter(IMPORT))
print(f(3), asked)
gt.set_eval_frame(None)
print(_guardtree._hook_installed())
"""
    )
    lines = run_python(source).stdout.splitlines()
    assert lines[1].startswith("ImportError") and lines[3].startswith("ImportError")
    assert "interpreter" in lines[1]
    assert lines[::2] == ["('new', 1)", "('new', 2) 1", "('new', 3) 1"]
    assert lines[5] == "False"


def test_python_runs_in_a_subinterpreter_while_the_main_one_is_hooked(
    run_python,
) -> None:
    source = (
        PRELUDE
        + SUBINTERPRETER
        + """
BODY = '''
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
found = str(fib(15))
'''
seen = []
def everything(frame, entry, state):
    seen.append(frame.f_code.co_name)
    return callback(frame, entry, state)

gt.set_eval_frame(everything)
f(0)
print(in_subinterpreter(BODY), "fib" in seen, f(1))
gt.set_eval_frame(None)
"""
    )
    assert run_python(source).stdout == "610 False ('new', 1)\n"


def test_a_spawned_process_imports_and_hooks_on_its_own(run_python, tmp_path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        PRELUDE
        + """
import multiprocessing

def work(n):
    with gt.optimize(callback):
        return f(n), f(n), asked

if __name__ == "__main__":
    gt.set_eval_frame(callback)
    f(0)
    for method in ("spawn", "fork"):
        context = multiprocessing.get_context(method)
        with context.Pool(1) as pool:
            print(pool.map(work, [1]))
    gt.set_eval_frame(None)
"""
    )
    lines = run_python(program).stdout.splitlines()
    # The forked child inherits the entry, and the callback's count with it.
    assert lines == ["[(('new', 1), ('new', 1), 1)]"] * 2
