"""Guards pickled and copied, which is done by their JSON."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

Run = Callable[..., Any]


def step(x: Any, y: Any = 0, z: Any = 0) -> None: ...


def predicate(value: Any) -> bool:
    return value == 3


class Thing:
    """A class with a name."""


def made_for_pickle() -> gt.GuardManager:
    guards = gt.GuardManager(step)
    guards.local("x").type_match(Thing).note("kept")
    guards.local("y").equals({1: [2.5]})
    return guards


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_portable_guards_are_pickled(protocol: int) -> None:
    guards = made_for_pickle()
    pickled = pickle.dumps(guards, protocol)
    assert b"eval" not in pickled
    again = pickle.loads(pickled)
    assert type(again) is gt.GuardManager
    assert again.to_json() == guards.to_json()
    assert again.check({"x": Thing(), "y": {1: [2.5]}})


def test_portable_guards_are_copied() -> None:
    guards = made_for_pickle()
    for again in (copy.copy(guards), copy.deepcopy(guards)):
        assert again.to_json() == guards.to_json()
        again.local("z").is_none()
        assert again.counts() != guards.counts()


def test_what_cannot_be_pickled_says_why() -> None:
    class Mine(gt.GuardManager):
        """A subclass."""

    def inner(x: Any) -> None: ...

    unportable, calling = gt.GuardManager(step), gt.GuardManager(step)
    unportable.local("x").python(predicate)
    calling.local("x").call().is_none()
    for guards, told in (
        (unportable, "no form in JSON .clone.. copies them.: .*predicate.*python"),
        (calling, r"calls what it finds \(x\(\)\)"),
        (gt.GuardManager(step.__code__), "made for code alone"),
        (gt.GuardManager(inner), "no name in a module leads to it"),
        (gt.GuardManager(step).local("x"), "a handle on one value"),
        (Mine(step), "a subclass of GuardManager says itself"),
    ):
        for write in (pickle.dumps, copy.copy):
            with pytest.raises(TypeError, match=told):
                write(guards)


def test_a_pickle_is_read_by_another_process(
    run_python: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "class Kind: ...\ndef scope(x): ...\n"
    (tmp_path / "pickled_scope.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    pickled_scope = importlib.import_module("pickled_scope")
    guards = gt.GuardManager(pickled_scope.scope)
    guards.local("x").instance_of(pickled_scope.Kind)
    load = """
        import pickle, sys
        guards = pickle.loads(bytes.fromhex(sys.argv[1]))
        kind = sys.modules["pickled_scope"].Kind
        print(guards.check({"x": kind()}), guards.check({"x": 1}))
    """
    assert run_python(load, pickle.dumps(guards).hex()).stdout == "True False\n"
