"""The meaning of guards in plain Python: what strict mode and the tests judge by.

Imports nothing of what it judges. ``text_passes`` answers for the text of a whole tree
(``GuardManager.to_text``), ``verdict`` for printed nodes.
"""

from .meaning import *  # noqa: F403
from .relations import *  # noqa: F403
from .tensors import *  # noqa: F403
from .text import *  # noqa: F403
