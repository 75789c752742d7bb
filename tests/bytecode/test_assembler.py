"""The assembler: opargs of any size, jumps of any length, cells, refusals."""

from __future__ import annotations

import dis
from itertools import pairwise
from types import CodeType, FunctionType

import pytest
from guardtree.bytecode import (
    Handler,
    Instruction,
    Variable,
    assemble,
    read,
    rewritten,
    stack_depths,
    unfused,
)
from guardtree.bytecode.versions import RUNNING
from made_code import JUMP_IF_FALSE, as_bool, function


def constant(value: object) -> Instruction:
    return Instruction("LOAD_CONST", value)


def ending(value: object) -> list[Instruction]:
    return [constant(value), Instruction("RETURN_VALUE")]


def popped(count: int) -> list[Instruction]:
    """What takes 2 * count code units and does nothing."""
    made = []
    for _ in range(count):
        made += [constant(None), Instruction("POP_TOP")]
    return made


def test_512_locals_need_extended_args() -> None:
    names = [f"v{i}" for i in range(512)]
    body = []
    for i, name in enumerate(names):
        body += [constant(i), Instruction("STORE_FAST", name)]
    for name in names:
        body.append(Instruction("LOAD_FAST", name))
    body += [Instruction("BUILD_TUPLE", 512), Instruction("RETURN_VALUE")]
    made = function(body, co_varnames=tuple(names))
    assert made() == tuple(range(512))
    assert made.__code__.co_stacksize == 512
    again = assemble(read(made.__code__), made.__code__)
    assert again == made.__code__


def test_a_pair_of_locals_is_refused_beyond_16_and_unfused() -> None:
    pairs = [each for each in RUNNING.fused if each.startswith("LOAD_FAST_LOAD")]
    if not pairs:
        pytest.skip("this version has no instructions on two locals")
    names = tuple(f"v{i}" for i in range(20))
    pair = Instruction(pairs[0], (Variable("v3"), Variable("v16")))
    body = [pair, Instruction("BUILD_TUPLE", 2), Instruction("RETURN_VALUE")]
    with pytest.raises(ValueError, match=r"below 16.*have 3 and 16; use unfused"):
        function(body, {}, *names)
    assert function(unfused(body), {}, *names)(*range(20)) == (3, 16)


@pytest.mark.parametrize("count", [1, 126, 127, 128, 129, 300, 33000])
def test_jumps_of_any_length_arrive(count: int) -> None:
    far = ending("jumped")
    flag = Instruction("LOAD_FAST", "flag")
    jump = Instruction(JUMP_IF_FALSE, target=far[0])
    made = function(
        [*as_bool(flag), jump, *popped(count), *ending("fell"), *far], {}, "flag"
    )
    assert made(False) == "jumped"
    assert made(True) == "fell"


@pytest.mark.parametrize("count", [1, 127, 128, 300])
def test_an_unconditional_jump_turns_the_way_it_has_to(count: int) -> None:
    def build(opname: str) -> FunctionType:
        back = popped(count) + ending("back")
        out = Instruction(opname, target=back[0])
        into = Instruction(opname, target=out)
        return function([into, *back, out])

    assert build("JUMP_FORWARD")() == build("JUMP_BACKWARD")() == "back"
    names = [each.opname for each in read(build("JUMP_FORWARD").__code__)]
    assert names.count("JUMP_FORWARD") == names.count("JUMP_BACKWARD") == 1


def test_a_conditional_jump_goes_back_where_the_version_has_one() -> None:
    flag = Instruction("LOAD_FAST", "flag")
    early = ending("back")
    skip = Instruction("JUMP_FORWARD", target=flag)
    jump = Instruction(JUMP_IF_FALSE, target=early[0])
    body = [skip, *early, *as_bool(flag), jump, *ending("fell")]
    if not RUNNING.has_directed_jumps:
        with pytest.raises(ValueError, match="it only goes forward; lead it to an"):
            function(body, {}, "flag")
        return
    made = function(body, {}, "flag")
    assert (made(False), made(True)) == ("back", "fell")
    assert "POP_JUMP_BACKWARD_IF_FALSE" in [each.opname for each in read(made.__code__)]


