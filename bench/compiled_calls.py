"""What a whole compiled call costs over eager: torch's hook, the same under
skip_guard_eval_unsafe, and guardtree.torch.dynamo; then a call of one of many modules
that share their `forward`, with torch's limit of recompiles lifted. Run it twice.

    PYTHONPATH=<build>/python python bench/compiled_calls.py [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import guardtree.torch.dynamo as gd
import torch
from torch import nn

ROUNDS = 60


def add_one() -> tuple[Any, tuple[Any, ...]]:
    return (lambda x: x + 1), (torch.ones(4),)


def mlp() -> tuple[Any, tuple[Any, ...]]:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    return model, (torch.ones(2, 8),)


def encoder() -> tuple[Any, tuple[Any, ...]]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return model, (torch.ones(1, 4, 8),)


def tiny_llama() -> tuple[Any, tuple[Any, ...]]:
    from transformers import LlamaConfig, LlamaForCausalLM

    settings = LlamaConfig(
        vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=32, use_cache=False,
    )  # fmt: skip
    return LlamaForCausalLM(settings).eval(), (torch.ones(1, 8, dtype=torch.int64),)


PROGRAMS = {
    "x + 1": add_one, "MLP": mlp, "12-layer encoder": encoder, "tiny Llama": tiny_llama,
}  # fmt: skip


COUNTS = (1, 8, 64)
OFFSET = torch.zeros(4)


class Add(nn.Module):
    """Its entry is for one `k`."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.k


class AddGlobal(Add):
    """The global keeps Dynamo's wrapper: the hook finds the entry."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.k + OFFSET


def timed(function: Callable[..., Any], args: tuple[Any, ...], count: int) -> float:
    """Microseconds of a call."""
    begin = time.thread_time_ns()
    for _ in range(count):
        function(*args)
    return (time.thread_time_ns() - begin) / count / 1000


def over_eager(compiled: Any, eager: Any, args: tuple[Any, ...]) -> float:
    """The median over rounds of the difference within a round."""
    for _ in range(5):
        compiled(*args), eager(*args)
    once = timed(eager, args, 5)
    count = max(2, int(2000 / once))
    rounds = [
        timed(compiled, args, count) - timed(eager, args, count) for _ in range(ROUNDS)
    ]
    return median(rounds)


def measure(make: Callable[[], Any]) -> dict[str, float]:
    """A program's costs by engine, in this process."""
    torch.manual_seed(0)
    eager, args = make()
    if isinstance(eager, nn.Module):
        eager.eval()
    found = {}
    with torch.no_grad():
        for name in ("guardtree", "torch", "torch, guards skipped"):
            torch._dynamo.reset()
            if name == "guardtree":
                gd.install()
            compiled = torch.compile(eager, backend="eager")
            compiled(*args)
            skips = name.endswith("skipped")
            with torch.compiler.set_stance(skip_guard_eval_unsafe=skips):
                found[name] = over_eager(compiled, eager, args)
            gd.uninstall()
    return found


def measure_sharing(kind: type[Add], count: int) -> dict[str, float]:
    """A call of one of `count` modules of one code, in turn."""
    eager = [kind(k) for k in range(count)]
    found = {}
    for name in ("guardtree", "torch"):
        torch._dynamo.reset()
        if name == "guardtree":
            gd.install()
        limits = {"recompile_limit": 1000, "accumulated_recompile_limit": 1000}
        with torch.no_grad(), torch._dynamo.config.patch(limits):
            compiled = [torch.compile(e, backend="eager", dynamic=False) for e in eager]

            def all_of(models: list[Any], x: torch.Tensor) -> None:
                for each in models:
                    each(x)

            def ours(x: torch.Tensor) -> None:
                all_of(compiled, x)

            cost = over_eager(ours, lambda x: all_of(eager, x), (torch.ones(4),))
            found[name] = cost / count
        gd.uninstall()
    return found


def sharing() -> dict[str, dict[str, float]]:
    """By who finds the entry, and by how many modules there are."""
    return {
        f"{text}, {count}": measure_sharing(kind, count)
        for text, kind in (("found at once", Add), ("found by the hook", AddGlobal))
        for count in COUNTS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    gc.disable()
    found = {name: measure(make) for name, make in PROGRAMS.items()}
    shared = sharing()
    if options.json:
        print(json.dumps({"programs": found, "modules of one code": shared}))
        return
    show("us over eager", found)
    show("modules of one code", shared)


def show(title: str, found: dict[str, dict[str, float]]) -> None:
    """A table."""
    names = list(next(iter(found.values())))
    print(f"| {title} | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for row, costs in found.items():
        print(f"| {row} | " + " | ".join(f"{costs[n]:.1f}" for n in names) + " |")


if __name__ == "__main__":
    main()
