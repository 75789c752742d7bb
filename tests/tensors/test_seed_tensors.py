"""Programs over tensors under a callback: compiled parts, and a whole network."""

from __future__ import annotations

import types
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")


def fn(a: Any, b: Any) -> Any:
    x = a + b
    x = x / 2.0
    if x.sum() < 0:
        return x * -1.0
    return x


def transformed_fn(a: Any, b: Any) -> Any:
    """What a compiler makes of fn: a branch on what the first part computed."""
    x, is_negative = __compiled_fn_0(a, b)  # type: ignore[name-defined]  # noqa: F821
    if is_negative:
        return __compiled_fn_1(x)  # type: ignore[name-defined]  # noqa: F821
    return x


class CustomCompiler:
    """Guards both tensors; its code calls what it compiled for their shapes."""

    def __init__(self) -> None:
        self.compiled: list[tuple[int, ...]] = []
        self.called: list[str] = []

    def part_0(self, a: Any, b: Any) -> tuple[Any, Any]:
        self.called.append("0")
        x = (a + b) / 2.0
        return x, x.sum() < 0

    def part_1(self, x: Any) -> Any:
        self.called.append("1")
        return x * -1.0

    def __call__(self, frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        if frame.f_code is not fn.__code__:
            return None
        frame.f_globals["__compiled_fn_0"] = self.part_0
        frame.f_globals["__compiled_fn_1"] = self.part_1
        guards = gt.GuardManager(frame)
        for name in ("a", "b"):
            guards.local(name).tensor_match(frame.f_locals[name])
        self.compiled.append(tuple(frame.f_locals["a"].shape))
        code = transformed_fn.__code__.replace(co_name=fn.__code__.co_name)
        return gt.GuardedCode(code, guards)


@pytest.fixture
def compiler() -> Any:
    gt.reset_code(fn)
    yield CustomCompiler()
    gt.reset_code(fn)


def test_two_tensors_hit_and_compile_again_on_another_shape_or_dtype(
    compiler: Any,
) -> None:
    assert isinstance(fn, types.FunctionType)
    a, b = torch.randn(10), torch.randn(10)
    expected, negated = fn(a, b), fn(-a, -b)
    with gt.optimize(compiler):
        assert torch.equal(fn(a, b), expected)
        assert torch.equal(fn(-a, -b), negated)
    assert compiler.compiled == [(10,)]
    assert compiler.called.count("0") == 2
    assert compiler.called.count("1") == 1  # of the two one is negative
    others = [
        (torch.randn(11), torch.randn(11)),
        (torch.randn(10).double(), torch.randn(10).double()),
        (torch.randn(10).requires_grad_(), torch.randn(10)),
        (torch.randn(20)[::2], torch.randn(10)),
    ]
    plain = [fn(*pair) for pair in others]
    with gt.optimize(compiler):
        for pair, result in zip(others, plain, strict=True):
            assert torch.equal(fn(*pair), result)
        for pair, result in zip(others, plain, strict=True):
            assert torch.equal(fn(*pair), result)
    import guardtree.torch as gtt

    made = 5 if gtt.has_plugin() else 4  # DLPack says nothing of gradients
    assert len(compiler.compiled) == made
    entries = gt.cache_entries(fn)
    assert sum(entry.hits for entry in entries) == 10 - made
    with gt.optimize(False):
        fn(torch.randn(3, 3), torch.randn(3, 3))
    assert gt.code_stats(fn)["misses"] >= made


class Counter:
    """Lists the functions that were called first, and lets them run."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, frame: Any, entry: Any, state: dict[str, Any]) -> None:
        self.seen.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")


def test_a_whole_network_is_built_under_the_callback() -> None:
    torch.manual_seed(7)
    plain = torch.nn.Transformer()
    counter = Counter()
    with gt.optimize(counter):
        torch.manual_seed(7)
        hooked = torch.nn.Transformer()
    assert "torch.nn.modules.transformer.__init__" in counter.seen
    assert "torch.nn.modules.linear.reset_parameters" in counter.seen
    assert len(counter.seen) > 20
    ours, theirs = plain.state_dict(), hooked.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
