"""Continuations: what they take, where they belong, and how they were once wrong."""

from __future__ import annotations

import gc
import sys
import traceback
import types
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import pytest
from subjects import LOG, Manager, say, with_code

from guardtree.bytecode import (
    UNBOUND,
    Context,
    Instruction,
    NotResumable,
    continuation,
    graph_break,
    layout,
    leave_after,
    read,
    verify,
)

VERSION = sys.version_info[:2]
torch = SimpleNamespace(
    no_grad=lambda: Manager("no_grad"), sin=lambda x: ("sin", x), relu=lambda x: x
)
v = w = 0


def f(x: Any, y: Any) -> Any:
    global v, w
    v = 1
    with torch.no_grad():
        z = x + y
        w = 2
        a = torch.sin(say("hello") or z)
    return torch.relu(a)


def call_of(function: FunctionType | CodeType, name: str, nth: int = 0) -> int:
    """The offset of the call with the constant `name` among its arguments."""
    code = function if isinstance(function, CodeType) else function.__code__
    instructions = read(code)
    found = [at for at, each in enumerate(instructions) if each.arg == name][nth]
    calls = [each for each in instructions[found:] if each.opname == "CALL"]
    return calls[0].offset


def offset_behind(code: CodeType, offset: int) -> int:
    offsets = [each.offset for each in read(code)]
    return offsets[offsets.index(offset) + 1]


def test_the_arguments_are_slots_and_then_needed_locals() -> None:
    code = f.__code__
    made = continuation(code, offset_behind(code, call_of(f, "hello")))
    names = ("___stack0", "___stack1", "___stack2", "z", "x", "y", "a")
    assert made.code.co_varnames == names
    assert made.code.co_argcount == 4
    assert made.argnames == names[:4]
    assert made.layout.maybe_unbound == frozenset()
    assert len(made.layout.withs) == 1


def test_a_broken_function_does_everything_once() -> None:
    broken = with_code(f, graph_break(f.__code__, call_of(f, "hello")).code)
    LOG.clear()
    assert broken(1, 2) == ("sin", "hello")
    assert [each[0] for each in LOG] == ["in", "say", "out"]


def test_contexts_are_entered_anew_with_constants() -> None:
    code = f.__code__
    offset = offset_behind(code, call_of(f, "hello"))
    (block,) = layout(code, offset).withs
    made = continuation(code, offset, "reenter", {block.enter: ("name", False)})
    LOG.clear()
    resume = made.bind(globals())
    assert resume(Manager, torch.sin, None, 3) == ("sin", 3)
    assert LOG == [("in", "name"), ("out", "name", None)]


def test_one_instruction_has_one_continuation() -> None:
    code = f.__code__
    offset = offset_behind(code, call_of(f, "hello"))
    first = continuation(code, offset)
    assert continuation(code, offset) is first
    assert graph_break(code, call_of(f, "hello")).continuations == (first,)
    assert continuation(code, offset, "reenter") is not first
    same = code.replace()
    assert same == code and continuation(same, offset) is not first


def test_continuations_go_with_their_original() -> None:
    code = f.__code__.replace(co_name="short_lived")
    made = continuation(code, offset_behind(code, call_of(code, "hello")))
    gone = weakref.ref(made)
    assert made.original is code
    del code
    assert made.original is None
    del made
    assert gone() is None


def three(x: Any) -> Any:
    kept = []
    for i in range(x):
        kept.append(say("first", i))
        kept.append(say("second", i))
    return kept, say("third", x)


def test_breaks_in_a_continuation_are_continued_from_the_original() -> None:
    code = three.__code__
    made = graph_break(code, call_of(code, "first"))
    seen = set()
    for name in ("second", "first", "third"):
        (then,) = made.continuations
        made = graph_break(then.code, call_of(then.code, name))
        (following,) = made.continuations
        expected = offset_behind(code, call_of(code, name))
        assert following is continuation(code, expected)
        assert following.original is code
        seen.add(following)
    assert len(seen) == 3


def test_a_continuation_tells_where_its_instructions_are_from() -> None:
    code = three.__code__
    then = graph_break(code, call_of(code, "first")).continuations[0]
    assert then.origin(call_of(then.code, "second")) == call_of(code, "second")
    assert then.origin(read(then.code)[0].offset) is None
    with pytest.raises(ValueError, match="no instruction at offset 1"):
        then.origin(1)
    with pytest.raises(NotResumable):
        graph_break(then.code, read(then.code)[1].offset)


