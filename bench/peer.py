"""The nearest peer's engine: guards built by hand, without its ambient ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._C._dynamo import eval_frame, guards
from torch._dynamo.guards import GuardManagerType, GuardManagerWrapper
from torch._dynamo.types import ConvertFrameReturn, GuardedCode, wrap_guarded_code
from torch._guards import CompileId


class Peer:
    """A root with one child for each tensor, read from the frame's locals. Its tensor
    match compares the type too."""

    def __init__(self, values: dict[str, Any], aliasing: bool) -> None:
        self.root = guards.RootGuardManager()
        children = []
        for i, (name, value) in enumerate(values.items()):
            child = self.root.framelocals_manager(
                (name, i), f"L['{name}']", value, GuardManagerType.GUARD_MANAGER
            )
            child.add_tensor_match_guard(
                value, list(value.size()), list(value.stride()), name, ["tensor"],
                None, type(value), torch._C._dispatch_keys(value),
            )  # fmt: skip
            children.append(child)
        if aliasing:
            guards.install_no_tensor_aliasing_guard(
                children, list(values), ["no aliasing"], None
            )
        self.check = self.root.check


class PeerInt:
    """A root whose one child, a local, equals an int."""

    def __init__(self, name: str, value: int) -> None:
        self.root = guards.RootGuardManager()
        child = self.root.framelocals_manager(
            (name, 0), f"L['{name}']", value, GuardManagerType.GUARD_MANAGER
        )
        child.add_equals_match_guard(value, [f"{name} == {value}"], None)


def peer_callback_of(
    code: Any, instead: Any, peer_of: Callable[[dict[str, Any]], Any]
) -> Any:
    """A callback that gives `code` an entry for each call it is asked about and skips
    other code. Entries belong to their callback: another one compiles again."""

    def callback(frame: Any, entry: Any, state: Any) -> Any:
        if frame.f_code is not code:
            return ConvertFrameReturn()
        wrapper = GuardManagerWrapper(peer_of(frame.f_locals).root)
        made = GuardedCode(instead, wrapper, CompileId(frame_id=0, frame_compile_id=0))
        return wrap_guarded_code(made)

    return callback


def peer_callback(code: Any, instead: Any, peer: Peer) -> Any:
    """The same with one entry for all calls."""
    return peer_callback_of(code, instead, lambda _: peer)


def peer_hits(code: Any) -> int:
    """Entries that the peer keeps for a code: its hook was asked and answered."""
    return len(eval_frame._debug_get_cache_entry_list(code))


@contextmanager
def peer_hook(callback: Any) -> Iterator[None]:
    """The peer's frame hook."""
    prior = eval_frame.set_eval_frame(callback)
    try:
        yield
    finally:
        eval_frame.set_eval_frame(prior)
