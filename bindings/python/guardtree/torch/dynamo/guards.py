"""The guards that the hook walks for an entry: its key, then guardtree's translation of
torch's tree, or torch's own tree where the translation was refused, or both."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import guardtree as gt
import guardtree.torch as gtt

from .frames import locals_of
from .record import LostError, Recorder, Recording
from .refused import RefusedError
from .translate import Translator

log = logging.getLogger("guardtree.torch.dynamo")

ATTRIBUTE = "_guardtree_recording"


class DifferenceError(RuntimeError):
    """guardtree and torch do not agree on whether guards pass."""


class LiveRecorder(Recorder):
    """Writes down trees while programs run; each waits at its wrapper until the entry
    is made. A thread has its own open trees, since threads compile side by side."""

    def __init__(self, local: Any) -> None:
        self.local = local

    @property
    def open(self) -> list[Recording]:  # type: ignore[override]
        found: list[Recording] | None = getattr(self.local, "open", None)
        if found is None:
            found = self.local.open = []
        return found

    def finish(self, wrapper: Any, values: dict[str, Any], builder: Any) -> None:
        try:
            super().finish(wrapper, values, builder)
        except LostError as error:
            setattr(wrapper, ATTRIBUTE, f"not seen while it was built: {error}")

    def keep(self, wrapper: Any, recording: Recording) -> None:
        setattr(wrapper, ATTRIBUTE, recording)

    def take(self, wrapper: Any) -> Recording | str:
        """The tree of a wrapper, or why there is none."""
        unseen = "a tree that was not seen when it was built"
        return vars(wrapper).pop(ATTRIBUTE, unseen)  # type: ignore[no-any-return]


@dataclass
class Made:
    """Guards for an entry, and how they came about."""

    checked: gt.GuardManager
    """What the hook walks."""
    guards: gt.GuardManager
    refused: str = ""
    python: list[str] = field(default_factory=list)
    at_entrance: gt.GuardManager | None = None
    """The translation once more, without the key, where calls are to find the entry
    before the hook."""
    guard_ns: int = 0
    """How long one check of the guards takes."""
    comparing: Callable[..., Any] | None = None
    """Of dual mode: gives for a runner and the user's function what asks torch's own
    guards before the runner runs."""


class Maker:
    """Makes the guards of entries; says once for each reason why it refused one."""

    def __init__(self, recorder: LiveRecorder, is_dual: bool) -> None:
        self.recorder, self.is_dual = recorder, is_dual
        self.warned: set[str] = set()
        self.differences: list[str] = []
        """Of dual mode, until they are raised."""
        self.checks = 0
        """How many verdicts were compared."""
        self.checks_at_entrances = 0
        """Those of calls that did not go through Dynamo's wrapper."""

    def make(
        self,
        frame: gt.Frame,
        wrapper: Any,
        key: tuple[int, int],
        has_entrance: bool = False,
    ) -> Made:
        """The guards of one entry."""
        root, recording = wrapper.root, self.recorder.take(wrapper)
        guards = keyed(frame, key)
        try:
            if isinstance(recording, str):
                raise RefusedError(recording)
            translation = Translator(recording, guards=guards).run()
            if not guards.check(frame):
                failed = guards.explain(frame)
                raise RefusedError(f"guards fail on their own frame: {failed}")
            at_entrance = gt.GuardManager(frame) if has_entrance else None
            if at_entrance is not None:
                Translator(recording, guards=at_entrance).run()
        except Exception as error:
            return self.refused(frame, root, key, error)
        finally:
            if isinstance(recording, Recording):
                forget(recording)
        made = Made(
            guards,
            guards,
            python=translation.python,
            at_entrance=at_entrance,
            guard_ns=time_of(guards, frame),
        )
        if self.is_dual:
            made.checked = keyed(frame, key)
            code = frame.f_code
            where = f"{code.co_filename}:{frame.f_lineno} {code.co_name}"
            made.checked.python(self.both(guards, root, where))
            made.comparing = partial(self.comparing, root, where)
        return made

    def refused(
        self, frame: gt.Frame, root: Any, key: tuple[int, int], error: Exception
    ) -> Made:
        """Torch's own tree checks this entry."""
        is_ours = isinstance(error, (RefusedError, LostError))
        why = str(error) if is_ours else f"{type(error).__name__}: {error}"
        if why not in self.warned:
            self.warned.add(why)
            log.warning("torch's own guards check %s: %s", frame.f_code.co_name, why)
        guards = keyed(frame, key)
        guards.python(root.check).note("torch's own guards")
        return Made(guards, guards, refused=why, python=["torch's own guards"])

    def both(self, guards: gt.GuardManager, root: Any, where: str) -> Any:
        """A predicate of the locals that asks both engines."""

        def check(values: dict[str, Any]) -> bool:
            theirs, ours = root.check(values), guards.check(values)
            self.checks += 1
            if ours != theirs:
                why = str(guards.explain(values)) if theirs else "torch's guards fail"
                self.differences.append(
                    f"{where}: guardtree says {ours}, torch {theirs}: {why}"
                )
                return False
            return bool(ours)

        return check

    def comparing(self, root: Any, where: str, runner: Any, function: Any) -> Any:
        """Runs `runner` for a call that guardtree's guards let pass at an entrance, if
        torch's do too."""

        def run(*args: Any, **named: Any) -> Any:
            values = locals_of(function, args, named)
            self.checks += 1
            self.checks_at_entrances += 1
            if not root.check(values):
                parts = root.check_verbose(values).verbose_code_parts
                raise DifferenceError(
                    f"{where}: guardtree says True, torch False: {'; '.join(parts)}"
                )
            return runner(*args, **named)

        return run

    def raise_difference(self) -> None:
        """DifferenceError, if the engines differed."""
        if self.differences:
            found, self.differences = self.differences, []
            raise DifferenceError("\n".join(found))


def time_of(guards: gt.GuardManager, frame: gt.Frame) -> int:
    """Nanoseconds of a check: the best of three."""
    found = []
    for _ in range(3):
        begin = time.perf_counter_ns()
        guards.check(frame)
        found.append(time.perf_counter_ns() - begin)
    return min(found)


def keyed(frame: gt.Frame, key: tuple[int, int]) -> gt.GuardManager:
    """Guards for a frame that pass for one backend and region."""
    guards = gt.GuardManager(frame)
    capsule = gtt.plugin().entry_key_check(*key)
    said = f"backend {key[0]}, region {key[1]}"
    guards.module("torch").native_pure(capsule).note(said)
    return guards


def forget(recording: Recording) -> None:
    """Nodes refer to each other and to the values of the call: they go now."""
    for node in recording.nodes.values():
        node.children.clear()
        node.leafs.clear()
        node.parent = node.example = node.manager = None
    recording.nodes.clear()
    recording.relations.clear()
    recording.epilogue.clear()
    recording.values.clear()
