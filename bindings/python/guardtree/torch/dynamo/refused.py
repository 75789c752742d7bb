"""What has no counterpart among guardtree's guards."""


class RefusedError(RuntimeError):
    """A leaf, a step or a relation that has no counterpart here."""
