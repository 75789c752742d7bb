"""Triton kernels whose launches guardtree decides: ``install(kernel)``.

``kernel[grid](...)`` is looked up in a ``Dispatcher``. Triton's own ``JITFunction.run``
makes every first launch of a kind, and every launch that guards cannot decide.
"""

from __future__ import annotations

try:
    import triton as _triton
except ImportError as error:
    raise ImportError("guardtree.triton needs triton: pip install triton") from error

from .launches import dispatcher_of, install, uninstall

__all__ = ["SUPPORTED", "dispatcher_of", "install", "uninstall"]

SUPPORTED: tuple[str, ...] = ("3.9.",)
"""How versions of Triton start whose launch path this package knows."""

if not _triton.__version__.startswith(SUPPORTED):
    raise ImportError(
        f"guardtree.triton knows the launch path of Triton {', '.join(SUPPORTED)}x, "
        f"found {_triton.__version__}: install one of these, or launch without it"
    )
