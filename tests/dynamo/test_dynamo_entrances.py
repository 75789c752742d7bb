"""Calls that find their entry before Dynamo's wrapper runs: whatever the wrapper asks
about sends a call to it, and what is no entry any more is found nowhere."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FunctionType
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

import guardtree.torch.dynamo as gd  # noqa: E402
from guardtree.torch.dynamo import entrances, graphs, installation, leafs  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

X = torch.ones(3)
pytestmark = pytest.mark.filterwarnings("ignore")


class Mode(TorchDispatchMode):
    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return function(*args, **(kwargs or {}))


class Compiled:
    """x + k, compiled; `calls` says how often the backend compiled."""

    def __init__(self, **options: Any) -> None:
        torch._dynamo.reset()
        self.compiled = 0

        def f(x: Any, k: int = 1) -> Any:
            return x + k

        self.plain = f
        self.f = torch.compile(f, backend=self.backend, dynamic=False, **options)

    def backend(self, graph: Any, inputs: Any) -> Any:
        self.compiled += 1
        return graph.forward

    def hits(self) -> int:
        """Calls that did not go through the wrapper."""
        cache = installation.current().cache
        return sum(each.entrance_hits() for each in cache.of(self.plain.__code__))

    def hit(self) -> None:
        """A call that must not go through the wrapper."""
        before = self.hits()
        assert torch.equal(self.f(X), X + 1)
        assert self.hits() == before + 1

    def miss(self) -> None:
        """A call that must go through it."""
        before = self.hits()
        assert torch.equal(self.f(X), X + 1)
        assert self.hits() == before


@pytest.fixture
def made() -> Iterator[Compiled]:
    with gd.installed():
        compiled = Compiled()
        compiled.f(X)
        compiled.hit()
        yield compiled


@contextmanager
def callback() -> Iterator[None]:
    gt.set_eval_frame(False)
    try:
        yield
    finally:
        gt.set_eval_frame(None)


@contextmanager
def flag(owner: Any, name: str) -> Iterator[None]:
    setattr(owner, name, True)
    try:
        yield
    finally:
        setattr(owner, name, False)


@contextmanager
def functorch_level() -> Iterator[None]:
    torch._C._functorch._vmap_increment_nesting(2, "error")
    try:
        yield
    finally:
        torch._C._functorch._vmap_decrement_nesting()


def tracing_context() -> AbstractContextManager[Any]:
    return torch._guards.tracing(torch._guards.TracingContext(None))


FLIPS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "stance": lambda: torch.compiler.set_stance("force_eager"),
    "another stance": lambda: torch.compiler.set_stance("fail_on_recompile"),
    "a backend by stance": lambda: torch.compiler.set_stance(force_backend="eager"),
    "guards skipped": lambda: torch.compiler.set_stance(skip_guard_eval_unsafe=True),
    "callback": callback,
    "functorch": functorch_level,
    "dispatch mode": Mode,
    "tracing context": tracing_context,
    "exporting": lambda: flag(torch.compiler, "_is_exporting_flag"),
    "profiler": lambda: flag(torch.autograd.profiler, "_is_profiler_enabled"),
}
if gd.internals.VERSION >= (2, 14):
    nested = vars(torch._dynamo.eval_frame)["_use_eager_on_nested_compile"]
    FLIPS["eager on nested compiles"] = nested


@pytest.mark.parametrize("name", FLIPS)
def test_what_the_wrapper_asks(made: Compiled, name: str) -> None:
    with FLIPS[name]():
        made.miss()
    made.hit()


def test_traces_are_refused(made: Compiled) -> None:
    def uses(y: Any) -> Any:
        return y + made.f(X)

    for trace in (torch.fx.symbolic_trace, lambda f: torch.jit.trace(f, X)):
        with pytest.raises(RuntimeError, match="Detected that you are using FX"):
            trace(uses)
        made.hit()


def test_each_part_is_asked(made: Compiled) -> None:
    """Parts that no flip above changes alone: the function as it is now."""
    made.plain.__defaults__ = (2,)
    before = made.hits()
    assert torch.equal(made.f(X), X + 2)
    assert made.hits() == before
    made.plain.__defaults__ = (1,)
    other = (lambda x, k=1: x * 5).__code__
    code, made.plain.__code__ = made.plain.__code__, other
    for _ in range(3):
        assert torch.equal(made.f(X), X * 5)
    made.plain.__code__ = code
    for _ in range(3):
        assert torch.equal(made.f(X), X + 1)
    assert made.compiled >= 3
    made.plain.__defaults__ = (3,)
    for _ in range(3):
        assert torch.equal(made.f(X), X + 3)


def test_guards_are_asked(made: Compiled) -> None:
    assert made.f(X.double()).dtype == torch.float64
    assert torch.equal(made.f(X, 5), X + 5)
    assert torch.equal(made.f(x=X, k=5), X + 5)
    with torch.no_grad():
        made.f(X)
    assert made.compiled == 4
    with pytest.raises(TypeError, match="missing 1 required positional"):
        made.f()
    made.hit()


def test_reset_takes_entries_away(made: Compiled) -> None:
    torch._dynamo.reset()
    assert made.compiled == 1
    made.f(X)
    assert made.compiled == 2
    made.hit()


def test_codes_that_are_reset(made: Compiled) -> None:
    """By guardtree's function, the hook alone forgets; by torch's, all do."""
    gt.reset_code(made.plain.__code__)
    made.hit()
    assert torch.equal(made.f(X, 5), X + 5) and made.compiled == 2
    torch._dynamo.reset_code(made.plain.__code__)
    assert torch.equal(made.f(X), X + 1) and made.compiled == 3
    made.hit()


def test_a_skipped_code_runs_plain(made: Compiled) -> None:
    torch._dynamo.eval_frame.skip_code(made.plain.__code__)
    made.miss()


def test_an_entry_that_is_invalidated(made: Compiled) -> None:
    cache = installation.current().cache
    (entry,) = cache.of(made.plain.__code__)
    gone = torch._dynamo.guards.DeletedGuardManagerWrapper("gone")
    cache.invalidate(entry, gone)
    made.miss()
    assert made.compiled == 2
    made.hit()


def test_disabled_functions_run_plain(made: Compiled) -> None:
    before = made.hits()
    assert torch.equal(torch.compiler.disable(made.f)(X), X + 1)
    assert made.hits() == before


def test_nested_in_another_compiled_function(made: Compiled) -> None:
    def outer(x: Any) -> Any:
        y = made.f(x)
        torch._dynamo.graph_break()
        return made.f(y) * 2

    compiled = torch.compile(outer, backend="eager")
    for _ in range(3):
        assert torch.equal(compiled(X), (X + 2) * 2)
    assert made.compiled == 1
    made.hit()


def test_uninstalled(made: Compiled) -> None:
    gd.uninstall()
    assert made.f.__kwdefaults__ is None
    assert "prior" in made.f.__code__.co_varnames
    assert torch.equal(made.f(X), X + 1)
    assert made.compiled == 2


def test_the_function_is_dynamos() -> None:
    torchs = Compiled().f
    with gd.installed():
        ours = Compiled().f
        ours(X)
        assert type(ours) is FunctionType
        assert vars(ours).keys() == vars(torchs).keys()
        assert inspect.signature(ours) == inspect.signature(torchs)
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            assert getattr(ours, name) == getattr(torchs, name)
        for name in ("co_name", "co_filename", "co_firstlineno", "co_freevars"):
            assert getattr(ours.__code__, name) == getattr(torchs.__code__, name)
        assert ours._torchdynamo_orig_callable is ours.__wrapped__
        assert ours._torchdynamo_wrapper_id == id(ours)
        assert ours.get_compiler_config() == torchs.get_compiler_config()


def test_one_context_for_functions_of_one_code() -> None:
    def adder(k: int) -> Any:
        def add(x: Any) -> Any:
            return x + k

        return add

    with gd.installed():
        context = torch._dynamo.optimize("eager", dynamic=False)
        one, two = context(adder(1)), context(adder(2))
        for _ in range(3):
            assert torch.equal(one(X), X + 1)
            assert torch.equal(two(X), X + 2)
        cache = installation.current().cache
        entries = cache.of(one.__wrapped__.__code__)
        assert [each.entrance_hits() for each in entries] == [2, 2]


def test_functions_of_one_code_that_are_compiled_apart() -> None:
    def adder(k: int, y: Any) -> Any:
        def add(x: Any) -> Any:
            return x * y + k

        return add

    with gd.installed():
        adders = [adder(k, X * k) for k in (1, 2, 1, 2, 1)]
        compiled = [torch.compile(f, backend="eager", dynamic=False) for f in adders]
        for _ in range(8):
            for add, f in zip(adders, compiled):
                assert torch.equal(f(X), add(X))
        entries = installation.current().cache.of(adders[0].__code__)
        assert len(entries) == 2
        assert sum(each.entrance_hits() for each in entries) >= 30


def test_a_method_in_a_class_body() -> None:
    class Scaled:
        k = 3

        @torch.compile(backend="eager")
        def scale(self, x: Any) -> Any:
            return x * self.k

    with gd.installed():
        Scaled.scale = torch.compile(Scaled.scale.__wrapped__, backend="eager")
        scaled = Scaled()
        for _ in range(3):
            assert torch.equal(scaled.scale(X), X * 3)
        (entry,) = installation.current().cache.of(Scaled.scale.__wrapped__.__code__)
        assert entry.entrance_hits() == 2
        scaled.k = 4
        assert torch.equal(scaled.scale(X), X * 4)


def test_a_graph_that_raises_leaves_the_thread_as_before() -> None:
    count = 0

    def backend(graph: Any, inputs: Any) -> Any:
        def run(*args: Any) -> Any:
            nonlocal count
            count += 1
            if count == 3:
                torch._C._functorch._vmap_increment_nesting(2, "error")
                raise ArithmeticError("the third call")
            return graph.forward(*args)

        return run

    with gd.installed():
        f = torch.compile(lambda x: x + 1, backend=backend)
        f(X), f(X)
        keys = torch._C._dispatch_tls_local_include_set().raw_repr()
        with pytest.raises(ArithmeticError, match="the third call"):
            f(X)
        assert torch._C._functorch.get_dynamic_layer_stack_depth() == 0
        assert torch._C._dispatch_tls_local_include_set().raw_repr() == keys
        assert torch.equal(f(X), X + 1)


def test_more_entries_than_calls_find_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrances, "MAX_WAYS", 4)
    with gd.installed(recompile_limit=False):
        made = Compiled()
        count = entrances.MAX_WAYS + 2
        for _ in range(3):
            for k in range(count):
                assert torch.equal(made.f(X, k), X + k)
        assert made.compiled == count
        assert made.hits() == 2 * entrances.MAX_WAYS


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (print(end=""), x + 1)[1],
        lambda x: (torch._dynamo.graph_break(), x + 1)[1],
        lambda x: x + OUTER,
    ],
    ids=["print", "break", "global"],
)
def test_code_that_does_more_goes_through_the_wrapper(function: Any) -> None:
    with gd.installed():
        f = torch.compile(function, backend="eager")
        for _ in range(3):
            f(X)
        entries = installation.current().cache.of(function.__code__)
        assert entries and not any(each.entrance_hits() for each in entries)


OUTER = torch.ones(3)


def test_code_of_graphs_alone() -> None:
    def given(x: Any) -> Any:
        return __compiled_fn_1(x)[0]  # type: ignore[name-defined]  # noqa: F821

    assert graphs.graph_of(given.__code__) == "__compiled_fn_1"
    others: list[Any] = [
        lambda x: __compiled_fn_1(x).y,  # type: ignore[name-defined]  # noqa: F821
        lambda x: x(__compiled_fn_1),  # type: ignore[name-defined]  # noqa: F821
        lambda x: __compiled_fn_1(x) + x,  # type: ignore[name-defined]  # noqa: F821
        lambda x: __compiled_fn_1(x) or x,  # type: ignore[name-defined]  # noqa: F821
        lambda x: x,
    ]
    assert [graphs.graph_of(each.__code__) for each in others] == [None] * 5


def code_of(lines: str) -> CodeType:
    """The code of a function with the parameters x and flag."""
    names: dict[str, Any] = {}
    exec(f"def made(x, flag):\n{textwrap.indent(lines, '    ')}", names)
    code: CodeType = names["made"].__code__
    return code


def test_code_that_asks_for_a_profiler() -> None:
    """As torch 2.15 writes it; on every version the rest of it is refused."""
    asks = f"profiled = {graphs.PROFILER}.{graphs.IS_PROFILED}\n"
    enters = f"kept = {graphs.UTILS}.record_pregraph_bytecode_enter()\n"
    calls = "return __compiled_fn_1(x)\n"
    assert graphs.graph_of(code_of(f"{asks}if profiled:\n    {enters}{calls}"))
    many = "".join(f"a{i} = None\n" for i in range(300))
    for hidden in ("", many):
        stored = f"{hidden}y = x\nif {graphs.PROFILER}.{graphs.IS_PROFILED}:\n"
        stored += f"    y = {graphs.PROFILER}.{graphs.IS_PROFILED}\n"
        assert graphs.graph_of(code_of(f"{stored}if y:\n    {enters}{calls}")) is None
        asked = f"{hidden}if flag:\n    {enters}{calls}"
        assert graphs.graph_of(code_of(asked)) is None
    assert graphs.graph_of(code_of("return x._parameters(__compiled_fn_1)")) is None


def test_a_tensor_on_the_current_device_is_refused() -> None:
    """What torch 2.15 adds to the arguments of TENSOR_MATCH."""
    keys = torch._C._dispatch_keys(X)
    given = (X, [3], [1], "x", None, type(X), keys)
    assert leafs.spec_of((*given, False), {}) == leafs.spec_of(given, {})
    with pytest.raises(Exception, match="current"):
        leafs.spec_of((*given, True), {})
