"""Look-ups without a hook whose guards switch greenlets: they end in any order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest

greenlet = pytest.importorskip("greenlet")


def park() -> None:
    """Lets the greenlet that started this one go on."""
    greenlet.getcurrent().parent.switch()


def started(body: Callable[[], Any]) -> Any:
    made = greenlet.greenlet(body)
    made.switch()
    return made


class Parks:
    """A value whose property switches."""

    @property
    def p(self) -> int:
        park()
        return 1


def subject(a):
    return a


def asking(kind: str) -> Callable[[], Any]:
    """One way to evaluate guards that run user code, without a hook."""

    manager = gt.GuardManager(subject)
    manager.local("a").attr("p").equals(1)
    table = gt.Table(subject)
    table.add(manager, "payload")
    capturing = gt.Table(subject)
    capturing.add(manager, "payload", captures={"p": manager.local("a").attr("p")})
    hit = ("payload", {"p": 1})
    profile = manager.profile()
    return {
        "check": lambda: manager.check({"a": Parks()}) is True,
        "explain": lambda: bool(manager.explain({"a": Parks()})),
        "profile": lambda: profile.check({"a": Parks()}) is True,
        "lookup": lambda: table.lookup({"a": Parks()}) == "payload",
        "lookup_call": lambda: table.lookup_call(Parks()) == "payload",
        "lookup, captured": lambda: capturing.lookup({"a": Parks()}) == hit,
        "lookup_call, captured": lambda: capturing.lookup_call(Parks()) == hit,
        "find": lambda: table.find({"a": Parks()}).payload == "payload",
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "check",
        "explain",
        "profile",
        "lookup",
        "lookup_call",
        "lookup, captured",
        "lookup_call, captured",
        "find",
    ],
)
def test_a_look_up_ends_in_any_order_among_greenlets(kind, run_python) -> None:
    """pybind11 ends the process where its calls do not end in reverse order."""
    run_python(f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_greenlet_lookups import asking, started

        parked = [started(asking({kind!r})) for _ in range(4)]
        for each in (parked[2], parked[0], parked[3], parked[1]):
            assert not each.dead
            assert each.switch() is True
        """)
