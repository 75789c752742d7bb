"""torch.compile on guardtree: Dynamo traces and compiles as before; its guards, the
look-up of entries and the frame hook are guardtree's.

    import guardtree.torch.dynamo as gd
    gd.install()                      # or: with gd.installed(): ...; gd.uninstall()
"""

from __future__ import annotations

from .guards import DifferenceError
from .installation import install, installed, uninstall
from .internals import SUPPORTED, UnsupportedError
from .record import LostError
from .reports import explain, report
from .refused import RefusedError

__all__ = [
    "SUPPORTED",
    "DifferenceError",
    "LostError",
    "RefusedError",
    "UnsupportedError",
    "explain",
    "install",
    "installed",
    "report",
    "uninstall",
]
