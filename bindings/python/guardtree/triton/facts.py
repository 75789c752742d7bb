"""The facts of a launch that Triton's key has, as guards."""

from __future__ import annotations

import inspect
import os
from types import FunctionType, MemberDescriptorType, MethodDescriptorType
from typing import Any

from triton import knobs
from triton.knobs import HookChain
from triton.language import constexpr
from triton.language import dtype as TritonType
from triton.runtime import driver
from triton.runtime.jit import JITFunction, KernelParam

from .. import GuardManager
from ..demands import passes
from ..key_plans import KeyPlan
from ..tensors import TensorSpec

CONSTANTS = (type(None), bool, int, float, str)
ENVIRONMENT = b"TRITON_FPSAN_HOMOMORPHIC_CASTS"
"""The only variable that Triton reads again for each launch."""


class NotServed(Exception):
    """A launch whose key has facts that guards do not decide: Triton's run decides."""


def is_unaligned(tensor: Any) -> bool:
    """Triton's own reading: it asks for 0 where a tensor has no elements."""
    address: int = tensor.data_ptr()
    return address & 15 != 0


def is_aligned(tensor: Any) -> bool:
    address: int = tensor.data_ptr()
    return address & 15 == 0


def guard_constant(at: GuardManager, value: Any) -> None:
    """A value that counts by type and value."""
    if type(value) in CONSTANTS:
        at.equals(value)
    elif type(value) is TritonType:
        at.id_match(value)
    elif type(value) is constexpr:
        guard_constant(at.type_match(constexpr).attr("value"), value.value)
    elif type(value) is tuple:
        at.type_match(tuple).length(len(value))
        for index, each in enumerate(value):
            guard_constant(at.tuple_item(index), each)
    else:
        raise NotServed(f"a constant of type {type(value).__name__}")


def guard_type(at: GuardManager, value: Any) -> None:
    at.type_match(type(value))


def guard_int(at: GuardManager, value: int, is_special: bool, is_aligned: bool) -> None:
    facts = ["width"]
    if is_special:
        facts += ["one", *["divisible"] * is_aligned]
    at.specialize(value, KeyPlan(ints=tuple(facts)))
    if is_special and is_aligned and value >= 2**63:
        # `divisible_by` knows 64 bits with a sign only.
        at.python(is_divisible if is_divisible(value) else is_not_divisible)


def is_divisible(value: int) -> bool:
    return value & 15 == 0


def is_not_divisible(value: int) -> bool:
    return value & 15 != 0


def guard_pointer(
    at: GuardManager, value: Any, is_special: bool, is_alignment: bool
) -> None:
    """Something with ``data_ptr()`` and ``dtype``, such as a torch tensor."""
    is_plain = is_plain_attribute(value, "dtype")
    needs_alignment = is_special and is_alignment
    if is_torch_tensor(value):
        spec = TensorSpec(type=type(value), dtype=value.dtype)
        if needs_alignment and passes(value, "data_aligned", 16):
            at.tensor_match(spec.replace(alignment=16))
            return
        at.tensor_match(spec)
    else:
        at.type_match(type(value))
        dtype = at.plain_attr("dtype") if is_plain else at.attr("dtype")
        dtype.id_match(value.dtype)
    if not needs_alignment:
        return
    address, method = value.data_ptr(), method_of(value) if is_plain else None
    if method is None or not is_int64(address):
        at.python(is_unaligned if is_unaligned(value) else is_aligned)
    else:
        # Cheaper than a predicate in Python. `plain_attr` sees to it that `getattr`
        # of this class stays the usual one.
        if kind_has_dict(type(value)):
            at.lacks_instance_attr("data_ptr")
        found = at.compute(method)
        if address & 15:
            found.int_range(0, 2**63 - 1).not_(("divisible_by", 16))
        else:
            found.divisible_by(16)


def is_plain_attribute(value: Any, name: str) -> bool:
    """Whether ``getattr`` finds it without running code (``plain_attr``)."""
    if not is_usual(type(value)):
        return False
    found = inspect.getattr_static(type(value), name, None)
    if type(found) is MemberDescriptorType:
        return True
    return name in instance_dict(value) and not is_descriptor(value, name)


def kind_has_dict(kind: type) -> bool:
    """Whether instances of a class have attributes of their own."""
    return kind.__dictoffset__ != 0


def is_int64(address: object) -> bool:
    return type(address) is int and 0 <= address < 2**63


def instance_dict(value: Any) -> dict[str, Any]:
    """Its attributes, if ``getattr`` looks there as it does for usual objects."""
    return getattr(value, "__dict__", {}) if is_usual(type(value)) else {}


def is_usual(kind: Any) -> bool:
    """Whether ``getattr`` is object's own for a class."""
    return bool(kind.__getattribute__ is object.__getattribute__)


def is_descriptor(value: Any, name: str) -> bool:
    """Whether the value's class has something of that name which may run code."""
    return hasattr(type(inspect.getattr_static(type(value), name, None)), "__get__")


def is_data_descriptor(value: Any, name: str) -> bool:
    """Whether the class has something that goes before the value's own attribute."""
    found = type(inspect.getattr_static(type(value), name, None))
    return hasattr(found, "__set__") or hasattr(found, "__delete__")


def method_of(value: Any) -> FunctionType | MethodDescriptorType | None:
    """``data_ptr`` where the class itself defines it, and nothing else replaces it."""
    found = vars(type(value)).get("data_ptr")
    if type(found) not in (FunctionType, MethodDescriptorType):
        return None
    if not is_usual(type(value)):
        return None
    return found if "data_ptr" not in instance_dict(value) else None