def test_constants_are_kept_by_identity() -> None:
    values = [[1], [1], bytearray(b"ab"), b"ab", 0.0, -0.0, 1, True, 1.0, (1,), (True,)]
    body = [constant(each) for each in values]
    body += [Instruction("BUILD_TUPLE", len(values)), Instruction("RETURN_VALUE")]
    made = function(body)
    assert list(map(id, made())) == list(map(id, values))
    twice = [constant(values[0]), constant(values[0]), Instruction("BUILD_TUPLE", 2)]
    code = function([*twice, Instruction("RETURN_VALUE")], co_consts=()).__code__
    assert code.co_consts == ([1],)


def test_300_names_and_their_flags_come_out() -> None:
    names = {f"g{i}": i for i in range(300)}
    body = [Instruction("LOAD_GLOBAL", name) for name in names]
    body += [Instruction("BUILD_TUPLE", 300), Instruction("RETURN_VALUE")]
    made = function(body, names)
    assert made() == tuple(range(300))
    flagged = Instruction("LOAD_GLOBAL", "g299", flags=1)
    code = function([flagged, *popped(1), *ending(None)], names).__code__
    assert read(code)[1].flags == 1
    with pytest.raises(ValueError, match="its name leaves 1 bits for flags"):
        function([Instruction("LOAD_GLOBAL", "g", flags=2), *ending(None)])


def test_a_cell_is_found_among_the_free_variables_too() -> None:
    def outer(argument):
        def inner():
            return argument

        return inner

    code = outer.__code__
    made = [each.arg for each in read(code) if isinstance(each.arg, Variable)]
    assert set(made) <= {Variable("argument", "cell"), Variable("inner", "local")}
    load = [Instruction("LOAD_DEREF", "argument"), Instruction("RETURN_VALUE")]
    inside = assemble(
        [Instruction("COPY_FREE_VARS", 1), Instruction("RESUME", 0), *load],
        code,
        co_varnames=(),
        co_argcount=0,
        co_cellvars=(),
        co_freevars=("argument",),
        co_flags=outer(1).__code__.co_flags,
    )
    assert FunctionType(inside, {}, closure=outer(7).__closure__)() == 7


def test_a_class_has_a_name_as_a_cell_and_as_a_free_variable() -> None:
    class Outer:
        def method(self):
            class Inner:
                seen = __class__

                def other(self):
                    return __class__

            return Inner

    (inner,) = (
        each for each in Outer.method.__code__.co_consts if hasattr(each, "co_code")
    )
    assert inner.co_cellvars == inner.co_freevars == ("__class__",)
    used = {each.arg for each in read(inner) if isinstance(each.arg, Variable)}
    assert {Variable("__class__", "cell"), Variable("__class__", "free")} <= used
    assert assemble(read(inner), inner).co_code == inner.co_code


def test_a_handler_catches_at_its_depth() -> None:
    caught = [
        Instruction("PUSH_EXC_INFO"),
        Instruction("POP_TOP"),
        Instruction("POP_EXCEPT"),
        Instruction("RETURN_VALUE"),
    ]
    raising = Instruction("LOAD_GLOBAL", "missing")
    raising.handler = Handler(caught[0], depth=1)
    made = function(
        [constant("kept"), constant("lost"), raising, *ending(None), *caught]
    )
    assert made() == "kept"
    assert made.__code__.co_stacksize == 4


def test_artificial_instructions_have_the_lines_they_are_given() -> None:
    made = function([constant(None), Instruction("LOAD_GLOBAL", "missing")] + ending(1))
    body = rewritten(read(made.__code__))
    for number, each in enumerate(body):
        each.position = (1000 + number, 1000 + number, None, None)
    code = assemble(body, made.__code__)
    lines = [line for _, _, line in code.co_lines()]
    assert lines == [1000 + number for number in range(len(body))]
    with pytest.raises(NameError) as caught:
        FunctionType(code, {})()
    assert caught.tb.tb_next.tb_lineno == 1002


@pytest.mark.parametrize(
    "position",
    [
        (7, 7, 0, 5),
        (7, 7, 79, 94),
        (7, 7, 80, 95),
        (9, 9, 0, 127),
        (9, 9, 0, 128),
        (6, 6, 3, 4),
        (9000, 9400, 0, 65536),
        (9, 9, None, None),
        (9, 12, None, None),
        (1, 1, 5, 2),
        None,
    ],
)
def test_every_form_of_a_location_is_read_back(position) -> None:
    code = function(popped(30) + ending(None), co_firstlineno=7).__code__
    body = read(code)
    for each in body[3:40]:
        each.position = position
    found = {each.position for each in read(assemble(body, code))[3:40]}
    assert found == {position}


