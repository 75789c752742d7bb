"""The list of programs: each has a name, a family, a function or module, and arguments.

Families are reported apart, so that many programs of one kind lift no other's number. A
program is here because its guards are of another shape, not of another size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch


@dataclass(frozen=True)
class Program:
    """What Dynamo compiles. Function and arguments are made when they are asked for."""

    name: str
    family: str
    function: Callable[[], Callable[..., Any]]
    arguments: Callable[[], tuple[Any, ...]]
    is_dynamic: bool = False
    """Whether shapes stay free."""


PROGRAMS: list[Program] = []

Function = Callable[..., Any]


def program(
    family: str,
    arguments: Callable[[], tuple[Any, ...]],
    is_dynamic: bool = False,
) -> Callable[[Function], Function]:
    """Puts the decorated function into the list."""

    def add(function: Function) -> Function:
        name = function.__name__
        new = Program(name, family, lambda: function, arguments, is_dynamic)
        PROGRAMS.append(new)
        return function

    return add


def made(
    family: str, arguments: Callable[[], tuple[Any, ...]]
) -> Callable[[Function], Function]:
    """Likewise of a function that makes what is compiled: a module, or a closure."""

    def add(make: Function) -> Function:
        PROGRAMS.append(Program(make.__name__, family, make, arguments))
        return make

    return add


def row(count: int = 8) -> torch.Tensor:
    """A vector."""
    return torch.ones(count)


def one_row() -> tuple[Any, ...]:
    """The argument of most programs."""
    return (row(),)


PARTS = ("functions", "data", "modules", "models")


def load() -> list[Program]:
    """The whole list, of what is installed."""
    for part in PARTS:
        import_module(f"{__package__}.programs_{part}")
    return PROGRAMS
