"""The watcher id that assumptions take: others may have them all; it is given back."""

from __future__ import annotations

from typing import Any

import guardtree as gt
import pytest

TAKE_ALL = """
import ctypes

heard = []
Watcher = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
watcher = Watcher(lambda event, *_: heard.append(event) or 0)

def take_all():
    taken = []
    while True:
        try:
            taken.append(ctypes.pythonapi.PyDict_AddWatcher(watcher))
        except RuntimeError:
            return taken
"""

USE = """
import types

def scope(): ...

names = {"a": 1000}
function = types.FunctionType(scope.__code__, names)
guards = gt.GuardManager(function)
guards.global_("a").equals(1000)
for _ in range(3):
    assert guards.check({})
"""

ALL_TAKEN = f"""{TAKE_ALL}
assert take_all()
import guardtree as gt
assert gt.features()["dict_watcher"] is False
{USE}
assert gt.assumption_counts()["watched"] == 0
names["a"] = 3
assert not guards.check({{}})
names["a"] = 1000
assert guards.check({{}})
assert heard == []
"""

AT_THE_END = f"""{TAKE_ALL}
import guardtree as gt
from guardtree import _guardtree
{USE}
assert gt.assumption_counts()["watched"] == 1
_guardtree._shut_down()
assert gt.assumption_counts()["watched"] == gt.assumption_counts()["armed"] == 0
assert gt.features()["dict_watcher"] is False
assert take_all()  # ours among them
names["a"] = 3
assert heard == []
assert not guards.check({{}})
names["a"] = 1000
assert all(guards.check({{}}) for _ in range(5))
assert gt.assumption_counts()["armed"] == 0
"""

needs_watchers = pytest.mark.skipif(
    not gt.features()["dict_watcher"], reason="this CPython has no dict watchers"
)


@needs_watchers
def test_where_others_have_taken_all_ids_changes_are_compared(run_python: Any) -> None:
    run_python(ALL_TAKEN)


@needs_watchers
def test_at_the_end_dicts_are_unwatched_before_the_id_is_given_back(
    run_python: Any,
) -> None:
    run_python(AT_THE_END)