@pytest.mark.parametrize("first", ["first", "second"])
@pytest.mark.parametrize("then", ["first", "second", "third"])
def test_a_continuation_is_broken_too(first: str, then: str) -> None:
    code = three.__code__
    made = graph_break(code, call_of(code, first))
    inner = made.continuations[0].code
    broken = graph_break(inner, call_of(inner, then)).code
    verify(broken)
    constants = [broken if each is inner else each for each in made.code.co_consts]
    both = made.code.replace(co_consts=tuple(constants))
    LOG.clear()
    assert with_code(three, both)(2) == three(2)
    assert LOG[:5] == LOG[5:]


def test_broken_code_is_broken_again() -> None:
    later = graph_break(three.__code__, call_of(three, "third")).code
    both = graph_break(later, call_of(later, "second")).code
    verify(both)
    assert with_code(three, both)(2) == three(2)


def test_locals_die_when_they_did() -> None:
    class Tracked:
        pass

    def lives(found: list[Any]) -> Any:
        tracked = Tracked()
        found.append(weakref.ref(tracked))
        say("break", found)
        del tracked
        return found[0]() is None

    code = graph_break(lives.__code__, call_of(lives, "break")).code
    assert lives([]) and with_code(lives, code)([])


def raises_behind(x: Any) -> Any:
    say("break")
    y = [
        x,
        say(1) / 0,
    ]
    return y


def test_lines_are_real() -> None:
    code = graph_break(raises_behind.__code__, call_of(raises_behind, "break")).code

    def lines(function: FunctionType) -> list[int | None]:
        try:
            function(1)
        except ZeroDivisionError as error:
            return [each.lineno for each in traceback.extract_tb(error.__traceback__)]
        raise AssertionError

    whole = lines(raises_behind)
    call, behind = lines(with_code(raises_behind, code))[1:]
    assert behind == whole[-1]
    assert call == raises_behind.__code__.co_firstlineno + 1
    for made in (code, *(each for each in code.co_consts if _is_code(each))):
        assert None not in [line for _, _, line in made.co_lines()]


def _is_code(value: Any) -> bool:
    return isinstance(value, types.CodeType)


def closing(a: int) -> Callable[[], tuple[int, int]]:
    b = say("break") and a
    return lambda: (a, b)


def test_cells_are_bound_by_name() -> None:
    code = closing.__code__
    then = continuation(code, offset_behind(code, call_of(code, "break")))
    assert set(then.layout.cells) == {"a", "b"} == set(then.code.co_freevars)
    cells = {"a": types.CellType(3), "b": types.CellType(), "other": types.CellType()}
    made = then.bind(globals(), cells)
    value = made("value")
    assert value() == (3, 3)
    with pytest.raises(ValueError, match="was given 1"):
        then.bind(globals(), {"a": cells["a"]})


def test_unbound_locals_are_passed_as_such() -> None:
    def maybe(flag: Any) -> Any:
        if flag:
            x = 1
        say("break")
        return x

    code = maybe.__code__
    then = continuation(code, offset_behind(code, call_of(code, "break")))
    assert then.layout.maybe_unbound == {"x"}
    assert then.bind(globals())(None, 5) == 5
    with pytest.raises(UnboundLocalError, match="'x'"):
        then.bind(globals())(None, UNBOUND)


# What was wrong once, each with the CPython that showed it.


def test_a_call_that_begins_its_region_finds_its_handler() -> None:
    # 3.13 looks the handler up one code unit before the call.
    def fails(*_: Any) -> None:
        raise ValueError

    def caught(x: Any) -> Any:
        try:
            return fails(say("inner"))
        except ValueError:
            return "caught"

    code = graph_break(caught.__code__, call_of(caught, "inner")).code
    assert with_code(caught, code)(1) == "caught"


def test_a_continuation_has_no_docstring() -> None:
    # 3.14 takes the first constant for it, unasked whether there is one.
    def documented() -> None:
        """Text."""
        say("break")

    code = documented.__code__
    then = continuation(code, offset_behind(code, call_of(code, "break")))
    has_docstring = 0x4000000
    assert not then.code.co_flags & has_docstring
    verify(then.code.replace(co_consts=then.code.co_consts or (None,)))
    assert graph_break(code, call_of(code, "break")).code.co_consts[0] == "Text."


@pytest.mark.skipif(VERSION < (3, 12), reason="3.11 has no END_FOR")
def test_nothing_is_put_behind_the_end_of_a_loop() -> None:
    code = three.__code__
    end = next(each for each in read(code) if each.opname == "END_FOR")
    with pytest.raises(NotResumable, match="END_FOR"):
        graph_break(code, end.offset)
    with pytest.raises(NotResumable, match="END_FOR"):
        continuation(code, end.offset)


def test_cells_are_read_in_the_continuation() -> None:
    # 3.14 lists LOAD_DEREF among the instructions on locals.
    def counts(start: int) -> Any:
        count = start

        def add() -> int:
            nonlocal count
            count += 1
            return count

        say("break")
        return add(), count

    code = graph_break(counts.__code__, call_of(counts, "break")).code
    assert with_code(counts, code)(5) == (6, 6)


