"""What a walk keeps of the dict or instance that a step read, and when it lets go."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest


class Thing:
    """Attributes that lie in the instance, until somebody asks for its dict."""

    def __init__(self, **names: Any) -> None:
        for name, value in names.items():
            setattr(self, name, value)


class Both(dict[str, Any]):
    """A dict with attributes."""


def step(x: Any, y: Any = None) -> None: ...


def guards_of(step_name: str, names: str, expected: dict[str, int]) -> gt.GuardManager:
    """That x has these values under these names, by one kind of step."""
    guards = gt.GuardManager(step)
    value = guards.local("x")
    for name in names:
        getattr(value, step_name)(name).equals(expected[name])
    return guards


NAMES = "abcdefgh"
VALUES = {name: 1000 + i for i, name in enumerate(NAMES)}
CHANGES: dict[str, Callable[[Any], object]] = {
    "another value": lambda x: x.update(f=0),
    "a key less": lambda x: x.pop("f"),
    "a key more, in place of one": lambda x: (x.pop("f"), x.update(z=1005)),
    "emptied": lambda x: x.clear(),
    "a general table": lambda x: (x.update({1: 2}), x.update(f=0)),
    "a larger table": lambda x: x.update({f"n{i}": i for i in range(99)}, f=0),
}


def check_around(kind: str, value: Any, own: Any, change: Any) -> None:
    """User code that changes what `value` has runs between the steps that read it."""
    guards = gt.GuardManager(step)
    node = guards.local("x")
    for name in "abc":
        getattr(node, kind)(name).equals(VALUES[name])
    changes: list[Any] = []
    getattr(node, kind)("d").python(lambda _: [each(own) for each in changes] or True)
    for name in "efgh":
        getattr(node, kind)(name).equals(VALUES[name])
    assert guards.check({"x": value})
    changes.append(change)
    assert not guards.check({"x": value})


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_user_code_between_the_steps_is_seen(change: Callable[[Any], object]) -> None:
    items = dict(VALUES)
    check_around("dict_item", items, items, change)
    thing = Thing(**VALUES)
    check_around("instance_attr", thing, vars(thing), change)


def test_an_instance_that_is_a_dict_has_both() -> None:
    both = Both(VALUES)
    for name in NAMES:
        setattr(both, name, -VALUES[name])
    guards = gt.GuardManager(step)
    value = guards.local("x")
    for name in NAMES:
        value.dict_item(name).equals(VALUES[name])
        value.instance_attr(name).equals(-VALUES[name])
    assert guards.check({"x": both})
    both.d = VALUES["d"]
    assert not guards.check({"x": both})


def test_one_name_of_many_values() -> None:
    """Objects of one class, each with values of its own, in turn."""
    guards = gt.GuardManager(step)
    for local, sign in (("x", 1), ("y", -1)):
        value = guards.local(local)
        for name in NAMES:
            value.instance_attr(name).equals(sign * VALUES[name])
    x = Thing(**VALUES)
    y = Thing(**{name: -value for name, value in VALUES.items()})
    assert guards.check({"x": x, "y": y})
    assert not guards.check({"x": y, "y": x})
    assert not guards.check({"x": x, "y": x})


def test_instances_without_names() -> None:
    guards = guards_of("instance_attr", NAMES, VALUES)
    for without in (Thing(), 3, "text", Thing, object(), Both(VALUES)):
        assert not guards.check({"x": without})
    emptied = Thing(**VALUES)
    vars(emptied).clear()
    assert not guards.check({"x": emptied})


@pytest.mark.parametrize("kind", ["instance_attr", "dict_item"])
def test_any_history_of_a_value_gives_what_python_reads(kind: str) -> None:
    chosen = random.Random(5)
    guards = guards_of(kind, NAMES, VALUES)
    for _ in range(3000):
        made: Any = Thing() if kind == "instance_attr" else OrderedDict()
        held = vars(made) if kind == "instance_attr" and chosen.random() < 0.5 else None
        for name in chosen.sample(NAMES, len(NAMES)):
            if kind == "dict_item":
                made[name] = VALUES[name]
            else:
                setattr(made, name, VALUES[name])
        own = vars(made) if kind == "instance_attr" else made
        for _ in range(chosen.randrange(3)):
            name = chosen.choice(NAMES)
            own.pop(name, None)
            if chosen.random() < 0.8:
                own[name] = VALUES[name] if chosen.random() < 0.8 else 0
        if chosen.random() < 0.1:
            own[3] = 4
        holds = all(own.get(name) == value for name, value in VALUES.items())
        assert guards.check({"x": made}) is holds, (own, held is None)
