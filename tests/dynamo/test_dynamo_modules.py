"""Modules and bound methods that find their entry before Dynamo's wrapper runs: all
that nn.Module.__call__ asks about sends a call to the wrapper, which does what torch
does."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

import guardtree.torch.dynamo as gd  # noqa: E402
from guardtree.torch.dynamo import installation, modules  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.modules import module as of_all  # noqa: E402

X = torch.ones(2, 4)
pytestmark = pytest.mark.filterwarnings("ignore")


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.k = 2.0

    def forward(self, x: Any) -> Any:
        return self.linear(x) * self.k


def sequential() -> nn.Module:
    """Of torch's own class: Dynamo traces its `__call__` too."""
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))


def own() -> nn.Module:
    """Of a user's class: Dynamo traces its `forward`."""
    return Scaled()


class Compiled:
    """A compiled module, or one that is compiled in place."""

    def __init__(self, make: Callable[[], Any], in_place: bool = False) -> None:
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.plain = make()
        self.compiled = 0
        self.said: list[Any] = []
        if in_place:
            self.plain.compile(backend=self.backend)
            self.f = self.plain
        else:
            self.f = torch.compile(self.plain, backend=self.backend)

    def backend(self, graph: Any, inputs: Any) -> Any:
        self.compiled += 1
        return graph.forward

    def hook(self, *args: Any) -> None:
        """Says that it was called."""
        self.said.append(len(args))

    def call(self) -> Any:
        return self.f(X).detach()


def hits() -> int:
    """Calls that did not go through the wrapper."""
    cache = installation.current().cache
    return sum(e.entrance_hits() for code in cache.codes() for e in cache.of(code))


@contextmanager
def handle(made: Any) -> Iterator[None]:
    try:
        yield
    finally:
        made.remove()


