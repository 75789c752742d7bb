"""What is measured of tables, functions and code with n entries."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import growth_operations as operations
import guardtree as gt
from growth_operations import Run, fresh, operation, other, subject

# Tables of n entries.


def entry(i: int, function: Any = subject) -> gt.GuardManager:
    guards = gt.GuardManager(function)
    guards.local("a").equals(i)
    return guards


@lru_cache(maxsize=None)
def entry_guards(n: int) -> list[gt.GuardManager]:
    return [entry(i) for i in range(n)]


def filled(n: int) -> gt.Table:
    table = gt.Table(subject)
    for i, guards in enumerate(entry_guards(n)):
        table.add(guards, i)
    return table


table_of = lru_cache(maxsize=None)(filled)


def each_table(name: str, run: Callable[[gt.Table, int], object]) -> None:
    def make(n: int) -> Run:
        table = table_of(n)
        table.lookup({"a": 0})
        return lambda: run(table, n)

    operation(f"{name}: entries")(make)


@operation("Table.add: entries")
def _(n: int) -> Run:
    table, guards = filled(n), entry(n)
    return lambda: table.add(guards, n)


@operation("Table.remove: entries")
def _(n: int) -> Run:
    table = filled(n)
    first = table.entries()[0]
    return lambda: table.remove(first)


each_table("Table.lookup", lambda table, n: table.lookup({"a": n - 1}))
each_table("Table.lookup, missing", lambda table, n: table.lookup({"a": -1}))
each_table("Table.lookup_call", lambda table, n: table.lookup_call(n - 1))
each_table("Table.explain", lambda table, n: table.explain({"a": n - 1}))
each_table("Table.find", lambda table, n: table.find({"a": n - 1}))
each_table("Table.entries", lambda table, n: table.entries())
each_table("Table.differences", lambda table, n: table.differences())


# Dispatchers of n entries.


def dispatcher(n: int) -> gt.Dispatcher:
    made = gt.Dispatcher(subject, entry_limit=n + 1)
    for guards in entry_guards(n):
        made.add(guards, subject)
    return made


dispatcher_of = lru_cache(maxsize=None)(dispatcher)


@operation("Dispatcher.add: entries")
def _(n: int) -> Run:
    made, guards = dispatcher(n), entry(n)
    return lambda: made.add(guards, subject)


@operation("Dispatcher.remove: entries")
def _(n: int) -> Run:
    made = dispatcher(n)
    first = made.entries()[0]
    return lambda: made.remove(first)


def each_dispatcher(name: str, run: Callable[[gt.Dispatcher, int], object]) -> None:
    operation(f"Dispatcher.{name}: entries")(
        lambda n: lambda made=dispatcher_of(n): run(made, n)
    )


each_dispatcher("find", lambda made, n: made.find(n - 1))
each_dispatcher("entries", lambda made, n: made.entries())
each_dispatcher("explain", lambda made, n: str(made.explain(-1)))
each_dispatcher("report", lambda made, n: made.report())
each_dispatcher("differences", lambda made, n: made.differences())
each_dispatcher("stats", lambda made, n: made.stats())


# Functions and code with n entries.


guarded_ones: list[Any] = []  # what guards a function does not keep it


def guarded(n: int) -> Any:
    n //= 2  # entries are dear to make
    function = fresh()
    guarded_ones.append(function)
    before = gt.set_policy(function, entry_limit=n + 1)
    assert before
    made = gt.guard_function(function)
    for i in range(n):
        made.add(entry(i, function), other.__code__)
    return made


guarded_function = lru_cache(maxsize=None)(guarded)


@operation("GuardedFunction.add: entries")
def _(n: int) -> Run:
    made = guarded(n)
    guards = entry(n, made.function)
    return lambda: made.add(guards, other.__code__)


@operation("GuardedFunction.remove: entries")
def _(n: int) -> Run:
    made = guarded(n)
    first = made.entries()[0]
    return lambda: made.remove(first)


@operation("GuardedFunction.restore: entries")
def _(n: int) -> Run:
    return guarded(n).restore


@operation("guard_function: a call with entries")
def _(n: int) -> Run:
    function = guarded_function(n).function
    return lambda: function(n // 2 - 1)


for method in ("entries", "stats"):
    operation(f"GuardedFunction.{method}: entries")(
        lambda n, method=method: lambda f=guarded_function(n): getattr(f, method)()
    )


def cached(n: int) -> Any:
    n //= 2
    function = fresh()
    gt.set_policy(function, entry_limit=n + 1)
    for i in range(n):
        gt.add_entry(function, gt.GuardedCode(other.__code__, entry(i, function)))
    return function


cached_function = lru_cache(maxsize=None)(cached)


@operation("add_entry: entries")
def _(n: int) -> Run:
    function = cached(n)
    made = gt.GuardedCode(other.__code__, entry(n, function))
    return lambda: gt.add_entry(function, made)


@operation("invalidate: entries")
def _(n: int) -> Run:
    function = cached(n)
    first = gt.cache_entries(function)[0]
    return lambda: gt.invalidate(function, first, "by a test")


def each_cache(
    name: str, run: Callable[[Any], object], of: Any = cached_function
) -> None:
    operation(f"{name}: entries")(lambda n: lambda f=of(n): run(f))


each_cache("cache_entries", gt.cache_entries)
each_cache("code_stats", gt.code_stats)
each_cache("differences", gt.differences)
each_cache("explain", lambda function: str(gt.explain(function, {"a": -1})))
each_cache("report", lambda function: gt.report(function, {"a": -1}))
each_cache("reset_code", gt.reset_code, cached)


def invalidated(n: int) -> Any:
    function = cached(n)
    for each in gt.cache_entries(function):
        gt.invalidate(function, each, "by a test")
    return function


each_cache("removed_entries", gt.removed_entries, invalidated)
