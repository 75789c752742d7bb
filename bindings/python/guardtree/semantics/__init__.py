"""The functions that the Python text of guards uses.

Guards, paths and relations print as Python: ``same_constant(x, 3)``,
``dict_item(G['FLAGS'], 'debug')``. ``help(guardtree.GuardManager)`` has the text of
each. Every name in these texts is either a builtin or defined here, so you can paste
and run a text::

    from guardtree.semantics import *
    same_constant(True, 1)                  # False: the types differ
    dict_item({"a": 1}, "a")                # 1

Functions for kinds and relations return whether a value passes. Functions for steps
return the fetched value, and raise if there is none. Strict mode and the tests compare
guards with these functions. They are slow but easy to read; the guards themselves are
compiled C++.

The functions run no user code unless their docstring says so. Importing this package
imports neither NumPy nor torch. ``nan`` and ``inf`` are floats without a literal.
``native_is_int``, ``pure_is_int`` and ``native_type_of`` are capsules to try
``native``, ``native_pure`` and ``native_get`` with. ``TensorSpec`` is
``guardtree.TensorSpec``.
"""

from ..tensors import TensorSpec
from .classes import dict_of_type, is_a, mro_of
from .constants import inf, nan, nan_of_bits, same_constant
from .containers import (
    builtin_len,
    deque_item,
    dict_has,
    dict_item,
    has_builtin_len,
    is_a_set,
    is_exact_set,
    is_left,
    is_unchanged,
    left_of,
    plain_contains,
    plain_list,
    tuple_iterator,
)
from .errors import CannotSay, DoesNotHold
from .functions import bound_method, is_same_function, plain_function
from .integers import Int64, int64
from .natives import (
    call_native,
    get_native,
    native_is_int,
    native_type_of,
    pure_is_int,
)
from .objects import (
    dict_of_module,
    distinct_objects,
    exists,
    has_instance_attr,
    has_len,
    has_static_attr,
    instance_attr,
    lacks_plain_attr,
    live_referent,
    plain_attr,
    slot_value,
    weak_reference,
)
from .tensors import (
    has_aligned_data,
    has_tensor_facts,
    overlapping_pairs,
    stride_of,
    tensor,
)

__all__ = [
    "CannotSay",
    "DoesNotHold",
    "Int64",
    "TensorSpec",
    "bound_method",
    "builtin_len",
    "call_native",
    "deque_item",
    "dict_has",
    "dict_item",
    "dict_of_module",
    "dict_of_type",
    "distinct_objects",
    "exists",
    "get_native",
    "has_aligned_data",
    "has_builtin_len",
    "has_instance_attr",
    "has_len",
    "has_static_attr",
    "has_tensor_facts",
    "inf",
    "instance_attr",
    "int64",
    "is_a",
    "is_a_set",
    "is_exact_set",
    "is_left",
    "is_same_function",
    "is_unchanged",
    "lacks_plain_attr",
    "left_of",
    "live_referent",
    "mro_of",
    "nan",
    "nan_of_bits",
    "native_is_int",
    "native_type_of",
    "overlapping_pairs",
    "plain_attr",
    "plain_contains",
    "plain_function",
    "plain_list",
    "pure_is_int",
    "same_constant",
    "slot_value",
    "stride_of",
    "tensor",
    "tuple_iterator",
    "weak_reference",
]
