"""More programs: limits, stances, backends, regions, resets, nesting, threads."""

from __future__ import annotations

import threading
from typing import Any

import torch
from scenarios import Compile, ones, scenario


@scenario
def disabled_callee(compile: Compile) -> Any:
    @torch._dynamo.disable
    def plain(x: Any) -> Any:
        return x + 10

    f = compile(lambda x: plain(x * 2) - 1)
    return f(ones(2)), f(ones(2))


@scenario
def fullgraph(compile: Compile) -> Any:
    f = compile(lambda x: x + 1, fullgraph=True)

    def broken(x: Any) -> Any:
        torch._dynamo.graph_break()
        return x

    g, found = compile(broken, fullgraph=True), []
    for _ in range(2):
        try:
            g(ones(2))
        except Exception as error:
            found.append(type(error).__name__)
    return f(ones(2)), f(ones(2)), f(ones(3)), found


@scenario
def skipped_fullgraph(compile: Compile) -> Any:
    f = compile(torch.compiler.disable(lambda x: x + 1), fullgraph=True)
    found: list[Any] = []
    for _ in range(2):
        try:
            found.append(f(ones(2)))
        except Exception as error:
            found.append(type(error).__name__)
    return found


@scenario
def recompile_limit(compile: Compile) -> Any:
    f = compile(lambda x, n: x + n, dynamic=False)
    return [f(ones(2), n) for n in (*range(12), 0, 11)]


@scenario
def limit_is_an_error(compile: Compile) -> Any:
    f = compile(lambda x, n: x + n, dynamic=False, fullgraph=True)
    found: list[Any] = []
    with torch._dynamo.config.patch(recompile_limit=3):
        for n in range(5):
            try:
                found.append(f(ones(2), n))
            except Exception as error:
                found.append(type(error).__name__)
    return found


@scenario
def two_backends(compile: Compile) -> Any:
    said: list[str] = []

    def backend(name: str) -> Any:
        def make(gm: Any, inputs: Any) -> Any:
            def run(*args: Any) -> Any:
                said.append(name)
                return gm.forward(*args)

            return run

        return make

    def f(x: Any) -> Any:
        return x + 1

    a = torch.compile(f, backend=backend("a"))
    b = torch.compile(f, backend=backend("b"))
    for each in (a, b, a, b, b, a):
        each(ones(2))
    return said


@scenario
def isolated(compile: Compile) -> Any:
    def f(x: Any, n: int) -> Any:
        return x + n

    a = compile(f, dynamic=False, isolate_recompiles=True)
    b = compile(f, dynamic=False, isolate_recompiles=True)
    with torch._dynamo.config.patch(recompile_limit=3):
        found = [g(ones(2), n) for n in range(5) for g in (a, b)]
    return found, compile(f)(ones(2), 1)


@scenario
def stances(compile: Compile) -> Any:
    f = compile(lambda x: x + x.shape[0], dynamic=False)
    found: list[Any] = [f(ones(2))]
    for stance in ("force_eager", "eager_on_recompile", "fail_on_recompile"):
        with torch.compiler.set_stance(stance):
            for n in (2, 3):
                try:
                    found.append(f(ones(n)))
                except RuntimeError as error:
                    found.append(type(error).__name__)
    return found, f(ones(3))


@scenario
def later_stances(compile: Compile) -> Any:
    found = []
    for stance in ("eager_then_compile", "aot_eager_then_compile"):
        torch._dynamo.reset()
        f = compile(lambda x: x + x.shape[0])
        with torch.compiler.set_stance(stance):
            found += [f(ones(n)) for n in (2, 3, 4)]
    return found


@scenario
def skipped_guards(compile: Compile) -> Any:
    f = compile(lambda x: x + x.shape[0], dynamic=False)
    found: list[Any] = [f(ones(2)), f(ones(3))]
    with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
        found += [f(ones(2)), f(ones(3))]
        try:
            f(ones(4))
        except RuntimeError as error:
            found.append(type(error).__name__)
    return found, f(ones(4))


@scenario
def reset_between(compile: Compile) -> Any:
    f = compile(lambda x: x + 1)
    first = f(ones(2)), f(ones(2))
    torch._dynamo.reset()
    return first, f(ones(2)), f(ones(2))


@scenario
def a_backend_raises(compile: Compile) -> Any:
    def broken(gm: Any, inputs: Any) -> Any:
        raise ArithmeticError("no")

    f, found = torch.compile(lambda x: x + 1, backend=broken), []
    for _ in range(2):
        try:
            f(ones(2))
        except Exception as error:
            found.append(type(error).__name__)
    return found, compile(lambda x: x + 2)(ones(2))


@scenario
def nested_compile(compile: Compile) -> Any:
    inner = compile(lambda x: x + 1)
    outer = compile(lambda x: inner(x) * 2)

    def calls(x: Any) -> Any:
        torch._dynamo.graph_break()
        return inner(x) - 1

    return outer(ones(2)), inner(ones(2)), outer(ones(2)), compile(calls)(ones(2))


@scenario
def compile_inside_a_backend(compile: Compile) -> Any:
    inner = torch.compile(lambda x: x * 2, backend="eager")

    def backend(gm: Any, inputs: Any) -> Any:
        inner(ones(3))
        return gm.forward

    f = torch.compile(lambda x: x + 1, backend=backend)
    return f(ones(2)), f(ones(2)), inner(ones(3))


@scenario
def many_threads(compile: Compile) -> Any:
    f = compile(lambda x: x + x.shape[0], dynamic=True)
    f(ones(5))
    found: dict[int, Any] = {}

    def run(n: int) -> None:
        for _ in range(20):
            found[n] = f(ones(n))

    threads = [threading.Thread(target=run, args=(n,)) for n in (2, 3, 4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return found[2], found[3], found[4]
