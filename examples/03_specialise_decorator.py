"""A decorator that compiles a function for each constant it is called with."""

from __future__ import annotations

import functools
from collections.abc import Callable

import guardtree as gt

Power = Callable[[float, int], float]


def unrolled(exponent: int) -> Power:
    """x ** exponent as multiplications, without a loop."""
    body = " * ".join(["x"] * exponent) or "1.0"
    scope: dict[str, Power] = {}
    exec(f"def power(x, exponent): return {body}", scope)
    print(f"compiled: {body}")
    return scope["power"]


def specialised(function: Power) -> Power:
    """The function, which compiles itself for each exponent that it has not seen."""
    guarded = gt.guard_function(function)
    seen: set[int] = set()

    @functools.wraps(function)
    def call(x: float, exponent: int) -> float:
        if exponent in seen or not 0 <= exponent < 16:
            return function(x, exponent)
        guards = gt.GuardManager(function)
        guards.local("x").type_match(float)
        guards.local("exponent").equals(exponent)
        guarded.add(guards, unrolled(exponent))
        seen.add(exponent)
        return function(x, exponent)

    return call


def power(x: float, exponent: int) -> float:
    result = 1.0
    for _ in range(exponent):
        result *= x
    return result


fast = specialised(power)
print(fast(2.0, 3), fast(3.0, 3), fast(2.0, 5))
print("an int runs the original:", fast(2, 3))

guarded = gt.guard_function(power)
counts = guarded.stats()
print({name: counts[name] for name in ("hits", "misses", "entries")})
guarded.restore()
