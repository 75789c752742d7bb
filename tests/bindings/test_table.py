"""Table: entries looked up without a hook, found without trying all."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import guardtree as gt
import pytest


def step(x: Any = 0, y: Any = 0, items: Any = ()) -> None: ...


def table_of_ints(count: int) -> gt.Table:
    table = gt.Table(step)
    for i in range(count):
        guards = gt.GuardManager(step)
        guards.local("x").equals(i)
        table.add(guards, f"entry {i}")
    return table


@pytest.mark.parametrize("count", [1, 2, 3, 8, 300])
def test_the_entry_whose_guards_pass_is_found(count: int) -> None:
    table = table_of_ints(count)
    assert len(table) == count
    assert [table.lookup({"x": i}) for i in range(count)] == [
        f"entry {i}" for i in range(count)
    ]
    for other in (count, -1, True, 0.0, "0", None):  # equal is not the same
        assert table.lookup({"x": other}) is None
    assert table.lookup({}, "none of them") == "none of them"


def test_the_oldest_that_passes_is_found() -> None:
    table = gt.Table(step)
    for low in range(0, 40, 2):
        guards = gt.GuardManager(step)
        guards.local("x").int_range(low, low + 5)
        table.add(guards, low)
    for i in range(5):
        guards = gt.GuardManager(step)
        guards.local("x").equals(i)
        table.add(guards, ("late", i))
    assert table.lookup({"x": 3}) == 0
    assert table.lookup({"x": 9}) == 4
    assert table.lookup({"x": 43}) == 38


def test_what_a_guard_changes_counts_for_the_entries_behind_it() -> None:
    box = [0]

    def changes(value: object) -> bool:
        box[0] += 1
        return False

    table = gt.Table(step)
    for i in range(6):
        guards = gt.GuardManager(step)
        guards.local("items").list_item(0).equals(i)
        if i == 0:
            guards.local("x").python(changes)
        table.add(guards, i)
    assert table.lookup({"x": 0, "items": box}) == 1
    assert box == [1]


def test_payloads_and_guards_are_the_entrys() -> None:
    table = gt.Table(step)
    guards = gt.GuardManager(step)
    guards.local("x").is_none()
    payload = object()
    entry = table.add(guards, payload)
    assert (entry.payload, entry.guards, entry.hits) == (payload, guards, 0)
    assert table.find({"x": None}).payload is payload
    assert table.find({"x": 1}) is None
    assert entry.hits == 1
    assert [each.payload for each in table.entries()] == [payload]


def test_an_entry_is_taken_out() -> None:
    table = table_of_ints(20)
    entry = table.find({"x": 7})
    table.remove(entry)
    assert len(table) == 19
    assert table.lookup({"x": 7}) is None
    assert table.lookup({"x": 19}) == "entry 19"
    with pytest.raises(ValueError, match="not in the table"):
        table.remove(entry)


def test_an_entry_whose_object_died_finds_nothing() -> None:
    class Mortal: ...

    mortals = [Mortal() for _ in range(10)]
    table = gt.Table(step)
    for i, mortal in enumerate(mortals):
        guards = gt.GuardManager(step)
        guards.local("x").id_match(mortal)
        table.add(guards, i)
    del mortals[4], mortal
    gc.collect()
    assert [table.lookup({"x": each}) for each in mortals] == [
        0,
        1,
        2,
        3,
        *range(5, 10),
    ]


def test_differences_say_what_entries_differ_in() -> None:
    table = gt.Table(step)
    for size in (8, 16, 24):
        guards = gt.GuardManager(step)
        guards.local("x").tensor_match({"dtype": "float32", "shape": (size, 4)})
        guards.local("y").type_match(int)
        table.add(guards, size)
    assert table.differences() == {"x.shape[0]": ["8", "16", "24"]}


def test_a_table_that_holds_itself_is_collected() -> None:
    class Payload: ...

    table = gt.Table(step)
    payload = Payload()
    payload.table = table
    died = weakref.ref(payload)
    guards = gt.GuardManager(step)
    guards.local("x").is_none()
    table.add(guards, payload)
    del table, payload, guards
    gc.collect()
    assert died() is None


def test_the_arguments_of_a_call_are_bound_as_python_does() -> None:
    def kernel(x, size=3, *rest, scale=1.0, **options): ...

    table = gt.Table(kernel)
    for name, value in (("size", 8), ("rest", (1,)), ("scale", 2.0), ("size", 3)):
        guards = gt.GuardManager(kernel)
        guards.local(name).equals(value)
        table.add(guards, (name, value))
    guards = gt.GuardManager(kernel)
    guards.local("options").dict_contains("mode")
    table.add(guards, "options")
    assert table.lookup_call(1.0, 8) == ("size", 8)
    assert table.lookup_call(1.0, size=8) == ("size", 8)
    assert table.lookup_call(1.0, 5, 1) == ("rest", (1,))
    assert table.lookup_call(1.0, 5, scale=2.0) == ("scale", 2.0)
    assert table.lookup_call(1.0) == ("size", 3)
    assert table.lookup_call(1.0, 5, mode="r") == "options"
    assert table.lookup_call(1.0, 5) is None
    with pytest.raises(TypeError, match=r"do not fit .*kernel\(x, size=3, \*rest"):
        table.lookup_call()
    code_alone = gt.Table(kernel.__code__)
    with pytest.raises(TypeError, match="make it for the function"):
        code_alone.lookup_call(1.0)


def test_a_function_whose_code_was_replaced_is_refused() -> None:
    def kernel(x): ...

    def larger(x=0):
        a = b = c = d = e = f = g = h = x
        return a, b, c, d, e, f, g, h

    table = gt.Table(kernel)
    kernel.__code__ = larger.__code__
    with pytest.raises(TypeError, match="other code than the table was made for"):
        table.lookup_call(1)


def test_a_decorator_specialises_by_the_arguments() -> None:
    """What Table is for: a JIT's decorator without a frame hook."""

    def specialise(function):
        table = gt.Table(function)

        def call(*args, **kwargs):
            found = table.lookup_call(*args, **kwargs)
            if found is None:
                guards = gt.GuardManager(function)
                guards.local("n").equals(args[0])
                answer = function(*args, **kwargs)
                made.append(args[0])
                table.add(guards, found := lambda: answer)
            return found()

        return call

    made: list[int] = []

    @specialise
    def square(n):
        return n * n

    assert [square(n) for n in (3, 4, 3, 4, 5)] == [9, 16, 9, 16, 25]
    assert made == [3, 4, 5]


