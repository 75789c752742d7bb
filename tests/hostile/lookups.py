"""Entry points that evaluate guards: each way of a look-up, each kind and step.

A guard whose user code raises an ordinary exception fails, and KeyboardInterrupt comes
out of the look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import guardtree as gt
from scene import (
    ANY,
    Act,
    Case,
    Hook,
    Mapped,
    entry_point,
    function,
    guarded,
    hit,
)

# --- Ways of a look-up, with a Python guard. Their subjects are a dict or arguments.

SUBJECT = {"a": 1, "b": 2}


def on_table(
    name: str,
    look: Callable[[gt.Table], Any],
    answer: Any,
    captures: bool = False,
    ordinary: Any = None,
) -> None:
    """A way of Table: the entry is removed by `remove`. `ordinary`: what it gives where
    the guard raises."""
    how = "python guard, captured values" if captures else "python guard"

    @entry_point(f"{name}, {how}", name, "GuardManager.python")
    def make(act: Act) -> Case:
        scope = function()
        guards, table = guarded(act, scope), gt.Table(scope)
        paths = {"b": guards.local("b")} if captures else None
        entry = table.add(guards, "payload", captures=paths)

        def remove() -> None:
            if len(table):
                table.remove(entry)

        def run() -> Any:
            if not len(table):
                return None
            found = look(table)
            return "entry" if isinstance(found, gt.TableEntry) else found

        return Case(run, answer, remove, None, scope, ordinary=ordinary)


on_table("Table.lookup", lambda table: table.lookup(SUBJECT), "payload")
on_table("Table.find", lambda table: table.find(SUBJECT), "entry")
CAPTURED = ("payload", {"b": 2})
on_table("Table.lookup", lambda table: table.lookup(SUBJECT), CAPTURED, True)
on_table("Table.lookup_call", lambda table: table.lookup_call(1), "payload")
on_table("Table.lookup_call", lambda table: table.lookup_call(1, 2), CAPTURED, True)
on_table(
    "Table.explain", lambda table: len(table.explain(SUBJECT).entries), 1, ordinary=1
)


@entry_point("lookup: the second entry passes", "Table.lookup")
def second_entry(act: Act) -> Case:
    """First match: the first entry fails, and the act removes the second."""
    scope = function()
    table = gt.Table(scope)
    first = gt.GuardManager(scope)

    def fails(value: object) -> bool:
        act()
        return False

    first.local("a").python(fails)
    table.add(first, "first")
    table.add(gt.GuardManager(scope), "second")

    def remove() -> None:
        for entry in table.entries():
            table.remove(entry)

    def run() -> Any:
        return table.lookup(SUBJECT) if len(table) else "second"

    # The look-up goes on with the entries that it began with.
    return Case(run, "second", remove, None, scope, ordinary="second")


def on_guards(
    name: str, look: Callable[[gt.GuardManager], Any], answer: Any, fails: Any
) -> None:
    """A way of GuardManager, with a Python guard, and with a mapping in Python."""

    @entry_point(f"{name}, python guard", name)
    def make(act: Act) -> Case:
        scope = function()
        guards = guarded(act, scope)
        return Case(lambda: look(guards), answer, None, None, scope, fails)


on_guards("GuardManager.check", lambda guards: guards.check(SUBJECT), True, False)
on_guards("GuardManager.__call__", lambda guards: guards(SUBJECT), True, False)
on_guards(
    "GuardManager.explain", lambda guards: guards.explain(SUBJECT).verdict,
    "pass", "error",
)  # fmt: skip
on_guards("GuardProfile.check", lambda g: g.profile().check(SUBJECT), True, False)


# --- The same on a mapping whose items are user code.


def on_mapping(
    name: str, look: Callable[[gt.Table, Any], Any], answer: Any, captures: bool = False
) -> None:
    """A look-up in a mapping: what its items raise comes out."""
    how = "mapping in Python, captured values" if captures else "mapping in Python"

    @entry_point(f"{name}, {how}", name)
    def make(act: Act) -> Case:
        scope = function()
        guards, table = gt.GuardManager(scope), gt.Table(scope)
        guards.local("a").type_match(int)
        paths = {"b": guards.local("b")} if captures else None
        entry = table.add(guards, "payload", captures=paths)

        def remove() -> None:
            if len(table):
                table.remove(entry)

        def run() -> Any:
            found = look(table, Mapped(act, a=1, b=2)) if len(table) else answer
            return "entry" if isinstance(found, gt.TableEntry) else found

        return Case(run, answer, remove, ANY, scope)


on_mapping("Table.lookup", lambda table, of: table.lookup(of), "payload")
on_mapping("Table.find", lambda table, of: table.find(of), "entry")
on_mapping("Table.lookup", lambda table, of: table.lookup(of), CAPTURED, True)
on_mapping("Table.explain", lambda t, of: len(t.explain(of).entries), 1)


def on_mapped_guards(name: str, look: Callable[[Any, Any], Any], answer: Any) -> None:
    @entry_point(f"{name}, mapping in Python", name)
    def make(act: Act) -> Case:
        scope = function()
        guards = gt.GuardManager(scope)
        guards.local("a").type_match(int)
        run = lambda: look(guards, Mapped(act, a=1, b=2))  # noqa: E731
        return Case(run, answer, None, None, scope)


on_mapped_guards("GuardManager.check", lambda g, of: g.check(of), True)
on_mapped_guards("GuardManager.__call__", lambda g, of: g(of), True)
on_mapped_guards("GuardManager.explain", lambda g, of: g.explain(of).verdict, "pass")
on_mapped_guards("GuardProfile.check", lambda g, of: g.profile().check(of), True)


# --- Kinds and steps that run user code, each by itself.

Value = Callable[[Act], Any]
Guard = Callable[[Any, Act], Any]


def on_value(name: str, value: Value, guard: Guard, *, fails: Any = False) -> None:
    """A kind or step on a value whose methods call the act."""

    @entry_point(f"GuardManager.{name} of a value in Python", f"GuardManager.{name}")
    def make(act: Act) -> Case:
        scope = function()
        guards = gt.GuardManager(scope)
        subject = {"a": value(act), "b": 2}
        guard(guards.local("a"), act)
        return Case(lambda: guards.check(subject), True, None, None, scope, fails)


def with_method(method: str, answer: Any) -> Value:
    """A value of a class whose one method calls the act."""

    def make(act: Act) -> Any:
        def body(self: Any, *ignored: Any) -> Any:
            act()
            return answer

        return type("Value", (), {method: body})()

    return make


def with_an_equal_item(act: Act) -> Any:
    """A set of one item, whose `__eq__` says that it is 1."""

    def equal(self: Any, other: Any) -> bool:
        act()
        return True

    return {type("Item", (), {"__hash__": lambda self: hash(1), "__eq__": equal})()}


def with_property(act: Act) -> Any:
    def body(self: Any) -> int:
        act()
        return 1

    return type("Value", (), {"name": property(body)})()


def one(act: Act) -> int:
    return 1


on_value("attr", with_property, lambda at, act: at.attr("name").equals(1))
on_value("generic_attr", with_property, lambda at, act: at.generic_attr(
    "name"
).equals(1))  # fmt: skip
on_value("has_attr", with_property, lambda at, act: at.has_attr("name"))
on_value("lacks_attr", with_method("__getattr__", 1), lambda at, act: at.not_(
    ("lacks_attr", "name")
))  # fmt: skip
on_value("item", with_method("__getitem__", 1), lambda at, act: at.item(0).equals(1))
on_value("is_truthy", with_method("__bool__", True), lambda at, act: at.is_truthy())
on_value("user_length", with_method("__len__", 3), lambda at, a: at.user_length(3))
on_value("mapping_keys", with_method("keys", ["k"]), lambda at, a: at.mapping_keys(
    ("k",)
))  # fmt: skip
on_value("set_contains", with_an_equal_item, lambda at, act: at.set_contains(1))
on_value("set_lacks", with_an_equal_item, lambda at, act: at.not_(("set_lacks", 1)))
on_value("call", with_method("__call__", 1), lambda at, act: at.call().equals(1))
on_value("compute", one, lambda at, act: at.compute(
    lambda _: (act(), 7)[1]
).equals(7))
on_value("not_", one, lambda at, act: at.not_(("python", act)))
on_value(
    "any_of", one,
    lambda at, act: at.any_of((("python", lambda _: act()), ("is_not_none",))),
)  # fmt: skip


@entry_point("GuardManager.f_locals, read in Python", "GuardManager.f_locals")
def of_locals(act: Act) -> Case:
    scope = function()
    guards = gt.GuardManager(scope)
    guards.f_locals().python(lambda found: (act(), found["a"] == 1)[1])
    return Case(lambda: guards.check(SUBJECT), True, None, None, scope, False)


# --- The hook, guarded functions, and reports on their entries.


def hooked(act: Act, check: Any = None) -> tuple[Any, Callable[[], None]]:
    """A function with one entry, which passes and calls the act; how to reset it."""
    scope = function()
    code = scope.__code__
    check = guarded(act, scope) if check is None else check
    Hook.answers[code] = lambda frame: gt.GuardedCode(hit.__code__, check)
    scope(0)
    Hook.answers[code] = lambda frame: gt.ASK_AGAIN
    return scope, lambda: gt.reset_code(code)


@entry_point("a hit, python guard", "set_eval_frame", "GuardedCode.__init__")
def hook_hit(act: Act) -> Case:
    scope, reset = hooked(act)

    def run() -> Any:
        return scope(1) if gt.code_stats(scope.__code__)["entries"] else hit(1)

    return Case(run, ("hit", 1, 2), reset, None, scope, ("plain", 1, 2))


@entry_point("a hit, callable as guards", "GuardFn.__call__")
def hook_hit_callable(act: Act) -> Case:
    scope, reset = hooked(act, lambda found: (act(), True)[1])

    def run() -> Any:
        return scope(1) if gt.code_stats(scope.__code__)["entries"] else hit(1)

    return Case(run, ("hit", 1, 2), reset, None, scope, ("plain", 1, 2))


def generator(name: str) -> Any:
    """A generator function with code of its own."""
    names: dict[str, Any] = {}
    exec(f"def {name}(a, b=2):\n    yield 'plain'\n    yield a\n", names)
    return names[name]


@entry_point("a hit of a generator", "set_eval_frame")
def hook_generator(act: Act) -> Case:
    scope = generator("scope")
    code = scope.__code__
    new = code.replace(co_consts=tuple(
        "hit" if each == "plain" else each for each in code.co_consts
    ))  # fmt: skip
    check = lambda found: (act(), True)[1]  # noqa: E731
    Hook.answers[code] = lambda frame: gt.GuardedCode(new, check)
    list(scope(0))
    Hook.answers[code] = lambda frame: gt.ASK_AGAIN

    def run() -> Any:
        has_entries = gt.code_stats(code)["entries"]
        return list(scope(1)) if has_entries else ["hit", 1]

    return Case(
        run, ["hit", 1], lambda: gt.reset_code(code), None, scope, ["plain", 1]
    )


def guarded_calls(name: str, call: Callable[[Any], Any], how: str) -> None:
    @entry_point(
        f"a guarded function, {name}", "guard_function", f"GuardedFunction.{how}"
    )
    def make(act: Act) -> Case:
        scope = function()
        guarded_function = gt.guard_function(scope)
        entry = guarded_function.add(guarded(act, scope), hit.__code__)

        def remove() -> None:
            if how == "restore":
                guarded_function.restore()
            elif guarded_function.entries():
                guarded_function.remove(entry)

        def run() -> Any:
            return call(scope) if guarded_function.entries() else hit(1)

        return Case(run, ("hit", 1, 2), remove, None, scope, ("plain", 1, 2))


guarded_calls("call by position", lambda scope: scope(1), "remove")
guarded_calls("call by name", lambda scope: scope(a=1), "restore")


@entry_point("a guarded function, its target", "GuardedFunction.add")
def target(act: Act) -> Case:
    scope = function()
    guarded_function = gt.guard_function(scope)
    plain = gt.GuardManager(scope)

    def called(a: Any, b: Any = 2) -> Any:
        act()
        return "hit", a, b

    guarded_function.add(plain, called)

    def run() -> Any:
        return scope(1) if guarded_function.entries() else hit(1)

    return Case(
        run, ("hit", 1, 2), guarded_function.restore, None, scope, is_paused=False
    )


@entry_point("explain, python guard", "explain", "CacheExplanation.__str__")
def explain_code(act: Act) -> Case:
    scope, reset = hooked(act)
    code = scope.__code__

    def run() -> Any:
        found = gt.explain(code, SUBJECT).entries
        return [each.explanation.verdict for each in found] or ["pass"]

    return Case(run, ["pass"], reset, None, scope, ["error"])


@entry_point("report, python guard", "report", "Report.to_dict")
def report_of_code(act: Act) -> Case:
    scope, reset = hooked(act)
    code = scope.__code__

    def run() -> Any:
        found = gt.report(code, SUBJECT, repeat=1).to_dict()["entries"]
        return [each["verdict"] for each in found] or ["pass"]

    return Case(run, ["pass"], reset, None, scope, ["error"])


@entry_point("explain, mapping in Python", "explain")
def explain_mapping(act: Act) -> Case:
    scope = function()
    guards = gt.GuardManager(scope)
    guards.local("a").type_match(int)
    code = scope.__code__
    Hook.answers[code] = lambda frame: gt.GuardedCode(hit.__code__, guards)
    scope(0)

    def run() -> Any:
        found = gt.explain(code, Mapped(act, a=1, b=2)).entries
        return [each.explanation.verdict for each in found] or ["pass"]

    return Case(run, ["pass"], lambda: gt.reset_code(code), None, scope)


@entry_point("a look-up in strict mode", "strict")
def strict_lookup(act: Act) -> Case:
    scope = function()
    table = gt.Table(scope)
    entry = table.add(guarded(act, scope), "payload")

    def remove() -> None:
        if len(table):
            table.remove(entry)

    def run() -> Any:
        gt.strict()
        try:
            return table.lookup(SUBJECT) if len(table) else "payload"
        finally:
            gt.strict(False)

    return Case(run, "payload", remove, ANY, scope, ordinary=None)
