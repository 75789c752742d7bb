"""Guards on torch's state: the facts that Dynamo's own guard sees, told by name."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from support import step  # noqa

import guardtree.torch as gtt  # noqa: E402

pytestmark = [
    pytest.mark.skipif(
        not gtt.has_plugin(), reason="no plugin: python -m guardtree.torch build"
    ),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


# What Dynamo's own guard compares, by its names, and ours for them.
DYNAMO_FACTS = {
    "allow_bf16_reduce": {"allow_bf16_reduce"},
    "allow_fp16_reduce": {"allow_fp16_reduce"},
    "allow_tf32": {"allow_tf32"},
    "autocast_state": {
        "autocast_cache",
        *(f"autocast_{name}{what}" for what in ("", "_dtype")
          for name in ("cpu", "cuda", "mtia", "maia", "xpu", "ipu", "hpu", "xla",
                       "privateuseone", "mps")),
    },
    "default_dtype": {"default_dtype"},
    "deterministic_algorithms": {"deterministic"},
    "deterministic_algorithms_warn_only": {"deterministic_warn_only"},
    "deterministic_fill_uninitialized_memory": {"deterministic_fill"},
    "grad_mode": {"grad_mode"},
    "num_threads": {"num_threads"},
    "torch_function": {"torch_function"},
    "torch_function_all_disabled": {"torch_function"},
}  # fmt: skip


def test_state_has_every_fact_of_dynamos_own_guard() -> None:
    guards = pytest.importorskip("torch._C._dynamo.guards")
    theirs = json.loads(guards.GlobalStateGuard().__getstate__())
    assert set(theirs) <= set(DYNAMO_FACTS), "torch compares a fact that is not listed"
    ours = set(gtt.state())
    for fact in theirs:
        assert DYNAMO_FACTS[fact] <= ours, fact
    devices = len(theirs["autocast_state"]["enabled"])
    mine = [each for each in ours if each.startswith("autocast_")]
    assert len(mine) == 2 * devices + 1


def setting(get: Any, put: Any, value: Any) -> Any:
    @contextlib.contextmanager
    def changed() -> Any:
        old = get()
        put(value(old))
        try:
            yield
        finally:
            put(old)

    return changed()


def attribute(owner: Any, name: str) -> Any:
    return setting(
        lambda: getattr(owner, name),
        lambda value: setattr(owner, name, value),
        lambda old: not old,
    )


def autocast(device: str) -> Any:
    return setting(
        lambda: torch.is_autocast_enabled(device),
        lambda value: torch.set_autocast_enabled(device, value),
        lambda old: not old,
    )


MATMUL = torch.backends.cuda.matmul
CHANGES: dict[str, tuple[str, Any]] = {
    "no_grad": ("grad_mode", torch.no_grad),
    "threads": (
        "num_threads",
        lambda: setting(torch.get_num_threads, torch.set_num_threads, lambda n: n + 1),
    ),
    "tf32": ("allow_tf32", lambda: attribute(MATMUL, "allow_tf32")),
    "matmul": (
        "allow_tf32",
        lambda: setting(
            torch.get_float32_matmul_precision,
            torch.set_float32_matmul_precision,
            lambda _: "high",
        ),
    ),
    "fp16": (
        "allow_fp16_reduce",
        lambda: attribute(MATMUL, "allow_fp16_reduced_precision_reduction"),
    ),
    "bf16": (
        "allow_bf16_reduce",
        lambda: attribute(MATMUL, "allow_bf16_reduced_precision_reduction"),
    ),
    "xpu": ("autocast_xpu", lambda: autocast("xpu")),
    "mps": ("autocast_mps", lambda: autocast("mps")),
    "xpu dtype": (
        "autocast_xpu_dtype",
        lambda: setting(
            lambda: torch.get_autocast_dtype("xpu"),
            lambda value: torch.set_autocast_dtype("xpu", value),
            lambda _: torch.bfloat16,
        ),
    ),
    "fill": (
        "deterministic_fill",
        lambda: attribute(torch.utils.deterministic, "fill_uninitialized_memory"),
    ),
    "no torch function": ("torch_function", torch._C.DisableTorchFunction),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_state_guard_names_the_fact_that_changed(name: str) -> None:
    fact, change = CHANGES[name]
    guards = gtt.guard_state(gt.GuardManager(step))
    alone = gtt.guard_state(gt.GuardManager(step), **{fact: gtt.state()[fact]})
    assert guards.check({}) and alone.check({})
    with change():
        assert not guards.check({}) and not alone.check({})
        for each in (guards, alone):
            (failure,) = each.explain({}).failures
            assert failure.found.startswith(f"{fact}="), failure.found
            assert "(expected " in failure.found
            assert f"found {failure.found}" in str(each.explain({}))
    assert guards.check({}) and alone.check({})
