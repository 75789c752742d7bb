"""Every way of calling a Python function reaches its replacement, on both paths."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import guardtree as gt
import pytest


class Form(NamedTuple):
    """`call()` enters `old`; once replaced by `new` it gives `expected`."""

    old: Callable[..., Any]
    new: Callable[..., Any]
    call: Callable[[], Any]
    expected: Any


FORMS: list[Callable[[], Form]] = []


def form(make: Callable[[], Form]) -> None:
    FORMS.append(make)


def method_form(name: str, call: Callable[[Any], Any], *arguments: str) -> Form:
    """A form for a special method: a class whose method `name` tells who ran."""
    parameters = ", ".join(("self", *arguments))
    values = ", ".join(("", *arguments))
    namespace: dict[str, Any] = {}
    for who in ("old", "new"):
        exec(f"def {who}({parameters}): return ('{who}'{values},)", namespace)
    old, new = namespace["old"], namespace["new"]
    thing = type("Thing", (), {name: old})()
    return Form(old, new, lambda: call(thing), call(type("T", (), {name: new})()))


@form
def positional() -> Form:
    def old(a, b):
        return "old"

    def new(a, b):
        return ("new", a, b)

    return Form(old, new, lambda: old(1, 2), ("new", 1, 2))


@form
def keywords_out_of_order() -> Form:
    def old(a, b):
        return "old"

    def new(a, b):
        return ("new", a, b)

    return Form(old, new, lambda: old(b=2, a=1), ("new", 1, 2))


@form
def defaults() -> Form:
    def old(a, b=2, *, c=3):
        return "old"

    def new(a, b, *, c):
        return ("new", a, b, c)

    return Form(old, new, lambda: old(1), ("new", 1, 2, 3))


@form
def positional_and_keyword_only() -> Form:
    def old(a, /, *, b):
        return "old"

    def new(a, /, *, b):
        return ("new", a, b)

    return Form(old, new, lambda: old(1, b=2), ("new", 1, 2))


@form
def star_and_double_star() -> Form:
    def old(a, /, b, *args, k=3, **kw):
        return "old"

    def new(a, /, b, *args, k, **kw):
        return ("new", a, b, args, k, kw)

    expected = ("new", 1, 2, (3, 4), 9, {"z": 5, "a": 6})
    return Form(old, new, lambda: old(1, 2, 3, 4, k=9, z=5, a=6), expected)


@form
def star_and_double_star_left_empty() -> Form:
    def old(*args, **kw):
        return "old"

    def new(*args, **kw):
        return ("new", args, kw)

    return Form(old, new, lambda: old(), ("new", (), {}))


@form
def unpacked_arguments() -> Form:
    def old(a, b, c):
        return "old"

    def new(a, b, c):
        return ("new", a, b, c)

    return Form(old, new, lambda: old(*(1, 2), **{"c": 3}), ("new", 1, 2, 3))


@form
def class_method() -> Form:
    def old(cls, a):
        return "old"

    def new(cls, a):
        return ("new", cls.__name__, a)

    thing = type("Thing", (), {"make": classmethod(old)})
    return Form(old, new, lambda: thing.make(1), ("new", "Thing", 1))


@form
def property_read() -> Form:
    def old(self):
        return "old"

    def new(self):
        return "new"

    thing = type("Thing", (), {"value": property(old)})()
    return Form(old, new, lambda: thing.value, "new")


@form
def property_write() -> Form:
    def old(self, value):
        self.kept = "old"

    def new(self, value):
        self.kept = ("new", value)

    thing = type("Thing", (), {"value": property(None, old)})()

    def call():
        thing.value = 5
        return thing.kept

    return Form(old, new, call, ("new", 5))


@form
def decorated() -> Form:
    def twice(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return [fn(*args), fn(*args)]

        return wrapper

    def old(a):
        return "old"

    def new(a):
        return ("new", a)

    return Form(old, new, functools.partial(twice(old), 1), [("new", 1)] * 2)


@form
def lambda_expression() -> Form:
    old = lambda a: "old"  # noqa: E731
    new = lambda a: ("new", a)  # noqa: E731
    return Form(old, new, lambda: old(1), ("new", 1))


@form
def nested_closure() -> Form:
    def outer(n):
        def old(a):
            return ("old", a + n)

        def new(a):
            return ("new", a + n)

        return old, new

    old, new = outer(10)
    return Form(old, new, lambda: old(1), ("new", 11))


@form
def called_by_builtins() -> Form:
    def old(a):
        return -a

    def new(a):
        return a * 10

    def call():
        return list(map(old, [1, 2])), sorted([2, 1], key=old), [*filter(old, [0, 1])]

    return Form(old, new, call, ([10, 20], [1, 2], [1]))


@form
def partial_and_reduce() -> Form:
    def old(a, b):
        return a - b

    def new(a, b):
        return a * b

    def call():
        return functools.partial(old, 3)(4), functools.reduce(old, [2, 3, 4])

    return Form(old, new, call, (12, 24))


@form
def with_statement() -> Form:
    def old(self, kind, value, traceback):
        return False

    def new(self, kind, value, traceback):
        return kind is KeyError

    thing = type("Thing", (), {"__enter__": lambda self: self, "__exit__": old})

    def call():
        try:
            with thing():
                raise KeyError
        except KeyError:
            return "raised"
        return "swallowed"

    return Form(old, new, call, "swallowed")


@form
def iteration() -> Form:
    def old(self):
        raise StopIteration

    def new(self):
        self.n += 1
        if self.n == 3:
            raise StopIteration
        return self.n

    body = {"n": 0, "__iter__": lambda self: self, "__next__": old}
    thing = type("Thing", (), body)
    return Form(old, new, lambda: [n for n in thing()], [1, 2])


METHODS: dict[str, tuple[Callable[[Any], Any], tuple[str, ...]]] = {
    "plain_method": (lambda thing: thing.plain_method(1, 2), ("a", "b")),
    "__call__": (lambda thing: thing(1), ("a",)),
    "__getitem__": (lambda thing: thing["key"], ("key",)),
    "__getattr__": (lambda thing: thing.missing, ("name",)),
    "__add__": (lambda thing: thing + 1, ("other",)),
    "__iadd__": (lambda thing: operator.iadd(thing, 1), ("other",)),
    "__lt__": (lambda thing: thing < 1, ("other",)),
}


def check(made: Form, path: str, callback: Any) -> None:
    plain = made.call()
    assert plain != made.expected
    with gt.optimize(callback):
        results = [made.call() for _ in range(4)]
    assert results == [made.expected] * 4
    assert callback.calls == 1
    stats = gt.code_stats(made.old.__code__)
    assert stats["hits"] >= 3
    assert stats["substituted"] + stats["called"] == stats[path] >= 3
    assert made.call() == plain


@pytest.mark.parametrize("make", FORMS, ids=lambda make: make.__name__)
def test_a_call_form_reaches_the_replacement(make, path, swap) -> None:
    made = make()
    check(made, path, swap(made.old, made.new))


@pytest.mark.parametrize("name", METHODS)
def test_a_method_reaches_the_replacement(name, path, swap) -> None:
    call, arguments = METHODS[name]
    made = method_form(name, call, *arguments)
    check(made, path, swap(made.old, made.new))
