"""What an entry keeps alive, and what lets go of it.

The table of a code object hangs on the code where the garbage collector cannot see
it. So a cycle that runs through Python objects an entry owns is broken either by a
weak back-edge (then `gc.collect()` is enough) or by `reset_code`.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import guardtree as gt
import pytest

pytestmark = pytest.mark.usefixtures("hook")

OLD = "def f(a): return 'old'"
NEW = "def f(a):\n b = a\n return 'new'"


class Check:
    """A guard that a weak reference can watch."""

    def __init__(self, verdict: bool = True, holds: Any = None) -> None:
        self.verdict = verdict
        self.holds = holds

    def __call__(self, f_locals: dict[str, Any]) -> bool:
        return self.verdict


def use(function: Any, code: Any, check: Any, times: int = 3) -> None:
    """Gives a function entries and runs it, leaving no callback behind."""

    def callback(frame, entry, state):
        if frame.f_code is function.__code__:
            return gt.GuardedCode(code, check)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        for n in range(times):
            assert function(n) == "new"


def dead(*references: weakref.ref[Any]) -> list[bool]:
    return [reference() is None for reference in references]


@pytest.mark.parametrize("verdict", [True, False])
def test_deleting_the_function_frees_its_entries_at_once(verdict, fresh) -> None:
    f, new, check = fresh(OLD, "f"), fresh(NEW, "f"), Check(verdict)
    alive = [weakref.ref(x) for x in (check, f.__code__, new.__code__)]
    use(f, new.__code__, check)
    del new, check
    assert dead(*alive) == [False] * 3
    gc.disable()
    try:
        del f
        assert dead(*alive) == [True] * 3
    finally:
        gc.enable()


def test_deleting_the_function_frees_a_tree_and_what_it_names(fresh) -> None:
    class Thing:
        pass

    f, new, check, thing = fresh(OLD, "f"), fresh(NEW, "f"), Check(), Thing()
    guards = gt.GuardManager(f)
    guards.local("a").python(check)
    guards.python(Check(holds=thing))
    alive = [weakref.ref(x) for x in (check, thing, f.__code__, new.__code__)]
    use(f, new.__code__, guards)
    del new, check, thing, guards, f
    gc.collect()
    assert dead(*alive) == [True] * 4


def test_a_reset_frees_entries_and_state_at_once(fresh) -> None:
    class State:
        pass

    f, new, check, state_value = fresh(OLD, "f"), fresh(NEW, "f"), Check(), State()
    alive = [weakref.ref(x) for x in (check, new.__code__, state_value)]

    def callback(frame, entry, state, keep=[state_value]):  # noqa: B006
        if frame.f_code is f.__code__:
            state["kept"] = keep.pop()
            return gt.GuardedCode(new.__code__, check)  # noqa: F821
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        f(1)
    del new, check, state_value, callback
    gc.collect()
    assert dead(*alive) == [False] * 3
    gt.reset_code(f.__code__)
    assert dead(*alive) == [True] * 3


def test_an_entry_object_keeps_its_parts_and_not_the_function(fresh) -> None:
    f, new, check = fresh(OLD, "f"), fresh(NEW, "f"), Check()
    alive = [weakref.ref(x) for x in (check, new.__code__, f.__code__)]
    use(f, new.__code__, check)
    [entry] = gt.cache_entries(f.__code__)
    del f, new, check
    gc.collect()
    assert dead(*alive) == [False, False, True]
    assert entry.code is alive[1]()
    assert entry.check_fn is alive[0]()
    del entry
    gc.collect()
    assert dead(*alive) == [True] * 3


def test_a_tree_scoped_by_a_function_does_not_keep_it(fresh) -> None:
    # code -> entry -> guards -> scope -> code would be a cycle nobody can see.
    for scope in ("function", "code", "frame"):
        f, new = fresh(OLD, "f"), fresh(NEW, "f")
        alive = [weakref.ref(x) for x in (f, f.__code__)]

        def callback(frame, entry, state, f=f, new=new, scope=scope):
            if frame.f_code is not f.__code__:
                return gt.ASK_AGAIN
            scopes = {"function": f, "code": f.__code__, "frame": frame}
            guards = gt.GuardManager(scopes[scope])
            guards.local("a").type_match(int)
            return gt.GuardedCode(new.__code__, guards)

        with gt.optimize(callback):
            assert [f(1), f(2)] == ["new"] * 2
        del f, new, callback
        gc.collect()
        assert dead(*alive) == [True] * 2, scope


def test_an_identity_guard_on_its_own_function_is_collected(fresh) -> None:
    # function -> code -> entry -> id_match(function)
    namespace: dict[str, Any] = {}
    exec(OLD, namespace)
    f, new = namespace["f"], fresh(NEW, "f")
    guards = gt.GuardManager(f)
    guards.global_("f").id_match(f)
    alive = [weakref.ref(x) for x in (f, f.__code__, new.__code__)]
    use(f, new.__code__, guards)
    assert gt.code_stats(f.__code__)["hits"] == 2
    del guards, namespace, f, new
    gc.collect()
    assert dead(*alive) == [True] * 3


def test_a_dead_object_never_passes_an_identity_guard(fresh) -> None:
    class Thing:
        pass

    f, new, thing = fresh(OLD, "f"), fresh(NEW, "f"), Thing()
    guards = gt.GuardManager(f)
    guards.local("a").id_match(thing)

    def callback(frame, entry, state):
        if frame.f_code is f.__code__:
            return gt.GuardedCode(new.__code__, guards)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        f(thing)
    with gt.optimize(False):
        assert f(thing) == "new"
        del thing
        gc.collect()
        for _ in range(1000):  # the address is free or held: either way no match
            assert f(Thing()) == "old"


def test_a_guard_that_holds_its_function_is_freed_by_a_reset(fresh) -> None:
    f, new = fresh(OLD, "f"), fresh(NEW, "f")
    check = Check(holds=f)
    alive = [weakref.ref(x) for x in (f, f.__code__, new.__code__, check)]
    use(f, new.__code__, check)
    gt.reset_code(f.__code__)
    del f, new, check
    gc.collect()
    assert dead(*alive) == [True] * 4


def test_an_entry_that_runs_its_own_code_is_freed_by_a_reset(fresh) -> None:
    f = fresh("def f(a): return 'new'", "f")
    alive = [weakref.ref(x) for x in (f, f.__code__)]
    use(f, f.__code__, Check())
    gt.reset_code(f.__code__)
    del f
    gc.collect()
    assert dead(*alive) == [True] * 2


def test_the_dict_of_a_guard_and_the_locals_of_a_callback_die_with_the_call(
    fresh,
) -> None:
    class Thing:
        pass

    f, new = fresh(OLD, "f"), fresh(NEW, "f")

    def callback(frame, entry, state):
        if frame.f_code is not f.__code__:
            return gt.ASK_AGAIN
        assert frame.f_locals["a"] is not None
        return gt.GuardedCode(new.__code__, lambda f_locals: len(f_locals) == 1)

    with gt.optimize(callback):
        for _ in range(3):
            thing = Thing()
            alive = weakref.ref(thing)
            assert f(thing) == "new"
            del thing
            assert alive() is None


def test_a_kept_error_keeps_no_argument_of_the_call_alive(fresh) -> None:
    # The traceback names the guard's frame, whose f_locals is the dict of locals.
    class Thing:
        pass

    f, new = fresh(OLD, "f"), fresh(NEW, "f")

    def guard(f_locals):
        raise KeyError("guard")

    def callback(frame, entry, state):
        if frame.f_code is f.__code__:
            return gt.GuardedCode(new.__code__, guard)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        f(None)
        thing = Thing()
        alive = weakref.ref(thing)
        with gt.optimize(False):
            f(thing)
        del thing
    [entry] = gt.cache_entries(f.__code__)
    assert isinstance(entry.last_error, KeyError)
    assert alive() is None


def test_replacing_the_code_of_a_function_frees_the_old_codes_entries(fresh) -> None:
    f, new, check = fresh(OLD, "f"), fresh(NEW, "f"), Check()
    alive = weakref.ref(check)
    use(f, new.__code__, check)
    del check
    f.__code__ = fresh("def f(a): return 'other'", "f").__code__
    gc.collect()
    assert alive() is None
    with gt.optimize(False):
        assert f(1) == "other"


def test_the_last_callback_is_released_when_it_is_replaced() -> None:
    class Callback:
        def __call__(self, frame, entry, state):
            return gt.ASK_AGAIN

    for after in (None, False, Callback()):
        callback = Callback()
        alive = weakref.ref(callback)
        gt.set_eval_frame(callback)
        del callback
        assert alive() is not None
        gt.set_eval_frame(after)
        assert alive() is None
        gt.set_eval_frame(None)
