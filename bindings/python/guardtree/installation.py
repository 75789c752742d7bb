"""Where this package keeps what C and C++ projects need to use it."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """The folder of ``guardtree.h``: for a compiler's ``-I``."""
    return str(Path(__file__).absolute().parent / "include")


def cmake_dir() -> str:
    """The folder that ``find_package(guardtree CONFIG)`` wants as guardtree_DIR."""
    return str(Path(__file__).absolute().parent / "cmake")
