"""What the words of guards raise where Python has no error of its own for it."""


class DoesNotHold(Exception):
    """An integer expression has no value: a wrong type, or more than 64 bits.

    A guard that reads such a value fails.
    """


class CannotSay(Exception):
    """Plain Python cannot see what the guard reads, so it cannot tell the answer."""
