"""Code whose locals are arguments."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from .analysis import parameter_count
from .assembler import assemble
from .instructions import unfused
from .reader import read


def with_arguments(code: CodeType, names: Sequence[str]) -> CodeType:
    """The same code with some of its locals as further keyword-only arguments.

    names are those of locals that are no arguments yet; the code finds them bound.
    Raises ValueError for any other name.
    """
    count = code.co_argcount + code.co_kwonlyargcount
    taken = parameter_count(code)
    known = dict.fromkeys((*code.co_varnames[taken:], *code.co_cellvars))
    for name in names:
        if name not in known or name in code.co_varnames[:taken]:
            raise ValueError(
                f"expected names of locals of {code.co_qualname!r} that are no "
                f"arguments, found {name!r}"
            )
    own = [name for name in code.co_varnames[count:] if name not in names]
    return assemble(
        unfused(read(code)),
        code,
        co_kwonlyargcount=code.co_kwonlyargcount + len(names),
        co_varnames=(*code.co_varnames[:count], *names, *own),
    )
