"""A program of a user that has types: every public name, used as it is meant.

mypy --strict and pyright accept it, and it runs. Kinds, steps and relations are left
out: test_types.py writes a program of their examples.
"""

# pyright: strict
from __future__ import annotations

from collections.abc import Callable
from types import CellType, CodeType
from typing import Any, assert_type

import guardtree as gt


def scale(x: int, factor: int = 2) -> int:
    return x * factor


def shifted(x: int, factor: int = 2) -> int:
    return x << 1


class Model:
    def run(self, x: int) -> int:
        return x


def guards_of(scope: Callable[..., object] | gt.Frame) -> gt.GuardManager:
    guards = gt.GuardManager(scope)
    guards.local("x").type_match(int).note("an int")
    guards.local("factor").equals(2)
    return guards


def inspect_guards() -> None:
    guards = gt.GuardManager(scale)
    x = assert_type(guards.local("x"), gt.GuardManager)
    assert_type(x.type_match(int).equals(3).note({"line": 3}), gt.GuardManager)
    factor = guards.local("factor")
    guards.distinct_objects(x, factor)
    guards.integers("n > 0", n=factor)
    subject = {"x": 3, "factor": 2}
    assert_type(guards.check(subject), bool)
    alone = gt.GuardManager(scale)
    alone.local("x").equals(3)
    assert_type(alone.check(3), bool)
    assert_type(guards(subject), bool)
    assert_type(x.path, str)
    assert_type(x.step, str | None)
    assert_type(x.operands, dict[str, Any])
    assert_type(x.parent, gt.GuardManager | None)
    assert_type(guards.children(), list[gt.GuardManager])
    assert_type(guards.nodes(), list[gt.GuardManager])
    assert_type(guards.checks(), list[gt.GuardCheck])
    assert_type(guards.relations(), list[gt.GuardRelation])
    assert_type(guards.assumed(), gt.AssumedGuards)
    assert_type(guards.counts(), gt.GuardCounts)
    assert_type(guards.clone(lambda each: each.kind != "equals"), gt.GuardManager)
    assert_type(guards.simplified(), gt.Simplification)
    assert_type(guards.clone().include(guards, note="again"), gt.GuardManager)
    assert_type(guards.simplified().guards, gt.GuardManager)
    check, relation = guards.checks()[0], guards.relations()[0]
    assert_type((check.path, check.kind, check.python), tuple[str, str, str])
    assert_type(check.node, gt.GuardManager)
    assert_type(relation.paths, tuple[str, ...])
    assert_type(relation.nodes, tuple[gt.GuardManager, ...])
    assert_type(guards.counts().kinds, dict[str, int])
    assert_type(guards.assumed().invalidated, tuple[str, ...])


def explain_guards() -> None:
    explanation = guards_of(scale).explain({"x": "ab", "factor": 2})
    assert_type(explanation, gt.Explanation)
    assert_type(explanation.failures, list[gt.Failure])
    assert_type(explanation.checks_run, int)
    assert_type(explanation.invalidated, list[str])
    assert_type(explanation.to_dict(), dict[str, Any])
    assert_type(explanation.to_json(), str)
    assert explanation.verdict == "fail" and not explanation
    failure = explanation.failures[0]
    texts = [failure.path, failure.kind, failure.python, failure.expected]
    assert_type([*texts, failure.found, failure.error], list[str])
    assert_type(failure.to_dict(), dict[str, Any])
    assert_type(failure.differences, list[gt.FactDifference])
    assert_type(failure.nodes, list[gt.GuardManager])
    print(failure.note)


def save_guards() -> None:
    guards = guards_of(scale)
    text, names = guards.to_text()
    assert_type(gt.parse(text, scale, names, allow_calls=False), gt.GuardManager)
    assert_type(gt.from_json(guards.to_json(), scale), gt.GuardManager)

    def resolve(module: str, name: str) -> object:
        return {"int": int}[name]

    gt.from_json(guards.to_json(), scale, resolver=resolve, allow_calls=True)
    assert_type(guards.to_portable_json(), tuple[str, list[str]])
    assert_type(guards.digest(), str)
    try:
        gt.parse("x = 3", scale)
    except gt.GuardSyntaxError as error:
        assert_type(error.report, str)


