"""One batch of hook measurements, for a process of its own: prints its times as JSON.

Each variant has its own functions, so that the specialising interpreter settles for it
alone. The replacement code of a hit does what the original does: the difference is the
hook's. A new process for each batch, since a process keeps the luck that it has with
addresses.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import guardtree as gt

from .rounds import EMPTY_CHECK, TRIVIAL, Plan, Variant, run_batch

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
        EMPTY_CHECK: empty.check,
        "check, type_match on two": guards.check,
        "the same two tests as a Python function": same_in_python,
        TRIVIAL: lambda mapping: True,
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


def measure(plan: Plan, folder: Path | None) -> dict[str, dict[str, list[float]]]:
    """The times of calls and of checks, by variant and round."""
    baseline = find_pass_through(folder)
    worlds: list[dict[str, Any]] = []
    variants = variants_for(1, baseline, worlds)
    variants += variants_for(2, baseline, worlds)
    calls = run_batch(variants, plan)
    demand_hits(worlds)
    return {"calls": calls.times, "checks": run_batch(check_variants(), plan).times}


def main() -> None:
    """Takes the plan, and the folder of the baseline, as JSON."""
    plan, folder = json.loads(sys.argv[1])
    print(json.dumps(measure(Plan(**plan), Path(folder) if folder else None)))


if __name__ == "__main__":
    main()
