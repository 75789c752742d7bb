"""A whole tracing JIT: it records what a function does with its arguments, writes code
for that, and guards what the recording assumed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import guardtree as gt

class Trace:
    """The operations that were recorded, each a line of the code to come."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.known: dict[str, str] = {}

    def value_of(self, source: str) -> str:
        """The variable that holds an expression; equal ones are computed once."""
        if source not in self.known:
            self.known[source] = f"v{len(self.known)}"
            self.lines.append(f"{self.known[source]} = {source}")
        return self.known[source]


class Proxy:
    """Stands for a number while a function is traced."""

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name = trace, name

    def binary(self, sign: str, other: Any, swapped: bool = False) -> Proxy:
        if not isinstance(other, (Proxy, int, float)):
            raise CannotTrace(f"{sign} with {type(other).__name__}")
        text = other.name if isinstance(other, Proxy) else repr(other)
        left, right = (text, self.name) if swapped else (self.name, text)
        return Proxy(self.trace, self.trace.value_of(f"{left} {sign} {right}"))

    def __bool__(self) -> bool:
        raise CannotTrace("a branch on a value")

    def __add__(self, other: Any) -> Proxy:
        return self.binary("+", other)

    def __radd__(self, other: Any) -> Proxy:
        return self.binary("+", other, swapped=True)

    def __sub__(self, other: Any) -> Proxy:
        return self.binary("-", other)

    def __mul__(self, other: Any) -> Proxy:
        return self.binary("*", other)

    def __rmul__(self, other: Any) -> Proxy:
        return self.binary("*", other, swapped=True)

    def __truediv__(self, other: Any) -> Proxy:
        return self.binary("/", other)


class CannotTrace(Exception):
    """The function does what a recording cannot say."""


class Jit:
    """Compiles a function for the sorts of arguments that it is called with."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.table = gt.Table(function)
        self.names = function.__code__.co_varnames[: function.__code__.co_argcount]

    def __call__(self, *args: Any) -> Any:
        target = self.table.lookup_call(*args)
        if target is None:
            guards = self.guards_for(args)
            target = self.compiled(args)
            self.table.add(guards, target)
        return target(*args)

    def guards_for(self, args: tuple[Any, ...]) -> gt.GuardManager:
        """What the recording takes for granted about these arguments."""
        guards = gt.GuardManager(self.function)
        for name, value in zip(self.names, args):
            handle = guards.local(name).type_match(type(value))
            if isinstance(value, list):
                handle.length(len(value))
                for i, item in enumerate(value):
                    handle.list_item(i).type_match(type(item))
            elif not isinstance(value, float):
                handle.equals(value)
        return guards

    def compiled(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """The recorded operations as a function; the original where there is none."""
        trace = Trace()
        given = [self.argument(trace, *each) for each in zip(self.names, args)]
        try:
            result = self.function(*given)
        except CannotTrace as reason:
            print(f"{self.function.__name__} runs as it is: {reason}")
            return self.function
        end = result.name if isinstance(result, Proxy) else repr(result)
        head = f"def {self.function.__name__}({', '.join(self.names)}):"
        source = "\n    ".join([head, *trace.lines, f"return {end}"])
        print(source)
        scope: dict[str, Callable[..., Any]] = {}
        exec(source, scope)
        return scope[self.function.__name__]

    def argument(self, trace: Trace, name: str, value: Any) -> Any:
        """Numbers in floats and lists are recorded; all else is a constant."""
        if isinstance(value, float):
            return Proxy(trace, name)
        if isinstance(value, list):
            return [Proxy(trace, f"{name}[{i}]") for i in range(len(value))]
        return value


@Jit
def polynomial(x: Any, coefficients: Any, normalise: Any) -> Any:
    result: Any = 0
    for coefficient in coefficients:
        result = result * x + coefficient
    return result / (x * x) if normalise else result


@Jit
def clamp(x: Any, low: Any) -> Any:
    return x if x - low else low


print("->", polynomial(2.0, [1.0, 2.0, 3.0], False))
print("->", polynomial(3.0, [1.0, 2.0, 3.0], False), "(no new code)")
print("->", polynomial(2.0, [1.0, 2.0, 3.0], True))
print("->", clamp(2.0, 1.0))
print("hits:", [entry.hits for entry in polynomial.table.entries()])
print("entries differ in:", polynomial.table.differences())
