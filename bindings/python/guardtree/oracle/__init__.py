"""What strict mode and the tests judge guards by: their texts, evaluated by Python.

``text_passes`` answers for the text of a whole tree (``GuardManager.to_text``),
``verdict`` for printed nodes. The words of texts are those of ``guardtree.semantics``.
Nothing of what is judged is imported.
"""

from .meaning import *  # noqa: F403
from .text import *  # noqa: F403
