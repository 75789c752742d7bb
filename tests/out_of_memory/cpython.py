"""What CPython does too where there is no memory: programs without guardtree that show
it, and the trials that meet it.

A trial may say what its program says, and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import json.encoder
import pickle
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trials import TRIALS, Trial

LOST = r"SystemError: (error return without exception set$|<function .* returned NULL)"


@dataclass(frozen=True)
class Control:
    run: Callable[[], Any]
    ways: tuple[str, ...]
    """Of making allocations fail (failing.py)."""
    says: str
    """A pattern for what is wrong."""
    trials: str
    """A pattern for their names."""
    versions: tuple[int, ...] = (11, 12, 13, 14, 15)
    """The minor versions that do it."""


def parsed() -> int:
    return int("x")


def caught() -> str:
    """An exception that passes two frames: where there is no memory for the frame that
    its traceback would show, it is lost."""
    try:
        parsed()
    except MemoryError:
        raise
    except ValueError:
        return "refused"
    return "taken"


def compiled() -> Any:
    """The compiler gives up without an exception, or crashes."""
    names: dict[str, Any] = {}
    exec("def f(a, b=2, *c, d=3):\n    return [a for a in b if a], {'a': b}\n", names)
    return names["f"](1, [1, 0])


def damaged() -> int:
    """A compiler of 3.11 that gives up damages the heap: a later string crashes."""
    source = "def f(a, b):\n    c = 'a constant of a function'\n    return c()(a, b)\n"
    try:
        compile(source, "f", "exec")
    finally:
        texts = [str(each) * 9 for each in range(200)]
    return len(texts)


# A handler is given the place of the exception, an int. Without memory for a large one
# the interpreter looks for a handler of that, without end.
LONG = """
def long():
    with nullcontext():
        {}
        bytes(7)
""".format("x = 1; " * 300)
names: dict[str, Any] = {"nullcontext": contextlib.nullcontext}
exec(LONG, names)


def pickled() -> Any:
    """pickle takes every exception of the import of the module for a missing one."""
    function = json.encoder.py_encode_basestring  # type: ignore[attr-defined]
    return pickle.loads(pickle.dumps(function)) is function


def hashed() -> str:
    """OpenSSL's failures are ValueError."""
    return hashlib.sha256(b"x").hexdigest()


def dumped() -> str:
    """The encoder of 3.13 goes on where there was no memory for a part of the text."""
    return json.dumps({"failures": [{"path": f"x[{i}]"} for i in range(40)]})


def made() -> int:
    """Without memory for the function, MAKE_FUNCTION of CPython 3.12 and 3.13 drops the
    reference to its code twice: the code is freed while its function has it."""
    return (lambda: 1)()


def imported() -> Any:
    """An import of a submodule that fails for want of memory damages CPython 3.13 and
    3.15: one of the next tuples crashes. Several imports, so that it does here."""
    for _ in range(4):
        sys.modules.pop("json.scanner", None)
        vars(json).pop("scanner", None)
        try:
            from json import scanner
        finally:
            pairs = [list(zip(range(40), range(40))) for _ in range(6)]
    return len(pairs), scanner.__name__


def listed() -> list[str]:
    """Without memory for the frame's object, `locals()` of CPython 3.13 makes a tuple
    of a null pointer."""
    here = 1
    return [*locals()][:here]


CONTROLS = {
    "an exception that passes two frames": Control(
        caught,
        ("nomemory",),
        LOST,
        r"refused: (gt\.guard_function|g\.local\('a'\)\.specialize)"
        "|a finalizer: a target, restored",
    ),
    "an exception in a long function": Control(
        names["long"],
        ("nomemory",),
        "SIGALRM",
        r"the log of (misses|guards)$|Explanation\.to_json|a note that is printed",
    ),
    "pickle of a function": Control(
        pickled, ("nomemory",), "PicklingError: Can't pickle", "pickle of guards"
    ),
    "a function made inside a function": Control(
        made,
        ("nomemory",),
        "SIGSEGV|SIGBUS|SIGABRT|afterwards",
        "a callback in|the callback, an entry|the report of a miss"
        "|a note that is printed"
        "|attributes of (Frame|KeyPlan|CacheExplanation|EntryExplanation)"
        "|clone with a filter|from_json with a resolver|a setting in Python"
        r"|(explain|report), (python guard|mapping in Python)|explain: entries"
        r"|specialize, a dataclass in Python|GuardManager\.specialize: dict",
        versions=(12, 13),
    ),
    "locals of a function": Control(
        listed,
        ("nomemory",),
        "SIGSEGV|SIGBUS|SIGABRT",
        "attributes of TensorSpec|tensors of NumPy",
        versions=(13,),
    ),
    "an import of a submodule": Control(
        imported,
        ("nomemory",),
        "SIGSEGV|SIGBUS|SIGABRT",
        "strict",
        versions=(13, 15),
    ),
    "a hash of OpenSSL": Control(
        hashed,
        ("malloc",),
        r"ValueError: \[digital",
        r"GuardManager\.digest: |Report\.to_html",
    ),
    "a text of JSON": Control(
        dumped,
        ("malloc",),
        r"SystemError: <_json\.Encoder object at \w+> returned a result",
        r"Explanation\.to_json|Report\.to_html",
        versions=(13,),
    ),
    "the compiler": Control(
        compiled,
        ("nomemory", "malloc"),
        r"SystemError: (error return|<built-in function (compile|exec)> returned NULL)",
        "a finalizer: a target, restored",
    ),
    "strings after the compiler": Control(
        damaged,
        ("nomemory",),
        "SIGSEGV|SIGABRT",
        "a finalizer: a target, restored",
        versions=(11,),
    ),
}
for name, control in CONTROLS.items():
    TRIALS[f"CPython: {name}"] = lambda run=control.run: Trial(run)


def is_cpythons(way: str, trial: str, said: str) -> bool:
    return any(
        way in control.ways
        and sys.version_info[1] in control.versions
        and re.match(control.trials, trial)
        and re.match(control.says, said)
        for control in CONTROLS.values()
    )
