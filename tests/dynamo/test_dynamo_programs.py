"""The same programs under torch's hook and guardtree's: results, compile counts and
graph breaks are the same, and the engines agree on every check."""

from __future__ import annotations

import os
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

import guardtree.torch.dynamo as gd  # noqa: E402
import scenarios  # noqa: E402
import scenarios_of_settings  # noqa: E402, F401
import scenarios_of_torch  # noqa: E402, F401
from guardtree.torch.dynamo import installation  # noqa: E402
from real import programs  # noqa: E402
from running import difference, run  # noqa: E402

LONG = os.environ.get("GUARDTREE_TEST_LONG")
SCENARIOS = scenarios.SCENARIOS
INDUCTOR = (
    "many_shapes", "dynamic_shapes", "dtypes", "printed", "break_in_a_callee",
    "no_grad_inside", "closures", "containers", "aliases", "fullgraph", "module",
    "training", "compiled_step", "functional_call", "an_object_goes",
)  # fmt: skip
# Programs in which AOT autograd changes what is guarded or run: with aot_eager, and all
# others with eager. Under LONG all run with both.
AOT = (
    "aliases", "batch_norm_and_dropout", "checkpoint", "closures", "custom_operator",
    "functional_grad", "numpy_inside", "own_function_of_autograd", "random_numbers",
    "subclass", "training", "views",
)  # fmt: skip
# Some of the recorder's that compile in a moment; all of them under LONG.
FEW = (
    "add_one", "constants", "globals_read", "enumeration", "graph_break",
    "over_a_dict", "keys_that_are_objects", "ordered_dict", "slots", "linear",
    "self_attention", "product", "free_number",
)  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore")


def of_recorder(each: programs.Program) -> Any:
    """A program of the recorder: called twice, and with other dtypes."""

    def program(compile: Any) -> Any:
        def given() -> tuple[Any, ...]:
            torch.manual_seed(0)
            return each.arguments()

        f = compile(each.function(), dynamic=each.is_dynamic or None)
        found = [f(*given()), f(*given())]
        doubled = [
            x.double() if type(x) is torch.Tensor and x.is_floating_point() else x
            for x in given()
        ]
        try:
            found.append(f(*doubled))
        except Exception as error:
            found.append(type(error).__name__)
        return [tensors_of(each) for each in found]

    return program


def tensors_of(result: Any) -> Any:
    """What can be compared of a result."""
    if isinstance(result, torch.Tensor):
        return result.detach()
    if isinstance(result, (list, tuple)):
        return [tensors_of(each) for each in result]
    if isinstance(result, dict):
        return {name: tensors_of(each) for name, each in result.items()}
    return result if isinstance(result, (int, float, str)) else type(result).__name__


def compare(program: Any, backend: str) -> int:
    """Both hooks, then both engines; returns how many checks were made by both."""
    torchs = run(program, backend)
    checks = 0
    for is_dual in (False, True):
        with gd.installed(check_against_torch=is_dual):
            ours = run(program, backend)
            checks += installation.current().maker.checks
        assert not difference(torchs, ours)
    return checks


def test_there_are_enough() -> None:
    assert len(SCENARIOS) >= 60


@pytest.mark.parametrize("name", [n for n in SCENARIOS if LONG or n not in AOT])
def test_eager(name: str) -> None:
    compare(SCENARIOS[name], "eager")


@pytest.mark.parametrize("name", SCENARIOS if LONG else AOT)
def test_aot_eager(name: str) -> None:
    compare(SCENARIOS[name], "aot_eager")


@pytest.mark.parametrize("name", INDUCTOR if LONG else INDUCTOR[:1])
def test_inductor(name: str) -> None:
    compare(SCENARIOS[name], "inductor")


@pytest.mark.parametrize(
    "each",
    [each for each in programs.load() if LONG or each.name in FEW],
    ids=lambda each: each.name,
)
def test_programs_of_the_recorder(each: programs.Program) -> None:
    assert compare(of_recorder(each), "eager") > 0
