"""Code for entries to run."""

from __future__ import annotations

from typing import Any


def returning(value: Any) -> Any:
    """Code of one argument `a` that returns a constant."""
    namespace: dict[str, Any] = {}
    exec(f"def f(a): return {value!r}", namespace)
    return namespace["f"].__code__
