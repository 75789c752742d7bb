"""A cache of kernels: the right one for each call, and what could be generalised."""

from __future__ import annotations

from collections.abc import Callable

import guardtree as gt

Kernel = Callable[[list[float]], list[float]]


def scale(values: list[float], factor: float, size: int) -> list[float]:
    return [value * factor for value in values[:size]]


def compile_kernel(factor: float, size: int) -> Kernel:
    print(f"compiling for factor {factor}, size {size}")
    return lambda values: [value * factor for value in values[:size]]


cache = gt.Table(scale)


def run(values: list[float], factor: float, size: int) -> list[float]:
    kernel: Kernel | None = cache.lookup_call(values, factor, size)
    if kernel is None:
        guards = gt.GuardManager(scale)
        guards.local("values").type_match(list).length(len(values))
        guards.local("factor").equals(factor)
        guards.local("size").equals(size)
        kernel = compile_kernel(factor, size)
        cache.add(guards, kernel)
    return kernel(values)


for size in (1, 2, 3, 2, 1):
    run([1.0, 2.0, 3.0], 0.5, size)
print("hits:", [entry.hits for entry in cache.entries()])
print("entries differ in:", cache.differences())
