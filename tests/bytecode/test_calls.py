"""Calls built from recipes run on every version, and look as CPython's own do."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest
from guardtree.bytecode import (
    Instruction,
    add_push_null,
    assemble,
    bytecode_from_template,
    call,
    call_ex,
    call_kw,
    call_late,
    load_method,
    make_function,
    pop_null,
    read,
)
from guardtree.bytecode.versions import RUNNING
from made_code import JUMP_IF_FALSE, as_bool, function

Body = list[Instruction]


def load(*path: str) -> Body:
    """A global, and attributes of it."""
    name, *attributes = path
    attrs = [Instruction("LOAD_ATTR", each) for each in attributes]
    return [Instruction("LOAD_GLOBAL", name), *attrs]


def constant(value: object) -> Instruction:
    return Instruction("LOAD_CONST", value)


RETURN = Instruction("RETURN_VALUE")


def result(body: Body, **names: Any) -> Any:
    return function([*body, RETURN], names)()


def recorded(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


class Counter:
    """Has a method, an attribute that is a function, and a property."""

    def __init__(self) -> None:
        self.own = recorded

    def method(self, *args: Any, **kwargs: Any) -> Any:
        assert isinstance(self, Counter)
        return args, kwargs

    @property
    def computed(self) -> Callable[..., Any]:
        return recorded


CALLABLES = {
    "global": (load("f"), {"f": recorded}),
    "method": (load("c", "method"), {"c": Counter()}),
    "own": (load("c", "own"), {"c": Counter()}),
    "computed": (load("c", "computed"), {"c": Counter()}),
    "of a namespace": (load("n", "f"), {"n": SimpleNamespace(f=recorded)}),
    "constant": ([constant(recorded)], {}),
}


@pytest.mark.parametrize("kind", CALLABLES)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_positional_arguments(kind: str, count: int) -> None:
    callee, names = CALLABLES[kind]
    arguments = [constant(each) for each in range(count)]
    expected = (tuple(range(count)), {})
    early = [*add_push_null(callee), *arguments, *call(count)]
    assert result(early, **names) == expected
    late = [*callee, *arguments, *call_late(count)]
    assert result(late, **names) == expected


@pytest.mark.parametrize("kind", CALLABLES)
def test_keyword_arguments(kind: str) -> None:
    callee, names = CALLABLES[kind]
    arguments = [constant(each) for each in range(3)]
    body = [*add_push_null(callee), *arguments, *call_kw(3, ["x", "y"])]
    assert result(body, **names) == ((0,), {"x": 1, "y": 2})


@pytest.mark.parametrize("kind", CALLABLES)
@pytest.mark.parametrize("kwargs", [False, True])
def test_unpacked_arguments(kind: str, kwargs: bool) -> None:
    callee, names = CALLABLES[kind]
    body = [*add_push_null(callee, for_call_ex=True), constant((1, 2))]
    if kwargs:
        body += load("named")
    body += call_ex(kwargs=kwargs)
    given = {"k": 3}
    assert result(body, **names, named=given) == ((1, 2), given if kwargs else {})


def test_methods() -> None:
    for name in ("method", "own", "computed"):
        body = [*load("c"), *load_method(name), constant(5), *call(1)]
        assert result(body, c=Counter()) == ((5,), {})


NESTED = {
    "f": lambda a: SimpleNamespace(b=SimpleNamespace(c=lambda d, e: (a, d, e))),
    "x": SimpleNamespace(a=1),
    "y": SimpleNamespace(d=2),
    "z": SimpleNamespace(e=3),
}


def nested() -> Body:
    """f(x.a).b.c(y.d, z.e)"""
    inner = [*add_push_null(load("f")), *load("x", "a"), *call(1)]
    callee = [*inner, Instruction("LOAD_ATTR", "b"), Instruction("LOAD_ATTR", "c")]
    return [*add_push_null(callee), *load("y", "d"), *load("z", "e"), *call(2)]


def test_nested_calls_run() -> None:
    assert result(nested(), **NESTED) == (1, 2, 3)


def meaning(instructions: list[Instruction]) -> list[tuple[Any, ...]]:
    return [(each.opname, each.arg, each.flags) for each in instructions]


def test_nested_calls_are_what_cpython_compiles() -> None:
    theirs = meaning(read(compiled("f(x.a).b.c(y.d, z.e)").__code__))
    ours = meaning(read(function([*nested(), RETURN]).__code__))
    if not RUNNING.attribute_loads_method:
        # CPython loads .c as a method there; a callable and NULL do the same.
        theirs[theirs.index(("LOAD_METHOD", "c", 0))] = ("LOAD_ATTR", "c", 0)
        theirs.insert(1, ("PUSH_NULL", None, 0))
    assert ours == theirs


def compiled(expression: str) -> FunctionType:
    names: dict[str, Any] = {}
    exec(f"def made(): return {expression}", names)  # noqa: S102
    return names["made"]


def test_calls_are_what_cpython_compiles() -> None:
    null_f = add_push_null(load("f"))
    cases = {
        "f(a, b)": [*null_f, *load("a"), *load("b"), *call(2)],
        "f(a, x=b)": [*null_f, *load("a"), *load("b"), *call_kw(2, ("x",))],
    }
    if RUNNING.attribute_loads_method:  # 3.11 loads .f as a method
        cases["m.f(a)"] = [*add_push_null(load("m", "f")), *load("a"), *call(1)]
    for expression, body in cases.items():
        theirs = read(compiled(expression).__code__)
        ours = read(function([*body, RETURN]).__code__)
        assert meaning(ours) == meaning(theirs)


def test_a_conditional_callable_gets_its_null_behind_the_join() -> None:
    def template(flag, f, g):
        return f if flag else g

    callee = bytecode_from_template(template)
    value = Instruction("LOAD_FAST", "value")
    names = ("flag", "f", "g", "value")
    made = function([*add_push_null(callee), value, *call(1), RETURN], {}, *names)
    assert made(True, recorded, None, 1) == ((1,), {})
    assert made(False, None, recorded, 2) == ((2,), {})
    with pytest.raises(ValueError, match="leads to .*, which is not in the list"):
        add_push_null(callee[:-1])  # without the NOP that both ways lead to


def test_a_callable_that_begins_with_a_loop_gets_one_null() -> None:
    waits = iter([True, True, False])

    class Waiting:
        def __bool__(self) -> bool:
            return next(waits)

    head = Instruction("LOAD_GLOBAL", "waiting")
    (last,) = load("f")
    out = Instruction(JUMP_IF_FALSE, target=last)
    callee = [*as_bool(head), out, Instruction("JUMP_BACKWARD", target=head), last]
    body = [*add_push_null(callee), constant(1), *call(1)]
    assert result(body, waiting=Waiting(), f=recorded) == ((1,), {})
    assert not list(waits)


def test_what_is_not_one_callable_is_refused() -> None:
    for callee in ([], load("f") + load("g"), [Instruction("POP_TOP")], [RETURN]):
        with pytest.raises(ValueError, match="slots|leaves"):
            add_push_null(callee)
    set_already = add_push_null(load("f"))
    with pytest.raises(ValueError, match=r"leaves 2 values .*is a NULL bit"):
        add_push_null(set_already)
    with pytest.raises(ValueError, match=r"leaves 2 values .*is a NULL bit"):
        add_push_null([*load("c"), *load_method("m")])


def test_the_callers_instructions_stay_as_they_are() -> None:
    for callee in (load("f"), load("m", "f"), [constant(recorded)]):
        before = meaning(callee)
        made = add_push_null(callee)
        assert meaning(callee) == before
        assert not {*made} & {*callee}


def test_an_added_null_has_the_handler_and_the_line_of_its_neighbour() -> None:
    callee = [constant(recorded)]
    callee[0].position = (4, 4, 0, 1)
    (null,) = [i for i in add_push_null(callee) if i.opname == "PUSH_NULL"]
    assert null.position == (4, 4, 0, 1)


@pytest.mark.parametrize("scratch", [None, "scratch"])
def test_a_null_is_dropped(scratch: str | None) -> None:
    body = [constant("kept"), Instruction("PUSH_NULL"), *pop_null(scratch), RETURN]
    made = function(body, co_varnames=("scratch",))
    assert made() == "kept"


def test_storing_null_unbinds_the_scratch_local() -> None:
    body = [
        *(constant(1), Instruction("STORE_FAST", "scratch")),
        *(Instruction("PUSH_NULL"), *pop_null("scratch")),
        *(Instruction(RUNNING.load_fast_checked, "scratch"), RETURN),
    ]
    with pytest.raises(UnboundLocalError):
        function(body, co_varnames=("scratch",))()


def test_names_beyond_the_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="1 arguments cannot have 2 names"):
        call_kw(1, ["x", "y"])


def test_a_function_is_made_with_and_without_a_closure() -> None:
    def outer(number):
        def inner():
            return number, setting  # noqa: F821

        return inner

    def constant_one():
        return setting  # noqa: F821

    assert result(make_function(constant_one.__code__), setting=3)() == 3

    code = outer.__code__
    inner = next(each for each in code.co_consts if hasattr(each, "co_code"))
    prologue = read(code)[: [i.opname for i in read(code)].index("RESUME") + 1]
    for closure in (None, ["number"]):
        body = [*prologue, *make_function(inner, closure), RETURN]
        made = FunctionType(assemble(body, code), {"setting": 4})(5)
        assert made() == (5, 4)
    with pytest.raises(ValueError, match=r"has 1 free variables .*closure 2"):
        make_function(inner, ["number", "other"])
