"""GuardedCode refuses code that cannot run in the frame, and says what differs.

Where the refusal happens inside the callback or in what takes its answer is left
open: in both cases the caller of the function gets the error. Each refusal runs in
this process, because nothing may have been touched when it is raised.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest


def anything(f_locals: dict[str, Any]) -> bool:
    return True


def outer() -> dict[str, Callable[..., Any]]:
    """Functions that differ from `base` in one thing each."""
    n, m = 1, 2

    def base(a, b=1):
        return a, b

    def fewer(a):
        return a

    def more(a, b, c):
        return a, b, c

    def renamed(a, c):
        return a, c

    def swapped(b, a):
        return a, b

    def positional_only(a, /, b):
        return a, b

    def keyword_only(a, *, b):
        return a, b

    def with_args(a, b, *args):
        return a, b, args

    def with_kwargs(a, b, **kw):
        return a, b, kw

    def cell(a, b):
        return lambda: a + b

    def free(a, b):
        return a, b, n

    def free_two(a, b):
        return a, b, n, m

    def free_other(a, b):
        return a, b, m

    def generator(a, b):
        yield a, b

    async def coroutine(a, b):
        return a, b

    async def async_generator(a, b):
        yield a, b

    @types.coroutine
    def iterable_coroutine(a, b):
        yield a, b

    return dict(locals())


FUNCTIONS = {name: f for name, f in outer().items() if callable(f)}

# (original, replacement, what the message has to name)
MISMATCHES = [
    ("base", "fewer", "argument"),
    ("base", "more", "argument"),
    ("base", "renamed", "argument.*c|c.*argument"),
    ("base", "swapped", "argument"),
    ("base", "positional_only", "positional"),
    ("positional_only", "base", "positional"),
    ("base", "keyword_only", "keyword"),
    ("keyword_only", "base", "keyword"),
    ("base", "with_args", r"\*args|varargs|variable"),
    ("with_args", "base", r"\*args|varargs|variable"),
    ("base", "with_kwargs", r"\*\*|varkeywords|keyword"),
    ("with_kwargs", "base", r"\*\*|varkeywords|keyword"),
    ("with_args", "with_kwargs", r"\*"),
    ("base", "free", "free.*n"),
    ("free", "free_two", "free.*m"),
    ("free_two", "free", "free.*m"),
    ("free", "free_other", "free"),
    ("base", "generator", "generator"),
    ("generator", "base", "generator"),
    ("base", "coroutine", "coroutine"),
    ("coroutine", "base", "coroutine"),
    ("coroutine", "generator", "generator|coroutine"),
    ("generator", "async_generator", "async"),
    ("async_generator", "coroutine", "async"),
    ("iterable_coroutine", "generator", "coroutine"),
]


def enter(function: Callable[..., Any]) -> Any:
    result = function(1, b=2)
    if hasattr(result, "close"):
        result.close()
    return result


@pytest.mark.parametrize(("original", "replacement", "message"), MISMATCHES)
def test_a_mismatch_is_refused_in_words(original, replacement, message, only) -> None:
    old, new = FUNCTIONS[original], FUNCTIONS[replacement]
    callback = only(old, lambda *_: gt.GuardedCode(new.__code__, anything))
    with gt.optimize(callback):
        for _ in range(2):
            with pytest.raises((TypeError, ValueError), match=f"(?s){message}"):
                enter(old)
        assert gt.set_eval_frame(callback) is callback
    assert callback.calls == 2
    assert gt.cache_entries(old.__code__) == []
    enter(old)


@pytest.mark.parametrize("name", ["base", "cell", "free", "generator", "with_args"])
def test_code_of_the_same_shape_is_accepted(name, only) -> None:
    function = FUNCTIONS[name]
    new = function.__code__.replace(co_name="renamed", co_firstlineno=1)
    callback = only(function, lambda *_: gt.GuardedCode(new, anything))
    with gt.optimize(callback):
        enter(function)
        enter(function)
    assert callback.calls == 1
    gt.reset_code(function.__code__)


@pytest.mark.parametrize(
    ("original", "replacement"),
    [("base", "cell"), ("cell", "base"), ("free", "base")],
)
def test_cells_may_differ_and_free_variables_may_go(
    original, replacement, path, only
) -> None:
    # Code makes its own cells at its first instructions, after the hook; and code
    # without free variables does not look at the function's closure.
    old, new = FUNCTIONS[original], FUNCTIONS[replacement]
    callback = only(old, lambda *_: gt.GuardedCode(new.__code__, anything))
    with gt.optimize(callback):
        for _ in range(3):
            result = enter(old)
            assert (result() if callable(result) else result) in (3, (1, 2))
    assert callback.calls == 1
    gt.reset_code(old.__code__)


def test_a_message_names_the_function_and_the_difference(only) -> None:
    old, new = FUNCTIONS["base"], FUNCTIONS["renamed"]
    callback = only(old, lambda *_: gt.GuardedCode(new.__code__, anything))
    with gt.optimize(callback), pytest.raises((TypeError, ValueError)) as caught:
        old(1)
    text = str(caught.value)
    assert "base" in text
    assert "'b'" in text and "'c'" in text


def test_a_nested_flag_or_other_file_and_line_do_not_matter(only) -> None:
    namespace: dict[str, Any] = {}
    exec("\n\n\ndef base(a, b): return [a, b]", namespace)
    old = FUNCTIONS["base"]
    new = namespace["base"].__code__
    assert new.co_flags != old.__code__.co_flags
    with gt.optimize(only(old, lambda *_: gt.GuardedCode(new, anything))):
        assert [old(1), old(1)] == [[1, 1]] * 2
    gt.reset_code(old.__code__)


@pytest.mark.parametrize("code", [42, None, "code", outer, b"\x00", object()])
def test_something_that_is_no_code_object_is_a_type_error(code, hook) -> None:
    with pytest.raises(TypeError, match="code"):
        gt.GuardedCode(code, anything)


@pytest.mark.parametrize("check", [42, None, "guards", object()])
def test_guards_that_cannot_be_called_are_a_type_error(check, hook) -> None:
    with pytest.raises(TypeError, match=r"callable|GuardManager"):
        gt.GuardedCode(outer.__code__, check)


def test_guarded_code_takes_its_two_parts_by_name(hook) -> None:
    guarded = gt.GuardedCode(check_fn=anything, code=outer.__code__)
    assert guarded.code is outer.__code__
    assert guarded.check_fn is anything
    for arguments in [(), (outer.__code__,), (outer.__code__, anything, 1)]:
        with pytest.raises(TypeError):
            gt.GuardedCode(*arguments)


def test_module_code_cannot_replace_a_function(only) -> None:
    old = FUNCTIONS["base"]
    new = compile("x = 1", "<module>", "exec")
    callback = only(old, lambda *_: gt.GuardedCode(new, anything))
    with gt.optimize(callback), pytest.raises((TypeError, ValueError)):
        old(1)
    assert gt.cache_entries(old.__code__) == []


def test_a_module_or_class_body_is_never_given_a_functions_code(only) -> None:
    def function():
        return None

    module = compile("x = 1", "<module>", "exec")
    answer = gt.GuardedCode(function.__code__, anything)
    namespace: dict[str, Any] = {}
    with gt.optimize(only(module, lambda *_: answer)):
        with pytest.raises((TypeError, ValueError)):
            exec(module, namespace)
        assert "x" not in namespace
    exec(module, namespace)
    assert namespace["x"] == 1
