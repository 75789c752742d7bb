"""Daemon threads that are inside user code of the bindings when the process ends."""

from __future__ import annotations

import pytest

PRELUDE = """
import collections
import sys
import threading
import time

import guardtree as gt


def rest(*_):
    # Where a daemon thread is when the interpreter is finalized.
    if threading.current_thread() is not threading.main_thread():
        inside.add(threading.current_thread().name)
        while True:
            time.sleep(0.0002)
    return True


class Property:
    @property
    def x(self):
        return rest()


class Mapping(collections.UserDict):
    def __getitem__(self, key):
        return rest()


class Keys(collections.UserDict):
    def __getattribute__(self, name):
        if name == "keys":
            rest()
        return super().__getattribute__(name)


class Shown:
    def __repr__(self):
        rest()
        return "shown"


class Text(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        return rest()


class Ended:
    def __del__(self):
        rest()


class Slow:
    # The end of the main thread takes so long that each daemon thread meets it.
    def __del__(self):
        time.sleep(0.3)


def f(a):
    return a


def g(a):
    return a


def options(a, **rest):
    return a


inside = set()
python = gt.GuardManager(f)
python.local("a").python(rest)
types = gt.GuardManager(f)
types.local("a").type_match(int)
attribute = gt.GuardManager(f)
attribute.local("a").attr("x").equals(1)
tables = {}
for guards in (python, types, attribute):
    tables[guards] = gt.Table(f)
    tables[guards].add(guards, "payload")
table_of_options = gt.Table(options)
table_of_options.add(gt.GuardManager(options), "payload")
capturing = gt.Table(f)
capturing.add(python, "payload", captures={"a": python.local("a")})


def drop_entry():
    table = gt.Table(f)
    table.remove(table.add(types, Ended()))


def drop_from_a_guarded_function():
    gf = gt.guard_function(g)
    target = lambda a: a
    target.ended = Ended()
    entry = gf.add(gt.GuardManager(g), target)
    del target
    gf.remove(entry)
    del entry


def raise_on_miss():
    def callback(frame, entry, state):
        if frame.f_code is not g.__code__:
            return gt.ASK_AGAIN
        guards = gt.GuardManager(frame)
        guards.local("a").equals(5)
        return gt.GuardedCode(g.__code__, guards)

    gt.set_eval_frame(callback)
    g(1)
    gt.set_eval_frame(gt.RAISE_ON_MISS)
    g(Shown())


def judged():
    gt.strict()
    tables[python].lookup({"a": 1})


WAYS = dict(
    check=lambda: python.check({"a": 1}),
    check_a_property=lambda: attribute.check({"a": Property()}),
    check_a_mapping=lambda: types.check(Mapping()),
    check_keys=lambda: types.check(Keys()),
    explain=lambda: python.explain({"a": 1}),
    explain_a_property=lambda: attribute.explain({"a": Property()}),
    explain_a_mapping=lambda: types.explain(Mapping()),
    explain_by_repr=lambda: types.explain({"a": Shown()}),
    lookup=lambda: tables[python].lookup({"a": 1}),
    lookup_a_property=lambda: tables[attribute].lookup({"a": Property()}),
    lookup_a_mapping=lambda: tables[types].lookup(Mapping()),
    lookup_captured=lambda: capturing.lookup({"a": 1}),
    explain_lookup=lambda: tables[python].explain({"a": 1}),
    find=lambda: tables[python].find({"a": 1}),
    lookup_call=lambda: tables[python].lookup_call(1),
    lookup_call_captured=lambda: capturing.lookup_call(1),
    lookup_call_by_keywords=lambda: table_of_options.lookup_call(
        1, **{Text("x"): 1, "x": 2}
    ),
    profile=lambda: python.profile().check({"a": 1}),
    clone=lambda: types.clone(rest),
    refused=lambda: gt.GuardManager(Shown()),
    refused_operand=lambda: gt.GuardManager(f).local("a").type_match(Shown()),
    drop_entry=drop_entry,
    drop_from_a_guarded_function=drop_from_a_guarded_function,
    raise_on_miss=raise_on_miss,
    judged=judged,
)


def end_with(names):
    for name in names:
        threading.Thread(target=WAYS[name], name=name, daemon=True).start()
    end = time.monotonic() + 5
    while inside < set(names) and time.monotonic() < end:
        time.sleep(0.01)
    print(*sorted(set(names) - inside))
    sys.slow = Slow()
"""


def ended(ways: str, run_python) -> str:
    """What a process says whose daemon threads rest in these ways, if it ends well."""
    done = run_python(PRELUDE + f"\nend_with({ways})\n", status=None)
    if done.returncode or done.stderr:
        return f"{ways}: {done.returncode}, {done.stdout}{done.stderr}"
    return done.stdout


def test_daemon_threads_inside_any_user_code_do_not_disturb_the_end(run_python) -> None:
    # Up to 3.13 a daemon thread is unwound where it next asks for the GIL: a cleanup
    # would run without it, and a noexcept frame would end the process.
    if ended("WAYS", run_python) == "\n":
        return
    names: dict[str, object] = {}
    exec(PRELUDE, names)  # noqa: S102: to tell which of the ways it is
    for way in names["WAYS"]:  # type: ignore[attr-defined]
        assert ended(f"[{way!r}]", run_python) == "\n"


@pytest.mark.parametrize("raised", ["ValueError", "KeyboardInterrupt"])
def test_c_plus_plus_exceptions_still_run_their_handlers(raised, run_python) -> None:
    # The same frames are unwound by exceptions of the program.
    done = run_python(
        PRELUDE
        + f"""
class Raising(collections.UserDict):
    def __getitem__(self, key):
        raise {raised}(key)
for call in (types.check, tables[types].lookup, types.explain, types.profile().check):
    try:
        call(Raising(a=1))
    except {raised} as error:
        print(error)
"""
    )
    assert done.stdout == "a\n" * 4
