"""Trials of attributes, settings, pickles, calls with names and refused calls."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import guardtree as gt
from building import MESSAGES
from kinds_alone import PLAIN, SCOPE
from scene import Hook, function, hit
from trials import of, plain

SETTINGS = """
    assumption_counts code_stats fail_code features get_eval_frame get_include
    get_policy is_generator reset_code run_only set_assumptions set_logs set_policy
    skip_code strict
""".split()
"""What "settings of ..." calls."""

# Attributes of what the library gives.


OF_PARTS = (gt.CacheExplanation, gt.EntryExplanation, gt.Simplification)
OF_PARTS += (gt.GuardSyntaxError, gt.TensorSpec)
"""Their own repr asks repr() of parts, or is CPython's."""


def told(found: Any) -> Any:
    """All that an object says of itself, methods aside."""
    owner = type(found)
    names = [name for name in dir(owner) if not name.startswith("_")]
    read = {
        name: plain(value)
        for name in names
        if not callable(value := getattr(found, name))
    }
    read.pop("clock_ns", None)
    # Not repr(): where there is no memory for the method CPython says object's own.
    if owner in OF_PARTS:
        return [read, found == found]
    return [read, plain(owner.__repr__(found)), found == found]


def tree() -> gt.GuardManager:
    guards = gt.GuardManager(SCOPE)
    guards.local("a").equals(1).note("why")
    guards.distinct_objects(guards.local("a"), guards.local("b"))
    return guards


TREE = tree()
UNPORTABLE = gt.GuardManager(SCOPE)
UNPORTABLE.local("a").id_match(PLAIN)
TABLE = gt.Table(SCOPE)
ENTRY = TABLE.add(TREE, "payload")
TABLE.lookup({"a": 1, "b": 2})
PROFILE = TREE.profile()
PROFILE.check({"a": 1, "b": 2})
EXPLANATION = TREE.explain({"a": 2, "b": 2})
CACHED = function()
gt.add_entry(CACHED, gt.GuardedCode(hit.__code__, gt.GuardManager(CACHED)))
try:
    gt.parse("a is", SCOPE)
except gt.GuardSyntaxError as error:
    SYNTAX_ERROR = error


GUARDED = function()


@lru_cache(maxsize=None)
def guarded_function() -> Any:
    """Made where it is tried: on CPython 3.11 it sets a hook."""
    return gt.guard_function(GUARDED)


def recorded() -> Any:
    with gt.record_history() as history:
        return history.events


DISPATCHER = gt.Dispatcher(SCOPE)
DISPATCHER.add(TREE, hit)
MISSED = gt.MissedCall(DISPATCHER, TREE, {"a": 1}, (1,), {})


GIVEN: dict[str, Callable[[], Any]] = {
    "AssumedGuards": TREE.assumed,
    "CacheEntry": lambda: gt.cache_entries(CACHED)[0],
    "CacheExplanation": lambda: gt.explain(CACHED, {"a": 1, "b": 2}),
    "Dispatcher": lambda: DISPATCHER,
    "Event": lambda: gt.Event(0.5, "f", "miss", "a is 1"),
    "EntryExplanation": lambda: gt.explain(CACHED, {"a": 1, "b": 2}).entries[0],
    "Explanation": lambda: EXPLANATION,
    "Failure": lambda: EXPLANATION.failures[0],
    "FactDifference": lambda: gt.FactDifference("shape", 0, "8", "9"),
    "GuardCheck": lambda: TREE.checks()[0],
    "GuardCounts": TREE.counts,
    "GuardManager": lambda: TREE.local("a"),
    "GuardProfile": lambda: PROFILE,
    "GuardRelation": lambda: TREE.relations()[0],
    "GuardSyntaxError": lambda: SYNTAX_ERROR,
    "GuardedCode": lambda: gt.GuardedCode(hit.__code__, gt.GuardManager(hit)),
    "GuardedFunction": guarded_function,
    "History": gt.History,
    "KeyPlan": lambda: gt.KeyPlan(ints=("one",)),
    "MissedCall": lambda: MISSED,
    "ProfileRow": lambda: PROFILE.rows()[0],
    "Report": lambda: gt.report(TABLE),
    "Simplification": TREE.simplified,
    "Table": lambda: TABLE,
    "TensorSpec": lambda: gt.TensorSpec(dtype="float32", shape=(2, None)),
    "TableEntry": lambda: ENTRY,
}
for name, give in GIVEN.items():
    of(f"attributes of {name}", lambda give=give: told(give()))
of("record_history", recorded)
of(
    "plain data of explanations",
    lambda: [
        str(EXPLANATION),
        EXPLANATION.to_dict()["failures"][0],
        EXPLANATION.failures[0].to_dict(),
        str(EXPLANATION.failures[0]),
        gt.explain(CACHED, {"a": 1, "b": 2}).to_json(),
        str(PROFILE).split()[0],
    ],
)


