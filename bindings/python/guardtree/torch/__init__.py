"""Guards on torch tensors and on torch's state: the reader that c10's headers give.

Importing registers the plugin for the torch at hand: the one that ``python -m
guardtree.torch build`` made here, else the wheel's, if it brings one. Guards on tensors
import it by themselves. Without one, tensors are read
through DLPack, about ten times slower and without ``requires_grad``, dispatch keys,
sparse, quantised and meta tensors; a ``PluginWarning`` says so once, when the first
guard on a tensor is built.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

try:
    import torch
except ImportError as error:
    raise ImportError("guardtree.torch needs torch: pip install torch") from error

from .. import _guardtree
from .builder import PluginError, UnfitPlugin, load, plugin_path

if TYPE_CHECKING:
    from .. import GuardManager

__all__ = [
    "PluginError",
    "PluginWarning",
    "guard_state",
    "has_plugin",
    "plugin",
    "plugin_path",
    "state",
    "state_check",
]

_plugin: Any = None
_missing = ""


class PluginWarning(UserWarning):
    """Tensors are read through DLPack."""


def _register(plugin: Any) -> None:
    global _plugin
    for kind in (torch.Tensor, torch.nn.Parameter):
        _guardtree.register_tensor_type(kind, plugin.reader)
    _plugin = plugin


def _find() -> None:
    global _missing
    try:
        _register(load())
    except (PluginError, ImportError) as error:
        _missing = str(error)
        if isinstance(error, UnfitPlugin):
            _announce()


def _announce() -> None:
    """Called when the first guard on a tensor is built. Warns once."""
    global _missing
    if _missing:
        reason, _missing = _missing, ""
        warnings.warn(
            f"torch tensors are read through DLPack: {reason} Build the reader for "
            "this torch with: python -m guardtree.torch build",
            PluginWarning,
            stacklevel=2,
        )


def has_plugin() -> bool:
    """Whether tensors are read by the plugin; else through DLPack."""
    return _plugin is not None


def plugin() -> Any:
    """The plugin's module, with its ``reader``; PluginError without one."""
    if _plugin is None:
        raise PluginError(
            "there is no plugin for this torch; run: python -m guardtree.torch build"
        )
    return _plugin


def state() -> dict[str, int | bool]:
    """What torch is set to in this thread, by the names that guard_state takes.

    Numbers are torch's own: of dtypes the ScalarType, of ``torch_function`` 0 enabled,
    1 subclasses disabled, 2 disabled, of the reduced reductions
    at::CuBLASReductionOption, of ``cuda_matmul_precision`` at::Float32Precision, with 7
    where torch's settings contradict each other. ``graph_hooks`` is 1 where the hooks
    of saved tensors are a pair of ``torch.fx.GraphModule``, which Dynamo makes a part
    of what it compiles, 0 where they are not, and 2 where only code of a hook's class
    could tell.
    PluginError without the plugin.
    """
    facts: dict[str, int | bool] = plugin().state_facts()
    return facts


def guard_state(guards: GuardManager, **facts: int | bool) -> GuardManager:
    """Guards some of torch's state, or all of it as it is now; returns ``guards``.

    All of it is every fact that Dynamo's GLOBAL_STATE guard compares, and besides the
    modes, forward gradients, cuDNN's use of TF32 and CUDA's precision of matmul (which
    that guard compares since torch 2.15). What torch keeps in Python objects is not in
    it: which torch function modes are active (their number is), the default
    device (a mode), the settings of ``torch._dynamo.config``. The facts are compared
    as words, of which only those with a chosen fact are read. ``explain`` names the
    facts that changed. TypeError for a name that is no fact, PluginError without the
    plugin.
    """
    check, text = state_check(facts or state())
    guards.module("torch").native_pure(check).note(text)
    return guards


def state_check(facts: dict[str, int | bool]) -> tuple[Any, str]:
    """What guard_state adds: a capsule for native_pure, and its note.

    Any number of trees can share it. Raises as guard_state does.
    """
    text = ", ".join(f"{name}={value}" for name, value in facts.items())
    return plugin().state_check(facts), f"torch state: {text}"


_find()
