"""Installs guardtree in the place of Dynamo's guards, look-up and hook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch._dynamo

import guardtree.torch as gtt

from .internals import check_version
from .session import Session

_session: Session | None = None


def current() -> Session:
    """The session; RuntimeError without one."""
    if _session is None:
        raise RuntimeError("guardtree.torch.dynamo is not installed: call install()")
    return _session


def install(
    *, check_against_torch: bool = False, recompile_limit: bool = True
) -> None:
    """From now on, in all threads, functions compiled by torch.compile run on
    guardtree's guards, look-up and hook. Entries compiled before are not used.

    `check_against_torch`: both engines make every check, and a difference raises
    DifferenceError. `recompile_limit=False`: torch's limits of recompiles (8 and 256)
    are lifted, since one probe finds an entry among many. UnsupportedError where this
    torch is not a known one, PluginError without the reader of tensors (`python -m
    guardtree.torch build`), RuntimeError when it is installed already or a compiled
    function is running in this thread. Nothing is changed then.
    """
    global _session
    check_version()
    if _session is not None:
        raise RuntimeError("guardtree.torch.dynamo is installed already")
    if torch._C._dynamo.eval_frame.get_eval_frame_callback() is not None:
        raise RuntimeError("a compiled function is running: install outside of it")
    if torch._dynamo.config.caching_precompile:
        raise RuntimeError(
            "torch._dynamo.config.caching_precompile is set: its entries are looked up "
            "by torch alone"
        )
    gtt.plugin()
    session = Session(check_against_torch, recompile_limit)
    session.begin()
    _session = session


def uninstall() -> None:
    """Torch's own guards, look-up and hook again, and every attribute as before.
    guardtree's entries are dropped. Calls that are running go on. Does nothing where
    it is not installed."""
    global _session
    if _session is not None:
        session, _session = _session, None
        session.end()


@contextmanager
def installed(
    *, check_against_torch: bool = False, recompile_limit: bool = True
) -> Iterator[None]:
    """Installed for a `with` block."""
    install(check_against_torch=check_against_torch, recompile_limit=recompile_limit)
    try:
        yield
    finally:
        uninstall()
