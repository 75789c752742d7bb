"""What a call costs under the hook, and what ``check`` costs from Python (hook_hit).

Each variant has its own functions, so that the specialising interpreter settles for it
alone. The replacement code of a hit does what the original does: the difference is the
hook's.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import guardtree as gt

from .rounds import EMPTY, Batch, Plan, Spread, Variant, run_batch

SOURCE = """
def call1(a): return a
def call2(a, b): return a
def instead1(a): return a
def instead2(a, b): return a
def loop1(times, x):
    for _ in range(times):
        call1(x)
def loop2(times, x):
    for _ in range(times):
        call2(x, x)
"""

CHECK_SOURCE = """
def loop(times, x):
    for _ in range(times):
        check(x)
"""


class Value:
    """The class of the value that is passed and checked."""


@dataclass(frozen=True)
class HookCost:
    """Nanoseconds per call that a hit adds, and what is promised of it."""

    arguments: int
    guards: str
    over_pass_through: Spread | None
    over_plain: Spread
    limit_over_pass_through: float
    limit_over_plain: float


@dataclass(frozen=True)
class HookResult:
    """Everything measured from Python."""

    hits: list[HookCost]
    plain: dict[int, Spread]  # gross, the loop included
    pass_through: dict[int, Spread]  # over a plain call; empty without the baseline
    checks: dict[str, Spread]  # over an empty loop
    rounds_kept: int
    rounds_run: int


def jit_is_on() -> bool:
    """Whether CPython's own JIT compiles in this process."""
    jit = getattr(sys, "_jit", None)
    return bool(jit and jit.is_enabled())


def find_pass_through(folder: Path | None) -> ModuleType | None:
    """The baseline evaluator that a build puts into its bench folder."""
    found = sorted(folder.glob("_pass_through*.so")) if folder else []
    tag = sys.implementation.cache_tag.replace("-", "")[len("cpython") :]
    for path in found:
        if f"-{tag}" not in path.name:
            continue
        spec = importlib.util.spec_from_file_location("_pass_through", path)
        if spec and spec.loader:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    return None


def new_world() -> dict[str, Any]:
    """Functions that no other variant has run."""
    namespace: dict[str, Any] = {}
    exec(compile(SOURCE, "<bench>", "exec"), namespace)
    return namespace


