"""Guards on torch's state: the facts that Dynamo's own guard sees, told by name."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from support import step  # noqa

import guardtree.torch as gtt  # noqa: E402
import torch.fx  # noqa: E402
from torch.autograd.graph import saved_tensors_hooks  # noqa: E402
from torch.overrides import BaseTorchFunctionMode  # noqa: E402

pytestmark = [
    pytest.mark.skipif(
        not gtt.has_plugin(), reason="no plugin: python -m guardtree.torch build"
    ),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


DEVICES = (
    "cpu", "cuda", "mtia", "maia", "xpu", "ipu", "hpu", "xla", "privateuseone", "mps",
)  # fmt: skip
# What Dynamo's own guard compares, by its names, and ours for them.
DYNAMO_FACTS = {
    "allow_bf16_reduce": {"allow_bf16_reduce"},
    "allow_fp16_reduce": {"allow_fp16_reduce"},
    "allow_tf32": {"allow_tf32"},
    "autocast_state": {
        "autocast_cache",
        *(f"autocast_{name}{what}" for what in ("", "_dtype") for name in DEVICES),
    },
    "cuda_matmul_precision": {"cuda_matmul_precision"},
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


def autocast_dtype(device: str) -> Any:
    return setting(
        lambda: torch.get_autocast_dtype(device),
        lambda value: torch.set_autocast_dtype(device, value),
        lambda old: torch.float16 if old == torch.bfloat16 else torch.bfloat16,
    )


def plain(value: Any) -> Any:
    return value


def graph() -> Any:
    return torch.fx.symbolic_trace(plain)


def precision(owner: Any, name: str) -> Any:
    return setting(
        lambda: owner.fp32_precision,
        lambda value: setattr(owner, "fp32_precision", value),
        lambda _: name,
    )


@pytest.fixture
def ieee() -> Iterator[None]:
    """Sets matmul's own precision first, because putting a flag back sets it."""
    with precision(MATMUL, "ieee"):
        yield


MATMUL = torch.backends.cuda.matmul
CUDNN = torch.backends.cudnn
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
    "matmul alone": ("allow_tf32", lambda: precision(MATMUL, "tf32")),
    "no precision": ("cuda_matmul_precision", lambda: precision(MATMUL, "none")),
    "conv": ("cudnn_conv_tf32", lambda: precision(CUDNN.conv, "ieee")),
    "rnn": ("cudnn_rnn_tf32", lambda: precision(CUDNN.rnn, "ieee")),
    "fp16": (
        "allow_fp16_reduce",
        lambda: attribute(MATMUL, "allow_fp16_reduced_precision_reduction"),
    ),
    "bf16": (
        "allow_bf16_reduce",
        lambda: attribute(MATMUL, "allow_bf16_reduced_precision_reduction"),
    ),
    "fill": (
        "deterministic_fill",
        lambda: attribute(torch.utils.deterministic, "fill_uninitialized_memory"),
    ),
    "no torch function": ("torch_function", torch._C.DisableTorchFunction),
    "no torch function of subclasses": (
        "torch_function",
        torch._C.DisableTorchFunctionSubclass,
    ),
    "a torch function mode": ("torch_function_modes", BaseTorchFunctionMode),
    "inference": ("inference_mode", torch.inference_mode),
    "hooks that are graphs": (
        "graph_hooks",
        lambda: saved_tensors_hooks(graph(), graph()),
    ),
}
CHANGES |= {
    f"{device} dtype": (
        f"autocast_{device}_dtype",
        lambda device=device: autocast_dtype(device),
    )
    for device in DEVICES
}
CHANGES |= {
    device: (f"autocast_{device}", lambda device=device: autocast(device))
    for device in DEVICES
}


@pytest.mark.usefixtures("ieee")
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
            assert fact in re.findall(r"(\w+)=\w+ \(expected", failure.found)
            assert f"found {failure.found}" in str(each.explain({}))
    assert guards.check({}) and alone.check({})


