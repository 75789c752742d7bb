"""What is tried without memory: an operation, its answer in plain data, the lists."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import guardtree as gt

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "hostile"), str(TESTS / "growth")]

import building  # noqa: E402
import c_interface  # noqa: E402
import callbacks  # noqa: E402
import dispatchers  # noqa: E402
import growth_entries  # noqa: E402
import lookups  # noqa: E402
from conditions import probe  # noqa: E402
from scene import ANY, ENTRY_POINTS, Act, Case, Hook, hit  # noqa: E402

LISTED = (building, c_interface, callbacks, dispatchers, lookups)
PARTS = 3  # of what growth/ measures


@dataclass
class Trial:
    """An operation that is ready to be called."""

    run: Callable[[], Any]
    answers: tuple[Any, ...] = ()
    """The right answers; the first where nothing fails. None: what it gives first."""
    is_repeatable: bool = True
    """A call leaves everything as it was, so that the next one gives the same."""
    keep: Any = None
    """What `run` needs alive."""


Maker = Callable[[], Trial]
TRIALS: dict[str, Maker] = {}


def plain(found: Any) -> Any:
    """An answer in builtin values that can be compared."""
    if isinstance(found, (list, tuple)):
        return [plain(each) for each in found]
    if isinstance(found, dict):
        return {str(key): plain(value) for key, value in found.items()}
    if isinstance(found, str):
        return re.sub(r"\b0x[0-9a-f]+", "0x", found)  # addresses
    if isinstance(found, (bytes, int, float, type(None))):
        return found
    if isinstance(found, gt.GuardManager):
        return [found.to_portable_json(), found.path]
    if isinstance(found, gt.Explanation):
        return plain(found.to_json())
    if isinstance(found, gt.Simplification):
        return [plain(found.guards), plain(found.removed)]
    return type(found).__name__


def trial(name: str, make: Maker) -> None:
    assert name not in TRIALS, name
    TRIALS[name] = make


def of_scene(name: str) -> Maker:
    """An entry point of hostile/, whose user code does nothing. MemoryError inside user
    code is an ordinary exception to the library."""

    def make() -> Trial:
        case: Case = ENTRY_POINTS[name](Act())
        if case.answer is ANY:
            return Trial(case.run, (ANY,), keep=case)
        answers = [case.answer]
        if case.ordinary is None or isinstance(
            case.ordinary, (bool, tuple, list)
        ) or case.ordinary in ("error", 0, 1):
            answers.append(case.ordinary)
        return Trial(case.run, tuple(map(plain, answers)), keep=case)

    return make


def of_growth(name: str) -> Maker:
    """An operation of growth/, on a few parts. Some change what they are called on."""

    def make() -> Trial:
        run = growth_entries.operations.OPERATIONS[name](PARTS)
        return Trial(run, is_repeatable=False)

    return make


def of(name: str, run: Callable[[], Any]) -> None:
    """A trial that leaves everything as it was."""
    trial(name, lambda: Trial(run))


for name in ENTRY_POINTS:
    if not name.startswith("a message about"):  # they compile; see others.py
        trial(name, of_scene(name))
for name in growth_entries.operations.OPERATIONS:
    trial(name, of_growth(name))


def listed() -> dict[str, Maker]:
    """All trials."""
    import cpython  # noqa: F401  # these add their own
    import others  # noqa: F401

    return TRIALS


def begin() -> None:
    """The hook as each trial finds it: a callback, and one function with an entry."""
    gt.set_eval_frame(Hook.callback)
    Hook.answers[probe.__code__] = lambda frame: gt.GuardedCode(
        hit.__code__, lambda found: True
    )


def hook_works() -> bool:
    return gt.get_eval_frame() == Hook.callback and probe(1) == ("hit", 1, 2)
