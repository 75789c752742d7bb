"""What a tensor's facts mean, by the attributes that NumPy and torch give in Python."""

from __future__ import annotations

import sys
from typing import Any

from .meaning import NAMESPACE, CannotSay

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


def is_array(value: Any) -> bool:
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def dtype_of(value: Any) -> Any:
    """The name, or NumPy's dtype itself where the name does not say all."""
    if is_torch(value):
        return str(value.dtype).removeprefix("torch.")
    dtype = value.dtype
    is_plain = dtype.kind in "biufc" and dtype.isnative and dtype.num < 24
    return dtype.name if is_plain else dtype


def same_dtype(found: Any, expected: Any) -> bool:
    if type(found) is str or type(expected) is str:
        return type(found) is type(expected) and found == expected
    return type(found) is type(expected) and found == expected


def device_of(value: Any) -> str:
    return str(value.device) if is_torch(value) else "cpu"


def layout_of(value: Any) -> str:
    text = str(value.layout).removeprefix("torch.") if is_torch(value) else "strided"
    return "sparse" if text == "sparse_coo" else text


def strides_of(value: Any) -> tuple[int, ...]:
    return tuple(value.stride()) if is_torch(value) else value.strides


def stride_of(value: Any, index: int) -> int:
    if not (is_array(value) or is_torch(value)):
        raise TypeError(value)
    return strides_of(value)[index]


def is_within(found: int, bound: Any) -> bool:
    if type(bound) is int:
        return found == bound
    low, high = bound or (None, None)
    return (low is None or low <= found) and (high is None or found <= high)


def all_within(found: tuple[int, ...], bounds: tuple[Any, ...]) -> bool:
    return len(found) == len(bounds) and all(map(is_within, found, bounds))


FLAGS = ("writeable", "aligned", "c_contiguous", "f_contiguous")


def has_fact(value: Any, name: str, expected: Any) -> bool:
    if name == "type":
        return type(value) is expected
    if name == "dtype":
        return same_dtype(dtype_of(value), expected)
    if name == "device":
        return device_of(value) == expected
    if name == "layout":
        return layout_of(value) == expected
    if name == "ndim":
        return value.ndim == expected
    if name == "shape":
        return all_within(tuple(value.shape), expected)
    if name == "strides":
        return all_within(strides_of(value), expected)
    if name == "storage_offset":
        return is_torch(value) and value.storage_offset() == expected
    if name in ("requires_grad", "conj", "neg"):
        found = name if name == "requires_grad" else f"is_{name}"
        answer = getattr(value, found, None)
        return (answer() if callable(answer) else answer) is expected
    if name == "dispatch_keys":
        keys = sys.modules["torch"]._C._dispatch_keys
        return is_torch(value) and keys(value).raw_repr() == expected
    if name in FLAGS:
        return is_array(value) and getattr(value.flags, name) is expected
    raise AssertionError(name)


def has_tensor_facts(value: Any, spec: dict[str, Any]) -> bool:
    """Every fact of the spec is as it says; what is no tensor has none."""
    if not (is_array(value) or is_torch(value)):
        if hasattr(type(value), "__dlpack_c_exchange_api__"):
            raise CannotSay("tensors of other libraries")
        return False
    return all(has_fact(value, name, expected) for name, expected in spec.items())


def overlapping_pairs(*tensors: Any) -> set[tuple[int, int]]:
    """Positions of tensors whose extents in memory overlap; TypeError for others."""
    if not all(is_array(each) for each in tensors):
        raise TypeError(tensors)
    return {
        (i, j)
        for j in range(len(tensors))
        for i in range(j)
        if numpy.may_share_memory(tensors[i], tensors[j])
    }


def numpy_views(length: int, *slices: tuple[int, int]) -> tuple[Any, ...]:
    """Slices of one array."""
    whole = numpy.zeros(length)
    return tuple(whole[begin:end] for begin, end in slices)


def tensor(value: Any) -> Any:
    """The value, which is one: relations read its shape."""
    if not (is_array(value) or is_torch(value)):
        raise TypeError(value)
    return value


NAMESPACE.update(
    has_tensor_facts=has_tensor_facts,
    overlapping_pairs=overlapping_pairs,
    numpy_views=numpy_views,
    stride_of=stride_of,
    tensor=tensor,
    TensorSpec=dict,
    numpy=numpy,
)
