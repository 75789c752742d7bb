"""The nearest peer's engine: guards built by hand, without its ambient ones.

Dynamo's own choices are followed: a module's attributes are read from its `__dict__`,
dicts whose order counts have a manager of their own with a guard for each key, and
modules whose subtrees dict tags can vouch for are found by Dynamo's own pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from guardtree.torch.dynamo.record import managers_of
from plans import Plan
from torch._C._dynamo import eval_frame, guards
from torch._dynamo import config
from torch._dynamo.guards import GuardManagerType, GuardManagerWrapper
from torch._dynamo.types import ConvertFrameReturn, GuardedCode, wrap_guarded_code
from torch._guards import CompileId
from workloads import Fact, Path, Step, Workload


class Peer:
    """A root with one child for each tensor, read from the frame's locals. Its tensor
    match compares the type too."""

    def __init__(self, values: dict[str, Any], aliasing: bool) -> None:
        self.root = guards.RootGuardManager()
        children = []
        for i, (name, value) in enumerate(values.items()):
            child = self.root.framelocals_manager(
                (name, i), f"L['{name}']", value, GuardManagerType.GUARD_MANAGER
            )
            child.add_tensor_match_guard(
                value, list(value.size()), list(value.stride()), name, ["tensor"],
                None, type(value), torch._C._dispatch_keys(value),
            )  # fmt: skip
            children.append(child)
        if aliasing:
            guards.install_no_tensor_aliasing_guard(
                children, list(values), ["no aliasing"], None
            )
        self.check = self.root.check


class PeerInt:
    """A root whose one child, a local, equals an int."""

    def __init__(self, name: str, value: int) -> None:
        self.root = guards.RootGuardManager()
        child = self.root.framelocals_manager(
            (name, 0), f"L['{name}']", value, GuardManagerType.GUARD_MANAGER
        )
        child.add_equals_match_guard(value, [f"{name} == {value}"], None)


def peer_callback_of(
    code: Any, instead: Any, peer_of: Callable[[dict[str, Any]], Any]
) -> Any:
    """A callback that gives `code` an entry for each call it is asked about and skips
    other code. Entries belong to their callback: another one compiles again."""

    def callback(frame: Any, entry: Any, state: Any) -> Any:
        if frame.f_code is not code:
            return ConvertFrameReturn()
        wrapper = GuardManagerWrapper(peer_of(frame.f_locals).root)
        made = GuardedCode(instead, wrapper, CompileId(frame_id=0, frame_compile_id=0))
        return wrap_guarded_code(made)

    return callback


def peer_callback(code: Any, instead: Any, peer: Peer) -> Any:
    """The same with one entry for all calls."""
    return peer_callback_of(code, instead, lambda _: peer)


def peer_hits(code: Any) -> int:
    """Entries that the peer keeps for a code: its hook was asked and answered."""
    return len(eval_frame._debug_get_cache_entry_list(code))


@contextmanager
def peer_hook(callback: Any) -> Iterator[None]:
    """The peer's frame hook."""
    prior = eval_frame.set_eval_frame(callback)
    try:
        yield
    finally:
        eval_frame.set_eval_frame(prior)


PLAIN = GuardManagerType.GUARD_MANAGER
ORDERED = GuardManagerType.DICT_GUARD_MANAGER


def peer_plan_of(workload: Workload) -> Plan:
    """The peer's calls for the same facts."""
    plan = Plan()
    ordered = {fact.path for fact in workload.facts if fact.kind == "dict_keys"}
    for fact in workload.facts:
        if fact.kind == "distinct_objects":
            nodes = [peer_node(workload, plan, ordered, path) for path in fact.operand]
            plan.distinct.append(tuple(nodes))
            continue
        node = peer_node(workload, plan, ordered, fact.path)
        if fact.path not in ordered:
            value = workload.fetch(fact.path)
            plan.check(node, *peer_check(fact, source(fact.path), value))
        elif fact.kind == "dict_keys":  # the manager compares type and length
            for i, key in enumerate(fact.operand):
                name = f"list(dict.keys({source(fact.path)}))[{i}]"
                place = ("key", fact.path, i)
                child = plan.node(place, node, "get_key_manager", i, name, key, PLAIN)
                parts = [f"{name} == {key!r}"]
                plan.check(child, "add_equals_match_guard", key, parts, None)
    return plan


