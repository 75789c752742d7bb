"""Functions to be broken everywhere, and what a run of one leaves behind.

They do what functions do: loops, handlers, contexts, comprehensions, cells, stars,
super(), matches, chained comparisons. Everything that happens goes through `say`,
`Manager` and `Thing`, which write it down.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

LOG: list[tuple[Any, ...]] = []


def say(*values: Any, **named: Any) -> Any:
    LOG.append(("say", values, tuple(sorted(named.items()))))
    return values[0] if values else None


HANDED_OVER: list[tuple[Any, ...]] = []


def hand_over(*values: Any) -> None:
    """Takes the place of a continuation: keeps what one is passed."""
    HANDED_OVER.append(values)


class Manager:
    """A context manager that writes down what happens to it, and may swallow."""

    left: list[Manager] = []
    """Those that were left last, the outermost last."""

    def __init__(self, name: str, swallows: bool = False) -> None:
        self.name, self.swallows = name, swallows

    def __enter__(self) -> str:
        LOG.append(("in", self.name))
        return self.name

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        LOG.append(("out", self.name, kind and kind.__name__))
        Manager.left.append(self)
        return self.swallows


class Again(Manager):
    """The same, entered again where the first one was left at a break."""

    def __enter__(self) -> str:
        LOG.append(("again", self.name))
        return self.name


class Thing:
    def chained(self, *values: Any, **named: Any) -> Thing:
        LOG.append(("chained", values, tuple(named.items())))
        return self

    def fails(self, *values: Any) -> None:
        raise ValueError(values)


THING = Thing()
V = W = 0


def contexts_and_globals(x: int, y: int) -> Any:
    global V, W
    V = 1
    with Manager("grad"):
        z = x + y
        W = 2
        a = say(say("hello") or z)
    return say(a, V, W)


def nested_withs(x: int) -> Any:
    with Manager("a") as a:
        say(a)
        with Manager("b") as b, Manager("c"):
            say(b, x)
            if x:
                return say("returned")
        say("after b")
    with Manager("d"):
        say("d")
    return x


def loop_in_with(items: list[Any]) -> Any:
    total = 0
    with Manager("lock"):
        for item in items:
            if isinstance(item, int):
                total += say(item)
            elif item == "stop":
                break
            else:
                continue
        return total


def swallowing(x: int) -> Any:
    with Manager("outer", True):
        with Manager("inner"):
            say(1)
            THING.fails(x)
        say("never")
    say("after")
    return 5


def failing_in_contexts(x: int) -> Any:
    try:
        with Manager("a"):
            with Manager("b"):
                say("in b")
                return say([][x])
    except IndexError as error:
        say(str(error), sys.exc_info()[0])
    finally:
        say("finally")


def handlers(x: int) -> Any:
    found = []
    try:
        try:
            found.append(say(x))
            THING.fails(3)
        except ValueError as error:
            found.append(say(str(error)))
            try:
                THING.fails(4)
            except ValueError:
                found.append(say("inner"))
            raise KeyError(9) from error
        finally:
            found.append(say("finally"))
    except KeyError as error:
        found.append((str(error), str(error.__context__), str(error.__cause__)))
    return found


def bare_raise(x: int) -> Any:
    try:
        try:
            THING.fails(1)
        except ValueError:
            say("handler")
            raise
    except ValueError:
        say(sys.exc_info()[0].__name__)
    say(sys.exc_info()[0])
    return 1


def escaping(x: int) -> Any:
    try:
        say(x)
        return say(1) / x
    except (TypeError, KeyError):
        return say("never")
    finally:
        say("cleaned", sys.exc_info()[0])


def returning_in_finally(x: int) -> Any:
    for i in (1, 2, 3):
        try:
            if i == x:
                THING.fails(i)
        except ValueError:
            continue
        finally:
            say("finally", i)
        if say(i) == 2:
            break
    else:
        say("else")
    return i


def loops(n: int) -> Any:
    total = 0
    for i in range(n):
        for j in (1, 2, 3):
            if j == 2:
                continue
            total += say(i * j)
        else:
            say("else")
        while total < 3:
            total += 1
    for k in [1, 2]:
        say(k)
    for k in iter([1, 2]):
        say(k)
    for key, value in {"a": n}.items():
        say(key, value)
    return total


def method_calls(x: int) -> Any:
    thing = THING.chained(1).chained(say(2), k=say(3))
    thing = thing.chained(*[say(4)], **{"z": say(5)}).chained(a=1, b=say(6))
    return type(thing).__name__.lower().replace("t", say("T"))


def maybe_unbound(condition: int) -> Any:
    if condition:
        a = 1
    say("middle")
    try:
        return say(a)
    except UnboundLocalError:
        return "unbound"


def deleted(x: int) -> Any:
    y = [x]
    say(1)
    del y
    say(2)
    y = 3
    return say(y)


def cells(x: int, q: int = 3) -> Any:
    n = 0

    def add() -> int:
        nonlocal n
        n += x
        return n

    say(add())
    x += 1
    say(add())
    return say(n), x, q, [lambda: x][0]()


def free_variables(start: int) -> Callable[[int], Any]:
    count = start

    def counted(x: int) -> Any:
        nonlocal count
        say(count)
        count += x
        return say(count), [say(count + i) for i in (1, 2)]

    return counted


def comprehensions(xs: list[int]) -> Any:
    k = 2
    a = [say(i * k) for i in xs if i != 7]
    b = {i: say(i) for i in xs if i}
    c = sum(say(i) for i in xs)
    d = {say((i, j)) for i in xs for j in xs if i < j}
    return a, b, c, sorted(d)


def capturing_comprehension(xs: list[int]) -> Any:
    i = "outer"
    made = [lambda: say(i) for i in xs]
    say(i)
    return [each() for each in made], i


def stars(a: int, /, b: int, *args: int, c: int = 1, **others: int) -> Any:
    say(a, b)
    return say(args), c, say(sorted(others.items()))


def strings(x: int) -> Any:
    return f"{say(x)!r:>10}{say(2)}" + "%s" % say(3) + str(say(4) < 5 < say(6))


def unpacking(x: int) -> Any:
    a, (b, *c) = say((1, (2, 3, 4)))
    d = [*c, say(a)]
    e = {**{"x": say(b)}, "y": 1}
    d[0:1] = d[say(1) :]
    return d, e, a if say(x) else b


def matches(x: Any) -> Any:
    match x:
        case {"k": v, **rest}:
            return say(v), rest
        case [a, b, *rest]:
            return say(a), rest
        case Thing():
            return say("thing")
        case 1 | 2:
            return say("few")
        case _:
            return say("default")


class Base:
    def hi(self, *values: Any) -> str:
        LOG.append(("base", values))
        return "b"


class Derived(Base):
    def hi(self, x: int) -> Any:
        say("before")
        r = super().hi(say(x))
        s = super()
        say(s.__thisclass__.__name__)
        return r + s.hi(say(2))

    def captured(self, x: int) -> Any:
        def inner() -> Any:
            return self

        say(x)
        return super().hi(say(inner() is self))


def assertions(x: Any) -> Any:
    assert say(True), say("message")
    y = x if x is not None else say(0)
    z = say(y) and say(1)
    return y, z, say(0) or say(2)


def chained_comparison(x: int) -> Any:
    return 1 < say(x) < say(10) and not say(0)


def many_locals(x: int) -> Any:
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = x
    b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = x + 1
    say(a0, b8)
    t, u = (b6, b7), (a8, b5)
    return say(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9), (b0, b1, b2, b3, b4, t, u)


def imports(x: int) -> Any:
    import os.path as path
    from collections import OrderedDict

    say(1)
    return path.sep, OrderedDict.__name__


def exception_groups(x: int) -> Any:
    try:
        raise ExceptionGroup("group", [ValueError(1), KeyError(2)])
    except* ValueError as group:
        say(len(group.exceptions))
    except* KeyError:
        say("key")
    return say(1)


def definitions(x: int) -> Any:
    y: int = say(x)

    def inner(a: int = say(3), *, k: int = say(4)) -> tuple[int, ...]:
        return a, k, x

    class Local:
        z = say(7)
        w = x

    return inner(), Local.z, Local.w, y


def all_locals(x: int) -> Any:
    unused = say(x)
    say("middle")
    return sorted(name for name in locals() if not name.startswith("___"))


class Case(NamedTuple):
    """A function, and the arguments of one call of it."""

    function: FunctionType
    arguments: tuple[Any, ...]

    @property
    def code(self) -> CodeType:
        return self.function.__code__

    @property
    def name(self) -> str:
        return f"{self.function.__qualname__}{self.arguments!r}".split(" object")[0]


CASES = [
    Case(contexts_and_globals, (1, 2)),
    Case(nested_withs, (0,)),
    Case(nested_withs, (1,)),
    Case(loop_in_with, ([1, None, 2, "stop", 3],)),
    Case(loop_in_with, ([],)),
    Case(swallowing, (1,)),
    Case(failing_in_contexts, (1,)),
    Case(handlers, (1,)),
    Case(bare_raise, (1,)),
    Case(escaping, (0,)),
    Case(escaping, (2,)),
    Case(returning_in_finally, (1,)),
    Case(returning_in_finally, (9,)),
    Case(loops, (3,)),
    Case(method_calls, (1,)),
    Case(maybe_unbound, (0,)),
    Case(maybe_unbound, (1,)),
    Case(deleted, (1,)),
    Case(cells, (1,)),
    Case(free_variables(5), (2,)),
    Case(comprehensions, ([1, 2, 3],)),
    Case(capturing_comprehension, ([1, 2],)),
    Case(stars, (1, 2, 3, 4)),
    Case(strings, (1,)),
    Case(unpacking, (1,)),
    Case(matches, ({"k": 1, "z": 2},)),
    Case(matches, ([1, 2, 3],)),
    Case(matches, (THING,)),
    Case(matches, (2,)),
    Case(matches, (9,)),
    Case(Derived.hi, (Derived(), 4)),
    Case(Derived.captured, (Derived(), 4)),
    Case(assertions, (None,)),
    Case(assertions, (3,)),
    Case(chained_comparison, (5,)),
    Case(chained_comparison, (50,)),
    Case(many_locals, (1,)),
    Case(imports, (1,)),
    Case(exception_groups, (1,)),
    Case(definitions, (1,)),
    Case(all_locals, (1,)),
]


def with_code(function: FunctionType, code: CodeType) -> FunctionType:
    """The same function with other code; cells are matched by name."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    made = FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


class Outcome(NamedTuple):
    """What a run did: its result or exception, what was written down, and whether an
    exception is still being handled behind it."""

    result: str
    log: list[str]
    handled: str


def _text(value: Any) -> str:
    """Without addresses."""
    return re.sub(r"0x[0-9a-f]+", "0x", repr(value))


def outcome(
    case: Case,
    code: CodeType | None = None,
    seen: Callable[[list[Any]], list[Any]] = lambda log: log,
) -> Outcome:
    """Runs a case, with other code where given; `seen` filters what was written."""
    function = case.function
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    LOG.clear()
    Manager.left.clear()
    if code is not None:
        function = with_code(function, code)
    try:
        result = _text(function(*case.arguments))
    except Exception as error:
        context = [_text(each) for each in (error, error.__context__, error.__cause__)]
        result = f"raised {context}"
    for cell, value in zip(function.__closure__ or (), cells):
        if not isinstance(value, type):  # __class__ stays
            cell.cell_contents = value
    return Outcome(
        result, [_text(each) for each in seen([*LOG])], _text(sys.exc_info())
    )