def test_what_cannot_be_assembled_says_which_instruction_and_why() -> None:
    stray = Instruction("NOP")
    cases = [
        ([Instruction("LOAD_FAST", "x")], r"LOAD_FAST Variable\(name='x'.*has no"),
        ([Instruction("JUMP_FORWARD")], "JUMP_FORWARD.*has no target"),
        ([Instruction("JUMP_FORWARD", target=stray)], "leads to <NOP>, which is not"),
        ([Instruction("POP_TOP"), *ending(1)], "takes 1 more slots than the stack has"),
        ([Instruction("NOP")], "runs off the end"),
        ([Instruction("BUILD_TUPLE", -1)], "cannot hold -1"),
        ([Instruction("BUILD_TUPLE", 1 << 32)], "cannot hold 4294967296"),
    ]
    for body, message in cases:
        with pytest.raises(ValueError, match=message):
            function(body)
    with pytest.raises(ValueError, match="no instruction 'LOAD_FASTER'"):
        Instruction("LOAD_FASTER", "x")


def test_depths_that_differ_at_a_join_are_refused() -> None:
    end = ending(None)
    flag = Instruction("LOAD_FAST", "flag")
    jump = Instruction(JUMP_IF_FALSE, target=end[0])
    with pytest.raises(ValueError, match="reached with . slots on the stack, and"):
        function([*as_bool(flag), jump, constant(1), *end], {}, "flag")


def test_what_is_unreachable_has_no_depth() -> None:
    dead = ending("dead")
    body = [*ending("alive"), *dead]
    depths = stack_depths(body)
    assert [each in depths for each in body] == [True, True, False, False]
    assert function(body)() == "alive"


def test_neither_code_nor_instructions_change() -> None:
    def source(items):
        for item in items:
            print(item)

    code = source.__code__
    body = read(code)
    before = [(repr(each), each.target, each.handler) for each in body]
    copy = rewritten(body, lambda each: [] if each.opname == "POP_TOP" else None)
    unfused(body)
    assemble(body, code)
    assert [(repr(each), each.target, each.handler) for each in body] == before
    assert not {*body} & {*copy}


def test_rewriting_moves_labels_to_what_comes_instead() -> None:
    last = ending("end")
    label = Instruction("NOP")
    jump = Instruction("JUMP_FORWARD", target=label)
    body = [jump, *ending("skipped"), label, *last]
    new = [Instruction("NOP"), Instruction("NOP")]
    made = rewritten(body, {label: new}.get)
    assert made[0].target is new[0]
    gone = rewritten(body, {label: []}.get)
    assert gone[0].target is gone[-2]
    assert all(a is not b for a, b in pairwise(made))
    assert function(made)() == function(gone)() == "end"


@pytest.mark.parametrize("wide_target", [False, True])
def test_a_jump_that_is_long_because_of_its_extended_arg_stays_so(wide_target) -> None:
    """255 units back without one, 256 with it: both are right, compilers make both."""
    constants = tuple(range(1000, 1300))

    def looping(length: int) -> CodeType:
        label = constant(constants[-1 if wide_target else 0])
        fill = [Instruction("NOP") for _ in range(length)]
        back = Instruction("JUMP_BACKWARD", target=label)
        body = [label, Instruction("POP_TOP"), *fill, back]
        return function(body, co_consts=constants).__code__

    def jump_at(code: CodeType) -> int:
        return read(code)[-1].offset

    short = next(
        code for code in map(looping, range(240, 256)) if 255 in code.co_code[-8:]
    )
    at, jump = jump_at(short), dis.opmap["JUMP_BACKWARD"]
    assert short.co_code[at : at + 2] == bytes((jump, 255))
    long = short.co_code[:at] + bytes((dis.EXTENDED_ARG, 1, jump, 0))
    long = short.replace(co_code=long + short.co_code[at + 2 :])
    assert read(long)[-1].target is not None
    for code in (short, long):
        assert assemble(read(code), code).co_code == code.co_code
