"""What the comparison with a peer guards: values, and facts about them.

A fact is a path and a check, in guardtree's words. Each engine builds its own tree from
the same facts (`engines.py`, `peer.py`), so both check the same things about the same
values. Facts come in the order in which a tree is walked: a value's checks before those
of its children.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

Step = tuple[str, Any]
Path = tuple[Step, ...]


@dataclass(frozen=True)
class Fact:
    """What holds for the value at a path; a relation has paths as its operand."""

    path: Path
    kind: str
    operand: Any = None


@dataclass(frozen=True)
class Workload:
    """Values of a function's locals, and the facts that guard it."""

    name: str
    function: Any
    values: dict[str, Any]
    facts: list[Fact]

    def fetch(self, path: Path) -> Any:
        """The value at a path."""
        value: Any = None
        for step in path:
            value = self.fetch_step(value, step)
        return value

    def fetch_step(self, value: Any, step: Step) -> Any:
        """What one step fetches from a value."""
        name, operand = step
        match name:
            case "local":
                return self.values[operand]
            case "global_":
                return self.function.__globals__[operand]
            case "instance_attr" | "module_attr":
                return vars(value)[operand]
            case "dict_item" | "list_item":
                return value[operand]
            case "type_dict":
                return vars(value)
            case "code":
                return value.__code__
        raise ValueError(f"no such step: {name}")


def local(name: str) -> Path:
    """The path of a local."""
    return (("local", name),)


def function_of(names: str, **namespace: Any) -> Any:
    """A function of so many arguments that sees these globals."""
    exec(f"def run({names}): pass", namespace)
    return namespace["run"]


def constant_facts(path: Path, value: Any) -> Iterator[Fact]:
    """That a value is this constant: the one check that says so."""
    if value is None:
        yield Fact(path, "is_none")
    elif isinstance(value, bool):
        yield Fact(path, "is_true" if value else "is_false")
    else:
        yield Fact(path, "equals", value)


def two_tensors() -> Workload:
    """Two tensors that are not the same."""
    values = {name: torch.randn(64, 128) for name in ("x", "y")}
    facts = [Fact(local(name), "tensor_match", value) for name, value in values.items()]
    facts.append(Fact((), "distinct_objects", (local("x"), local("y"))))
    return Workload("two tensors", function_of("x, y"), values, facts)


def scalars() -> Workload:
    """Numbers, strings, a tuple, None and flags."""
    values: dict[str, Any] = {
        "steps": 1000, "rate": 0.125, "size": 2**40, "flag": True, "frozen": False,
        "mask": None, "mode": "train", "device": "cuda:0", "padding": (1, 2),
        "bias": 0.0,
    }  # fmt: skip
    facts = [fact for n, v in values.items() for fact in constant_facts(local(n), v)]
    names = ", ".join(values)
    return Workload("scalars and strings", function_of(names), values, facts)


def globals_of(count: int) -> Workload:
    """Numbers among a function's globals, with names interned as in a module."""
    values = {sys.intern(f"global_{i}"): 1000 + i for i in range(count)}
    facts = [Fact((("global_", n),), "equals", v) for n, v in values.items()]
    return Workload(f"{count} globals", function_of("", **values), {}, facts)


def dict_of_64() -> Workload:
    """A dict of configuration: its type, its length and each of its items."""
    config = {f"option_{i}": 1000 + i for i in range(64)}
    root = local("config")
    facts = [Fact(root, "type_match", dict), Fact(root, "length", len(config))]
    facts += [Fact((*root, ("dict_item", k)), "equals", v) for k, v in config.items()]
    return Workload("dict of 64", function_of("config"), {"config": config}, facts)


def list_of_tensors(count: int) -> Workload:
    """A list of tensors no two of which are the same."""
    items = [torch.randn(8, 16) for _ in range(count)]
    root = local("items")
    paths = [(*root, ("list_item", i)) for i in range(count)]
    facts = [Fact(root, "type_match", list), Fact(root, "length", count)]
    facts += [Fact(path, "tensor_match", item) for path, item in zip(paths, items)]
    facts.append(Fact((), "distinct_objects", tuple(paths)))
    name = f"list of {count} tensors"
    return Workload(name, function_of("items"), {"items": items}, facts)


HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)