def guard_methods(guards: GuardManager, kernel: JITFunction, values: Any) -> None:
    """That the classes of pointers keep the method that guards call."""
    scope: dict[str, Any] = vars(kernel)["_guardtree"].scope
    for value in values:
        kind = type(value)
        if hasattr(kind, "data_ptr") and (method := method_of(value)) is not None:
            name = f"type_{id(kind)}"
            scope.setdefault(name, kind)
            at = guards.global_(name).type_dict().dict_item("data_ptr")
            at.id_match(method)


def is_torch_tensor(value: Any) -> bool:
    kind = type(value)
    return (kind.__module__, kind.__name__) in (
        ("torch", "Tensor"),
        ("torch.nn.parameter", "Parameter"),
    )


def guard_argument(at: GuardManager, value: Any, parameter: KernelParam) -> None:
    """What Triton's binder tells of an argument. Guards may tell more, never less."""
    if parameter.is_constexpr:
        guard_constant(at, value)
        return
    is_special = not parameter.do_not_specialize
    is_alignment = not parameter.do_not_specialize_on_alignment
    if value is None:
        at.is_none()
    elif type(value) in (bool, float):
        guard_type(at, value)
    elif type(value) is int:
        if not -(2**63) <= value < 2**64:
            raise NotServed("an int of more than 64 bits")
        guard_int(at, value, is_special, is_alignment)
    elif type(value) is constexpr:
        guard_constant(at, value)
    elif hasattr(type(value), "data_ptr") and hasattr(value, "dtype"):
        guard_pointer(at, value, is_special, is_alignment)
    else:
        raise NotServed(f"an argument of type {type(value).__name__}")


def guard_options(at: GuardManager, options: dict[str, Any]) -> None:
    """Keywords that are no parameters, in their order: ``num_warps`` and others."""
    at.dict_keys(tuple(options))
    for name, value in options.items():
        guard_constant(at.dict_item(name), value)


def attribute_at(guards: GuardManager, local: str, owner: Any, name: str) -> Any:
    """Where guards find an attribute: in dicts whose changes end assumptions.

    Such guards cost nothing until a dict changes. `attr` would be asked each time.
    """
    at, kind = guards.global_(local), type(owner)
    if is_descriptor(owner, name):
        return at.attr(name)
    if name in vars(owner):
        return at.instance_attr(name)
    if name not in vars(kind):
        return at.attr(name)
    at.lacks_instance_attr(name)
    return at.type().type_dict().dict_item(name)


def guard_hooks(guards: GuardManager, kernel: JITFunction) -> None:
    """Launches with hooks before them are Triton's."""
    attribute_at(guards, "kernel", kernel, "pre_run_hooks").length(0)
    name = "add_stages_inspection_hook"
    attribute_at(guards, "runtime", knobs.runtime, name).is_none()


def guard_debug(guards: GuardManager, kernel: JITFunction) -> None:
    for local, owner in (("kernel", kernel), ("runtime", knobs.runtime)):
        guard_constant(attribute_at(guards, local, owner, "debug"), owner.debug)


def guard_instrumentation(guards: GuardManager, kernel: JITFunction) -> None:
    name = "instrumentation_mode"
    at = attribute_at(guards, "compilation", knobs.compilation, name)
    guard_constant(at, knobs.compilation.instrumentation_mode)


def guard_casts(guards: GuardManager, kernel: JITFunction) -> None:
    """A knob that Triton reads from the environment where it is not set."""
    name, at = "fpsan_homomorphic_casts", guards.global_("compilation")
    if name in vars(knobs.compilation):
        guard_constant(at.instance_attr(name), vars(knobs.compilation)[name])
        return
    at.lacks_instance_attr(name)
    at = guards.global_("environment")
    variables: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]
    if ENVIRONMENT in variables:
        at.dict_item(ENVIRONMENT).equals(variables[ENVIRONMENT])
    else:
        at.dict_lacks(ENVIRONMENT)


def guard_used_globals(guards: GuardManager, kernel: JITFunction) -> None:
    """Triton raises where a global has changed since the kernel was compiled."""
    scope: dict[str, Any] = vars(kernel)["_guardtree"].scope
    for (name, number), (value, held) in kernel.used_global_vals.items():
        scope.setdefault(f"used_{number}", held)  # a change would end assumptions
        guard_constant(guards.global_(f"used_{number}").dict_item(name), value)


STATE = (
    guard_hooks,
    guard_debug,
    guard_instrumentation,
    guard_casts,
    guard_used_globals,
)
"""What a launch reads beside its arguments."""


def guard_driver(guards: GuardManager, kernel: JITFunction) -> None:
    """The driver, and what it answers with: a payload calls these methods."""
    active = vars(driver).get("_active")
    if active is None or not is_usual(type(active)):
        raise NotServed("no driver, or one with a getattr of its own")
    at = guards.global_("config").instance_attr("_active").id_match(active)
    for name in ("get_current_device", "get_current_stream"):
        if name in vars(active) and not is_data_descriptor(active, name):
            at.instance_attr(name).id_match(vars(active)[name])
            continue
        found = vars(type(active)).get(name)
        if type(found) is not FunctionType or name in vars(active):
            raise NotServed(f"a driver that inherits {name}")
        at.lacks_instance_attr(name)
        at.type().type_dict().dict_item(name).id_match(found)


def guard_launch_hooks(guards: GuardManager, kernel: JITFunction) -> None:
    """The hooks that a payload hands over, and the lists of those that chains call."""
    for name in ("launch_enter_hook", "launch_exit_hook"):
        at = attribute_at(guards, "runtime", knobs.runtime, name)
        hook: Any = getattr(knobs.runtime, name)
        at.id_match(hook)
        if type(hook) is HookChain:
            at.instance_attr("calls").id_match(hook.calls)


LAUNCH = (guard_driver, guard_launch_hooks)
"""What the native payload of an entry goes by. Triton's key has none of it."""