def test_a_parameter_that_is_a_cell_is_closed_over() -> None:
    # 3.13 loads the cell by LOAD_FAST.
    code = graph_break(closing.__code__, call_of(closing, "break")).code
    assert with_code(closing, code)(4)() == closing(4)()


def test_a_variable_that_a_comprehension_puts_back_unbound_is_unbound() -> None:
    # 3.12 stores NULL in it.
    def inlined(xs: list[int]) -> Any:
        found = [i for i in xs]
        say("break")
        return found, i  # noqa: F821  unbound

    code = inlined.__code__
    then = layout(code, offset_behind(code, call_of(code, "break")))
    assert then.locals == ("found",)


@pytest.mark.skipif(VERSION < (3, 14), reason="the offset is an object up to 3.13")
def test_a_bare_int_is_not_passed_on() -> None:
    # 3.14 keeps the offset of what raised as one, where a handler asks for it.
    code = f.__code__
    start = next(each for each in read(code) if each.opname == "WITH_EXCEPT_START")
    with pytest.raises(NotResumable, match="a bare int"):
        graph_break(code, start.offset)


def test_a_continuation_takes_no_more_slots_than_there_are() -> None:
    first, second = f.__code__, three.__code__
    then = continuation(first, offset_behind(first, call_of(first, "hello")))
    with pytest.raises(NotResumable, match="takes the slots"):
        leave_after(second, call_of(second, "third"), then)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ((lambda: (yield)).__code__, "a generator"),
        (compile("print()", "<module>", "exec"), "a class or module body"),
    ],
)
def test_what_is_no_function_is_refused(code: CodeType, reason: str) -> None:
    with pytest.raises(NotResumable, match=reason) as caught:
        graph_break(code, 2)
    assert caught.value.offset is None


def test_offsets_and_policies_that_do_not_exist_are_refused() -> None:
    code = f.__code__
    with pytest.raises(ValueError, match="no instruction at offset 1"):
        graph_break(code, 1)
    with pytest.raises(ValueError, match="not 'keep'"):
        continuation(code, call_of(f, "hello"), "keep")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="their managers are needed"):
        graph_break(code, call_of(f, "hello"), contexts="reenter")


def test_nothing_is_left_of_code_that_is_gone() -> None:
    from guardtree.bytecode.continuations import _found, _made

    gc.collect()
    before = len(_made), len(_found)
    code = three.__code__.replace(co_name="other")
    graph_break(code, call_of(code, "first"))
    assert len(_made) == before[0] + 1
    del code
    gc.collect()
    assert (len(_made), len(_found)) == before


def test_carried_contexts_are_left_and_entered_again_further_on() -> None:
    def two(x: Any) -> Any:
        with Manager("m") as name:
            say("first")
            say("second", name)
            return say("third")

    code = two.__code__
    first = graph_break(code, call_of(code, "first"))
    (then,) = first.continuations
    enters = [each.enter for each in then.layout.withs]
    managers = {
        enter: Context([Instruction("LOAD_CONST", Manager)], ("again",))
        for enter in enters
    }
    offset = call_of(then.code, "second")
    second = graph_break(then.code, offset, contexts="reenter", managers=managers).code
    constants = [second if each is then.code else each for each in first.code.co_consts]
    LOG.clear()
    both = first.code.replace(co_consts=tuple(constants))
    assert with_code(two, both)(1) == "third"
    assert [each[:2] for each in LOG if each[0] != "say"] == [
        ("in", "m"),
        ("out", "m"),
        ("in", "again"),
        ("out", "again"),
    ]


class Sequential:
    def __init__(self, *layers: int) -> None:
        self.layers = layers


class Model(Sequential):
    def __init__(self, layers: list[int]) -> None:
        say("break")
        super().__init__(*layers)
        parent = super()
        self.parent = parent.__thisclass__


def test_super_without_arguments_keeps_its_class_and_self() -> None:
    # The first local of a continuation is not self.
    code = graph_break(Model.__init__.__code__, call_of(Model.__init__, "break")).code
    model = Model.__new__(Model)
    with_code(Model.__init__, code)(model, [1, 2])
    assert model.layers == (1, 2)
    assert model.parent is Model


def test_only_builtins_that_see_locals_keep_them_all() -> None:
    def calls_a_method(model: Any, dead: int) -> Any:
        say("break")
        return model.eval()

    def calls_the_builtin(model: Any, dead: int) -> Any:
        say("break")
        return eval("dead")

    for function, names in (
        (calls_a_method, ("model",)),
        (calls_the_builtin, ("model", "dead")),
    ):
        code = function.__code__
        found = layout(code, offset_behind(code, call_of(code, "break")))
        assert found.locals == names
