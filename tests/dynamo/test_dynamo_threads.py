"""Two threads compile and run the same functions and others, each with a backend of its
own: results are right, no thread runs code of another one's backend, none waits."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

import guardtree.torch.dynamo as gd  # noqa: E402

LONG = os.environ.get("GUARDTREE_TEST_LONG")
CALLS = 100_000 if LONG else 2_000
"""Of each thread."""
NAMES = ("a", "b")
pytestmark = pytest.mark.filterwarnings("ignore")


def add_one(x: Any) -> Any:
    return x + 1


def broken(x: Any) -> Any:
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1


def sized(x: Any) -> Any:
    return x * x.shape[0]


class Scaled(torch.nn.Module):
    def __init__(self, k: float) -> None:
        super().__init__()
        self.k = k

    def forward(self, x: Any) -> Any:
        return x * self.k


SHARED = Scaled(3.0)
INPUTS = [torch.full((n,), float(n)) for n in (2, 3, 4)]


@contextmanager
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Worker(threading.Thread):
    """Compiles its functions with a backend of its own, and calls them in turn."""

    def __init__(self, name: str, functions: Callable[[str], list[Any]]) -> None:
        super().__init__(name=name, daemon=True)
        self.functions = functions(name)
        self.ran: set[str] = set()
        self.calls = self.compiled = 0
        self.wrong: list[str] = []

    def backend(self, graph: Any, inputs: Any) -> Any:
        owner = self.name
        self.compiled += 1

        def run(*args: Any) -> Any:
            worker = threading.current_thread()
            assert isinstance(worker, Worker)
            worker.ran.add(owner)
            return graph.forward(*args)

        return run

    def run(self) -> None:
        try:
            self.work()
        except BaseException:
            self.wrong.append(traceback.format_exc())

    def work(self) -> None:
        compiled = [
            torch.compile(each, backend=self.backend, dynamic=False)
            for each in self.functions
        ]
        expected = [[each(x) for x in INPUTS] for each in self.functions]
        while self.calls < CALLS:
            for f, results in zip(compiled, expected):
                for x, result in zip(INPUTS, results):
                    if not torch.equal(f(x), result):
                        self.wrong.append(f"{f} of {x}")
                    self.calls += 1


def same(name: str) -> list[Any]:
    return [add_one, broken, sized, SHARED]


def others(name: str) -> list[Any]:
    k = 2.0 if name == "a" else 5.0

    def own(x: Any) -> Any:
        return x - k

    return [add_one if name == "a" else sized, own, Scaled(k), Scaled(k).forward]


@pytest.mark.parametrize("functions", [same, others], ids=["same", "others"])
def test_two_threads_with_two_backends(functions: Any) -> None:
    with gd.installed(), switching_often():
        workers = [Worker(name, functions) for name in NAMES]
        for each in workers:
            each.start()
        for each in workers:
            each.join(60 + CALLS / 100)
        assert not any(each.is_alive() for each in workers), "a thread waits"
    for each in workers:
        assert not each.wrong, each.wrong[0]
        assert each.calls >= CALLS and each.compiled > 0
        assert each.ran == {each.name}
