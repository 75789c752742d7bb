"""What goes to Python's logging, and that it changes nothing."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import guardtree as gt
import pytest


@pytest.fixture(autouse=True)
def quiet(hook: None) -> Any:
    yield
    gt.set_logs()


def replacement(a):
    return "replaced"


def run(only: Any) -> None:
    def f(a):
        return "plain"

    def callback(frame, entry, state):
        guards = gt.GuardManager(f)
        guards.local("a").type_match(type(frame.f_locals["a"]))
        return gt.GuardedCode(replacement.__code__, guards)

    with gt.optimize(only(f, callback)):
        assert [f(1), f(2), f("a")] == ["replaced"] * 3


def test_guards_misses_and_code_are_told(only, caplog) -> None:
    gt.set_logs("guards", "misses", "code")
    run(only)
    by_logger: dict[str, list[str]] = {}
    for record in caplog.records:
        by_logger.setdefault(record.name, []).append(record.getMessage())
    assert len(by_logger["guardtree.guards"]) == 2
    assert "type_match(int)" in by_logger["guardtree.guards"][0]
    assert len(by_logger["guardtree.misses"]) == 1
    assert "type(a) is int" in by_logger["guardtree.misses"][0]
    assert "before" in by_logger["guardtree.code"][0]
    assert "'replaced'" in by_logger["guardtree.code"][0]


def test_nothing_is_told_unless_asked_for(only, caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        gt.set_logs()
        run(only)
    assert not caplog.records


def test_a_handler_that_raises_is_no_matter_of_the_program(only, monkeypatch) -> None:
    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise ValueError("broken")

    broken = Broken()
    logger = logging.getLogger("guardtree.guards")
    logger.addHandler(broken)
    told: list[str] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda of: told.append(str(of.exc_value))
    )
    gt.set_logs("guards")
    try:
        run(only)
    finally:
        logger.removeHandler(broken)
    assert told == ["broken"] * 2


def test_the_environment_turns_logs_on() -> None:
    program = (
        "import guardtree as gt\n"
        "def f(a): return a\n"
        "def g(a): return 'new'\n"
        "guards = gt.GuardManager(f); guards.local('a').equals(1)\n"
        "gt.add_entry(f, gt.GuardedCode(g.__code__, guards))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**__import__("os").environ, "GUARDTREE_LOGS": "guards"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "f: an entry was made" in ran.stderr
    assert "equals(1)" in ran.stderr


def test_other_names_are_refused() -> None:
    with pytest.raises(ValueError, match="guards, misses, code, found guard"):
        gt.set_logs("guard")
