"""The folders with the files that C and C++ projects need."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """The folder of ``guardtree.h``: for a compiler's ``-I``."""
    return str(Path(__file__).absolute().parent / "include")


def cmake_dir() -> str:
    """The value of guardtree_DIR for ``find_package(guardtree CONFIG)``."""
    return str(Path(__file__).absolute().parent / "cmake")
