"""Evaluates the text of guards in Python, for strict mode and the tests.

``text_passes`` evaluates the text of a whole tree (``GuardManager.to_text``), and
``verdict`` evaluates printed nodes. The texts use the functions of
``guardtree.semantics``. Nothing here imports the code that is being checked.
"""

from .meaning import *  # noqa: F403
from .text import *  # noqa: F403
