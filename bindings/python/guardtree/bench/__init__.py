"""Measurements: ``python -m guardtree bench``. See --help."""

from __future__ import annotations

from .command import main

__all__ = ["main"]
