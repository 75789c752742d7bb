"""Runs the programs under Dynamo and gives the trees of each, recorded."""

from __future__ import annotations

from typing import Any

import torch
import torch._dynamo

from .programs import Program
from guardtree.torch.dynamo.record import Recording, recording


def trees_of(program: Program) -> list[Recording]:
    """The trees that Dynamo builds while the program runs once, in that order."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    function, arguments = program.function(), program.arguments()
    compiled: Any = torch.compile(
        function, backend="eager", dynamic=program.is_dynamic
    )
    with recording() as recorder:
        compiled(*arguments)
    found = recorder.done
    for number, tree in enumerate(found, 1):
        tree.name = program.name + (f", part {number}" if len(found) > 1 else "")
    return found
