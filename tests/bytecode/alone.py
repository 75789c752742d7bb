"""Imports `guardtree.bytecode` from the sources alone, where no package is built.

The subpackage needs nothing compiled. Where `guardtree` cannot be imported it is taken
from the sources, without the package around it; what needs the frame hook is skipped.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

SOURCES = Path(__file__).resolve().parents[2] / "bindings/python/guardtree"


def bare_package() -> ModuleType:
    """A package of the sources' folder whose own __init__.py is not run."""
    package = ModuleType("guardtree")
    package.__path__ = [str(SOURCES)]
    return package


IS_BUILT = importlib.util.find_spec("guardtree") is not None
if not IS_BUILT:
    sys.modules["guardtree"] = bare_package()