def add_entry(world: dict[str, Any], arguments: int, with_guards: bool) -> None:
    """Caches a replacement for the world's function of that many arguments."""
    function = world[f"call{arguments}"]
    code, other = function.__code__, world[f"instead{arguments}"].__code__
    guards = gt.GuardManager(function)
    for name in ("a", "b")[:arguments] if with_guards else ():
        guards.local(name).type_match(Value)

    def compiler(frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        return gt.GuardedCode(other, guards) if frame.f_code is code else gt.ASK_AGAIN

    with gt.optimize(compiler):
        function(*[Value()] * arguments)


def hook_off() -> None:
    """The switch back."""
    gt.set_eval_frame(None)


def variants_for(
    arguments: int, baseline: ModuleType | None, worlds: list[dict[str, Any]]
) -> list[Variant]:
    """A plain call, the baseline, and hits with an empty and with a real guard."""
    value = Value()

    def variant(name: str, *switches: Callable[[], object]) -> Variant:
        world = new_world()
        worlds.append(world)
        if name.startswith("hit"):
            add_entry(world, arguments, with_guards=name == "hit_type_match")
        loop = world[f"loop{arguments}"]
        return Variant(f"{name}{arguments}", loop, value, *switches)

    made = [variant("plain")]
    if baseline:
        made.append(variant("pass_through", baseline.install, baseline.uninstall))
    for name in ("hit_empty", "hit_type_match"):
        made.append(variant(name, lambda: gt.set_eval_frame(False), hook_off))
    return made


def demand_hits(worlds: list[dict[str, Any]]) -> None:
    """Every look-up was a hit that ran in its own frame and built no dict."""
    for world in worlds:
        for name in ("call1", "call2"):
            stats = gt.code_stats(world[name])
            missed = stats["lookups"] - stats["hits"]
            if missed or stats["called"] or stats["dicts_built"]:
                raise RuntimeError(f"the bench did not measure what it says: {stats}")


def check_variants() -> list[Variant]:
    """``check`` on a dict, and for comparison trivial Python functions."""

    def subject(a: object, b: object) -> None: ...

    def same_in_python(mapping: dict[str, object]) -> bool:
        return type(mapping["a"]) is Value and type(mapping["b"]) is Value

    code = subject.__code__
    empty, guards = gt.GuardManager(code), gt.GuardManager(code)
    guards.local("a").type_match(Value)
    guards.local("b").type_match(Value)
    checks: dict[str, Callable[[Any], object]] = {
        "check, empty guard": empty.check,
        "check, type_match on two": guards.check,
        "the same two tests as a Python function": same_in_python,
        "lambda: True": lambda mapping: True,
    }
    mapping = {"a": Value(), "b": Value()}
    variants = []
    for name, check in checks.items():
        if not check(mapping):
            raise RuntimeError(f"the bench's own {name} fails")
        namespace: dict[str, Any] = {"check": check}
        exec(compile(CHECK_SOURCE, "<bench>", "exec"), namespace)
        variants.append(Variant(name, namespace["loop"], mapping))
    return variants


def limits(guards: str) -> tuple[float, float]:
    """What is promised: ns over the pass-through function, ns over a plain call."""
    extra = 5.0 if jit_is_on() else 0.0
    return (8.0, 25.0 + extra) if guards == "empty" else (10.0, 30.0 + extra)


def costs(batches: list[Batch], has_baseline: bool) -> list[HookCost]:
    """The table's rows out of all batches."""

    def spread(name: str, baseline: str) -> Spread:
        return Spread.of([batch.difference(name, baseline) for batch in batches])

    rows = []
    for arguments in (1, 2):
        for guards in ("empty", "type_match"):
            name = f"hit_{guards}{arguments}"
            over_pass, over_plain = limits(guards)
            row = HookCost(
                arguments=arguments,
                guards=guards,
                over_pass_through=(
                    spread(name, f"pass_through{arguments}") if has_baseline else None
                ),
                over_plain=spread(name, f"plain{arguments}"),
                limit_over_pass_through=over_pass,
                limit_over_plain=over_plain,
            )
            rows.append(row)
    return rows


def measure(plan: Plan, folder: Path | None) -> HookResult:
    """Runs all batches, each with functions and entries of its own."""
    baseline = find_pass_through(folder)
    batches: list[Batch] = []
    checks: list[Batch] = []
    for _ in range(plan.batches):
        worlds: list[dict[str, Any]] = []
        variants = variants_for(1, baseline, worlds)
        variants += variants_for(2, baseline, worlds)
        batches.append(run_batch(variants, plan))
        demand_hits(worlds)
        checks.append(run_batch(check_variants(), plan))

    def spread(among: list[Batch], name: str, other: str) -> Spread:
        return Spread.of([batch.difference(name, other) for batch in among])

    def gross(name: str) -> Spread:
        return Spread.of(
            [sorted(batch.times[name])[plan.rounds // 2] for batch in batches]
        )

    names = [name for name in checks[0].times if name != EMPTY.name]
    passing = (1, 2) if baseline else ()
    return HookResult(
        hits=costs(batches, baseline is not None),
        plain={count: gross(f"plain{count}") for count in (1, 2)},
        pass_through={
            count: spread(batches, f"pass_through{count}", f"plain{count}")
            for count in passing
        },
        checks={name: spread(checks, name, EMPTY.name) for name in names},
        rounds_kept=sum(len(batch.kept()) for batch in batches),
        rounds_run=plan.rounds * plan.batches,
    )
