"""torch with its reader, and torch.compile as it was after each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))


@pytest.fixture(autouse=True)
def torch_as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread, since their number is guarded; nothing installed or compiled."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import guardtree.torch as gtt

    if not gtt.has_plugin():
        pytest.skip("no plugin: python -m guardtree.torch build")
    import guardtree.torch.dynamo as gd

    try:
        gd.internals.check_version()
    except gd.UnsupportedError as error:
        pytest.skip(str(error))
    # It flushes the caches of the CPU at each compile, for a time nobody reads here.
    profiled = "torch._dynamo.guards.profile_guard_manager"
    monkeypatch.setattr(profiled, lambda *_: 0.0)
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    gd.uninstall()
    torch._dynamo.reset()
    torch.set_num_threads(count)