def profile_guards() -> None:
    guards = guards_of(scale)
    profile = assert_type(guards.profile(), gt.GuardProfile)
    assert_type(profile.check({"x": 3, "factor": 2}), bool)
    assert_type((profile.checks, profile.passed), tuple[int, int])
    assert_type(profile.clock_ns, float)
    rows = assert_type(profile.rows(), list[gt.ProfileRow])
    assert_type((rows[0].executed, rows[0].failed, rows[0].ns), tuple[int, int, int])
    assert_type(guards.order_limits(profile), list[str])
    assert_type(guards.reordered(profile), gt.GuardManager)


def use_a_table() -> None:
    table = gt.Table(scale, default="none")
    guards = guards_of(scale)
    entry = table.add(guards, "payload", captures={"seen": guards.local("x")})
    assert_type(entry, gt.TableEntry)
    assert_type((entry.guards, entry.hits), tuple[gt.GuardManager, int])
    assert_type((entry.errors, entry.last_error), tuple[int, BaseException | None])
    assert table.lookup({"x": ""}, "missing") == "missing" and len(table) == 1
    assert table.lookup_call("") == "none"
    assert_type(table.explain({"x": ""}), gt.CacheExplanation)
    assert_type(table.find({"x": 3}), gt.TableEntry | None)
    found = table.lookup({"x": 3, "factor": 2})
    assert found == table.lookup_call(3) == (entry.payload, {"seen": 3})
    assert_type(table.entries(), list[gt.TableEntry])
    assert_type(table.differences(), dict[str, list[str]])
    table.remove(entry)


def guard_calls() -> None:
    guarded = gt.guard_function(scale)
    assert_type(guarded, gt.GuardedFunction)
    entry = guarded.add(guards_of(scale), shifted)
    assert (scale(4), len(guarded), entry.hits) == (8, 1, 1)
    guarded.remove(entry)
    guarded.add(guards_of(scale), shifted.__code__)
    print(guarded.function)
    assert_type(guarded.stats(), dict[str, int])
    print(guarded.entries())
    assert_type(guarded.restore(), bool)
    gt.guard_function(Model().run).restore()


def compile_call(call: gt.MissedCall) -> Callable[..., Any]:
    call.guards.specialize(call.arguments, plans={"factor": None})
    assert_type(call.find(), gt.TableEntry | None)
    assert_type((call.args, call.kwargs), tuple[tuple[Any, ...], dict[str, Any]])
    return shifted


def dispatch() -> None:
    launch = gt.Dispatcher(scale, compile_call, entry_limit=8, when_full="keep")
    assert (launch(4), len(launch)) == (8, 1)
    entry = launch.add(guards_of(scale), shifted, captures=None)
    launch.remove(entry)
    assert_type(launch.entries(), list[gt.TableEntry])
    assert_type(launch.find(5), gt.TableEntry | None)
    assert_type(launch.explain(5), gt.CacheExplanation)
    assert_type(launch.differences(), dict[str, list[str]])
    assert_type(launch.stats(), dict[str, int])
    print(launch.report(), launch.original, launch.on_miss)
    plan = gt.KeyPlan(ints=("one", "divisible"), divisor=16)
    guards = gt.GuardManager(scale)
    assert_type(guards.local("x").specialize(32, plan), gt.GuardManager)


def compiler(
    frame: gt.Frame, cache_entry: gt.CacheEntry | None, frame_state: gt.FrameState
) -> gt.GuardedCode | gt.Answer | None:
    if frame.f_code is not scale.__code__:
        return gt.ASK_AGAIN
    assert_type(frame.f_locals, dict[str, Any])
    assert_type(frame.f_globals, dict[str, Any])
    assert_type(frame.f_builtins, dict[str, Any])
    assert_type((frame.f_lasti, frame.f_lineno), tuple[int, int])
    assert_type(frame.closure, tuple[CellType, ...] | None)
    assert_type(frame.function.__code__, CodeType)
    frame_state["asked"] = True
    return gt.GuardedCode(shifted.__code__, guards_of(frame), verify=True)


def only_pass_on(
    frame: gt.DynamoFrameType, cache_entry: gt.CacheEntry | None, state: gt.FrameState
) -> gt.GuardedCode | None:
    return None


class SmallOnly(gt.GuardFn):
    def __call__(self, f_locals: dict[str, Any]) -> bool:
        return bool(f_locals["x"] < 10)