def test_wrong_uses_are_refused() -> None:
    table = gt.Table(step)
    with pytest.raises(TypeError, match="GuardManager"):
        table.add(lambda f_locals: True, 1)
    with pytest.raises(TypeError, match="mapping"):
        table.lookup(3)
    with pytest.raises(TypeError, match="a subject and a default"):
        table.lookup()
    with pytest.raises(TypeError):
        gt.Table(3)
    with pytest.raises(TypeError, match="not initialised"):
        gt.Table.__new__(gt.Table).lookup({})


def test_the_tables_default_is_what_no_entry_gives() -> None:
    missing = object()
    table, guards = gt.Table(step, default=missing), gt.GuardManager(step)
    assert table.lookup({}) is table.lookup_call(1, 2) is missing
    guards.local("x").equals(3)
    entry = table.add(guards, None)
    assert table.lookup({"x": 3}) is table.lookup_call(3, 2) is None
    assert table.lookup({"x": 4}) is table.lookup_call(4, 2) is missing
    assert table.lookup({"x": 4}, "other") == "other"
    table.remove(entry)
    table.add(guards, None, captures={"x": guards.local("x")})
    assert table.lookup({"x": 3}) == table.lookup_call(3, 2) == (None, {"x": 3})
    assert table.lookup({"x": 4}) is table.lookup_call(4, 2) is missing
    assert table.lookup({"x": 4}, "other") == "other"


def test_explain_says_why_each_entry_misses() -> None:
    table = gt.Table(step)
    for value in (3, 4):
        guards = gt.GuardManager(step)
        guards.local("x").equals(value)
        guards.local("y").type_match(int)
        table.add(guards, value)
    explained = table.explain({"x": 4, "y": ""})
    assert [entry.entry.payload for entry in explained.entries] == [4, 3]
    assert len(explained.entries[0].failures) == 1
    assert "expected type_match(int)" in str(explained)
    assert "x" in explained.differences
    with pytest.raises(TypeError, match="mapping"):
        table.explain(3)  # type: ignore[arg-type]
