"""Functions in modules of their own, run plain and under the demo's compiler."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import guardtree as gt
from guardtree.demo.compiler import Compiler, Function
from guardtree.demo.costs import DEFAULT_COSTS

Make = Callable[[str], ModuleType]


@pytest.fixture
def make(tmp_path: Path, hook: None) -> Iterator[Make]:
    """`make(source)`: a module in a file, so that its source can be found."""
    names: list[str] = []

    def build(source: str) -> ModuleType:
        name = f"specimen_{len(names)}_{tmp_path.name}"
        file = tmp_path / f"{name}.py"
        file.write_text(textwrap.dedent(source))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        names.append(name)
        spec.loader.exec_module(module)
        return module

    yield build
    for name in names:
        del sys.modules[name]


class Run:
    """A compiler for one module, which finds everything worth it."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        modules = frozenset({module.__name__})
        # Costs as given, not as measured: what is folded must not depend on the day.
        self.compiler = Compiler(modules, float("-inf"), DEFAULT_COSTS)

    def __call__(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The call under the hook, after two that make the entry; it must do what it
        does without."""
        plain = outcome(function, args, kwargs)
        with gt.optimize(self.compiler):
            for _ in range(3):
                hooked = outcome(function, args, kwargs)
                assert hooked == plain
        return plain[1]

    def seen(self, name: str) -> Function:
        found = [each for each in self.compiler.functions.values() if each.entries]
        return next(each for each in found if each.name.endswith(f".{name}"))

    def guards(self, name: str) -> list[set[str]]:
        """Of each entry of a function: its guards, as `root name kind`."""
        entries = self.seen(name).entries
        return [{f"{n.root} {n.name} {n.kind}" for n in e.made.needs} for e in entries]

    def folds(self, name: str) -> list[str]:
        return [fold for entry in self.seen(name).entries for fold in entry.made.folds]

    def left(self, name: str) -> bool:
        return not any(
            each.name.endswith(f".{name}") and each.entries
            for each in self.compiler.functions.values()
        )


def outcome(function: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """What a call gives; of an exception also the lines it came through."""
    try:
        return "value", function(*args, **kwargs)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        places = [(each.name, each.lineno, each.line) for each in frames]
        return "error", (type(error), str(error)), places


# What is folded
