"""Captures: what guards checked is handed to what a hit runs, and fetched once."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import guardtree as gt
import pytest
from assumed import Thing, armed, function_with
from guarded_calls import let_go, make
from guardtree import strict_mode


@pytest.fixture(autouse=True)
def no_hook_left() -> Iterator[None]:
    yield
    let_go()


class Counts:
    """Tells how often its property was asked, by what the property gives."""

    asked = 0

    @property
    def own(self) -> list[int]:
        self.asked += 1
        return [self.asked]


def step(x: Any = 0, y: Any = 0, *, k: Any = 3) -> None: ...


def bound_table(payload: object = "hit") -> tuple[gt.Table, gt.GuardManager]:
    """Hands x.own and its first item over; the property is asked by the guards."""
    table, guards = gt.Table(step), gt.GuardManager(step)
    own = guards.local("x").generic_attr("own")
    own.type_match(list)
    item = own.list_item(0)
    item.type_match(int)
    names = {"own": own, "item": item, "k": guards.local("k"), "same": own}
    table.add(guards, payload, captures=names)
    return table, guards


def test_a_property_is_asked_once_and_its_value_handed_over() -> None:
    table, _ = bound_table()
    counts = Counts()
    values = {"own": [1], "item": 1, "k": 3, "same": [1]}
    assert table.lookup_call(counts) == ("hit", values)
    found = table.lookup({"x": counts, "k": None})
    assert found == ("hit", {"own": [2], "item": 2, "k": None, "same": [2]})
    assert found[1]["own"] is found[1]["same"]
    assert counts.asked == 2
    assert table.lookup({"x": 1, "k": 1}) is None


def test_a_path_without_a_check_has_to_be_there() -> None:
    table, guards = gt.Table(step), gt.GuardManager(step)
    names = {"x": guards.local("x"), "real": guards.local("y").attr("real")}
    entry = table.add(guards, "hit", captures=names)
    assert table.lookup({"x": None, "y": 3}) == ("hit", {"x": None, "real": 3})
    assert table.lookup({"y": 3}) is None
    assert table.lookup({"x": 1, "y": None}) is None
    assert not guards.checks()  # the guards themselves are as they were
    assert (entry.hits, entry.errors) == (1, 0)


@pytest.mark.parametrize("count", [1, 40])
def test_each_entry_hands_over_its_own(count: int) -> None:
    """With a decision, and among entries that hand nothing over."""
    table = gt.Table(step)
    for i in range(count):
        guards = gt.GuardManager(step)
        guards.local("x").equals(i)
        table.add(guards, ("plain", i))
        guards = gt.GuardManager(step)
        guards.local("x").equals(count + i)
        value = guards.local("y").item(0)
        table.add(guards, ("bound", i), captures={f"y{i}": value})
    for i in range(count):
        for _ in range(3):
            found = table.lookup_call(count + i, (i + 0.5,))
            assert found == (("bound", i), {f"y{i}": i + 0.5})
            assert table.lookup_call(i, ()) == ("plain", i)
            assert table.lookup_call(count + i, ()) is None


def test_what_is_assumed_is_handed_over_as_it_is_now() -> None:
    function = function_with(a={"b": {"c": [1]}})
    scope = function.__globals__
    guards = gt.GuardManager(function)
    value = guards.global_("a").dict_item("b").dict_item("c")
    value.type_match(list)
    table, before = gt.Table(function), armed()
    table.add(guards, "hit", captures={"c": value})
    for _ in range(5):
        assert table.lookup({}) == ("hit", {"c": [1]})
    assert armed() == before + 1
    scope["a"]["b"]["c"] = later = [2]
    for _ in range(5):
        assert table.lookup({})[1]["c"] is later
    scope["a"]["b"]["c"] = 3
    assert table.lookup({}) is None
    scope["a"] = {"b": {"c": later}}
    assert table.lookup({})[1]["c"] is later


def test_relations_read_what_is_handed_over() -> None:
    table, guards = gt.Table(step), gt.GuardManager(step)
    first, second = guards.local("x").item(0), guards.local("x").item(1)
    guards.distinct_objects(first, second, guards.local("y"))
    table.add(guards, "hit", captures={"second": second, "first": first})
    a, b, c = object(), object(), object()
    found = table.lookup_call([a, b], c)
    assert found == ("hit", {"second": b, "first": a})
    assert table.lookup_call([a, b], a) is None


def test_a_guard_that_changes_what_was_checked_does_not_change_what_is_given() -> None:
    function = function_with(a=Thing(b=Thing(c=[1])))
    scope = function.__globals__

    def changes(value: object) -> bool:
        scope["a"].b.c = "changed"
        scope["a"] = None
        return True

    guards = gt.GuardManager(function)
    value = guards.global_("a").attr("b").attr("c")
    value.type_match(list)
    guards.local("x").python(changes)
    table = gt.Table(function)
    table.add(guards, "hit", captures={"c": value})
    for _ in range(5):
        scope["a"] = Thing(b=Thing(c=[1]))
        assert table.lookup({"x": 1}) == ("hit", {"c": [1]})


def test_values_are_released_on_hit_miss_and_error() -> None:
    class Asked:
        @property
        def own(self) -> object:
            return subject

    subject, asked = [10**9], Asked()
    table, guards = gt.Table(step), gt.GuardManager(step)
    own = guards.local("x").generic_attr("own")
    guards.local("y").python(lambda y: 1 // y > 0)  # misses with -1, raises with 0
    table.add(guards, "hit", captures={"own": own, "again": own, "x": own})

    def run() -> None:
        for y in (1, -1, 0) * 20:
            table.lookup_call(asked, y)
            table.lookup({"x": asked, "y": y})

    run()
    before = sys.getrefcount(subject), sys.getrefcount(asked)
    run()
    assert (sys.getrefcount(subject), sys.getrefcount(asked)) == before


def test_guards_may_empty_the_table_they_are_in() -> None:
    table, guards = gt.Table(step), gt.GuardManager(step)
    entries = []

    def empties(value: object) -> bool:
        while entries:
            table.remove(entries.pop())
        gc.collect()
        return True

    own = guards.local("x").generic_attr("own")
    guards.local("y").python(empties)
    entries.append(table.add(guards, "hit", captures={"own": own}))
    assert table.lookup_call(Counts()) == ("hit", {"own": [1]})
    assert table.lookup_call(Counts()) is None


def test_strict_mode_judges_what_is_handed_over(hook: None) -> None:
    gt.strict()
    try:
        table, guards = gt.Table(step), gt.GuardManager(step)
        table.add(guards, "hit", captures={"real": guards.local("y").attr("real")})
        assert table.lookup_call(1, 2) == ("hit", {"real": 2})
        assert table.lookup_call(1, None) is None
        function, guarded = guarded_code()
        gt.add_entry(function, guarded)
        gt.set_eval_frame(False)
        assert function(7, Thing(own=[1])) == ("fast", 7, [1], 7)
        assert function(7, 3) == ("plain", 7)
        gt.set_eval_frame(None)
        gt.reset_code(function)
    finally:
        gt.strict(False)


def test_what_changes_while_strict_mode_judges_is_not_handed_over(
    hook: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = make("def plain(x, cfg=None): return G['b']")
    function.__globals__["G"] = {"b": 1}
    guards = gt.GuardManager(function)
    value = guards.global_("G").dict_item("b")
    value.type_match(int)
    guarded = gt.GuardedCode(
        fast_code(), guards, captures={"weight": value, "rest": guards.local("x")}
    )
    gt.add_entry(function, guarded)
    judge = strict_mode.judge

    def changing_judge(*arguments: Any) -> Any:
        answer = judge(*arguments)
        function.__globals__["G"]["b"] = "unchecked"
        return answer

    monkeypatch.setattr(strict_mode, "judge", changing_judge)
    gt.strict()
    try:
        gt.set_eval_frame(False)
        assert function(7) == ("fast", 7, 1, 7)
        gt.set_eval_frame(None)
    finally:
        gt.strict(False)
    gt.reset_code(function)


def fast_code() -> Any:
    """Has the locals `weight` and `rest`, which it does not bind itself."""

    def fast(x: Any, cfg: Any = None) -> Any:
        if x is ...:
            weight = rest = None
        return ("fast", x, weight, rest)

    return fast.__code__


def guarded_code() -> tuple[Any, gt.GuardedCode]:
    """A function, and what is to run in its frames where `cfg.own` is a list."""
    function = make("def plain(x, cfg=None): return ('plain', x)")
    guards = gt.GuardManager(function)
    own = guards.local("cfg").generic_attr("own")
    own.type_match(list)
    captures = {"weight": own, "rest": guards.local("x")}
    return function, gt.GuardedCode(fast_code(), guards, captures=captures)


def test_code_finds_its_locals_bound(hook: None) -> None:
    function, guarded = guarded_code()
    gt.add_entry(function, guarded)
    counts = Counts()
    assert function(7, counts) == ("plain", 7)
    gt.set_eval_frame(False)
    answers = [function(7, counts) for _ in range(3)]
    gt.set_eval_frame(None)
    assert answers == [("fast", 7, [n], 7) for n in (1, 2, 3)]
    assert counts.asked == 3
    assert gt.code_stats(function)["hits"] == 3
    gt.reset_code(function)


def test_frames_that_cannot_be_turned_run_as_written(hook: None) -> None:
    from guardtree import _guardtree

    function, guarded = guarded_code()
    counts = Counts()
    gt.add_entry(function, guarded)
    _guardtree._force_called(True)
    gt.set_eval_frame(False)
    assert function(7, counts) == ("plain", 7)
    _guardtree._force_called(False)
    assert function(7, counts) == ("fast", 7, [2], 7)
    gt.set_eval_frame(None)
    assert gt.code_stats(function)["hits"] == 1
    gt.reset_code(function)


def test_a_new_entry_runs_at_once_where_its_guards_pass(hook: None) -> None:
    function = make("def plain(x, cfg=None): return ('plain', x)")

    def compiler(frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        if frame.f_code is not function.__code__:
            return None
        guards = gt.GuardManager(frame)
        weight = guards.local("cfg").generic_attr("own")
        guards.local("x").type_match(int)
        captures = {"weight": weight, "rest": guards.local("x")}
        return gt.GuardedCode(fast_code(), guards, captures=captures)

    with gt.optimize(compiler):
        assert function("x", Counts()) == ("plain", "x")  # its guards fail on it
        assert gt.code_stats(function)["substituted"] == 0
        assert function(7, Counts()) == ("fast", 7, [1], 7)
        assert gt.code_stats(function)["substituted"] == 1
        gt.reset_code(function)
        assert function(7, Counts()) == ("fast", 7, [1], 7)
    gt.reset_code(function)


def test_cells_and_locals_of_generators_are_bound(hook: None) -> None:
    function = make("def plain(x):\n    yield ('plain', x, 1, 2, 3, [], {}, ())")
    fast = make(
        "def fast(x):\n"
        "    if x is ...: weight = None\n"
        "    yield 'fast', (lambda: weight)()\n"
        "    yield weight\n"
    )
    guards = gt.GuardManager(function)
    guards.local("x").type_match(list)
    item = guards.local("x").list_item(0)
    guarded = gt.GuardedCode(fast.__code__, guards, captures={"weight": item})
    subject = [object()]
    gt.add_entry(function, guarded)
    gt.set_eval_frame(False)
    for _ in range(3):
        assert list(function(subject)) == [("fast", subject[0]), subject[0]]
        assert next(function(3))[0] == "plain"
    gt.set_eval_frame(None)
    gt.reset_code(function)
    large = make(
        "def large(x):\n"
        "    if x is ...: weight = None\n"
        f"    {' = '.join(f'a{i}' for i in range(60))} = 0\n"
        "    yield weight\n"
    )
    with pytest.raises(ValueError, match="larger frame than the guarded"):
        gt.GuardedCode(large.__code__, guards, captures={"weight": item})


def test_code_releases_what_it_was_given(hook: None) -> None:
    class Value: ...

    function, guarded = guarded_code()
    gt.add_entry(function, guarded)
    counts = Counts()

    class Gives:
        @property
        def own(self) -> list[Any]:
            return [held[0]]

    held, gives = [Value()], Gives()
    gt.set_eval_frame(False)
    for _ in range(10):
        assert function(7, gives)[2][0] is held[0]
    gt.set_eval_frame(None)
    died = weakref.ref(held.pop())
    gc.collect()
    assert died() is None
    before = sys.getrefcount(counts)
    gt.set_eval_frame(False)
    for _ in range(50):
        function(counts, counts)
    gt.set_eval_frame(None)
    assert sys.getrefcount(counts) == before
    gt.reset_code(function)


def test_a_guarded_callable_gets_them_as_keywords() -> None:
    f = make("def f(a, b=2): return ('plain', a, b)")
    guards = gt.GuardManager(f)
    own = guards.local("a").generic_attr("own")
    own.type_match(list)
    captures = {"own": own, "second": guards.local("b")}
    guarded = gt.guard_function(f)
    guarded.add(guards, lambda a, b=2, **rest: ("fast", b, rest), captures=captures)
    counts = Counts()
    assert f(counts) == ("fast", 2, {"own": [1], "second": 2})
    assert f(counts, 5) == ("fast", 5, {"own": [2], "second": 5})
    assert f(counts, b=5) == ("fast", 5, {"own": [3], "second": 5})
    assert f(b=6, a=counts) == ("fast", 6, {"own": [4], "second": 6})
    assert f(*(counts,)) == ("fast", 2, {"own": [5], "second": 2})
    assert f(1) == ("plain", 1, 2)
    assert guarded.stats()["hits"] == 5
    before = sys.getrefcount(counts)
    for _ in range(50):
        f(counts, b=counts)
    assert sys.getrefcount(counts) == before


def test_guarded_code_gets_them_as_locals() -> None:
    f = make("def f(a, b=2, *rest, k=3): return ('plain', a, b)")
    guards = gt.GuardManager(f)
    own = guards.local("a").generic_attr("own")
    own.type_match(list)
    source = (
        "def fast(a, b=2, *rest, k=3):\n"
        "    early = [b, rest]\n"
        "    if a is ...: cell = weight = None\n"
        "    return ('fast', early, k, weight, (lambda: cell)())\n"
    )
    code = make(source).__code__
    captures = {"weight": own, "cell": guards.local("k")}
    gt.guard_function(f).add(guards, code, captures=captures)
    counts = Counts()
    for _ in range(2):
        counts.asked = 0
        assert f(counts) == ("fast", [2, ()], 3, [1], 3)
        assert f(counts, 5, 6, k=7) == ("fast", [5, (6,)], 7, [2], 7)
        assert f(1) == ("plain", 1, 2)
    f.__kwdefaults__ = {"k": 30}
    assert f(counts)[2] == 30


def test_guards_are_explained_with_what_has_to_be_there(hook: None) -> None:
    function, guarded = guarded_code()
    gt.add_entry(function, guarded)
    told = str(gt.explain(function, {"x": 1, "cfg": None}))
    gt.reset_code(function)
    assert "own" in told


def test_code_that_takes_bound_locals_for_granted_is_verified(hook: None) -> None:
    from guardtree.bytecode import Instruction, UnsafeCode, assemble, read, verify

    function = make("def plain(x): return ('plain', x)")
    body = read(make("def plain(x): return x").__code__)
    names = ("x", "weight")
    load = next(at for at, each in enumerate(body) if "LOAD_FAST" in each.opname)
    body[load] = Instruction("LOAD_FAST", "weight")
    code = assemble(body, function.__code__, co_varnames=names)
    verify(code, bound=["weight"])
    guards = gt.GuardManager(function)
    captures = {"weight": guards.local("x").item(0)}
    guarded = gt.GuardedCode(code, guards, captures=captures, verify=True)
    gt.add_entry(function, guarded)
    gt.set_eval_frame(False)
    assert function([8]) == 8
    assert function([]) == ("plain", [])
    gt.set_eval_frame(None)
    gt.reset_code(function)
    if gt.bytecode.versions.RUNNING.load_fast_checked != "LOAD_FAST":
        with pytest.raises(UnsafeCode):
            gt.GuardedCode(code, guards, verify=True)


def test_guards_may_end_the_entry_whose_values_were_fetched(hook: None) -> None:
    f = make("def f(a, b=2): return ('plain', a, b)")
    guarded, guards = gt.guard_function(f), gt.GuardManager(f)

    def ends(value: object) -> bool:
        guarded.restore()
        gt.reset_code(f)
        gc.collect()
        return True

    own = guards.local("a").generic_attr("own")
    guards.local("b").python(ends)
    captures = {"own": own, "b2": guards.local("b")}
    guarded.add(guards, lambda a, b=2, *, own, b2: ("fast", own, b2), captures=captures)
    counts = Counts()
    before = sys.getrefcount(counts)
    assert f(counts) == ("fast", [1], 2)
    assert f(counts) == ("plain", counts, 2)
    assert sys.getrefcount(counts) == before