@contextmanager
def attribute(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute in the own dict of an object or a class."""
    had = vars(owner).get(name, owner)
    type.__setattr__(owner, name, value) if isinstance(owner, type) else vars(
        owner
    ).update({name: value})
    try:
        yield
    finally:
        if had is not owner:
            setattr(owner, name, had) if isinstance(owner, type) else vars(
                owner
            ).update({name: had})
        elif isinstance(owner, type):
            delattr(owner, name)
        else:
            del vars(owner)[name]


def replaced(self: Any, x: Any) -> Any:
    return x + 100


def called(self: Any, *args: Any, **named: Any) -> Any:
    return nn.Module._call_impl(self, *args, **named) + 100


class Reading(Scaled):
    """Reads attributes in its own way."""

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)


FLIPS: dict[str, Callable[[Compiled], Any]] = {
    "all forward": lambda c: handle(of_all.register_module_forward_hook(c.hook)),
    "all pre": lambda c: handle(of_all.register_module_forward_pre_hook(c.hook)),
    "all backward": lambda c: handle(
        of_all.register_module_full_backward_hook(c.hook)
    ),
    "all before backward": lambda c: handle(
        of_all.register_module_full_backward_pre_hook(c.hook)
    ),
    "forward": lambda c: handle(c.plain.register_forward_hook(c.hook)),
    "pre": lambda c: handle(c.plain.register_forward_pre_hook(c.hook)),
    "backward": lambda c: handle(c.plain.register_full_backward_hook(c.hook)),
    "before backward": lambda c: handle(
        c.plain.register_full_backward_pre_hook(c.hook)
    ),
    "forward of the compiled": lambda c: handle(c.f.register_forward_hook(c.hook)),
    "pre of the compiled": lambda c: handle(c.f.register_forward_pre_hook(c.hook)),
    "own forward": lambda c: attribute(
        c.plain, "forward", MethodType(replaced, c.plain)
    ),
    "forward of the class": lambda c: attribute(type(c.plain), "forward", replaced),
    "own call": lambda c: attribute(
        c.plain, "_call_impl", MethodType(called, c.plain)
    ),
    "call of the class": lambda c: attribute(type(c.plain), "_call_impl", called),
    "call of all": lambda c: attribute(nn.Module, "_call_impl", called_of_all),
    "compiled in place": lambda c: attribute(
        c.plain, "_compiled_call_impl", lambda x: x + 100
    ),
}
CALL_IMPL = nn.Module._call_impl


def called_of_all(self: Any, *args: Any, **named: Any) -> Any:
    return CALL_IMPL(self, *args, **named) + 100


# After these hooks the wrapper's own entrance finds the entry; another `forward` gets
# entries of its own.
ELSEWHERE = ("forward of the compiled", "pre of the compiled", "forward of the class")
CASES = [(own, name, False) for name in FLIPS]
IN_PLACE = FLIPS if os.environ.get("GUARDTREE_TEST_LONG") else ("forward", "own call")
CASES += [(own, name, True) for name in IN_PLACE if name != "compiled in place"]
CASES += [
    (sequential, name, False)
    for name in ("all forward", "forward", "pre", *ELSEWHERE[:2])
]


def steps(case: Any, is_ours: bool) -> list[Any]:
    """What the calls give and say: before, with the flip, and after it."""
    make, name, in_place = case
    made = Compiled(make, in_place)
    found = [made.call(), made.call()]
    if is_ours:
        before = hits()
        found.append(made.call())
        assert hits() == before + 1, "a usual call went through the wrapper"
    else:
        found.append(made.call())
    with FLIPS[name](made):
        before = hits() if is_ours else 0
        found += [made.call(), made.call()]
        if is_ours and make is own and name not in ELSEWHERE:
            assert hits() == before, "an unusual call did not go through the wrapper"
    found += [made.call(), made.call()]
    before = hits() if is_ours else 0
    found.append(made.call())
    if is_ours:
        assert hits() == before + 1, "the calls after it go through the wrapper"
    return [*found, made.said, made.compiled]


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=lambda c: f"{c[0].__name__}-{c[1]}{'-in place' if c[2] else ''}",
)
def test_what_modules_ask(case: Any) -> None:
    torchs = steps(case, False)
    with gd.installed():
        ours = steps(case, True)
    assert torchs[-2:] == ours[-2:]
    assert all(map(torch.equal, torchs[:-2], ours[:-2]))


@pytest.mark.parametrize("make", [own, sequential])
def test_other_values_of_modules(make: Any) -> None:
    with gd.installed():
        made = Compiled(make)
        made.call(), made.call()
        before = hits()
        assert torch.equal(made.call(), made.plain(X))
        assert hits() == before + 1
        made.f.eval()
        assert torch.equal(made.call(), made.plain(X))
        made.f.train()
        with torch.no_grad():
            for each in made.plain.parameters():
                each.mul_(2)
        assert torch.equal(made.call(), made.plain(X))
        last = list(made.plain.children())[-1]
        last.weight = nn.Parameter(torch.zeros(4, 4))
        assert torch.equal(made.call(), made.plain(X))


def test_what_is_not_known_keeps_the_wrapper() -> None:
    class Called(Scaled):
        def __call__(self, x: Any) -> Any:
            return super().__call__(x) + 1

    class Hooked(Scaled):
        _forward_hooks = property(lambda self: {})  # type: ignore[assignment]

    class Static(nn.Module):
        @staticmethod
        def forward(x: Any) -> Any:
            return x + 1

    for kind in (Called, Reading, Static):
        with gd.installed():
            made = Compiled(kind)
            for _ in range(4):
                assert torch.equal(made.call(), made.plain(X).detach())
            assert hits() == 0 or kind is Called  # Dynamo traces that `__call__`.
    assert modules.forward_of(Scaled()) is Scaled.forward
    assert not modules.is_plain_call(Hooked)
    lazy = nn.Sequential(nn.LazyLinear(3))
    with gd.installed():
        f = torch.compile(lazy, backend="eager")
        assert [tuple(f(X).shape) for _ in range(3)] == [(2, 3)] * 3


def test_bound_methods() -> None:
    class Adder:
        k = 1

        def add(self, x: Any, n: int = 0) -> Any:
            return x + self.k + n

    with gd.installed():
        adder, other = Adder(), Adder()
        other.k = 5
        one = torch.compile(adder.add, backend="eager", dynamic=False)
        two = torch.compile(other.add, backend="eager", dynamic=False)
        for _ in range(4):
            assert torch.equal(one(X), X + 1)
            assert torch.equal(two(X, n=2), X + 7)
        assert hits() == 6
        adder.k = 7
        assert torch.equal(one(X), X + 7)


@pytest.mark.parametrize("in_place", [False, True])
def test_modules_that_share_an_entry(in_place: bool) -> None:
    """Layers of a model: one compiles, and all of them find the entry at once."""

    def backend(graph: Any, inputs: Any) -> Any:
        nonlocal compiled
        compiled += 1
        return graph.forward

    compiled, models = 0, [Scaled() for _ in range(4)]
    with gd.installed():
        functions = models
        if in_place:
            for each in models:
                each.compile(backend=backend)
        else:
            functions = [torch.compile(each, backend=backend) for each in models]
        for _ in range(5):
            before = hits()
            for model, f in zip(models, functions):
                assert torch.equal(f(X), model.linear(X) * 2)
        assert hits() == before + 4 and compiled == 1
        models[2].k = 3.0
        for model, f in zip(models, functions):
            assert torch.equal(f(X), model.linear(X) * model.k)


def test_entries_of_another_backend_or_region_are_not_shared() -> None:
    ran: list[str] = []

    def backend(name: str) -> Any:
        def run(graph: Any, inputs: Any) -> Any:
            return lambda *args: (ran.append(name), graph.forward(*args))[1]

        return run

    one, two = backend("one"), backend("two")
    with gd.installed():
        model = Scaled()
        first = torch.compile(model, backend=one)
        first(X), first(X)
        other = torch.compile(model, backend=two)
        ran.clear()
        for _ in range(6):
            other(X)
        assert ran == ["two"] * 6
        regions = [
            torch.compile(model, backend=one, isolate_recompiles=True) for _ in "ab"
        ]
        before = len(installation.current().cache.of(Scaled.forward.__code__))
        for f in regions:
            for _ in range(6):
                assert torch.equal(f(X), model(X))
        after = len(installation.current().cache.of(Scaled.forward.__code__))
        assert after == before  # Those of the default region serve all regions.
        torch._dynamo.eval_frame.skip_code(Scaled.forward.__code__)
        ran.clear()
        for f in (first, other, *regions, torch.compile(model, backend=one)):
            for _ in range(6):
                f(X)
        assert not ran


def test_copies_and_uninstalling() -> None:
    gd.install()
    plain = own()
    f = torch.compile(plain, backend="eager")
    f(X), f(X)
    other = copy.deepcopy(f)
    with torch.no_grad():
        other._orig_mod.linear.weight.zero_()
    for _ in range(3):
        assert torch.equal(other(X), other._orig_mod(X))
        assert torch.equal(f(X), plain(X))
    call = vars(torch._dynamo.OptimizedModule)["__call__"]
    ours = call.__code__
    gd.uninstall()
    assert call.__code__ is not ours and call.__kwdefaults__ is None
    assert torch.equal(f(X), plain(X))
    assert torch.equal(other(X), other._orig_mod(X))


def test_a_class_that_changes_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at again, after a while not at each call."""
    now = 0.0
    monkeypatch.setattr(modules.time, "monotonic", lambda: now)
    looks, is_plain_call = 0, modules.is_plain_call

    def counted(kind: type) -> bool:
        nonlocal looks
        looks += kind is Scaled
        return is_plain_call(kind)

    with gd.installed():
        made = Compiled(own)
        made.call(), made.call()
        monkeypatch.setattr(modules, "is_plain_call", counted)
        for n in range(modules.LOOKS + 9):
            Scaled.count = n  # type: ignore[attr-defined]
            assert torch.equal(made.call(), made.plain(X).detach())
        assert looks == modules.LOOKS
        before, now = hits(), 1.0
        made.call(), made.call()
        assert hits() == before + 2
    del Scaled.count  # type: ignore[attr-defined]
