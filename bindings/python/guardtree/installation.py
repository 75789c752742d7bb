"""The folders with the files that C and C++ projects need."""

from __future__ import annotations

from pathlib import Path

from . import _guardtree

# They are installed beside the extension. In an editable install, Python files such as
# this one are elsewhere.
HOME = Path(_guardtree.__file__).absolute().parent


def get_include() -> str:
    """The folder of ``guardtree.h``: for a compiler's ``-I``."""
    return str(HOME / "include")


def cmake_dir() -> str:
    """The value of guardtree_DIR for ``find_package(guardtree CONFIG)``."""
    return str(HOME / "cmake")