def source(path: Path) -> str:
    """A path as the peer prints it."""
    said = ""
    for name, operand in path:
        match name:
            case "local" | "global_":
                said = f"{'L' if name == 'local' else 'G'}[{operand!r}]"
            case "instance_attr" | "module_attr":
                said += f".{operand}"
            case "type_dict":
                said += ".__dict__"
            case "code":
                said += ".__code__"
            case _:
                said += f"[{operand!r}]"
    return said


def peer_node(workload: Workload, plan: Plan, ordered: set[Path], path: Path) -> int:
    """The node of a path; what leads to it is added where it is new."""
    node, value = 0, None
    for depth, step in enumerate(path, 1):
        key, parent, parent_value = path[:depth], path[: depth - 1], value
        value = workload.fetch_step(parent_value, step)
        if key in plan.nodes:
            node = plan.nodes[key]
            continue
        kind = ORDERED if key in ordered else PLAIN
        rest = (source(key), value, kind)
        name, operand = step
        if name == "global_":
            names = workload.function.__globals__
            node = plan.node("G", 0, "globals_dict_manager", names, "G", names, PLAIN)
        elif name in ("instance_attr", "module_attr"):
            own, said = vars(parent_value), f"{source(parent)}.__dict__"
            at = (parent, "__dict__")
            node = plan.node(at, node, "get_generic_dict_manager", said, own, PLAIN)
        if parent in ordered:
            index = list(parent_value).index(operand)
            node = plan.node(key, node, "get_value_manager", index, *rest)
        else:
            node = plan.node(key, node, *peer_step(workload, step, rest))
    return node


def peer_step(workload: Workload, step: Step, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    """The method of a step and its arguments."""
    name, operand = step
    match name:
        case "local":
            index = list(workload.values).index(operand)
            return ("framelocals_manager", (operand, index), *rest)
        case "list_item":
            return ("list_getitem_manager", operand, *rest)
        case "type_dict":
            said, value, kind = rest
            return ("type_dict_manager", said, dict(value), kind)
        case "code":
            return ("code_manager", *rest)
    return ("dict_getitem_manager", operand, *rest)


def peer_check(fact: Fact, said: str, example: Any) -> tuple[Any, ...]:
    """The method of a check and its arguments."""
    value, parts = fact.operand, [f"{fact.kind} of {said}"]
    match fact.kind:
        case "tensor_match":
            return (
                "add_tensor_match_guard", value, list(value.size()),
                list(value.stride()), said, parts, None, type(value),
                torch._C._dispatch_keys(value),
            )  # fmt: skip
        case "type_match" | "id_match" | "equals" as kind:
            method = "equals_match" if kind == "equals" else kind
            operand = value if kind == "equals" else id(value)
            return (f"add_{method}_guard", operand, parts, None)
        case "length":
            is_dict = isinstance(example, dict)
            method = "dict_length_check" if is_dict else "length_check"
            return (f"add_{method}_guard", value, parts, None)
    method = {"is_true": "true", "is_false": "false", "is_none": "none"}[fact.kind]
    return (f"add_{method}_match_guard", parts, None)


def build_peer(plan: Plan, recursive: bool = False) -> Any:
    """The peer's root; with recursive dict tags wherever Dynamo would have them."""
    with config.patch(use_recursive_dict_tags_for_guards=recursive):
        root = guards.RootGuardManager()
        nodes = plan.run(root)
        for places in plan.distinct:
            names = [nodes[place].get_source() for place in places]
            aliases = [nodes[place] for place in places]
            parts = ["no aliasing"]
            guards.install_no_tensor_aliasing_guard(aliases, names, parts, None)
        if recursive:
            GuardManagerWrapper(root).find_tag_safe_roots()
    return root


def peer_counts(root: Any) -> dict[str, int]:
    """`guards` by the facts they say: the type and the keys of a manager of a dict are
    two, whatever number of leafs compares the keys; aliasing is one."""
    nodes = list(managers_of(root))
    dicts = [node for node in nodes if isinstance(node, guards.DictGuardManager)]
    keys = sum(len(node.get_key_value_managers()) for node in dicts)
    leafs = [leaf for node in nodes for leaf in node.get_leaf_guards()]
    aliasing = sum(isinstance(leaf, guards.NO_TENSOR_ALIASING) for leaf in leafs)
    plain = len(leafs) - aliasing - keys
    return {
        "guards": plain + 2 * len(dicts) + (aliasing > 0),
        "leafs": len(leafs),
        "managers": len(nodes),
        "tag_roots": sum(
            hasattr(node, "is_tag_safe_root") and node.is_tag_safe_root()
            for node in nodes
        ),
    }
