"""Kernels for the tests, which Triton reads from a file."""

from __future__ import annotations

import triton
import triton.language as tl

FACTOR = tl.constexpr(3)


def scale(x, y, n, rate, BLOCK: tl.constexpr, FLAG: tl.constexpr = None):
    tl.store(x, tl.load(y) * FACTOR)


def plain(x, n, m, k):
    tl.store(x, n + m + k)


def fresh():
    """A kernel without entries."""
    return triton.jit(scale)


def fresh_unspecialised():
    """A kernel whose `n` counts by width, and whose `m` and `x` not by alignment."""
    return triton.jit(
        plain, do_not_specialize=["n"], do_not_specialize_on_alignment=["m", "x"]
    )


def few(x, y, out, n, BLOCK: tl.constexpr):
    tl.store(out, tl.load(x) + tl.load(y) + n)


def many(
    a, b, c, d, e, f, n0, n1, n2, n3, n4, n5, n6,
    c0: tl.constexpr, c1: tl.constexpr, c2: tl.constexpr,
    c3: tl.constexpr, c4: tl.constexpr, c5: tl.constexpr,
):  # fmt: skip
    tl.store(a, tl.load(b) + n0)


MEASURED = (lambda: triton.jit(few), lambda: triton.jit(many))
"""What bench/launches.py launches: 5 arguments, 19 arguments."""


def forget(kernel):
    """Takes a kernel out of Triton's list of all kernels, which keeps the last one of
    each name. Other threads may make kernels meanwhile."""
    registry = triton.runtime.jit._triton_jit_function_registry
    for name in [name for name, each in registry.copy().items() if each is kernel]:
        registry.pop(name, None)
