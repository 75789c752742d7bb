"""Calls that type checkers refuse; each line is ignored by name, so that a call which
they begin to accept fails as an ignore that nothing needs."""

# pyright: reportUnnecessaryTypeIgnoreComment=true
from __future__ import annotations

import guardtree as gt


def scale(x: int, factor: int = 2) -> int:
    return x * factor


def answers_a_number(
    frame: gt.Frame, cache_entry: gt.CacheEntry | None, frame_state: gt.FrameState
) -> int:
    return 3


def wrong() -> None:
    guards = gt.GuardManager(scale)
    gt.GuardManager("scale")  # type: ignore[arg-type]
    guards.local(3)  # type: ignore[arg-type]
    guards.local("x").type_match("int")  # type: ignore[arg-type]
    guards.local("x").instance_of(3)  # type: ignore[arg-type]
    guards.local("x").int_sign(2)  # type: ignore[arg-type]
    guards.local("x").function_match(3)  # type: ignore[arg-type]
    guards.local("x").lenght(2)  # type: ignore[attr-defined]
    guards.check()  # type: ignore[call-arg]
    gt.Table(scale).add("guards", 3)  # type: ignore[arg-type]
    gt.guard_function(3)  # type: ignore[call-overload]
    gt.set_eval_frame(True)  # type: ignore[arg-type]
    gt.set_eval_frame(answers_a_number)  # type: ignore[arg-type]
    gt.optimize(gt.ASK_AGAIN)  # type: ignore[arg-type]
    gt.set_policy(scale, when_full="drop")  # type: ignore[arg-type]
    gt.explain("scale", {})  # type: ignore[arg-type]
    gt.TensorSpec(dtyp="float32")  # type: ignore[call-arg]
