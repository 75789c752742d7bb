"""What the entry points of the matrix are written with: user code, cases, a list."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import guardtree as gt

ANY = "every answer is right"
EITHER = "it comes out, or a message goes without it"
RAISES = "what user code raises comes out of the call"
UNRAISABLE = "what user code raises goes to sys.unraisablehook"


class Act:
    """The user code: does nothing, or what the condition has it do."""

    def __init__(self) -> None:
        self.calls = 0
        self.do: Callable[[], object] | None = None

    def __call__(self, *ignored: object) -> None:
        self.calls += 1
        if self.do is not None:
            user_code(self.do)


def user_code(do: Callable[[], object]) -> None:
    """A frame that the hook must not offer while it is paused."""
    do()


@dataclass
class Case:
    """One entry point, ready to be called again and again."""

    run: Callable[[], Any]
    """Calls it, so that it calls the act; gives its answer."""
    answer: Any
    """The right answer where the act changes nothing that it depends on."""
    remove: Callable[[], object] | None = None
    """Removes the entry that user code runs for, or clears its table."""
    removed: Any = None
    """The right answer to a call in which `remove` is called; None: `answer`."""
    function: FunctionType | None = None
    """The function of the scope, whose `__code__` is replaced."""
    ordinary: Any = RAISES
    """The answer where the act raises ValueError."""
    interrupt: Any = RAISES
    """The same for KeyboardInterrupt."""
    is_paused: bool = True
    """The hook's callback is not asked about the act's frames."""


Maker = Callable[[Act], Case]
ENTRY_POINTS: dict[str, Maker] = {}
COVERED: set[str] = set()


def entry_point(name: str, *covers: str, oldest: tuple[int, int] = (3, 11)) -> Any:
    """Lists a function that makes a case; `covers`: public names that it runs."""

    def listed(make: Maker) -> Maker:
        assert name not in ENTRY_POINTS, name
        COVERED.update(covers)
        if sys.version_info >= oldest:
            ENTRY_POINTS[name] = make
        return make

    return listed


def scope(a: Any, b: Any = 2) -> Any:
    return "plain", a, b


def function(name: str = "scope") -> FunctionType:
    """A function with code and globals of its own and a default. The compiler, which
    without memory raises SystemError, has no part in it."""
    code = scope.__code__.replace(co_name=name)
    names: dict[str, Any] = {"__builtins__": builtins}
    names[name] = FunctionType(code, names, name, (2,))  # as if exec had made it
    made: FunctionType = names[name]
    return made


def other_code(like: FunctionType) -> Any:
    """Code that fits the function, and answers "other"."""
    names: dict[str, Any] = {}
    exec(f"def {like.__name__}(a, b=2):\n    c = a\n    return 'other', c, b\n", names)
    return names[like.__name__].__code__


def hit(a: Any, b: Any = 2) -> tuple[Any, ...]:
    """What entries run."""
    return "hit", a, b


def guarded(act: Act, scope: FunctionType) -> gt.GuardManager:
    """Guards that pass, with a Python guard that calls the act."""
    guards = gt.GuardManager(scope)

    def predicate(value: object) -> bool:
        act()
        return True

    guards.local("a").python(predicate)
    return guards


class Mapped(Mapping[str, Any]):
    """A mapping of locals whose items are user code."""

    def __init__(self, act: Act, **items: Any) -> None:
        self.act, self.items_ = act, items

    def __getitem__(self, name: str) -> Any:
        self.act()
        return self.items_[name]

    def __iter__(self) -> Any:
        return iter(self.items_)

    def __len__(self) -> int:
        return len(self.items_)


class Doomed:
    """Its finalizer is user code."""

    def __init__(self, act: Act) -> None:
        self.act = act

    def __call__(self, *ignored: Any) -> Any:
        return None

    def __del__(self) -> None:
        self.act()


class Hook:
    """The callback of a cell: answers for codes that cases name, notes all others."""

    answers: dict[Any, Callable[[Any], Any]] = {}
    offered: list[str] = []

    @classmethod
    def callback(cls, frame: Any, entry: Any, state: Any) -> Any:
        answer = cls.answers.get(frame.f_code)
        if answer is not None:
            return answer(frame)
        cls.offered.append(frame.f_code.co_name)
        return gt.ASK_AGAIN
