"""tensor_match on torch: through the plugin, built for these tests."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree
from guardtree.semantics.tensors import local_keys_of

torch = pytest.importorskip("torch", reason="torch is not installed")

from support import NAMES, agreed, found, integers, matches, matching, step  # noqa

import guardtree.torch as gtt  # noqa: E402
from torch._subclasses import FakeTensorMode  # noqa: E402
from torch_values import OTHERS, any_tensor  # noqa: E402

pytestmark = [
    pytest.mark.skipif(
        not gtt.has_plugin(), reason="no plugin: python -m guardtree.torch build"
    ),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


class Wrapper(torch.Tensor):
    """Asks Python for its sizes, strides and device; that must not happen."""

    @staticmethod
    def __new__(cls, inner: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            dtype=inner.dtype,
            dispatch_sizes_strides_policy="sizes",
            dispatch_device=True,
        )

    @classmethod
    def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
        raise AssertionError("Python was asked")


def test_an_example_gives_all_its_facts() -> None:
    spec = gt.TensorSpec.of(torch.zeros(2, 3))
    keys = torch._C._dispatch_keys(torch.zeros(2, 3)).raw_repr()
    assert spec == {
        "type": torch.Tensor,
        "dtype": "float32",
        "device": "cpu",
        "shape": (2, 3),
        "strides": (3, 1),
        "requires_grad": False,
        "dispatch_keys": keys,
    }


@pytest.mark.parametrize("name", OTHERS)
def test_what_differs_in_one_fact_fails(name: str) -> None:
    example, other = torch.zeros(2, 3), OTHERS[name]()
    assert matches(example, torch.ones(2, 3))
    assert not matches(example, other)
    assert found(example, other)
    if isinstance(other, torch.Tensor):
        assert matches(other, other)
        assert not matches(other, example)


DTYPES = {each for each in vars(torch).values() if type(each) is torch.dtype}


@pytest.mark.parametrize("dtype", sorted(DTYPES, key=str))
def test_every_dtype_has_its_name(dtype: Any) -> None:
    try:
        value = torch.empty(2, dtype=dtype)
    except (RuntimeError, TypeError):
        pytest.skip("tensors of it cannot be made")
    guards = matching(gt.TensorSpec(dtype=dtype))
    assert agreed(guards, value)
    assert gt.TensorSpec.of(value)["dtype"] == str(value.dtype).removeprefix("torch.")
    assert not agreed(guards, torch.empty(2, dtype=torch.int16)) or dtype is torch.int16


def test_layout_device_offset_and_flags() -> None:
    value = torch.zeros(8)[2:].requires_grad_()
    assert matches(gt.TensorSpec(storage_offset=2, device=torch.device("cpu")), value)
    assert not matches(gt.TensorSpec(storage_offset=0), value)
    assert matches(gt.TensorSpec(requires_grad=True, layout=torch.strided), value)
    sparse = torch.eye(3).to_sparse()
    assert matches(gt.TensorSpec(layout="sparse_coo", shape=(3, 3)), sparse)
    assert not matches(gt.TensorSpec(strides=(3, 1)), sparse)
    conj = torch.zeros(2, dtype=torch.complex64).conj()
    assert matches(gt.TensorSpec(conj=True, neg=False), conj)
    assert not matches(gt.TensorSpec(conj=False), conj)


@pytest.mark.parametrize("more", [{}, {"requires_grad": False}, {"shape": (None,)}])
def test_the_alignment_of_the_first_element(more: Any) -> None:
    whole = torch.zeros(64)
    guards = matching(gt.TensorSpec(dtype="float32", alignment=16, **more))
    for start in range(9):
        value = whole[start : start + 8]
        assert agreed(guards, value) == (value.data_ptr() % 16 == 0), start
    assert not agreed(guards, whole.to(torch.float64))
    by_kind = gt.GuardManager(step)
    by_kind.local("x").data_aligned(1)
    for empty in (torch.zeros(0), whole[64:], torch.zeros(2, device="meta")):
        assert not agreed(guards, empty)
        assert not agreed(by_kind, empty)
    assert found(gt.TensorSpec(alignment=16), torch.zeros(0)) == (
        "alignment nothing (expected 16)"
    )


def test_dispatch_keys_with_what_the_thread_says() -> None:
    value = torch.zeros(2)
    keys = torch._C._dispatch_keys(value).raw_repr()
    assert matches(gt.TensorSpec(dispatch_keys=keys), value)
    local = local_keys_of(value)
    spec = gt.TensorSpec(local_dispatch_keys=local)
    whole = gt.TensorSpec.of(value).replace(dispatch_keys=None)
    whole = whole.replace(local_dispatch_keys=local)
    every = [matching(spec), matching(whole), matching(whole.replace(shape=(None,)))]
    for guards in every:
        assert guards.check({"x": value})
        with torch._C._ExcludeDispatchKeyGuard(
            torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
        ):
            assert not guards.check({"x": value})
            assert matches(gt.TensorSpec(dispatch_keys=keys), value)
        assert guards.check({"x": value})
    assert not every[1].check({"x": torch.zeros(3)})
    assert not every[1].check({"x": torch.zeros(4)[::2]})


def test_changes_in_place_are_seen_by_the_next_check() -> None:
    value = torch.zeros(2, 3)
    guards = matching(value)
    changes = [
        (lambda: value.resize_(3, 3), lambda: value.resize_(2, 3)),
        (lambda: value.requires_grad_(True), lambda: value.requires_grad_(False)),
        (lambda: value.t_(), lambda: value.t_()),
        (lambda: value.set_(torch.zeros(6)), lambda: value.set_(torch.zeros(2, 3))),
    ]
    for change, undo in changes:
        assert guards.check({"x": value})
        change()
        assert not guards.check({"x": value})
        undo()
    assert guards.check({"x": value})
    value.data = torch.zeros(2, 3, dtype=torch.float64)
    assert not guards.check({"x": value})


def test_the_odd_shapes() -> None:
    for value in (
        torch.tensor(1.0),
        torch.zeros(0, 3),
        torch.zeros((1,) * 25),
        torch.zeros(3).expand(5, 3),
        torch.as_strided(torch.zeros(9), (2, 2), (1, 3), 4),
    ):
        assert agreed(matching(value), value)
        assert not matches(value, torch.zeros(7, 7))
    assert matches(gt.TensorSpec(shape=()), torch.tensor(1.0))


def test_python_is_not_asked_for_sizes_or_devices() -> None:
    value = Wrapper(torch.zeros(2, 3))
    assert not matches(gt.TensorSpec(shape=(2, 3)), value)
    assert not matches(gt.TensorSpec(device="cpu"), value)
    assert matches(gt.TensorSpec(type=Wrapper, dtype="float32"), value)
    assert found(gt.TensorSpec(shape=(2, 3)), value).startswith("ndim ")


def test_symbolic_sizes_fail_and_raise_nothing() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import (
        DimDynamic,
        ShapeEnv,
        StatelessSymbolicContext,
    )

    mode = FakeTensorMode(shape_env=ShapeEnv())
    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * 2)
    fake = mode.from_tensor(torch.zeros(5, 7), symbolic_context=context)
    assert not matches(gt.TensorSpec(shape=(5, 7)), fake)
    assert not integers("x.shape[0] == 5", x=fake)
    assert matches(gt.TensorSpec(dtype="float32"), fake)


def test_tensors_without_an_implementation_fail() -> None:
    class Fails(torch.Tensor):
        def __new__(cls) -> Any:
            made.append(torch._C.TensorBase.__new__.__class__)
            raise ValueError

    made: list[Any] = []
    guards = matching(torch.zeros(2))
    with pytest.raises(ValueError):
        Fails()
    for value in made:
        assert not guards.check({"x": value})


def test_gone_tensors_are_not_looked_at() -> None:
    guards = gt.GuardManager(step)
    guards.local("x").list_item(0).tensor_match(torch.zeros(2, 3))
    values = [torch.zeros(2, 3)]
    assert guards.check({"x": values})
    values.clear()
    gc.collect()
    assert not guards.check({"x": values})


def test_steps_and_relations() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x")
    x.size(0).equals(4)
    x.stride(-1).equals(1)
    x.storage_offset().equals(3)
    value = torch.zeros(15)[3:].reshape(4, 3)
    assert guards.check({"x": value})
    assert not guards.check({"x": torch.zeros(4, 3)})
    a, b = torch.zeros(2, 8), torch.zeros(8, 5)
    assert integers("x.shape[1] == y.shape[0] and x.shape[1] % 8 == 0", x=a, y=b)
    assert not integers("x.shape[0] == y.shape[0]", x=a, y=b)


def test_memory_that_overlaps() -> None:
    whole = torch.zeros(12)

    def verdict(pairs: Any, *tensors: Any) -> bool:
        guards = gt.GuardManager(step)
        names = ("x", "y", "z")[: len(tensors)]
        guards.overlapping_memory(pairs, *map(guards.local, names))
        return guards.check(dict(zip(names, tensors, strict=True)))

    assert verdict((), torch.zeros(3), torch.zeros(3))
    assert verdict(((0, 1),), whole[:6], whole[4:8], whole[8:])
    assert not verdict((), whole, whole.t() if whole.dim() == 2 else whole[::2])
    assert verdict(((0, 1),), whole, whole.detach())
    assert not verdict((), torch.zeros(3), torch.eye(3).to_sparse())
    assert not verdict((), torch.zeros(3), torch.zeros(3, device="meta"))


STATES: dict[str, Any] = {
    "grad_mode": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast_cpu": lambda: torch.autocast("cpu", dtype=torch.float16),
    "autocast_cpu_dtype": lambda: torch.autocast("cpu", dtype=torch.float16),
    "torch_function": torch._C.DisableTorchFunction,
    "torch_function_modes": lambda: torch.overrides.TorchFunctionMode(),
}


@pytest.mark.parametrize("fact", STATES)
def test_state_that_a_block_changes(fact: str) -> None:
    now = gtt.state()
    guards = gtt.guard_state(gt.GuardManager(step), **{fact: now[fact]})
    whole = gtt.guard_state(gt.GuardManager(step))
    assert guards.check({})
    with STATES[fact]():
        assert gtt.state()[fact] != now[fact]
        assert not guards.check({})
        assert not whole.check({})
        assert guards.explain({}).failures[0].note.startswith(f"torch state: {fact}=")
    assert guards.check({}) and whole.check({})


def test_state_that_functions_change() -> None:
    changes: list[tuple[str, Any, Any]] = [
        ("deterministic", torch.use_deterministic_algorithms, (True, False)),
        ("default_dtype", torch.set_default_dtype, (torch.float64, torch.float32)),
        ("num_threads", torch.set_num_threads, (7, torch.get_num_threads())),
    ]
    for fact, change, (to, back) in changes:
        guards = gtt.guard_state(gt.GuardManager(step), **{fact: gtt.state()[fact]})
        assert guards.check({})
        change(to)
        assert not guards.check({}), fact
        change(back)
        assert guards.check({})


def test_state_that_does_not_exist_is_refused() -> None:
    guards = gt.GuardManager(step)
    with pytest.raises(TypeError, match="no such state: 'graad'"):
        gtt.guard_state(guards, graad=True)
    with pytest.raises(ValueError, match="expected 0 to 1, found 2"):
        gtt.guard_state(guards, grad_mode=2)
    assert guards.checks() == []


def test_documented_examples_of_torch() -> None:
    """Those that the C++ tests cannot run."""
    ran = 0
    for entry in _guardtree._steps():
        for operands, value, result, nothing in entry["examples"]:
            if "torch." not in value:
                continue
            guards = gt.GuardManager(step)
            node = getattr(guards.local("x"), entry["method"])
            names = {"torch": torch, "numpy": pytest.importorskip("numpy")}
            node(*eval(f"({operands},)" if operands else "()", names)).equals(
                eval(result, names)
            )
            assert guards.check({"x": eval(value, names)})
            assert not guards.check({"x": eval(nothing, names)})
            ran += 1
    assert ran


def test_random_specs_on_random_tensors_agree_with_torch_itself() -> None:
    """The oracle's facts are torch's own attributes."""
    chosen = random.Random(3)
    tensors = [any_tensor(chosen) for _ in range(400)]
    answers = [0, 0]
    for _ in range(400):
        spec = gt.TensorSpec.of(chosen.choice(tensors), dispatch_keys=None)
        for fact in list(spec):
            if chosen.random() < 0.7:
                del spec[fact]
        if "shape" in spec:
            spec["shape"] = tuple(
                chosen.choice((size, None, (size, size + 1), (None, size)))
                for size in spec["shape"]
            )
        if chosen.random() < 0.3:
            spec["alignment"] = chosen.choice((1, 4, 8, 64))
        guards = matching(spec)
        for value in tensors:
            answer = guards.check({"x": value})
            assert answer == NAMES["has_tensor_facts"](value, spec), (spec, value)
            answers[answer] += 1
    assert min(answers) > 1000


def test_a_guard_that_names_no_type_is_read_by_the_plugin(run_python: Any) -> None:
    run_python(
        "import sys, torch, guardtree as gt\n"
        "guards = gt.GuardManager(lambda x: x)\n"
        "guards.local('x').tensor_match(gt.TensorSpec(dtype='float32'))\n"
        "assert 'guardtree.torch' in sys.modules\n"
        # DLPack has no meta tensors.
        "assert guards.check({'x': torch.empty(2, device='meta')})\n"
    )


def fake_tensor() -> Any:
    with FakeTensorMode():
        return torch.zeros(2, 3)


WITHOUT_SOME_FACTS: dict[str, tuple[Callable[[], Any], str]] = {
    "fake": (fake_tensor, "device"),
    "functional": (lambda: torch._to_functional_tensor(torch.zeros(2)), "device"),
    "jagged": (
        lambda: torch.nested.nested_tensor([torch.zeros(2)], layout=torch.jagged),
        "layout",
    ),
}


@pytest.mark.parametrize("name", WITHOUT_SOME_FACTS)
def test_an_example_gives_the_facts_that_can_be_read(name: str) -> None:
    make, missing = WITHOUT_SOME_FACTS[name]
    value = make()
    spec = gt.TensorSpec.of(value)
    assert missing not in spec
    assert matches(value, value)
    assert matches(spec, make())
    assert not matches(value, torch.zeros(2, 3))


class OverDLPack(torch.Tensor):
    """Read through DLPack where the plugin reads the others."""


def test_random_tensors_through_dlpack_agree_with_torch_itself() -> None:
    _guardtree.register_tensor_type(OverDLPack, None)
    chosen = random.Random(4)
    tensors = [any_tensor(chosen).as_subclass(OverDLPack) for _ in range(200)]
    for _ in range(200):
        spec = gt.TensorSpec.of(chosen.choice(tensors))
        assert "requires_grad" not in spec
        for fact in list(spec):
            if chosen.random() < 0.6:
                del spec[fact]
        if chosen.random() < 0.3:
            spec["alignment"] = chosen.choice((1, 4, 8, 64))
        guards = matching(spec)
        for value in tensors:
            answer = NAMES["has_tensor_facts"](value, spec)
            assert guards.check({"x": value}) == answer, (spec, value)
    assert not matches(tensors[0], torch.zeros(2, device="meta"))
    with pytest.raises(TypeError, match="has no __dlpack_c_exchange_api__"):
        _guardtree.register_tensor_type(Wrapper, None)  # it would be asked in Python
    with pytest.raises(TypeError, match="has no __dlpack_c_exchange_api__"):
        _guardtree.register_tensor_type(list, None)
    with pytest.raises(TypeError, match="expected None or a capsule"):
        _guardtree.register_tensor_type(list, 3)


def test_without_the_plugin_dlpack_serves_and_says_so_once() -> None:
    text = """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import torch
    import guardtree as gt
    guards = gt.GuardManager(lambda x, y: None)
    guards.local("x").tensor_match(torch.zeros(2, 3))
    guards.local("y").tensor_match(torch.nn.Parameter(torch.zeros(2)))
assert [type(w.message).__name__ for w in said] == ["PluginWarning"], said
parameter = torch.nn.Parameter(torch.ones(2))
assert guards.check({"x": torch.ones(2, 3), "y": parameter})
assert not guards.check({"x": torch.ones(3, 2), "y": parameter})
assert not guards.check({"x": torch.ones(3, 2).t(), "y": parameter})
assert not guards.check({"x": torch.ones(2, 3).double(), "y": parameter})
assert not guards.check({"x": torch.ones(2, 3, device="meta"), "y": parameter})
assert not guards.check({"x": torch.eye(3).to_sparse(), "y": parameter})
assert not guards.check({"x": parameter, "y": parameter})
import guardtree.torch as gtt
try:
    gtt.state()
except gtt.PluginError as error:
    assert "python -m guardtree.torch build" in str(error)
else:
    raise AssertionError
"""
    environment = dict(os.environ, XDG_CACHE_HOME="/nonexistent")
    subprocess.run([sys.executable, "-c", text], check=True, env=environment)
