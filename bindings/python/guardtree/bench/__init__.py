"""Measurements: ``python -m guardtree bench``. How they are taken: bench/README.md."""

from __future__ import annotations

from .command import main

__all__ = ["main"]
