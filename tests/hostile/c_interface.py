"""Entry points of the C interface, through the extension that client.c becomes."""

from __future__ import annotations

import gc
from typing import Any

import guardtree as gt
from scene import RAISES, UNRAISABLE, Act, Case, Mapped, entry_point, function, guarded

try:
    import client
except ImportError:
    client = None

HIT, MISS = 1, 0


def looking_up(how: str, answer: Any, ordinary: Any) -> None:
    @entry_point(f"C look-up, {how}")
    def make(act: Act) -> Case:
        scope = function()
        is_mapping = how == "mapping"
        guards = gt.GuardManager(scope) if is_mapping else guarded(act, scope)
        if is_mapping:
            guards.local("a").type_match(int)

        def run() -> Any:
            subject = Mapped(act, a=1, b=2) if is_mapping else 1
            found = client.look_up(how, scope, guards, subject)
            return found if isinstance(found, int) else "a text"

        # What is removed in its own look-up is missed: the payload may be gone.
        removed = MISS if answer == HIT else None
        return Case(run, answer, client.remove, removed, scope, ordinary)


def native(name: str) -> None:
    @entry_point(f"C operand, {name}", f"GuardManager.{name}")
    def make(act: Act) -> Case:
        scope = function()
        guards = gt.GuardManager(scope)
        if name == "native":
            guards.local("a").native(client.checking(act))
        else:
            guards.local("a").native_get(client.getting(act)).is_none()
        return Case(lambda: guards.check({"a": 1}), True, None, None, scope, False)


def payload(name: str) -> None:
    @entry_point(f"C payload, {name}")
    def make(act: Act) -> Case:
        scope = function()
        guards = gt.GuardManager(scope)

        def run() -> None:
            getattr(client, name)(scope, guards, act)
            gc.collect()

        return Case(
            run, None, None, None, scope, UNRAISABLE, UNRAISABLE, is_paused=False
        )


looking_up("call", HIT, MISS)
looking_up("mapping", HIT, RAISES)
looking_up("explain", "a text", "a text")
native("native")
native("native_get")
payload("drop")
payload("free_table")
