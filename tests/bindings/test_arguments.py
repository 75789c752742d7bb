"""Arguments of functions: how they are named, what is refused, user code in them."""

from __future__ import annotations

import ast
import inspect
import pickle
from pathlib import Path
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree


def step(x: Any, y: Any = 0) -> None: ...


REFUSED = {
    "gt.skip_code()": "skip_code(): the argument code is missing",
    "gt.set_policy(step, 2)": "set_policy(): 2 arguments were given by position, "
    "and it takes 1 (code)",
    "gt.skip_code(step, code=step)": "skip_code(): code was given twice",
    "gt.set_policy(limit=2)": "set_policy(): unexpected keyword argument 'limit'; it "
    "takes code, entry_limit, when_full, on_miss, warm_up",
    "gt.set_assumptions(enabled=True)": "set_assumptions(): unexpected keyword "
    "argument 'enabled'; it takes enabled",
    "gt.features(1)": "features(): 1 arguments were given by position, and it takes 0 "
    "(no arguments)",
    "gt.skip_code(step, 'yes')": "skip_code(recursive): expected True or False, "
    "found 'yes' (str)",
    "gt.set_policy(warm_up=1.5)": "set_policy(warm_up): expected an int of 64 bits or "
    "None, found 1.5 (float)",
    "gt.set_policy(warm_up=2**63)": "set_policy(warm_up): expected an int of 64 bits "
    "or None, found 9223372036854775808 (int)",
    "gt.set_policy(on_miss=b'ask')": "set_policy(on_miss): expected a str or None, "
    "found b'ask' (bytes)",
    "gt.fail_code(step, None)": "fail_code(reason): expected a str, found None "
    "(NoneType)",
    "gt.invalidate(step, 1, 'why')": "invalidate(entry): expected a CacheEntry, found "
    "1 (int)",
    "_guardtree.register_tensor_type(1, None)": "register_tensor_type(type): expected "
    "a type, found 1 (int)",
    "gt.Table()": "Table(): the argument scope is missing",
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_message_names_the_argument(call: str) -> None:
    with pytest.raises(TypeError) as caught:
        eval(call)
    assert str(caught.value) == REFUSED[call]


class Truth:
    """Its truth is what `tell` gives."""

    def __init__(self, tell: Any) -> None:
        self.tell = tell

    def __bool__(self) -> bool:
        return self.tell()

    __index__ = __bool__


def fail() -> Any:
    raise LookupError("by the user")


def test_what_user_code_raises_in_an_argument_comes_out() -> None:
    odd: Any = Truth(fail)
    for call in (
        lambda: gt.skip_code(step, odd),
        lambda: gt.set_assumptions(odd),
        lambda: gt.set_policy(step, warm_up=odd),
        lambda: gt.parse("x is None", step, allow_calls=odd),
        lambda: gt.GuardedCode(step.__code__, step, verify=odd),
    ):
        with pytest.raises(LookupError, match="by the user"):
            call()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_must_not_be_lost_comes_out_of_a_message(kind: Any) -> None:
    """Out of the call itself, and only there."""

    class Shown:
        shown = 0

        def __repr__(self) -> str:
            self.shown += 1
            raise kind("by the user")

    odd: Any = Shown()
    g = gt.GuardManager(step)
    calls: tuple[Any, ...] = (
        lambda: gt.set_policy(when_full=odd),
        lambda: gt.GuardedCode(step.__code__, odd),
        lambda: gt.Table(step).lookup(odd),
        lambda: g.check(odd),
        lambda: g.local("x").item(odd),
        lambda: g.local("x").type_match(odd),
        lambda: gt.GuardManager(odd),
        lambda: gt.from_json("{}", step, resolver=odd),
    )
    for turn, call in enumerate(calls, 1):
        with pytest.raises(kind, match="by the user"):
            call()
        assert odd.shown == turn
        assert gt.get_policy()["when_full"] == "evict"


def test_an_ordinary_exception_of_a_repr_is_left_out_of_the_message() -> None:
    class Shown:
        __repr__ = fail

    with pytest.raises(TypeError, match="<Shown object, its repr raises>"):
        gt.set_policy(when_full=Shown())  # type: ignore[call-overload]


def test_names_of_parse_are_compared_by_no_user_code() -> None:
    class Name(str):
        __eq__ = __hash__ = fail  # type: ignore[assignment]

    class Sneaky(Name):
        def __hash__(self) -> int:
            return str.__hash__(self)

    names = {Sneaky("n"): gt, 3: None}
    assert len(gt.parse("x is n", step, names).checks()) == 1  # type: ignore[arg-type]


STUB = Path(_guardtree.__file__).with_name("_guardtree.pyi")


def stub_parameters() -> dict[str, list[str]]:
    """The parameters of every function and method of the stub, without self."""
    found: dict[str, list[str]] = {}
    for part in ast.parse(STUB.read_text()).body:
        is_class = isinstance(part, ast.ClassDef)
        for each in part.body if isinstance(part, ast.ClassDef) else [part]:
            if not isinstance(each, ast.FunctionDef) or each.decorator_list:
                continue
            name = f"{part.name}.{each.name}" if is_class else each.name
            given = each.args
            plain = [one.arg for one in (*given.posonlyargs, *given.args)]
            found[name] = plain[is_class:] + [one.arg for one in given.kwonlyargs]
    return found


def test_signatures_are_those_of_the_stub() -> None:
    seen = 0
    for name, expected in stub_parameters().items():
        owner, _, member = name.rpartition(".")
        function = getattr(getattr(_guardtree, owner) if owner else _guardtree, member)
        if member.startswith("__") or not callable(function):
            continue
        signature = inspect.signature(function)
        kinds = [each.kind for each in signature.parameters.values()]
        if inspect.Parameter.VAR_POSITIONAL in kinds:
            continue
        names = [*signature.parameters]
        assert names[bool(owner) :] == expected, name
        seen += 1
    assert seen > 100


def test_functions_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(gt.set_policy)) is gt.set_policy
