"""The watcher id that assumptions take: others may have them all; it is given back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

# Every hazard once more. 3.12 and 3.13 compare tags then; later ones read anew.
HAZARDS = """
import sys
import pytest

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""
HERE = Path(__file__).parent
HAZARD_FILES = [str(each) for each in sorted(HERE.glob("test_*hazards*.py"))]

TAKE_ALL = """
import ctypes

heard = []
Watcher = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
watcher = Watcher(lambda event, *_: heard.append(event) or 0)

def take_all():
    taken = []
    while hasattr(ctypes.pythonapi, "PyDict_AddWatcher"):
        try:
            taken.append(ctypes.pythonapi.PyDict_AddWatcher(watcher))
        except RuntimeError:
            break
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

# CPython leaves the bits of an id that is given back on the dicts: the next owner of
# the id hears of dicts that it never watched.
LEFT_BITS = f"""{TAKE_ALL}
mine = ctypes.pythonapi.PyDict_AddWatcher(watcher)
left = [{{"a": 0}} for _ in range(50)]
for each in left:
    ctypes.pythonapi.PyDict_Watch(mine, ctypes.py_object(each))
each["a"] = 1
assert len(heard) == 1
ctypes.pythonapi.PyDict_ClearWatcher(mine)

import guardtree as gt
{USE}
assert len(take_all()) < 8  # ours is the first of them
before = gt.assumption_counts()
for each in left[1:]:
    each["a"] = 2
    each.clear()
del each, left[1:]
assert gt.assumption_counts() == before

function.__globals__["d"] = left[0]
on_d = gt.GuardManager(function)
on_d.global_("d").dict_item("a").equals(0)
for _ in range(3):
    assert on_d.check({{}})
assert on_d.assumed().assumed == 1
left[0]["a"] = 3
assert not on_d.check({{}})
assert guards.check({{}})
assert len(heard) == 1
"""

# A table of keys is made anew for a key that is no plain str, though the dict has an
# equal key and the same value: nothing changed, and there is neither event nor tag. The
# table is large: once freed, its memory cannot be read.
NEW_TABLE = f"""{TAKE_ALL}
import sys

class Text(str):
    pass

if "taken" in sys.argv:
    take_all()
import guardtree as gt
{USE}
names.update({{f"n{{i}}": i for i in range(200_000)}})
for _ in range(3):
    assert guards.check({{}})
if "stored" in sys.argv:
    names[Text("a")] = names["a"]
else:
    assert names.setdefault(Text("a"), 3) == 1000
assert guards.check({{}})
names["a"] = 3
assert not guards.check({{}})
"""

needs_watchers = pytest.mark.skipif(
    not gt.features()["dict_watcher"], reason="this CPython has no dict watchers"
)


@needs_watchers
def test_where_others_have_taken_all_ids_changes_are_compared(run_python: Any) -> None:
    run_python(ALL_TAKEN)


@needs_watchers
def test_where_others_have_taken_all_ids_each_hazard_is_noticed(
    run_python: Any,
) -> None:
    assert len(HAZARD_FILES) == 7
    done = run_python(f"{TAKE_ALL}\ntake_all()\n{HAZARDS}", *HAZARD_FILES)
    assert " passed" in done.stdout


@needs_watchers
def test_dicts_that_a_former_owner_of_the_id_watched_are_ignored(
    run_python: Any,
) -> None:
    run_python(LEFT_BITS)


@pytest.mark.parametrize("how", ["stored", "setdefault"])
def test_a_table_of_keys_that_is_made_anew_is_not_read_after_its_end(
    how: str, run_python: Any
) -> None:
    run_python(NEW_TABLE, how, "taken")


@needs_watchers
def test_at_the_end_dicts_are_unwatched_before_the_id_is_given_back(
    run_python: Any,
) -> None:
    run_python(AT_THE_END)
