"""Tensor specs: the metadata that a tensor must have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Bound = int | tuple[int | None, int | None] | None
"""A size or stride: exact, any (None), or from low to high, both included."""


class TensorSpec(dict[str, Any]):
    """Facts about a tensor. ``tensor_match`` accepts this, or an example tensor.

    A dict of the facts to compare; all others are ignored. ``dtype`` is a name or a
    dtype of NumPy or torch. ``device`` looks like "cuda:0". ``strides`` are in the
    library's own unit. ``alignment`` is a power of two that divides the address of the
    first element, which must exist. ``tensor_match`` copies the dict, and refuses
    unknown facts.
    """

    def __init__(
        self,
        *,
        type: type | None = None,
        dtype: object = None,
        device: object = None,
        layout: object = None,
        ndim: int | None = None,
        shape: Sequence[Bound] | None = None,
        strides: Sequence[Bound] | None = None,
        storage_offset: int | None = None,
        alignment: int | None = None,
        requires_grad: bool | None = None,
        conj: bool | None = None,
        neg: bool | None = None,
        writeable: bool | None = None,
        aligned: bool | None = None,
        c_contiguous: bool | None = None,
        f_contiguous: bool | None = None,
        dispatch_keys: int | None = None,
        local_dispatch_keys: int | None = None,
    ) -> None:
        given = {name: fact for name, fact in locals().items() if fact is not None}
        del given["self"]
        given.pop("__class__", None)
        super().__init__(given)

    @classmethod
    def of(cls, tensor: object, **changes: Any) -> TensorSpec:
        """The facts of a tensor, some of them changed. None removes a fact.

        Raises TypeError if the object is not a tensor.
        """
        from . import _guardtree  # here, because semantics works without the extension

        return cls(**_guardtree.tensor_facts(tensor)).replace(**changes)

    def replace(self, **changes: Any) -> TensorSpec:
        """A copy with some facts changed. None removes a fact."""
        return type(self)(**{**self, **changes})

    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={fact!r}" for name, fact in self.items())
        return f"TensorSpec({facts})"
