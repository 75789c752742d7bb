"""Templates: the seed's example, what runs when they are spliced, what is refused."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

import pytest
from guardtree.bytecode import (
    Instruction,
    Variable,
    add_push_null,
    bytecode_from_template,
    call,
    read,
    rewritten,
    splice,
    verify,
)
from made_code import function

Body = list[Instruction]
RETURN = Instruction("RETURN_VALUE")


def with_template(ctx, dummy):
    with ctx:
        dummy


def constant(value: object) -> Instruction:
    return Instruction("LOAD_CONST", value)


def local(name: str) -> Instruction:
    return Instruction("LOAD_FAST", name)


@pytest.mark.skipif(sys.version_info[:2] != (3, 12), reason="a listing of 3.12")
def test_the_seeds_template_has_its_26_instructions() -> None:
    made = bytecode_from_template(with_template, {"ctx": "__stack0"})
    assert " ".join(each.opname for each in made) == (
        "LOAD_FAST BEFORE_WITH POP_TOP LOAD_FAST POP_TOP LOAD_CONST LOAD_CONST "
        "LOAD_CONST CALL POP_TOP LOAD_CONST JUMP_FORWARD PUSH_EXC_INFO "
        "WITH_EXCEPT_START POP_JUMP_IF_TRUE RERAISE POP_TOP POP_EXCEPT POP_TOP POP_TOP "
        "LOAD_CONST JUMP_FORWARD COPY POP_EXCEPT RERAISE NOP"
    )
    assert made[0].arg == Variable("__stack0")
    assert made[3].arg == Variable("dummy")
    assert made[14].target is made[16]
    assert made[11].target is made[21].target is made[25]


class Context:
    """Records what happens to it."""

    def __init__(self, swallows: bool = False) -> None:
        self.events: list[Any] = []
        self.swallows = swallows

    def __enter__(self) -> Context:
        self.events.append("enter")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        self.events.append(kind)
        return self.swallows


def above_two_slots(body: Body) -> FunctionType:
    """f(ctx): `with ctx: body` above "low" and "high" on the stack; returns them."""
    made = bytecode_from_template(with_template, {"ctx": "context"}, depth=2)
    return function(
        [
            *(constant("low"), constant("high")),
            *splice(made, "dummy", body),
            *(Instruction("POP_TOP"), Instruction("BUILD_TUPLE", 2), RETURN),
        ],
        {"fail": fail},
        "context",
    )


def fail() -> None:
    raise LookupError("from the body")


FAILING = [
    *add_push_null([Instruction("LOAD_GLOBAL", "fail")]),
    *call(0),
    Instruction("POP_TOP"),
]


def test_control_goes_on_behind_the_template() -> None:
    context = Context()
    assert above_two_slots([])(context) == ("low", "high")
    assert context.events == ["enter", None]


def test_a_body_that_raises_leaves_through_the_context() -> None:
    context = Context()
    with pytest.raises(LookupError, match="from the body"):
        above_two_slots(FAILING)(context)
    assert context.events == ["enter", LookupError]


def test_a_context_that_swallows_keeps_the_slots_below() -> None:
    context = Context(swallows=True)
    assert above_two_slots(FAILING)(context) == ("low", "high")
    assert context.events == ["enter", LookupError]


def test_a_body_that_returns_is_not_turned_into_a_jump() -> None:
    """Its RETURN_VALUE is no statement of the template's, unlike the handler's."""

    def handled(dummy):
        try:
            dummy
        except LookupError:
            return "handled"

    def spliced(body: Body) -> FunctionType:
        made = splice(bytecode_from_template(handled), "dummy", body)
        built = function([*made, *returning_a_pair()], {"fail": fail})
        verify(built.__code__)
        return built

    def returning_a_pair() -> Body:
        return [constant("end"), Instruction("BUILD_TUPLE", 2), RETURN]

    assert spliced([constant("early"), RETURN])() == "early"
    assert spliced([])() == (None, "end")
    assert spliced(FAILING)() == ("handled", "end")


def test_the_returned_value_stays_on_the_stack() -> None:
    def both(flag):
        if flag:
            return "yes"
        return "no"

    def single(value):
        return [value]

    made = function([*bytecode_from_template(both), RETURN], {}, "flag")
    assert (made(True), made(False)) == ("yes", "no")
    alone = bytecode_from_template(single, {"value": "renamed"})
    assert not [i for i in alone if i.opname in ("RETURN_VALUE", "JUMP_FORWARD", "NOP")]
    assert function([*alone, RETURN], {}, "renamed")(3) == [3]


def test_returns_and_the_prefix_are_kept_on_request() -> None:
    def constant_one():
        return 1

    whole = bytecode_from_template(constant_one, noreturn=False, noprefix=False)
    assert [i.opname for i in whole] == [i.opname for i in read(constant_one.__code__)]


def test_globals_and_locals_are_renamed_and_attributes_are_not() -> None:
    def merge(d1):
        for k, v in d1.items():
            d2.items[k] = v  # noqa: F821

    names = {"d1": "source", "k": "key", "items": "nothing", "d2": "target"}
    made = bytecode_from_template(merge, {**names, "v": "value"})

    class Target:
        items: dict[str, int] = {}

    code = function(
        [*made, RETURN],
        {"target": Target},
        "source",
        co_varnames=("source", "key", "value"),
    )
    assert code({"a": 1, "b": 2}) is None
    assert Target.items == {"a": 1, "b": 2}


def test_a_template_of_try_catches_what_the_body_raises() -> None:
    def template(dummy):
        try:
            dummy
        except LookupError as error:
            note(error)  # noqa: F821
            raise

    notes: list[Exception] = []
    made = splice(bytecode_from_template(template, depth=1), "dummy", FAILING)
    names = {"fail": fail, "note": notes.append}
    run = function(
        [constant(0), *made, Instruction("POP_TOP"), RETURN],
        names,
        co_varnames=("error",),
    )
    with pytest.raises(LookupError):
        run()
    assert len(notes) == 1


def test_many_locals_do_not_disturb_a_template() -> None:
    """Fused loads hold 4 bits for each local, borrowing ones hold no reference."""

    def template(a, b):
        c = a + b
        d = c * a
        return c, d

    others = tuple(f"v{i}" for i in range(40))
    made = function(
        [*bytecode_from_template(template), RETURN],
        {},
        "a",
        "b",
        co_varnames=("a", "b", *others, "c", "d"),
    )
    assert made(2, 3) == (5, 10)


def test_a_global_is_a_marker_too() -> None:
    def template(ctx):
        with ctx:
            marker  # noqa: B018, F821

    made = splice(bytecode_from_template(template), "marker", FAILING)
    context = Context(swallows=True)
    assert function([*made, RETURN], {"fail": fail}, "ctx")(context) is None


def test_a_body_keeps_its_own_handlers_and_is_copied() -> None:
    def inner(dummy):
        try:
            dummy
        except LookupError:
            pass

    # Below: "low", "high", the exit function and, from 3.14 on, its self.
    entered = [each.opname for each in read(with_template.__code__)]
    depth = 4 if "LOAD_SPECIAL" in entered else 3
    body = splice(bytecode_from_template(inner, depth=depth), "dummy", FAILING)
    body.append(Instruction("POP_TOP"))
    before = [(repr(each), each.handler) for each in body]
    context = Context()
    assert above_two_slots(body)(context) == ("low", "high")
    assert context.events == ["enter", None]
    assert [(repr(each), each.handler) for each in body] == before


def test_a_marker_is_there_exactly_once() -> None:
    def twice(dummy):
        dummy
        print()
        dummy

    for template, count in ((twice, 2), (lambda dummy: dummy, 0)):
        made = bytecode_from_template(template)
        with pytest.raises(ValueError, match=f"{count} statements consist of the mark"):
            splice(made, "dummy", [])


def test_what_needs_its_own_frame_is_refused_with_the_reason() -> None:
    free = 1

    def cell(a):
        return lambda: a

    def closure():
        return free

    def generator():
        yield

    async def coroutine(a):
        await a

    async def async_generator():
        yield

    for fn, reason in (
        (cell, "because it has the cells a"),
        (closure, "because it has the cells free"),
        (generator, "because it yields"),
        (coroutine, "because it is a coroutine"),
        (async_generator, "because it is an async generator"),
    ):
        with pytest.raises(
            ValueError, match=rf"{fn.__name__} is no template, {reason}"
        ):
            bytecode_from_template(fn)
    with pytest.raises(
        ValueError, match=r"renames contxt, and .* has no such variable"
    ):
        bytecode_from_template(with_template, {"contxt": "x"})


def test_a_template_can_be_spliced_into_code_that_was_read() -> None:
    def original(x):
        marker  # noqa: B018, F821
        return x + 1

    def before(x):
        if x < 0:
            x = -x

    body = [*bytecode_from_template(before), Instruction("POP_TOP")]
    made = splice(read(original.__code__), "marker", body)
    assert all(each.position is not None for each in made[1:])
    assert function(rewritten(made)[1:], {}, "x")(-4) == 5