def use_the_hook() -> None:
    callbacks: list[gt.Callback] = [compiler, only_pass_on]
    with gt.optimize(callbacks[0]):
        assert scale(4) == 8
    (entry,) = assert_type(gt.cache_entries(scale), list[gt.CacheEntry])
    assert_type(entry.code, CodeType)
    assert_type((entry.hits, entry.errors), tuple[int, int])
    assert_type(entry.last_error, BaseException | None)
    assert_type(entry.next, gt.CacheEntry | None)
    print(entry.check_fn.explain({"x": "ab", "factor": 2}))

    @gt.optimize(False)
    def decorated(x: int) -> int:
        return scale(x)

    assert_type(decorated(4), int)
    for mode in (None, False, gt.RAISE_ON_MISS, compiler):
        prior = gt.set_eval_frame(mode)
        gt.set_eval_frame(prior)
    modes: list[gt.Mode] = [gt.RAISE_ON_MISS]
    with gt.optimize(modes[0]), gt.optimize(None):
        print(gt.get_eval_frame())

    guarded = gt.GuardedCode(shifted.__code__, SmallOnly())
    assert_type(guarded.code, CodeType)
    gt.GuardedCode(shifted.__code__, lambda f_locals: f_locals["x"] < 10)
    report = gt.explain(scale, {"x": "ab"})
    assert_type(report, gt.CacheExplanation)
    assert_type(report.entries, tuple[gt.EntryExplanation, ...])
    assert_type(report.entries[0].failures, list[gt.Failure])
    assert_type(report.removed, tuple[tuple[int, str], ...])
    assert_type(gt.GuardMiss(report).explanation, gt.CacheExplanation)
    added = gt.add_entry(scale, guarded)
    gt.invalidate(scale, added, "no longer wanted")
    assert_type(gt.removed_entries(scale), list[tuple[int, str]])
    assert_type(gt.differences(scale), dict[str, list[str]])
    assert_type(gt.code_stats(scale.__code__), dict[str, Any])
    print(gt.code_stats(scale)["lookups"] - gt.code_stats(scale)["hits"])
    gt.reset_code(scale)


def make_a_report() -> None:
    with gt.record_history(most=100) as history, gt.optimize(compiler):
        scale(4)
    assert_type(history, gt.History)
    assert_type(history.events, list[gt.Event])
    assert_type(history.events[0].to_dict(), dict[str, Any])
    made = gt.report(scale, {"x": 3, "factor": 2}, repeat=1, history=history)
    assert_type(made, gt.Report)
    assert_type(made.to_dict(), dict[str, Any])
    assert_type((made.to_html(), made.to_json()), tuple[str, str])
    for target in (gt.Table(scale), gt.GuardManager(scale), scale.__code__):
        gt.report(target).save("/dev/null")
    gt.reset_code(scale)


def settle_policies() -> None:
    gt.set_policy(scale, entry_limit=8, when_full="keep", on_miss="raise", warm_up=0)
    assert_type(gt.get_policy(Model.run), dict[str, Any])
    gt.skip_code(shifted, recursive=True)
    gt.run_only(Model().run)
    gt.fail_code(Model.run, "it has no body")
    for code in (scale, shifted, Model.run):
        gt.reset_code(code)
    assumed = assert_type(gt.set_assumptions(True), bool)
    gt.set_assumptions(assumed)
    assert_type(gt.assumption_counts(), dict[str, int])
    assert_type(gt.features(), dict[str, str | bool])
    was_strict = assert_type(gt.strict(), bool)
    gt.strict(was_strict)
    gt.set_logs("guards", "misses", "code")
    gt.set_logs()
    assert_type((gt.get_include(), gt.__version__), tuple[str, str])
    assert_type(gt.is_generator(scale.__code__), bool)
    errors: list[type[Exception]] = [gt.StrictError, gt.GuardMiss, gt.GuardSyntaxError]
    print(errors)


def describe_tensors() -> None:
    spec = gt.TensorSpec(dtype="float32", shape=(None, (1, 256)), requires_grad=False)
    assert_type(spec.replace(ndim=2), gt.TensorSpec)
    gt.GuardManager(scale).local("x").tensor_match(spec)
    try:
        gt.TensorSpec.of(3)
    except TypeError as error:
        print(error)


def launch_kernels(kernel: Any) -> None:
    """Checked where triton is not installed as well, but not run there."""
    from guardtree import triton as launches

    launches.install(launches.install(kernel), entry_limit=64)
    assert_type(launches.dispatcher_of(kernel), gt.Dispatcher)
    launches.uninstall(kernel)
    print(launches.SUPPORTED)


if __name__ == "__main__":
    inspect_guards()
    explain_guards()
    save_guards()
    profile_guards()
    use_a_table()
    guard_calls()
    dispatch()
    use_the_hook()
    make_a_report()
    settle_policies()
    describe_tensors()
