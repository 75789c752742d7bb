"""guardtree's guards for what every tree asks: torch's state, and Dynamo's."""

from __future__ import annotations

import json
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

import torch
import torch.utils._device

import guardtree.torch as gtt

from .refused import RefusedError

if TYPE_CHECKING:
    from .translate import Translator

KINDS = {
    "default_device", "dual_level_match", "global_state", "torch_function_mode_stack",
}  # fmt: skip
"""Leafs of the frame, whichever manager has them."""

AUTOCAST = "autocast_"
"""The prefix of the names of all autocast facts."""
# Torch's names of the facts of its state that have others here.
FACTS = {
    "autocast_state": AUTOCAST,
    "deterministic_algorithms": "deterministic",
    "deterministic_algorithms_warn_only": "deterministic_warn_only",
    "deterministic_fill_uninitialized_memory": "deterministic_fill",
    "torch_function_all_disabled": "torch_function",
}


def add(made: Translator, kind: str, arguments: tuple[Any, ...]) -> None:
    """A leaf about torch's own state."""
    guards = made.guards
    if kind == "global_state":
        made.say(kind, "guard_state")
        made.facts |= facts_of(arguments[0])
    elif kind == "torch_function_mode_stack":
        if arguments[0]:
            raise RefusedError("a torch function mode that is active")
        made.say(kind, "guard_state")
        made.facts["torch_function_modes"] = 0
    elif kind == "default_device":
        if torch.utils._device.CURRENT_DEVICE is not None:
            raise RefusedError("a default device")
        made.say(kind, "is_none")
        guards.module("torch.utils._device").module_attr("CURRENT_DEVICE").is_none()
    else:
        made.say(kind, "equals")
        level = guards.module("torch.autograd.forward_ad").module_attr("_current_level")
        level.equals(arguments[0])


def facts_of(state: Any) -> dict[str, int | bool]:
    """What a GlobalStateGuard compares, as it is now, by our names."""
    if not state.check():
        raise RefusedError("a state that has changed since the frame was compiled")
    return facts_named(state.__getstate__(), gtt.plugin().state_words())


@lru_cache(16)
def facts_named(theirs: str, words: bytes) -> dict[str, int | bool]:
    """The facts of the state as it is now that torch names in `theirs`, a JSON object.
    `words`: the state, since the answer is kept for all trees that are translated in
    the same state. Torch compares an autocast dtype only while that autocast is
    enabled."""
    now = gtt.state()
    found: dict[str, int | bool] = {}
    for each in json.loads(theirs):
        ours = FACTS.get(each, each)
        if ours == AUTOCAST:
            named = {name: now[name] for name in now if name.startswith(AUTOCAST)}
        else:
            named = {ours: now[ours]} if ours in now else {}
        if not named:
            raise RefusedError(f"{each} of torch's state")
        found |= {name: named[name] for name in named if now.get(enabling(name), True)}
    return found


def enabling(name: str) -> str:
    """For an autocast dtype, the fact that this autocast is enabled; otherwise ""."""
    is_dtype = name.startswith(AUTOCAST) and name.endswith("_dtype")
    return name.removesuffix("_dtype") if is_dtype else ""


def guard_state(made: Translator) -> None:
    """All facts of torch's state that leafs compare: one check."""
    check, text = check_of(tuple(made.facts.items()))
    made.guards.module("torch").native_pure(check).note(text)


@lru_cache(16)
def check_of(facts: tuple[tuple[str, int | bool], ...]) -> tuple[Any, str]:
    """The check of facts, which is the same for all trees that compare them."""
    return gtt.state_check(dict(facts))


def add_lambda(
    made: Translator, handle: Any, kind: str, function: Any, parts: Any
) -> None:
    """A leaf of the frame that is a Python function: one that Dynamo puts into every
    tree, which does not look at what it is given."""
    if kind != "lambda":
        raise RefusedError(f"leaf {kind} of the frame")
    if is_without_graph_hooks(function):
        made.say("lambda of the frame", "guard_state")
        made.facts["graph_hooks"] = 0
        return
    said = str(parts[0]) if parts else repr(function)
    made.say("lambda of the frame", "python")
    made.made.ambient.append(said.strip())
    handle.python(function).note(said.strip())


def is_without_graph_hooks(function: Any) -> bool:
    """Whether it is Dynamo's lambda about the hooks of saved tensors, where none of
    them was a graph when the frame was compiled."""
    is_it = "AUTOGRAD_SAVED_TENSORS_HOOKS" in getattr(function, "__qualname__", "")
    if not is_it or type(function) is not FunctionType:
        return False
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    hooks = cells.get("guard_hooks_ids")
    return hooks is not None and hooks.cell_contents is None
