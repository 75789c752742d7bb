"""Programs that are compiled and called several times: functions of `compile`, which
give what is compared. Values are made in the program, so that each run is alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Compile = Callable[..., Any]
SCENARIOS: dict[str, Callable[[Compile], Any]] = {}


def scenario(function: Callable[[Compile], Any]) -> Callable[[Compile], Any]:
    SCENARIOS[function.__name__] = function
    return function


def ones(*shape: int, **named: Any) -> torch.Tensor:
    return torch.ones(*shape, **named)


@scenario
def many_shapes(compile: Compile) -> Any:
    f = compile(lambda x: x * x.shape[0])
    return [f(ones(n)) for n in (2, 3, 3, 4, 5, 1)]


@scenario
def static_shapes(compile: Compile) -> Any:
    f = compile(lambda x: x * x.shape[0], dynamic=False)
    return [f(ones(n)) for n in (2, 3, 3, 4)]


@scenario
def dynamic_shapes(compile: Compile) -> Any:
    f = compile(lambda x, y: x[:2] @ y, dynamic=True)
    return [f(ones(n, 4), ones(4, n)) for n in (5, 3, 7, 2)]


@scenario
def marked_dynamic(compile: Compile) -> Any:
    f = compile(lambda x: x.sum() + x.shape[0])
    x = ones(6)
    torch._dynamo.mark_dynamic(x, 0)
    return f(x), f(ones(7)), f(ones(8))


@scenario
def dtypes(compile: Compile) -> Any:
    f = compile(lambda x: x + 1)
    kinds = (torch.float32, torch.float64, torch.int64, torch.float32)
    return [f(ones(2, dtype=kind)) for kind in kinds]


@scenario
def ints_and_strings(compile: Compile) -> Any:
    def f(x: Any, how: Any, n: Any) -> Any:
        return x + n if how == "add" else x * n

    g = compile(f)
    calls = [("add", 1), ("mul", 2), ("add", 3), ("mul", 2.5), ("add", True)]
    return [g(ones(2), *each) for each in calls]


@scenario
def printed(compile: Compile) -> Any:
    said: list[int] = []

    def f(x: Any) -> Any:
        y = x + 1
        said.append(1)
        torch._dynamo.graph_break()
        return y * 2

    g = compile(f)
    return g(ones(2)), g(ones(2)), g(ones(3)), said


@scenario
def break_in_a_loop(compile: Compile) -> Any:
    def f(x: Any) -> Any:
        for i in range(3):
            x = x + i
            torch._dynamo.graph_break()
        return x

    g = compile(f)
    return g(ones(2)), g(ones(3)), g(ones(2))


@scenario
def branch_on_a_value(compile: Compile) -> Any:
    def f(x: Any) -> Any:
        if x.sum() > 2:
            return x - 1
        return x + 1

    g = compile(f)
    return g(ones(2)), g(ones(4)), g(ones(2))


@scenario
def break_in_a_callee(compile: Compile) -> Any:
    def inner(x: Any) -> Any:
        x = x * 2
        torch._dynamo.graph_break()
        return x + 1

    g = compile(lambda x: inner(x) - inner(x + 1))
    return g(ones(2)), g(ones(2))


@scenario
def generators(compile: Compile) -> Any:
    def numbers(x: Any) -> Any:
        for i in range(3):
            yield x + i

    f = compile(lambda x: sum(numbers(x)))
    g = compile(lambda x: [each for each in numbers(x)])
    return f(ones(2)), f(ones(2)), g(ones(2))


@scenario
def a_generator(compile: Compile) -> Any:
    def f(x: Any) -> Any:
        yield x + 1
        yield x + 2

    return [list(compile(f)(ones(2))) for _ in range(2)]


@scenario
def coroutines(compile: Compile) -> Any:
    f = compile(lambda x: x * 3)

    async def run(n: int) -> Any:
        await asyncio.sleep(0)
        return f(ones(n))

    async def both() -> Any:
        return await asyncio.gather(run(2), run(3), run(2))

    return asyncio.run(both())


@scenario
def no_grad_inside(compile: Compile) -> Any:
    def f(x: Any) -> Any:
        with torch.no_grad():
            y = x * 2
        return x * 3 + y

    g = compile(f)
    x = ones(2, requires_grad=True)
    g(x).sum().backward()
    return g(x).detach(), x.grad


@scenario
def a_gradient_that_comes_and_goes(compile: Compile) -> Any:
    f = compile(lambda p: p.detach() * (1 if p.grad is None else 2))
    p = torch.nn.Parameter(ones(2))
    found = [f(p)]
    for grad in (ones(2), None, ones(2) * 2):
        p.grad = grad
        found.append(f(p))
    return found


@scenario
def items_of_a_set(compile: Compile) -> Any:
    f = compile(lambda x, names: x * (2 if "a" in names else 3))
    return [f(ones(2), names) for names in ({"a"}, {"b"}, {"a", "b"}, set())]


@scenario
def an_absent_attribute_before_the_type(compile: Compile) -> Any:
    class Options:
        pass

    class Others(Options):
        def __getattr__(self, name: str) -> Any:
            return 4

    f = compile(lambda x, options: x * getattr(options, "factor", 2))
    with_factor = Options()
    vars(with_factor)["factor"] = 3
    return [f(ones(2), each) for each in (Options(), with_factor, Others(), Options())]


@scenario
def grad_mode_outside(compile: Compile) -> Any:
    f = compile(lambda x: x * 2)
    x = ones(2, requires_grad=True)
    first = f(x).requires_grad
    with torch.no_grad():
        second = f(x).requires_grad
    with torch.inference_mode():
        third = f(ones(2))
    return first, second, third.clone(), f(x).requires_grad


@scenario
def own_context_manager(compile: Compile) -> Any:
    @contextlib.contextmanager
    def scaled(x: Any) -> Any:
        yield x * 2

    def f(x: Any) -> Any:
        with scaled(x) as y:
            return y + 1

    g = compile(f)
    return g(ones(2)), g(ones(3))


@scenario
def autocast(compile: Compile) -> Any:
    f = compile(lambda x: x @ x)
    first = f(ones(2, 2)).dtype
    with torch.autocast("cpu", torch.bfloat16):
        second = f(ones(2, 2)).dtype
    return str(first), str(second), str(f(ones(2, 2)).dtype)


@scenario
def default_dtype(compile: Compile) -> Any:
    f = compile(lambda x: x + torch.ones(2))
    first = f(ones(2)).dtype
    torch.set_default_dtype(torch.float64)
    try:
        return str(first), str(f(torch.ones(2)).dtype)
    finally:
        torch.set_default_dtype(torch.float32)


@scenario
def exceptions(compile: Compile) -> Any:
    def f(x: Any, n: int) -> Any:
        try:
            if n > 1:
                raise ValueError(str(n))
            return x + n
        except ValueError:
            return x - n

    g = compile(f)
    return [g(ones(2), n) for n in (0, 1, 2, 3)]


@scenario
def an_exception_leaves(compile: Compile) -> Any:
    def f(x: Any, n: int) -> Any:
        y = x + 1
        torch._dynamo.graph_break()
        if n:
            raise KeyError(n)
        return y

    g = compile(f)
    found = []
    for n in (0, 1, 0, 1):
        try:
            found.append(g(ones(2), n))
        except KeyError as error:
            found.append(str(error))
    return found


@scenario
def closures(compile: Compile) -> Any:
    def make(k: Any) -> Any:
        return lambda x: x + k

    return [compile(make(k))(ones(2)) for k in (1, 2, 1, 2.5)]


@scenario
def a_closure_changes(compile: Compile) -> Any:
    k = 1

    def f(x: Any) -> Any:
        return x + k

    g = compile(f)
    found = [g(ones(2))]
    k = 5
    found.append(g(ones(2)))
    return found


SCALE = 2


@scenario
def a_global_changes(compile: Compile) -> Any:
    global SCALE
    g = compile(lambda x: x * SCALE)
    found = [g(ones(2))]
    SCALE = 3
    found.append(g(ones(2)))
    SCALE = 2
    return found, g(ones(2))


@scenario
def containers(compile: Compile) -> Any:
    Pair = namedtuple("Pair", "a b")

    def f(d: Any, pair: Any, items: Any) -> Any:
        total = pair.a + pair.b
        for value in d.values():
            total = total + value
        return total + len(items)

    g = compile(f)
    pair = Pair(ones(2), ones(2))
    return (
        g({"x": ones(2)}, pair, [1]),
        g({"x": ones(2), "y": ones(2)}, pair, [1]),
        g(OrderedDict(x=ones(2)), pair, [1, 2]),
        g({"x": ones(2)}, pair, [1]),
    )


@scenario
def defaults_and_keywords(compile: Compile) -> Any:
    def f(x: Any, /, k: int = 1, *more: Any, flag: bool = False, **named: Any) -> Any:
        total = x + k + len(more) + sum(named.values())
        return -total if flag else total

    g = compile(f)
    return (
        g(ones(2)), g(ones(2), 2), g(ones(2), 2, 3), g(ones(2), flag=True),
        g(ones(2), a=1, b=2), g(ones(2)),
    )  # fmt: skip


@scenario
def dataclass_argument(compile: Compile) -> Any:
    @dataclass
    class Settings:
        scale: float
        shift: int

    f = compile(lambda x, s: x * s.scale + s.shift)
    return [f(ones(2), Settings(*each)) for each in ((1.0, 1), (2.0, 1), (2.0, 3))]


@scenario
def aliases(compile: Compile) -> Any:
    def f(x: Any, y: Any) -> Any:
        x.add_(1)
        return x + y

    g = compile(f)
    a = ones(2)
    return g(ones(2), ones(2)), g(a, a), g(ones(2), ones(2)), a


@scenario
def views(compile: Compile) -> Any:
    f = compile(lambda x: x.t() + 1)
    x = ones(3, 2)
    return f(x), f(x.t()), f(ones(4, 4)[::2, ::2]), f(x)


@scenario
def no_tensor(compile: Compile) -> Any:
    f = compile(lambda n: n + 1)
    return f(1), f(2), f(1)
