"""Every shape of code that a frame can run, as source with one marked first statement.

The code named `target` does `SEE` first, which records `locals()`.
"""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

SEE = "seen.append(dict(locals()))"


class Shape(NamedTuple):
    name: str
    source: str
    target: str = "target"
    not_yet: frozenset[str] = frozenset()  # bound between entry and first statement
    since: tuple[int, int] = (3, 11)


SHAPES: list[Shape] = []


def shape(name: str, source: str, **more: Any) -> None:
    body = textwrap.dedent(source).strip().replace("SEE", SEE)
    SHAPES.append(Shape(name, body, **more))


# Arguments of every kind.
shape("no arguments", "def target(): SEE\ntarget()")
shape("positional", "def target(a, b): SEE\ntarget(1, [2])")
shape("positional only", "def target(a, b, /, c): SEE\ntarget(1, 2, c=3)")
shape("keyword only", "def target(*, a, b=2): SEE\ntarget(a=1)")
shape("defaults", "def target(a, b=2, c=[3]): SEE\ntarget(1)")
shape("star", "def target(a, *args): SEE\ntarget(1, 2, 3)\ntarget(1)")
shape("double star", "def target(a, **kw): SEE\ntarget(1, b=2)\ntarget(1)")
shape(
    "all kinds",
    """
    def target(a, /, b, *args, c, d=4, **kw): SEE
    target(1, 2, 3, 4, c=5, z=6)
    """,
)
shape("locals not bound yet", "def target(a):\n    SEE\n    b = c = a\ntarget(1)")
shape(
    "more arguments than a byte counts",
    f"""
    def target({", ".join(f"a{i}" for i in range(300))}): SEE
    target(*range(300))
    """,
)
shape("immortal values", "def target(a, b, c, d): SEE\ntarget(None, True, 1, ())")
shape("tagged or small integers", "def target(*a): SEE\ntarget(-5, 0, 256, 2**70)")
shape("private names", "class C:\n    def target(self, __x): SEE\nC().target(1)")

# Cells and free variables.
shape(
    "arguments that are cells",
    "def target(a, b, *c, **d):\n    SEE\n    return lambda: (a, c, d)\ntarget(1, 2)",
)
shape(
    "a cell that is no argument",
    "def target(a):\n    SEE\n    b = a\n    return lambda: b\ntarget(1)",
)
shape(
    "free variables",
    """
    def outer(n, m):
        def target(a):
            SEE
            return n, m
        return target
    target = outer(1, [2])
    target(3)
    """,
)
shape(
    "free variables and cells together",
    """
    def outer(n):
        def target(a, b=2):
            SEE
            c = n
            return lambda: (a, c, n)
        return target
    target = outer(1)
    target(3)
    """,
)
shape(
    "a free variable that is not bound yet",
    """
    def outer():
        def target(a):
            SEE
            if a > 1:
                return early, late
        early = 1
        target(0)
        late = 2
        target(1)
        return target
    target = outer()
    """,
)
shape(
    "a free variable of a free variable",
    """
    def outer(n):
        def middle(m):
            def target(a):
                SEE
                return n, m
            return target
        return middle(2)
    target = outer(1)
    target(3)
    """,
)
shape(
    "the class cell",
    """
    class C:
        def target(self):
            SEE
            return super().__init__, __class__
    C().target()
    """,
)
shape(
    "a nonlocal that changed",
    """
    def outer():
        n = 0
        def target():
            nonlocal n
            SEE
            n += 1
        return target
    target = outer()
    target(), target()
    """,
)

# Comprehensions: frames of their own up to 3.11, inlined from 3.12 on.
shape(
    "a comprehension's variable is no local at entry",
    "def target(a):\n    SEE\n    return [i for i in a]\ntarget([1])",
)
shape(
    "a comprehension's cell",
    "def target(a):\n    SEE\n    return [lambda: (i, a) for i in a]\ntarget([1])",
)
shape(
    "a comprehension variable that shadows an argument and a cell",
    """
    def target(a, b):
        SEE
        return [a for a in b], {b: (lambda: b) for b in "xy"}, lambda: a
    target(1, [2])
    """,
)
shape(
    "a generator expression",
    "list(SEE for i in [1])",
    target="<genexpr>",
    not_yet=frozenset({"i"}),
)
shape(
    "a generator expression with a free variable",
    "def f(n):\n    return list((n, SEE) for i in [1])\nf(5)",
    target="<genexpr>",
    not_yet=frozenset({"i"}),
)

# Other kinds of code.
shape("lambda", "target = lambda a, b=2, *c: SEE\ntarget(1)", target="<lambda>")
shape(
    "generator",
    "def target(a, b=2):\n    SEE\n    yield lambda: a\nlist(target(1))",
)
shape(
    "coroutine",
    """
    async def target(a, *b):
        SEE
        c = a
    try:
        target(1, 2).send(None)
    except StopIteration:
        pass
    """,
)
shape(
    "asynchronous generator",
    """
    async def target(a):
        SEE
        yield a
    try:
        target(1).asend(None).send(None)
    except StopIteration:
        pass
    """,
)
shape("method", "class C:\n    def target(self, a): SEE\nC().target(1)")
shape(
    "class method", "class C:\n    @classmethod\n    def target(cls): SEE\nC.target()"
)
shape("exec in a function", "def target(a):\n    SEE\n    exec('b = 1')\ntarget(1)")
shape("module", "a = 1\nSEE", target="<module>", not_yet=frozenset({"a"}))
shape(
    "module with a comprehension",
    "SEE\nb = [i for i in range(3)]\nc = {j: (lambda: j) for j in b}",
    target="<module>",
)
shape("class body", "class target:\n    SEE\n    a = 1", not_yet=frozenset())
shape(
    "class body with a comprehension and a cell",
    """
    def outer(n):
        class target:
            SEE
            a = [i for i in range(n)]
            def method(self):
                return __class__
    outer(2)
    """,
)
shape(
    "class body with a prepared namespace",
    """
    class Meta(type):
        @classmethod
        def __prepare__(meta, name, bases):
            return {"ready": 1}
    class target(metaclass=Meta):
        SEE
    """,
)
shape(
    "function with type parameters",
    "def target[T](a: T, b=2):\n    SEE\n    return T\ntarget(1)",
    since=(3, 12),
)
