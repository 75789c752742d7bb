"""dict_value and dict_key, assumed or not, while entries come, go and are replaced.

The oracle is `list(dict.values(...))` at each step.
"""

from __future__ import annotations

import random
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest


class Owner:
    """Its instances share their keys."""

    def __init__(self) -> None:
        self.a, self.b, self.c = object(), object(), object()


class Own(dict):  # type: ignore[type-arg]
    """A subclass that answers wrongly to whom asks it."""

    def values(self) -> Any:
        raise AssertionError

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError


def of_names() -> dict[Any, Any]:
    return {name: object() for name in "abcdef"}


MAKERS: dict[str, Callable[[], dict[Any, Any]]] = {
    "strs": of_names,
    "ints": lambda: {number: object() for number in range(6)},
    "mixed": lambda: {"a": object(), 1: object(), None: object()},
    "defaultdict": lambda: defaultdict(object, of_names()),
    "OrderedDict": lambda: OrderedDict(of_names()),
    "a subclass": lambda: Own(of_names()),
    "an instance's": lambda: vars(Owner()),
    "empty": dict,
}
POSITIONS = (0, 1, 2, 5, -1, -2, -6)


def change(of: dict[Any, Any], chosen: random.Random) -> None:
    """One change, by dict's own functions."""
    keys = list(dict.keys(of))
    key = chosen.choice([*keys, "new", "newer", 7])
    action = chosen.randrange(6)
    if action == 0 and keys:
        dict.__delitem__(of, chosen.choice(keys))
    elif action == 1 and keys:
        last = chosen.choice(keys)
        value = dict.pop(of, last)
        dict.__setitem__(of, last, value)  # the same value, at the end
    elif action == 2 and keys:
        dict.popitem(of)
    elif action == 3 and chosen.random() < 0.2:
        dict.clear(of)
    else:
        dict.__setitem__(of, key, object())


def at(of: list[Any], position: int) -> Any:
    """The item there; a value that nothing is where there is none."""
    return of[position] if -len(of) <= position < len(of) else gt


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", range(4))
def test_positions_follow_each_change(kind: str, seed: int) -> None:
    def f(of: Any) -> None: ...

    chosen = random.Random(seed)
    of = MAKERS[kind]()
    for _ in range(60):
        values, keys = list(dict.values(of)), list(dict.keys(of))
        guards = gt.GuardManager(f)
        # Two look-ups above the entries: enough for an assumption.
        outer = guards.local("of").dict_item("outer").dict_item("inner")
        asked = [each for each in POSITIONS if at(values, each) is not gt]
        for position in asked:
            outer.dict_value(position).id_match_held(at(values, position))
            outer.dict_key(position).id_match_held(at(keys, position))
        subject = {"of": {"outer": {"inner": of}}}
        for _ in range(4):
            assert guards.check(subject)
        assert not asked or guards.assumed().assumed
        for _ in range(chosen.randrange(4)):
            change(of, chosen)
            now, names = list(dict.values(of)), list(dict.keys(of))
            expected = all(
                at(now, each) is at(values, each) and at(names, each) is at(keys, each)
                for each in asked
            )
            for _ in range(3):
                assert guards.check(subject) == expected
