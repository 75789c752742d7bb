"""Every public operation costs what its input is large: at most six times the
instructions for four times the parts, as Callgrind counts them."""

from __future__ import annotations

import inspect
from pathlib import Path

import counted_marks
import growth_entries
import guardtree as gt

operations = growth_entries.operations
MOST = 6.0

# What costs more, and why it does.
NOT_LINEAR = {
    "GuardProfile.rows: chain": "a row for each step, each with its whole path",
    "report: chain": "the same",
    "GuardedFunction.restore: entries": "on 3.11 it removes entries one by one, and "
    "each change makes the look-up over the others anew",
}

# Public names that are no operation on something of n parts, and why.
NO_PARTS = {
    "a type, a mode or a value": """
        ASK_AGAIN Answer.ASK_AGAIN Callback FrameState GuardFn GuardMiss
        Mode.RAISE_ON_MISS RAISE_ON_MISS StrictError
        __version__ GuardSyntaxError.report GuardRelation GuardCheck GuardCounts
        AssumedGuards FactDifference KeyPlan.alignment KeyPlan.bools KeyPlan.callables
        KeyPlan.containers KeyPlan.device KeyPlan.divisor KeyPlan.floats KeyPlan.ints
        KeyPlan.others KeyPlan.shape KeyPlan.strides KeyPlan.strings MissedCall.args
        MissedCall.arguments MissedCall.captures
        MissedCall.dispatcher MissedCall.guards MissedCall.kwargs
        MissedCall.original ProfileRow Simplification""",
    "a setting of the process, a thread or a code": """
        assumption_counts fail_code features get_eval_frame get_include get_policy
        is_generator optimize run_only set_assumptions set_eval_frame set_logs
        set_policy skip_code strict""",
    "an attribute of one object": """
        CacheEntry.check_fn CacheEntry.code CacheEntry.errors CacheEntry.hits
        CacheEntry.last_error CacheEntry.next DynamoFrameType.closure
        DynamoFrameType.f_builtins DynamoFrameType.f_code DynamoFrameType.f_globals
        DynamoFrameType.f_lasti DynamoFrameType.f_lineno DynamoFrameType.f_locals
        DynamoFrameType.function EntryExplanation.failures Explanation.checks_run
        Explanation.failures Explanation.invalidated Explanation.verdict
        Failure.differences Failure.error
        Failure.expected Failure.found Failure.kind Failure.nodes Failure.note
        Failure.path
        Failure.python Frame.closure Frame.f_builtins Frame.f_code Frame.f_globals
        Frame.f_lasti Frame.f_lineno Frame.f_locals Frame.function GuardManager.code
        GuardManager.operands GuardManager.step GuardProfile.checks
        GuardProfile.clock_ns GuardProfile.passed GuardedCode.check_fn GuardedCode.code
        Dispatcher.on_miss Dispatcher.original GuardedFunction.function
        GuardedFunction.on_miss GuardedFunction.original TableEntry.errors
        TableEntry.guards TableEntry.hits
        TableEntry.last_error TableEntry.payload""",
    "plain data of what is measured as Explanation or explain": """
        CacheExplanation.to_dict CacheExplanation.to_json EntryExplanation.to_dict
        Failure.to_dict""",
    "plain data of what is measured as report": """
        Event.to_dict History.events Report.save Report.to_dict Report.to_json
        record_history""",
    "measured of a Dispatcher, which does the same": """
        GuardedFunction.differences GuardedFunction.explain GuardedFunction.find
        GuardedFunction.report MissedCall.find""",
    "measured with GuardManager.profile and GuardManager.reordered": """
        GuardProfile.check GuardManager.order_limits""",
    "a step or a check whose operand has no parts": """
        GuardManager.attr GuardManager.builtin GuardManager.call GuardManager.closure
        GuardManager.closure_cell GuardManager.complex_is_nan GuardManager.compute
        GuardManager.context_var GuardManager.data_aligned GuardManager.defaults
        GuardManager.divisible_by
        GuardManager.f_locals GuardManager.float_is_nan GuardManager.function_globals
        GuardManager.function_match GuardManager.generic_attr GuardManager.global_
        GuardManager.has_attr GuardManager.has_static_attr GuardManager.id_match
        GuardManager.id_match_held GuardManager.instance_attr GuardManager.instance_of
        GuardManager.int_range GuardManager.int_sign GuardManager.is_false
        GuardManager.exists
        GuardManager.is_none GuardManager.is_not_none GuardManager.is_true
        GuardManager.kwdefaults GuardManager.lacks_attr GuardManager.lacks_static_attr
        GuardManager.lacks_instance_attr GuardManager.lacks_plain_attr
        GuardManager.length
        GuardManager.local GuardManager.method_function
        GuardManager.method_self GuardManager.module GuardManager.module_attr
        GuardManager.mro GuardManager.native GuardManager.native_get
        GuardManager.native_pure GuardManager.note
        GuardManager.python GuardManager.range_iterator GuardManager.referent
        GuardManager.plain_attr
        GuardManager.size GuardManager.slot GuardManager.storage_offset
        GuardManager.stride GuardManager.tuple_iterator_item
        GuardManager.tuple_iterator_length GuardManager.type GuardManager.type_dict
        GuardManager.type_match GuardManager.type_version GuardManager.user_length
        GuardManager.weakref_alive""",
    "an expression of 4096 characters at most": "GuardManager.integers",
    "has as many parts as a tensor has dimensions": """
        GuardManager.tensor_match TensorSpec.of TensorSpec.replace""",
    "compares pairs of tensors, as it says": "GuardManager.overlapping_memory",
}


def public_names() -> set[str]:
    """Functions, and the methods and properties of classes."""
    names = set()
    for name in gt.__all__:
        found = getattr(gt, name)
        if not inspect.isclass(found):
            names.add(name)
            continue
        members = {m for m in vars(found) if not m.startswith("_")}
        names |= {f"{name}.{member}" for member in members} or {name}
    return names


def test_every_public_operation_is_measured_or_has_no_parts() -> None:
    measured = {name.split(":")[0].split(",")[0] for name in operations.OPERATIONS}
    of_values = [*operations.VALUES, *operations.STEPS]
    measured |= {f"GuardManager.{name}" for name in of_values}
    without = {name for names in NO_PARTS.values() for name in names.split()}
    public = public_names()
    missing = sorted(public - measured - without)
    assert not missing, f"add to NO_PARTS, or to growth_operations.py: {missing}"
    assert sorted(without - public) == []
    assert sorted(set(NOT_LINEAR) - set(operations.OPERATIONS)) == []


def counted(folder: Path) -> dict[str, tuple[int, int]]:
    """The instructions of each operation at both sizes."""
    names = [name for name in operations.OPERATIONS if name not in NOT_LINEAR]
    counts = counted_marks.counts(folder, operations.__file__, names)
    assert len(counts) == 2 * len(names)
    return dict(zip(names, zip(counts[::2], counts[1::2], strict=True), strict=True))


@counted_marks.needs_valgrind
def test_four_times_the_parts_take_six_times_the_instructions_at_most(
    tmp_path: Path,
) -> None:
    told = [
        f"{name}: {large / small:.1f}"
        for name, (small, large) in counted(tmp_path).items()
        if large > MOST * small
    ]
    assert not told, "\n".join(["four times the parts take more than six:", *told])
