"""What is left out is found: by counting, by refusal, or by the engines' difference."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

if not gtt.has_plugin():
    pytest.skip("no plugin: python -m guardtree.torch build", allow_module_level=True)

import guardtree.torch.dynamo as gd  # noqa: E402
from guardtree.torch.dynamo import ambient, installation, leafs, record  # noqa: E402
from guardtree.torch.dynamo.guards import Maker  # noqa: E402
from guardtree.torch.dynamo.translate import Translator  # noqa: E402
from torch._C._dynamo.guards import GlobalStateGuard  # noqa: E402


def program(x: Any, k: Any) -> Any:
    return x + k


def compiled() -> Any:
    return torch.compile(program, backend="eager", dynamic=False)


def refusals() -> set[str]:
    return installation.current().maker.warned


def assert_still_right(f: Any) -> None:
    """The entry is refused, and torch's own tree checks it."""
    for k in (1, 2, 1, 5):
        assert f(torch.ones(1), k).item() == 1 + k


def test_a_leaf_that_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = record.Recorder.leaf

    def leaf(self: Any, method: str, original: Any) -> Any:
        is_left_out = method == "add_equals_match_guard"
        return original if is_left_out else seen(self, method, original)

    monkeypatch.setattr(record.Recorder, "leaf", leaf)
    with gd.installed():
        f = compiled()
        assert_still_right(f)
        assert any("leafs of" in each for each in refusals())
        assert "torch's own guards check it" in str(gd.report(f))


def test_a_leaf_that_is_taken_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = record.Recorder.leaf

    def leaf(self: Any, method: str, original: Any) -> Any:
        is_equals = method == "add_equals_match_guard"
        return seen(self, "add_not_none_guard" if is_equals else method, original)

    monkeypatch.setattr(record.Recorder, "leaf", leaf)
    with gd.installed():
        assert_still_right(compiled())
        assert any("EQUALS_MATCH" in each for each in refusals())


def test_a_step_that_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = record.Recorder.step

    def step(self: Any, method: str, original: Any) -> Any:
        is_left_out = method == "dict_getitem_manager"
        return original if is_left_out else seen(self, method, original)

    def scaled(x: Any, k: Any) -> Any:
        return x + SCALE + k

    monkeypatch.setattr(record.Recorder, "step", step)
    with gd.installed():
        f = torch.compile(scaled, backend="eager", dynamic=False)
        assert f(torch.ones(1), 1).item() == 4
        assert f(torch.ones(1), 2).item() == 5
        assert refusals()


SCALE = 2


def test_a_fact_of_the_state_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = gtt.state

    def state() -> dict[str, Any]:
        return {k: v for k, v in known().items() if k != "grad_mode"}

    monkeypatch.setattr(ambient.gtt, "state", state)
    ambient.facts_named.cache_clear()
    with gd.installed():
        f = compiled()
        assert_still_right(f)
        assert refusals() == {"grad_mode of torch's state"}


def test_facts_of_two_states_that_torch_writes_alike() -> None:
    usual = ambient.facts_of(GlobalStateGuard())
    with torch._C.DisableTorchFunctionSubclass():
        other = ambient.facts_of(GlobalStateGuard())
    assert other == {**usual, "torch_function": 1} != usual


@pytest.mark.parametrize("kind", ["equals_match", "tensor_match"])
def test_dual_mode_finds_a_leaf_left_out(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = leafs.of_value

    def of_value(
        made: Any, node: Any, handle: Any, each: str, arguments: Any
    ) -> None:
        if each != kind:
            add(made, node, handle, each, arguments)

    monkeypatch.setattr(leafs, "of_value", of_value)
    with gd.installed(check_against_torch=True):
        f = compiled()
        f(torch.ones(2), 1)
        is_number = kind == "equals_match"
        x = torch.ones(2, dtype=torch.float32 if is_number else torch.float64)
        with pytest.raises(gd.DifferenceError, match="says True, torch False"):
            f(x, 2 if is_number else 1)


def test_dual_mode_finds_a_fact_of_the_state_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = ambient.facts_of

    def facts_of(state: Any) -> dict[str, Any]:
        return {k: v for k, v in facts(state).items() if k != "grad_mode"}

    monkeypatch.setattr(ambient, "facts_of", facts_of)
    with gd.installed(check_against_torch=True):
        f = compiled()
        f(torch.ones(2), 1)
        with torch.no_grad(), pytest.raises(gd.DifferenceError):
            f(torch.ones(2), 1)


def test_dual_mode_finds_a_step_to_another_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = Translator.step

    def wrong(self: Any, node: Any) -> Any:
        if node.source == "L['k']":
            return self.guards.local("x").size(0)
        return step(self, node)

    monkeypatch.setattr(Translator, "step", wrong)
    with gd.installed(check_against_torch=True):
        f = compiled()
        f(torch.ones(1), 1)
        with pytest.raises(gd.DifferenceError):
            f(torch.ones(1), 2)


@pytest.mark.parametrize("is_method", [False, True])
def test_dual_mode_checks_calls_that_skip_the_wrapper(
    is_method: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guards of the hook are right; those of the entrance leave all out."""
    make = Maker.make

    def made(self: Any, frame: gt.Frame, *args: Any) -> Any:
        found = make(self, frame, *args)
        if found.at_entrance is not None:
            found.at_entrance = gt.GuardManager(frame)
        return found

    class Adder:
        def add(self, x: Any, k: Any) -> Any:
            return x + k

    monkeypatch.setattr(Maker, "make", made)
    with gd.installed(check_against_torch=True):
        function = Adder().add if is_method else program
        f = torch.compile(function, backend="eager", dynamic=False)
        x = torch.ones(1)
        assert f(x, 1).item() == f(x, k=1).item() == 2
        assert installation.current().maker.checks_at_entrances == 1
        with pytest.raises(gd.DifferenceError, match=r"torch False: .*L\['k'\] == 1"):
            f(x, 2)
        assert f(x, 1).item() == 2