def test_tf32_of_all_backends_is_that_of_an_operation_without_its_own() -> None:
    with precision(MATMUL, "none"), precision(CUDNN.conv, "none"):
        facts = {name: gtt.state()[name] for name in ("allow_tf32", "cudnn_conv_tf32")}
        guards = gtt.guard_state(gt.GuardManager(step), **facts)
        for owner in (torch.backends, CUDNN):
            for name in ("tf32", "ieee"):
                with precision(owner, name):
                    found = {each: gtt.state()[each] for each in facts}
                    assert guards.check({}) == (found == facts)
            assert guards.check({})
        with precision(torch.backends, "tf32"):
            assert gtt.state()["allow_tf32"]


def test_each_fact_is_read_in_the_thread_that_asks() -> None:
    facts = gtt.state()
    found = []
    with torch.no_grad(), saved_tensors_hooks(graph(), graph()):
        thread = threading.Thread(target=lambda: found.append(gtt.state()))
        thread.start()
        thread.join()
    (other,) = found
    names = ("grad_mode", "graph_hooks", "torch_function_modes")
    assert [other[name] for name in names] == [facts[name] for name in names]


def test_the_number_of_threads_is_what_torch_says_in_each_thread() -> None:
    """OpenMP keeps a number for each thread. torch sets it when a thread first asks."""
    told: list[tuple[int, int]] = []

    def tell() -> None:
        told.append((gtt.state()["num_threads"], torch.get_num_threads()))

    def ask(asked: threading.Event, is_set: threading.Event) -> None:
        tell()
        asked.set()
        assert is_set.wait(60)
        tell()
        with setting(torch.get_num_threads, torch.set_num_threads, lambda n: n + 2):
            tell()

    for change in (1, 2):
        asked, is_set = threading.Event(), threading.Event()
        thread = threading.Thread(target=ask, args=(asked, is_set))
        thread.start()
        assert asked.wait(60)
        count = torch.get_num_threads() + change
        with setting(
            torch.get_num_threads, torch.set_num_threads, lambda _, to=count: to
        ):
            tell()
            is_set.set()
            thread.join()
    assert len(told) == 8
    assert all(ours == theirs for ours, theirs in told), told
    assert len({ours for ours, _ in told}) >= 3


class Callable:
    def __call__(self, value: Any) -> Any:
        return value


class Pretends:
    """Says that it is a graph."""

    __class__ = torch.fx.GraphModule  # type: ignore[assignment]

    def __call__(self, value: Any) -> Any:
        return value


class Refuses:
    """Does not say what it is."""

    @property
    def __class__(self) -> Any:
        raise KeyError("refused")

    def __call__(self, value: Any) -> Any:
        return value


@pytest.mark.parametrize(
    ("pack", "unpack", "expected"),
    [
        (plain, plain, 0),
        (graph(), plain, 0),
        (plain, graph(), 0),
        (graph(), graph(), 1),
        (Callable(), print, 0),
    ],
)
def test_hooks_are_graphs_where_dynamo_says_so(
    pack: Any, unpack: Any, expected: int
) -> None:
    utils = pytest.importorskip("torch._functorch._aot_autograd.utils")
    with saved_tensors_hooks(pack, unpack):
        hooks = utils.top_saved_tensors_hooks()
        assert utils.saved_tensors_hooks_are_inlineable(hooks) == bool(expected)
        assert gtt.state()["graph_hooks"] == expected
        with saved_tensors_hooks(plain, plain):
            assert gtt.state()["graph_hooks"] == 0


@pytest.mark.parametrize("kind", [Pretends, Refuses])
def test_a_hook_that_says_itself_what_it_is_fails_every_guard(kind: Any) -> None:
    hook = kind()
    either = [
        gtt.guard_state(gt.GuardManager(step), graph_hooks=expected)
        for expected in (0, 1)
    ]
    with saved_tensors_hooks(hook, hook):
        assert gtt.state()["graph_hooks"] == 2
        assert not any(guards.check({}) for guards in either)
    assert [guards.check({}) for guards in either] == [True, False]