# The attributes that a module's forward reads and a tracer makes constants of.
CONSTANTS: dict[type, tuple[str, ...]] = {
    nn.LayerNorm: ("eps",),
    nn.Dropout: ("p", "inplace"),
    nn.MultiheadAttention: (
        "embed_dim", "num_heads", "dropout", "batch_first", "_qkv_same_embed_dim",
        "add_zero_attn", "bias_k", "bias_v",
    ),
    nn.TransformerEncoderLayer: ("norm_first", "activation_relu_or_gelu"),
    nn.TransformerEncoder: ("use_nested_tensor", "mask_check", "norm"),
}  # fmt: skip

# Those whose children are run in order: of these the order of keys is guarded too.
CONTAINERS = (nn.Sequential, nn.ModuleList)


def module_facts(path: Path, module: nn.Module) -> Iterator[Fact]:
    """Its type, flags, hooks, parameters and, recursively, its children."""
    own = vars(module)

    def attribute(name: str) -> Path:
        return (*path, ("instance_attr", name))

    yield Fact(path, "type_match", type(module))
    yield from constant_facts(attribute("training"), module.training)
    for name in CONSTANTS.get(type(module), ()):
        if name in own:  # a child that is None is among the children
            yield from constant_facts(attribute(name), own[name])
    for name in HOOKS:
        yield Fact(attribute(name), "length", 0)
    parameters = attribute("_parameters")
    yield Fact(parameters, "type_match", dict)
    yield Fact(parameters, "length", len(module._parameters))
    for name, parameter in module._parameters.items():
        item = (*parameters, ("dict_item", name))
        yield (
            Fact(item, "is_none")
            if parameter is None
            else Fact(item, "tensor_match", parameter)
        )
    children = attribute("_modules")
    yield Fact(children, "type_match", dict)
    if isinstance(module, CONTAINERS):
        yield Fact(children, "dict_keys", tuple(module._modules))
    else:
        yield Fact(children, "length", len(module._modules))
    for name, child in module._modules.items():
        item = (*children, ("dict_item", name))
        yield from (
            [Fact(item, "is_none")] if child is None else module_facts(item, child)
        )


# The Python functions that an encoder runs.
FUNCTIONS = ("multi_head_attention_forward", "layer_norm", "dropout", "relu")


def code_facts(classes: list[type], functions: tuple[str, ...]) -> Iterator[Fact]:
    """That classes and functions are these, and have this code."""
    for each in classes:
        path = (("global_", each.__name__),)
        forward = (*path, ("type_dict", None), ("dict_item", "forward"))
        yield Fact(path, "id_match", each)
        yield Fact((*forward, ("code", None)), "id_match", each.forward.__code__)
    module = (("global_", "functional"),)
    if functions:
        yield Fact(module, "id_match", nn.functional)
    for name in functions:
        code = getattr(nn.functional, name).__code__
        path = (*module, ("module_attr", name), ("code", None))
        yield Fact(path, "id_match", code)


def model_workload(
    name: str, model: nn.Module, x: torch.Tensor, functions: tuple[str, ...]
) -> Workload:
    """A model, its input and the code that they run."""
    seen = {type(module): None for module in model.modules()}
    # A list has no forward of its own to run.
    classes = [each for each in seen if "forward" in vars(each)]
    names = {each.__name__: each for each in classes}
    function = function_of("x, model", functional=nn.functional, **names)
    facts = [
        Fact(local("x"), "tensor_match", x),
        *module_facts(local("model"), model),
        *code_facts(classes, functions),
    ]
    return Workload(name, function, {"x": x, "model": model}, facts)


def sequential(count: int) -> Workload:
    """Linear layers in a row."""
    model = nn.Sequential(*(nn.Linear(8, 8) for _ in range(count)))
    return model_workload(f"Sequential({count})", model, torch.randn(4, 8), ())


def encoder(layers: int) -> Workload:
    """A transformer encoder of so many layers, in evaluation."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    model = nn.TransformerEncoder(layer, layers).eval()
    x = torch.randn(2, 4, 16)
    return model_workload(f"{layers}-layer encoder", model, x, FUNCTIONS)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "two_tensors": two_tensors,
    "scalars": scalars,
    "globals_32": partial(globals_of, 32),
    "dict_64": dict_of_64,
    "list_100": partial(list_of_tensors, 100),
    "sequential_100": partial(sequential, 100),
    "encoder_12": partial(encoder, 12),
    "encoder_48": partial(encoder, 48),
}

SMALL: dict[str, Callable[[], Workload]] = WORKLOADS | {
    "list_100": partial(list_of_tensors, 4),
    "sequential_100": partial(sequential, 2),
    "encoder_12": partial(encoder, 1),
    "encoder_48": partial(encoder, 2),
}
"""The same in the smallest sizes that have all shapes of facts: for tests."""
