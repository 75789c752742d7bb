"""Defects of the nearest peer's dict tags that concern tensors and modules, by name
(tests/DEFECTS.md): what is below an unchanged dict changed all the same."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from support import step  # noqa: E402

# Whether CPython tells of changes of dicts at all, by events or by tags.
TELLS = bool(gt.features()["dict_watcher"]) or sys.version_info < (3, 14)


def small_module() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())


def guards_on(module: Any) -> tuple[gt.GuardManager, Any]:
    """What a compiler would say of the module in the global `m`, assumed; and the
    function whose globals have it."""
    function = types.FunctionType(step.__code__, {"m": module})
    guards = gt.GuardManager(function)
    add_module(guards.global_("m"), module)
    assert all(guards.check({}) for _ in range(4))
    told, tensors = guards.assumed(), len(list(module.parameters()))
    assert told.reread == tensors or not TELLS
    assert told.assumed == len(guards.checks()) - told.reread
    return guards, function


def add_module(node: gt.GuardManager, module: Any) -> None:
    node.type_match(type(module)).instance_attr("training").is_true()
    parameters = node.instance_attr("_parameters")
    for name, value in module._parameters.items():
        parameters.dict_item(name).tensor_match(value)
    children = node.instance_attr("_modules")
    children.dict_keys(tuple(module._modules))
    for name, child in module._modules.items():
        add_module(children.dict_item(name), child)


def dtype_of_data(module: Any) -> None:
    module.weight.data = module.weight.data.double()


def strides_of_data(module: Any) -> None:
    module.weight.data = torch.zeros(3, 2).t()


def set_to_other_storage(module: Any) -> None:
    with torch.no_grad():
        module.weight.set_(torch.zeros(5, 3))


def transposed(module: Any) -> None:
    with torch.no_grad():
        module.weight.t_()


# None of them changes a dict: the parameter stays the same object.
IN_PLACE: dict[str, Callable[[Any], Any]] = {
    "requires_grad_": lambda module: module.weight.requires_grad_(False),
    "requires_grad of all": lambda module: module.requires_grad_(False),
    "to(dtype)": lambda module: module.to(torch.float64),
    "half()": lambda module: module.half(),
    "data of another dtype": dtype_of_data,
    "data of other strides": strides_of_data,
    "set_": set_to_other_storage,
    "t_": transposed,
}


@pytest.mark.parametrize("how", IN_PLACE)
def test_stale_tensor_metadata_is_accepted_under_an_unchanged_tag(how: str) -> None:
    """pytorch #139476, #177158, #163064."""
    module = small_module()
    guards, _ = guards_on(module)
    weight = module[0].weight
    IN_PLACE[how](module[0])
    assert module[0].weight is weight
    assert not guards.check({})
    assert guards.explain({}).verdict == "fail"


def test_a_gradient_that_is_switched_on_and_off_reuses_the_wrong_entry() -> None:
    """pytorch #139476: the entry of one requires_grad served the other."""
    module = small_module()
    table = gt.Table(step)
    for flag in (True, False):
        module[0].weight.requires_grad_(flag)
        guards = gt.GuardManager(step)
        x = guards.local("x")
        x.instance_attr("training").is_true()
        x.instance_attr("_parameters").dict_item("weight").tensor_match(
            module[0].weight
        )
        table.add(guards, flag)
    for i in range(40):
        flag = i // 4 % 2 == 0
        module[0].weight.requires_grad_(flag)
        assert table.lookup({"x": module[0]}) is flag


def test_freed_tensors_are_read_under_an_unchanged_tag() -> None:
    """pytorch #180741, #181753: recorded by address, and another lay there later."""
    module = small_module()
    guards, _ = guards_on(module)
    linear = module[0]
    for i in range(50):
        shape = (2, 3) if i % 2 == 0 else (4, 3)
        linear._parameters["weight"] = None
        linear._parameters["weight"] = torch.nn.Parameter(torch.zeros(shape))
        assert guards.check({}) is (shape == (2, 3))
        if i % 10 == 0:
            gc.collect()
    del module, linear.weight
    gc.collect()
    assert not guards.check({})


def test_a_module_that_died_is_read_under_an_unchanged_tag() -> None:
    module = small_module()
    guards, function = guards_on(module)
    del module
    for _ in range(20):
        function.__globals__["m"] = None
        gc.collect(0)
        assert not guards.check({})
        function.__globals__["m"] = small_module()
        assert guards.check({})


def test_another_class_of_a_module_is_unseen_by_recursive_tags() -> None:
    class Other(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            return x

    module = small_module()
    guards, _ = guards_on(module)
    for each, other in ((module[0], Other), (module, torch.nn.ModuleList)):
        kind = type(each)
        each.__class__ = other
        assert not guards.check({})
        each.__class__ = kind
        assert guards.check({})


CHANGES_OF_MODULES: dict[str, Callable[[Any], Any]] = {
    "eval()": lambda module: module.eval(),
    "a child in eval()": lambda module: module[0].eval(),
    "a child is replaced": lambda m: m.__setitem__(1, torch.nn.Tanh()),
    "a child is added": lambda m: m.append(torch.nn.ReLU()),
    "a child is removed": lambda m: m.__delitem__(1),
    "a parameter is replaced": lambda m: setattr(
        m[0], "weight", torch.nn.Parameter(torch.zeros(5, 3))
    ),
    "the parameters' dict is replaced": lambda m: setattr(m[0], "_parameters", {}),
    "the module's dict is replaced": lambda m: setattr(m[0], "__dict__", {}),
}


@pytest.mark.parametrize("how", CHANGES_OF_MODULES)
def test_a_change_of_a_module_is_unseen_by_recursive_tags(how: str) -> None:
    module = small_module()
    guards, _ = guards_on(module)
    CHANGES_OF_MODULES[how](module)
    assert not guards.check({})


def test_a_dict_tag_skip_ignores_the_aliasing_guard_of_tensors() -> None:
    """pytorch #147212: `a is d["a"]`, then with a clone."""
    weight = torch.zeros(2)
    module = small_module()
    guards, function = guards_on(module)
    function.__globals__["d"] = {"a": weight}
    guards.same_object(guards.global_("d").dict_item("a"), guards.local("x"))
    for _ in range(4):
        assert guards.check({"x": weight})
        assert not guards.check({"x": weight.clone()})
    assert guards.assumed().assumed > 0 or not TELLS


def test_an_attribute_that_hides_a_child_is_unseen() -> None:
    """pytorch #197859: `__dict__` comes before `_modules`, and was not guarded."""
    module = torch.nn.Module()
    module.sub = torch.nn.Linear(2, 2)
    function = types.FunctionType(step.__code__, {"m": module})
    guards = gt.GuardManager(function)
    m = guards.global_("m")
    m.lacks_static_attr("sub")
    m.instance_attr("_modules").dict_item("sub").type_match(torch.nn.Linear)
    assert all(guards.check({}) for _ in range(4))
    object.__setattr__(module, "sub", torch.nn.ReLU())
    assert not guards.check({})