def in_callback() -> Any:
    """Attributes of the frame."""
    found: list[Any] = []
    called = function()

    def answered(frame: Any) -> Any:
        found.append(frame.f_locals["a"])
        found.append([frame.f_lineno, frame.f_lasti, plain(frame.closure)])
        found.append(frame.f_code is called.__code__)
        found.append(frame.f_globals is called.__globals__)
        found.append(frame.f_builtins["len"] is len)
        found.append(frame.function is called)
        found.append(type(frame).__repr__(frame))
        return gt.ASK_AGAIN

    Hook.answers[called.__code__] = answered
    try:
        called(1)
    finally:
        del Hook.answers[called.__code__]
    return found


of("attributes of Frame", in_callback)



def varied(a: Any, *rest: Any, k: Any = 5, **more: Any) -> Any:
    return "plain"


def handed(*given: Any) -> Any:
    return given


def varied_calls() -> Any:
    """A Dispatcher whose calls are bound in all ways: positions, names, defaults. One
    entry gets all arguments as they are bound, and one those that it captures."""
    called = gt.Dispatcher(varied)
    for count, names in ((5, ("a", "k", "rest", "more")), (6, ("more", "a"))):
        guards = gt.GuardManager(varied)
        guards.local("k").equals(count)
        captured = [guards.local(name) for name in names]
        called.add(guards, handed, captures=captured)
    return called


VARIED = varied_calls()
of(
    "calls of a Dispatcher",
    lambda: plain([VARIED(1), VARIED(1, 2, x=3), VARIED(1, k=6), VARIED(1, 2, k=7)]),
)

# Pickles and copies.
of("pickle of guards", lambda: plain(pickle.loads(pickle.dumps(TREE_OF_NAMED))))
of("copy of guards", lambda: plain(copy.copy(TREE_OF_NAMED)))


def named(a: Any, b: Any = 2) -> Any:
    return a


TREE_OF_NAMED = gt.GuardManager(named)
TREE_OF_NAMED.local("a").equals((1, "x"))


# Settings.


def settings() -> Any:
    code = function()
    gt.skip_code(code)
    gt.fail_code(code, "by the test")
    failed = gt.code_stats(code)["failure"]
    gt.reset_code(code)
    gt.run_only(code)
    gt.set_policy(code, entry_limit=3, when_full="keep", on_miss="plain", warm_up=1)
    return [failed, gt.get_policy(code), gt.is_generator(code.__code__)]


of("settings of code", settings)
of(
    "settings of the process",
    lambda: [
        gt.get_policy(),
        gt.features(),
        gt.get_include(),
        gt.assumption_counts().keys() > {"armed"},
        gt.set_assumptions(gt.set_assumptions(True)),
        gt.get_eval_frame() == Hook.callback,
        gt.set_logs(),
    ],
)


def strictly() -> Any:
    gt.strict()
    try:
        return TABLE.lookup({"a": 1, "b": 2})
    finally:
        gt.strict(False)


of("strict mode", strictly)


# Calls with names, and calls that are refused.


REFUSED = """
def run():
    try:
        {call}
    except MemoryError:
        raise
    except {error}:
        return "refused"
    return "taken"
"""


def refused(name: str, call: str, error: str) -> None:
    """No frame between the call and the handler: where there is no memory for the frame
    that a traceback shows, CPython loses the exception, and says SystemError."""
    names = {**globals(), "g": gt.GuardManager(SCOPE), "f": SCOPE, "odd": PLAIN}
    exec(REFUSED.format(call=call, error=error), names)
    of(f"refused: {name}", names["run"])


of(
    "calls with names",
    lambda: [
        plain(gt.GuardManager(scope=SCOPE)),
        gt.Table(SCOPE).add(guards=TREE, payload=1).payload,
        plain(gt.parse(text="a is b", scope=SCOPE, names={}, allow_calls=False)),
        TREE.explain(subject={"a": 1, "b": 2}).verdict,
        plain(gt.from_json(TREE_OF_NAMED.to_json(), named, allow_calls=True)),
    ],
)
for name, call, error in (
    ("too few arguments", "g.local()", "TypeError"),
    ("no such argument", "gt.Table(f, other=odd)", "TypeError"),
    ("no such local", "g.local('missing')", "NameError"),
    ("no such kind", "g.local('a').not_(('missing',))", "ValueError"),
    ("text", "gt.parse('a is is b', f)", "SyntaxError"),
    ("a name in a text", "gt.parse('missing is None', f)", "NameError"),
    ("JSON", "gt.from_json('{{\"guardtree\": 9}}', f)", "ValueError"),
    ("no JSON", "gt.from_json('{{', f)", "ValueError"),
    ("no form in JSON", "UNPORTABLE.to_json()", "ValueError"),
    ("captures", "TABLE.add(TREE, 1, captures={{'x': odd}})", "TypeError"),
    ("no mapping", "TREE.check(odd)", "TypeError"),
):
    refused(name, call.replace("{{", "{").replace("}}", "}"), error)
for how in MESSAGES.values():
    refused(how, how, "(TypeError, ValueError)")
