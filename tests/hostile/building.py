"""Entry points that build, copy, print and read guards: user code is asked outside of a
look-up, so what it raises comes out, and the hook may offer its frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import guardtree as gt
from scene import EITHER, Act, Case, entry_point, function


class Odd:
    """An object that is compared or shown by user code."""

    def __init__(self, act: Act, what: str) -> None:
        self.act, self.what = act, what

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        if self.what == "eq":
            self.act()
        return self is other

    def __repr__(self) -> str:
        if self.what == "repr":
            self.act()
        return "Odd()"


def building(
    name: str, build: Callable[[Any, Act], Any], answer: Any, *covers: str, **more: Any
) -> None:
    """What is done with new guards and the act, and what it gives."""

    @entry_point(name, *covers)
    def make(act: Act) -> Case:
        scope = function()

        def run() -> Any:
            return build(gt.GuardManager(scope), act)

        return Case(run, answer, None, None, scope, is_paused=False, **more)


def keep(act: Act) -> Callable[[Any], bool]:
    return lambda check: (act(), True)[1]


building(
    "clone with a filter",
    lambda g, act: (g.local("a").type_match(int), len(g.clone(keep(act)).checks()))[1],
    1, "GuardManager.clone",
)  # fmt: skip
building(
    "a note that is printed",
    lambda g, act: (
        g.local("a").type_match(str).note(Odd(act, "repr")),
        "Odd()" in g.explain({"a": 1}).to_json(),
    )[1],
    True, "GuardManager.note", "Explanation.to_json", ordinary=False,
)  # fmt: skip
building(
    "a value that is printed",
    lambda g, act: (
        g.local("a").type_match(str),
        "Odd()" in g.explain({"a": Odd(act, "repr")}).failures[0].found,
    )[1],
    True, "Failure.found", ordinary=False,
)  # fmt: skip


def resolved(g: Any, act: Act) -> Any:
    """A tree that names an object, read with a resolver."""
    g.local("a").id_match(gt)
    text = g.to_json()

    def resolver(*name: str) -> Any:
        act()
        return gt

    return len(gt.from_json(text, function(), resolver=resolver).checks())


building("from_json with a resolver", resolved, 1, "from_json")


@dataclasses.dataclass
class Read:
    """A dataclass whose fields are read by user code."""

    act: Act
    size: int = 1

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name == "size":
            super().__getattribute__("act")()
        return found


def specialised(g: Any, act: Act) -> int:
    g.local("a").specialize((Read(act),), others="type")
    return len(g.checks())


building("specialize, a dataclass in Python", specialised, 5, "GuardManager.specialize")


def compared(g: Any, act: Act) -> bool:
    """Descriptions of checks are dataclasses, which compare their operands."""
    g.local("a").id_match_held(Odd(act, "eq"))
    h = gt.GuardManager(function())
    h.local("a").id_match_held(Odd(act, "eq"))
    return g.checks()[0] == h.checks()[0]


building("descriptions that are compared", compared, False, "GuardCheck.__eq__")


def shown(g: Any, act: Act) -> bool:
    g.local("a").id_match_held(Odd(act, "repr"))
    return "Odd()" in repr(g.checks()[0])


building("descriptions that are shown", shown, True, "GuardCheck.__repr__")


def strange(how: str) -> Callable[[Any, Act], Any]:
    """An argument whose repr, which a message shows, is user code."""

    def build(g: Any, act: Act) -> str:
        try:
            eval(how, {"gt": gt, "g": g, "odd": Odd(act, "repr"), "f": function()})
        except (TypeError, ValueError) as error:
            if error.args == ("by the act",):
                raise
            return "refused"
        return "taken"

    return build


MESSAGES = {
    "GuardManager.__init__": "gt.GuardManager(odd)",
    "GuardManager.equals": "g.local('a').equals(odd)",
    "set_eval_frame": "gt.set_eval_frame(odd)",
    "guard_function": "gt.guard_function(odd)",
    "GuardManager.item": "g.local('a').item(odd)",
    "GuardManager.dict_item": "g.local('a').dict_item(odd)",
    "GuardManager.set_contains": "g.local('a').set_contains(odd)",
    "GuardManager.type_match": "g.local('a').type_match(odd)",
    "GuardManager.local": "g.local(odd)",
    "GuardedCode.__init__": "gt.GuardedCode(f.__code__, odd)",
    "GuardedFunction.add": "gt.guard_function(f).add(odd, f)",
    "Table.add": "gt.Table(f).add(odd, 1)",
    "Table.__init__": "gt.Table(odd)",
    "set_policy": "gt.set_policy(when_full=odd)",
    "skip_code": "gt.skip_code(odd)",
    "from_json": "gt.from_json(odd, f)",
    "parse": "gt.parse(odd, f)",
    "fail_code": "gt.fail_code(f, odd)",
    "invalidate": "gt.invalidate(f, odd, 'a reason')",
    "Dispatcher.__init__": "gt.Dispatcher(f, entry_limit=odd)",
    "Dispatcher.add": "gt.Dispatcher(f).add(g, f, captures=odd)",
    "Dispatcher.remove": "gt.Dispatcher(f).remove(odd)",
    "GuardManager.specialize": "g.local('a').specialize({odd: 1})",
    "Table.remove": "gt.Table(f).remove(odd)",
    "Table.lookup": "gt.Table(f).lookup(odd)",
    "GuardManager.check": "g.check(odd)",
    "GuardManager.reordered": "g.reordered(odd)",
    "GuardManager.same_object": "g.same_object(odd)",
}
for covers, how in MESSAGES.items():
    building(f"a message about an argument: {how}", strange(how),
        "refused", covers, ordinary=EITHER,
    )  # fmt: skip


class Captures(dict[str, Any]):
    """Captures whose items are user code."""

    act: Act

    def __iter__(self) -> Any:  # with this, dict() asks the methods
        return super().__iter__()

    def __getitem__(self, name: str) -> Any:
        self.act()
        return super().__getitem__(name)


def captured(g: Any, act: Act) -> int:
    scope = function()
    guards, table = gt.GuardManager(scope), gt.Table(scope)
    captures = Captures(x=guards.local("a"))
    captures.act = act
    table.add(guards, 1, captures=captures)
    return len(table)


building("captures in Python", captured, 1, "Table.add")


def switched(g: Any, act: Act) -> bool:
    """A setting whose truth is user code."""

    class Setting:
        def __bool__(self) -> bool:
            act()
            return True

    return gt.set_assumptions(Setting())  # type: ignore[arg-type]


building("a setting in Python", switched, True, "set_assumptions")


def told(g: Any, act: Act) -> bool:
    """The repr of an entry shows its payload."""
    scope = function()
    table = gt.Table(scope)
    return "Odd()" in repr(table.add(g, Odd(act, "repr")))


building(
    "an entry that is shown", told, True, "TableEntry.__repr__", ordinary=False
)  # fmt: skip


class Callback(Odd):
    def __call__(self, *ignored: Any) -> None: ...


building(
    "an optimize that is shown",
    lambda g, act: "Odd()" in repr(gt.optimize(Callback(act, "repr"))),
    True, "optimize.__repr__",
)  # fmt: skip
