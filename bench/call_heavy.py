"""A program of many small calls, in a process with or without guardtree.

    python bench/call_heavy.py plain|guarded|hooked ROUNDS

For guarded_calls.py. plain: guardtree is not imported. guarded: it is, and a function
that the program does not call is guarded. hooked: the frame hook is on, with no entry
for the program's code. Prints the ns of the thread's own time that ROUNDS rounds took.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from time import thread_time_ns

DEPTH = 7


class Node:
    """Of a search tree: made, filled and walked by methods."""

    def __init__(self, key: int, *, weight: int = 1) -> None:
        self.key = key
        self.weight = weight
        self.left: Node | None = None
        self.right: Node | None = None

    def insert(self, key: int, weight: int) -> None:
        """Puts a key below."""
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Node(key, weight=weight))
        else:
            child.insert(key, weight)

    def total(self) -> int:
        """The sum of the weights."""
        below = (each.total() for each in (self.left, self.right) if each)
        return self.weight + sum(below)

    def __iter__(self) -> Iterator[int]:
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right


def fib(n: int) -> int:
    """By plain recursion."""
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def adder(step: int) -> Callable[..., int]:
    """A closure with a default."""

    def add(value: int, times: int = 1) -> int:
        return value + step * times

    return add


def one_round() -> int:
    """A few thousand calls: recursion, methods, closures, generators, constructors."""
    root = Node(64)
    for key in range(1, 1 << DEPTH):
        root.insert(key * 37 % 127, weight=key)
    total = root.total() + sum(root) + fib(12)
    add = adder(3)
    for value in range(200):
        total = add(total, times=value) if value % 2 else add(total)
    return total


def guard_another() -> None:
    """Guards a function that is none of the program's, and calls it."""
    import guardtree as gt

    def other(x: int) -> int:
        return x

    guards = gt.GuardManager(other)
    guards.local("x").type_match(int)
    gt.guard_function(other).add(guards, lambda x: -x)
    if other(1) != -1:
        raise RuntimeError("the guarded function was not guarded")
    globals()["kept"] = other


def hook() -> None:
    """Turns the frame hook on."""
    import guardtree as gt

    gt.set_eval_frame(False)


MODES = {"plain": lambda: None, "guarded": guard_another, "hooked": hook}


def main() -> None:
    MODES[sys.argv[1]]()
    gc.disable()
    for _ in range(5):
        one_round()
    start = thread_time_ns()
    for _ in range(int(sys.argv[2])):
        one_round()
    print(thread_time_ns() - start)


if __name__ == "__main__":
    main()
