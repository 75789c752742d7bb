"""GuardedCode verifies its code when told to, and in strict mode unless told not to."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

import alone
import pytest
from broken_code import I, made

if not alone.IS_BUILT:
    pytest.skip("needs GuardedCode, which is not built", allow_module_level=True)

import guardtree as gt
from guardtree.bytecode import UnsafeCode


def original() -> Any:
    return 1


@pytest.fixture
def crashing() -> CodeType:
    return made([I("PUSH_NULL"), I("RETURN_VALUE")])


@pytest.fixture
def strict() -> Iterator[None]:
    was_on = gt.strict()
    yield
    gt.strict(was_on)


def test_code_is_taken_as_it_is_unless_told_otherwise(crashing: CodeType) -> None:
    guards = gt.GuardManager(original)
    was_on = gt.strict(False)
    assert gt.GuardedCode(crashing, guards).code is crashing
    assert gt.GuardedCode(crashing, guards, verify=False).code is crashing
    gt.strict(was_on)


def test_verified_code_may_not_crash(crashing: CodeType) -> None:
    guards = gt.GuardManager(original)
    with pytest.raises(UnsafeCode, match="NULL"):
        gt.GuardedCode(crashing, guards, verify=True)
    assert gt.GuardedCode(original.__code__, guards, verify=True)


def test_strict_mode_verifies(strict: None, crashing: CodeType) -> None:
    guards = gt.GuardManager(original)
    with pytest.raises(UnsafeCode, match="NULL"):
        gt.GuardedCode(crashing, guards)
    assert gt.GuardedCode(crashing, guards, verify=False)


def test_what_does_not_fit_is_told_first(crashing: CodeType) -> None:
    def other(x: int) -> int:
        return x

    with pytest.raises(ValueError, match="arguments"):
        gt.GuardedCode(other.__code__, gt.GuardManager(original), verify=True)


def test_a_callback_s_crashing_code_is_refused_by_the_hook(
    strict: None, hook: None, only: Any, crashing: CodeType
) -> None:
    callback = only(
        original, lambda frame, *_: gt.GuardedCode(crashing, gt.GuardManager(frame))
    )
    with gt.optimize(callback), pytest.raises(UnsafeCode, match="NULL"):
        original()
    assert gt.cache_entries(original) == []
