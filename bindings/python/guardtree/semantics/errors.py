"""Exceptions of these functions that Python has no class for."""


class DoesNotHold(Exception):
    """An integer expression has no value: a wrong type, or more than 64 bits.

    A guard that reads such a value fails.
    """


class CannotSay(Exception):
    """Plain Python cannot read the data that the guard reads, so there is no result."""
