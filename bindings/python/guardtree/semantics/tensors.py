"""Functions on tensors, which read the Python attributes of NumPy and torch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .errors import CannotSay

FLAGS = ("writeable", "aligned", "c_contiguous", "f_contiguous")


def is_array(value: Any) -> bool:
    """Whether the value is a NumPy array. Does not import NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_torch(value: Any) -> bool:
    """Whether the value is a torch tensor. Does not import torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def dtype_of(value: Any) -> Any:
    """The name of the element type, or NumPy's dtype if the name is not enough."""
    if is_torch(value):
        return str(value.dtype).removeprefix("torch.")
    dtype = value.dtype
    is_plain = dtype.kind in "biufc" and dtype.isnative and dtype.num < 24
    return dtype.name if is_plain else dtype


def compares_quietly(dtype: Any) -> bool:
    """Whether NumPy compares a dtype without running code of the user's."""
    number: int = dtype.num
    if number == 2056:  # StringDType
        missing = getattr(dtype, "na_object", None)
        return missing is None or type(missing) in (float, str)
    if dtype.subdtype is not None:
        return compares_quietly(dtype.subdtype[0])
    if dtype.fields is None:
        return 0 <= number < 24 or 256 <= number < 2056
    fields = dtype.fields.values()
    words = [*dtype.fields, *(title for field in fields for title in field[2:])]
    return all(type(word) is str for word in words) and all(
        compares_quietly(field[0]) for field in fields
    )


def same_dtype(found: Any, expected: Any) -> bool:
    """Whether two element types are equal names, or equal dtypes of one type. A dtype
    that NumPy would run user code to compare equals none."""
    if type(found) is not type(expected):
        return False
    return bool((type(found) is str or compares_quietly(found)) and found == expected)


def device_of(value: Any) -> str:
    """The device, such as "cpu" or "cuda:0"."""
    return str(value.device) if is_torch(value) else "cpu"


def layout_of(value: Any) -> str:
    """The layout, such as "strided" or "sparse"."""
    text = str(value.layout).removeprefix("torch.") if is_torch(value) else "strided"
    return "sparse" if text == "sparse_coo" else text


def strides_of(value: Any) -> tuple[int, ...]:
    """The strides in the library's own unit."""
    return tuple(value.stride()) if is_torch(value) else value.strides


def local_keys_of(value: Any) -> int:
    """A torch tensor's dispatch keys, with those that this thread includes, without
    those that it excludes, as bits."""
    c = sys.modules["torch"]._C
    included = c._dispatch_tls_local_include_set().raw_repr()
    excluded = c._dispatch_tls_local_exclude_set().raw_repr()
    return int((c._dispatch_keys(value).raw_repr() | included) & ~excluded)


def is_within(found: int, bound: Any) -> bool:
    """Whether a number equals an int bound, or is within (low, high). None is any."""
    if type(bound) is int:
        return found == bound
    low, high = bound or (None, None)
    return (low is None or low <= found) and (high is None or found <= high)


def all_within(found: tuple[int, ...], bounds: tuple[Any, ...]) -> bool:
    """Whether there are as many numbers as bounds, each within its own bound."""
    return len(found) == len(bounds) and all(map(is_within, found, bounds))


def has_fact(value: Any, name: str, expected: Any) -> bool:
    """Whether a tensor has one fact of a spec."""
    if name == "type":
        return type(value) is expected
    if name == "dtype":
        return same_dtype(dtype_of(value), expected)
    if name == "device":
        return bool(device_of(value) == expected)
    if name == "layout":
        return bool(layout_of(value) == expected)
    if name == "ndim":
        return bool(value.ndim == expected)
    if name == "shape":
        return all_within(tuple(value.shape), expected)
    if name == "strides":
        return all_within(strides_of(value), expected)
    if name == "storage_offset":
        return is_torch(value) and bool(value.storage_offset() == expected)
    if name == "alignment":
        return has_aligned_data(value, expected)
    if name in ("requires_grad", "conj", "neg"):
        found = name if name == "requires_grad" else f"is_{name}"
        answer = getattr(value, found, None)
        return bool((answer() if callable(answer) else answer) is expected)
    if name == "dispatch_keys":
        keys = sys.modules["torch"]._C._dispatch_keys
        return is_torch(value) and bool(keys(value).raw_repr() == expected)
    if name == "local_dispatch_keys":
        return is_torch(value) and local_keys_of(value) == expected
    if name in FLAGS:
        return is_array(value) and getattr(value.flags, name) is expected
    raise AssertionError(name)


def has_tensor_facts(value: Any, spec: Any) -> bool:
    """Whether a tensor has every fact of a spec, or the metadata of another tensor.

    A spec is a dict of facts such as ``TensorSpec(dtype="float32", shape=(None, 3))``.
    False for other objects. Tensors of other libraries than NumPy and torch raise
    CannotSay. It reads attributes, which subclasses of a tensor can override.
    """
    if not isinstance(spec, Mapping):
        spec = facts_of(spec)
    if not (is_array(value) or is_torch(value)):
        if hasattr(type(value), "__dlpack_c_exchange_api__"):
            raise CannotSay("tensors of other libraries")
        return False
    return all(has_fact(value, name, expected) for name, expected in spec.items())


def facts_of(example: Any) -> Mapping[str, Any]:
    """The facts that a guard made from an example tensor compares."""
    from .. import _guardtree

    return _guardtree.tensor_facts(example)


def overlapping_pairs(*tensors: Any) -> set[tuple[int, int]]:
    """The pairs of positions of NumPy arrays whose extents in memory overlap.

    An extent goes from the first byte to the last. Raises TypeError for other values.
    """
    if not all(is_array(each) for each in tensors):
        raise TypeError(tensors)
    numpy = sys.modules["numpy"]
    return {
        (i, j)
        for j in range(len(tensors))
        for i in range(j)
        if numpy.may_share_memory(tensors[i], tensors[j])
    }


def has_aligned_data(value: Any, divisor: int) -> bool:
    """Whether the address of a tensor's first element is a multiple of the divisor.

    False for what is no tensor, and for tensors without data. Tensors of other
    libraries than NumPy and torch raise CannotSay.
    """
    if is_array(value):
        address = value.__array_interface__["data"][0]
    elif is_torch(value):
        address = value.data_ptr()
    elif hasattr(type(value), "__dlpack_c_exchange_api__"):
        raise CannotSay("tensors of other libraries")
    else:
        return False
    return bool(address != 0 and address % divisor == 0)


def tensor(value: Any) -> Any:
    """The value itself, if it is a NumPy array or a torch tensor, else TypeError."""
    if not (is_array(value) or is_torch(value)):
        raise TypeError(value)
    return value


def stride_of(value: Any, index: int) -> int:
    """A tensor's stride in one dimension, in the library's own unit.

    NumPy counts bytes, torch counts elements. Raises IndexError if there is no such
    dimension, TypeError if the value is not a tensor.
    """
    return strides_of(tensor(value))[index]
