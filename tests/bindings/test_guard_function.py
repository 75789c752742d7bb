"""guard_function: calls of one function looked up by their arguments, no hook set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import guardtree as gt
import pytest
from guarded_calls import BY_ENTRY, by_entry, fast, ints, is_fast, let_go, make

ITEMS_REACH_HOOKS = sys.version_info >= (3, 11, 4)
"""Before, a specialised subscript enters a `__getitem__` past them (gh-104405)."""


@pytest.fixture(autouse=True)
def no_hook_left() -> Iterator[None]:
    yield
    let_go()


def test_a_hit_calls_the_target_and_a_miss_the_function() -> None:
    f = make()
    guarded = gt.guard_function(f)
    entry = guarded.add(ints(f), fast)
    assert is_fast(f(1, 3))
    assert f("x", 3) == ("plain", "x", 3)
    assert (entry.hits, guarded.stats()["hits"], len(guarded)) == (1, 1, 1)
    if BY_ENTRY:
        assert guarded.stats()["misses"] == 1
        assert gt.get_eval_frame() is None


def test_an_entry_is_a_table_entry_on_every_version() -> None:
    f = make()
    guarded = gt.guard_function(f)
    guards = ints(f)
    entry = guarded.add(guards, fast)
    assert type(entry) is gt.TableEntry
    assert entry.payload is fast
    assert entry.guards is guards
    assert (entry.hits, entry.errors, entry.last_error) == (0, 0, None)
    assert repr(entry) == "<guardtree.TableEntry: gives fast, 0 hits>"
    f(1, 3)
    assert entry.hits == 1
    guarded.remove(entry)
    assert not is_fast(f(1, 3))


@by_entry
def test_a_callable_gets_the_call_as_it_was() -> None:
    f = make("def f(a, b=2, *rest, c=3, **more): return 'plain'")
    gt.guard_function(f).add(ints(f), fast)
    assert f(1) == ("fast", (1,), {})
    assert f(1, 5, 6, c=7, d=8) == ("fast", (1, 5, 6), {"c": 7, "d": 8})
    assert f(b=1, a=2) == ("fast", (), {"b": 1, "a": 2})


@pytest.mark.parametrize(
    ("call", "hits"),
    [
        (lambda f: f(1, 2), True),
        (lambda f: f(1), True),
        (lambda f: f(1, b=2), True),
        (lambda f: f(b=2, a=1), True),
        (lambda f: f(*(1, 2)), True),
        (lambda f: f(**{"a": 1, "b": 2}), True),
        (lambda f: f(*[1], **{"b": 2}), True),
        (lambda f: list(map(f, [1], [2]))[0], True),
        (lambda f: f(1, 3), False),
        (lambda f: f(True, 2), False),
        (lambda f: f(1, b=3), False),
    ],
)
def test_every_form_of_call_is_looked_up(
    call: Callable[[Any], Any], hits: bool
) -> None:
    f = make()
    guards = ints(f)
    guards.local("b").equals(2)
    gt.guard_function(f).add(guards, fast)
    for _ in range(3):
        assert is_fast(call(f)) is hits


def test_keyword_only_arguments_and_stars_are_bound() -> None:
    f = make("def f(a, /, *rest, k=3, **more): return ('plain',)")
    guards = ints(f)
    guards.local("rest").length(2).item(1).equals("x")
    guards.local("k").equals(3)
    guards.local("more").dict_contains("mode")
    gt.guard_function(f).add(guards, fast)
    assert is_fast(f(1, 0, "x", mode=1))
    assert not is_fast(f(1, 0, "x", mode=1, k=4))
    assert not is_fast(f(1, 0, "x"))
    assert not is_fast(f(1, mode=1))


def test_calls_that_do_not_fit_raise_what_the_function_raises() -> None:
    f = make()
    gt.guard_function(f).add(ints(f), fast)
    for call in (lambda: f(), lambda: f(1, 2, 3), lambda: f(1, a=2), lambda: f(1, z=0)):
        with pytest.raises(TypeError, match=r"f\(\)"):
            call()


def test_code_runs_with_the_functions_globals_closure_and_defaults() -> None:
    def outer(cell: int) -> Any:
        def f(a, b=2, *, k=3):
            return ("plain", a, b, k, cell)

        def g(a, b=2, *, k=3):
            return ("fast", a, b, k, cell, __name__)

        return f, g.__code__

    f, code = outer(9)
    gt.guard_function(f).add(ints(f), code)
    assert f(1) == ("fast", 1, 2, 3, 9, __name__)
    f.__defaults__ = (20,)
    assert f(1) == ("fast", 1, 20, 3, 9, __name__)
    f.__kwdefaults__ = {"k": 30}
    assert f(1) == ("fast", 1, 20, 30, 9, __name__)
    f.__kwdefaults__["k"] = 31
    assert f(1, 5) == ("fast", 1, 5, 31, 9, __name__)
    f.__defaults__ = None
    with pytest.raises(TypeError):
        f(1)
    assert f("x", 1) == ("plain", "x", 1, 31, 9)


def test_guards_see_the_defaults_of_now() -> None:
    f = make("def f(a, b=2, *, k=0): return ('plain',)")
    guards = ints(f, "b")
    guards.local("k").is_none()
    gt.guard_function(f).add(guards, fast)
    assert not is_fast(f(1))
    f.__kwdefaults__["k"] = None
    assert is_fast(f(1))
    f.__defaults__ = ("two",)
    assert not is_fast(f(1))
    f.__kwdefaults__, f.__defaults__ = {"k": None}, (3,)
    assert is_fast(f(1))


def test_a_function_of_other_code_runs_plain() -> None:
    f, other = make(), make("def g(a, b=2): x = y = z = a; return ('other', x, y, z)")
    own = f.__code__
    guarded = gt.guard_function(f)
    guarded.add(ints(f), fast)
    assert is_fast(f(1))
    f.__code__ = other.__code__
    assert f(1) == ("other", 1, 1, 1)
    f.__code__ = own
    assert is_fast(f(1))
    f.__code__ = other.__code__
    again = gt.guard_function(f)
    assert again is not guarded
    again.add(ints(f), fast)
    assert is_fast(f(1))
    with pytest.raises(ValueError, match="call guard_function again"):
        guarded.add(ints(f), fast)


def test_guards_read_globals_closures_and_attributes() -> None:
    class Config:
        training = False

    limit = 3
    config = Config()

    def f(x):
        return ("plain", limit, config)

    guards = gt.GuardManager(f)
    guards.local("x").attr("training").is_false()
    guards.closure("limit").equals(3)
    guards.global_("BY_ENTRY").equals(BY_ENTRY)
    gt.guard_function(f).add(guards, fast)
    assert is_fast(f(config))
    limit = 4
    assert not is_fast(f(config))
    limit = 3
    assert is_fast(f(config))
    config.training = True
    assert not is_fast(f(config))


def test_a_guard_on_a_local_that_is_no_argument_fails() -> None:
    f = make("def f(a):\n    later = a\n    return ('plain', later)")
    guards = gt.GuardManager(f)
    guards.local("later").type_match(int)
    gt.guard_function(f).add(guards, fast)
    # Behind the argument lies what the call before left on the caller's stack.
    caller = make("def caller(): max(7, 7, 7, 7); return f(1)", f=None)
    caller.__globals__["f"] = f
    for _ in range(3):
        assert caller() == ("plain", 1)


def test_python_level_guards_run_with_guarding_off() -> None:
    f = make()
    seen = []

    def guard(a: object) -> bool:
        seen.append(f("inside", 0))
        return True

    guards = gt.GuardManager(f)
    guards.local("a").python(guard)
    guards.python(lambda f_locals: f_locals == {"a": 1, "b": 2})
    gt.guard_function(f).add(guards, fast)
    assert is_fast(f(1))
    assert seen == [("plain", "inside", 0)]


def test_a_guard_that_raises_is_a_miss_and_is_kept() -> None:
    f = make()
    guards = gt.GuardManager(f)
    guards.local("a").python(lambda a: 1 // a)
    entry = gt.guard_function(f).add(guards, fast)
    assert is_fast(f(1))
    assert f(0) == ("plain", 0, 2)
    assert entry.errors == 1
    assert isinstance(entry.last_error, ZeroDivisionError)
    guards = gt.GuardManager(f)

    def interrupt(a: object) -> bool:
        raise KeyboardInterrupt

    g = make()
    guards = gt.GuardManager(g)
    guards.local("a").python(interrupt)
    gt.guard_function(g).add(guards, fast)
    with pytest.raises(KeyboardInterrupt):
        g(1)


def test_an_exception_of_the_target_reaches_the_caller() -> None:
    f = make()

    def fails(*args: Any) -> Any:
        raise LookupError("of the target")

    gt.guard_function(f).add(ints(f), fails)
    with pytest.raises(LookupError, match="of the target"):
        f(1)


def test_the_first_entry_that_passes_is_called() -> None:
    f = make()
    guarded = gt.guard_function(f)
    for value in range(20):
        guards = gt.GuardManager(f)
        guards.local("a").equals(value)
        guarded.add(guards, lambda a, b=2, value=value: ("fast", value))
    guarded.add(ints(f), lambda a, b=2: ("fast", "any"))
    assert [f(value)[1] for value in (0, 7, 19, 20)] == [0, 7, 19, "any"]
    assert [each.hits for each in guarded.entries()][:8] == [1, *[0] * 6, 1]


def test_recursion_is_looked_up_at_each_level() -> None:
    f = make("def f(n): return n and ('plain', f(n - 1))")
    guarded = gt.guard_function(f)
    guards = gt.GuardManager(f)
    guards.local("n").equals(2)
    guarded.add(guards, lambda n: ("fast", f(1)))
    assert f(3) == ("plain", ("fast", ("plain", 0)))


def test_recursion_without_end_raises(run_python: Any) -> None:
    run_python(
        """
        import guardtree as gt, sys, threading
        sys.setrecursionlimit(1_000_000)
        def f(n): return n
        guards = gt.GuardManager(f)
        guards.local("n").type_match(int)
        def run():
            gt.guard_function(f).add(guards, lambda n: f(n + 1))
            try:
                f(0)
            except RecursionError:
                print("refused")
        threading.stack_size(1 << 20)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        run()
        """
    )


def test_what_the_interpreter_calls_by_itself_is_looked_up() -> None:
    class Thing:
        def __getitem__(self, x):
            return ("plain", x)

        def __add__(self, x):
            return ("plain", x)

        def __call__(self, x):
            return ("plain", x)

        def __contains__(self, x):
            return False

        def __getattr__(self, name):
            return ("plain", name)

        @property
        def prop(self):
            return ("plain",)

    thing = Thing()

    def uses(thing: Any) -> list[Any]:
        item = [thing[1]] if ITEMS_REACH_HOOKS else []
        return [*item, thing + 1, thing(1), thing.missing, thing.prop]

    for _ in range(300):  # specialised
        assert not any(map(is_fast, uses(thing)))
        assert 1 not in thing
    for name in ("__getitem__", "__add__", "__call__", "__getattr__", "__contains__"):
        method = getattr(Thing, name)
        guards = gt.GuardManager(method)
        guards.local("self").type_match(Thing)
        gt.guard_function(method).add(guards, fast)
    guards = gt.GuardManager(Thing.prop.fget)
    guards.local("self").type_match(Thing)
    gt.guard_function(Thing.prop.fget).add(guards, fast)
    for _ in range(300):
        assert all(map(is_fast, uses(thing)))
        assert 1 in thing
