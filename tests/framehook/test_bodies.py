"""Modules, class bodies and exec: code that runs in a namespace instead of slots."""

from __future__ import annotations

import collections
import importlib
import inspect
import sys
from types import CodeType
from typing import Any

import guardtree as gt
import pytest


def class_body(source: str, name: str = "Body") -> CodeType:
    """The code of a class body in source."""
    todo = [compile(source, "<body>", "exec")]
    while todo:
        code = todo.pop()
        if code.co_name == name and not code.co_flags & inspect.CO_OPTIMIZED:
            return code
        todo += [c for c in code.co_consts if inspect.iscode(c)]
    raise AssertionError(f"no class {name}")


def run(source: CodeType, **names: Any) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "body", **names}
    exec(source, namespace)
    return namespace


def test_a_module_body_can_be_replaced(path, swap) -> None:
    old = compile("a = 1\nb = [i for i in range(a)]", "<old>", "exec")
    new = compile(
        "a = 2\nb = [[i, j] for i in range(a) for j in 'xy']\ndef f(): return a, b",
        "<new>",
        "exec",
    )
    callback = swap(old, new)
    with gt.optimize(callback):
        for _ in range(3):
            names = run(old)
            assert names["a"] == 2
            assert names["f"]() == (2, [[0, "x"], [0, "y"], [1, "x"], [1, "y"]])
    assert callback.calls == 1
    assert run(old)["b"] == [0]
    assert gt.code_stats(old)[path] >= 2


def test_exec_with_its_own_namespace_can_be_replaced(path, swap) -> None:
    old = compile("b = a", "<old>", "exec")
    new = compile("c = [a, where]", "<new>", "exec")
    with gt.optimize(swap(old, new)):
        for make in (dict, collections.ChainMap, collections.OrderedDict):
            own = make()
            own["a"] = 1
            exec(old, {"where": "global"}, own)
            assert dict(own) == {"a": 1, "c": [1, "global"]}


def test_eval_can_be_replaced(path, swap) -> None:
    old = compile("a + 1", "<old>", "eval")
    new = compile("[a, a + 1]", "<new>", "eval")
    with gt.optimize(swap(old, new)):
        for n in range(3):
            assert eval(old, {"a": n}) == [n, n + 1]


CLASS = """
def make(n):
    class Body{bases}:
        kept = n
        def method(self):
            return __class__, n
        {extra}
    return Body
"""


def test_a_class_body_can_be_replaced(path, swap) -> None:
    source = compile(CLASS.format(bases="", extra="pass"), "<class>", "exec")
    [make] = [c for c in source.co_consts if inspect.iscode(c)]
    [old] = [c for c in make.co_consts if inspect.iscode(c)]
    extra = "more = [kept, [j for j in range(3)], n]"
    new = class_body(CLASS.format(bases="", extra=extra))
    namespace = run(source)
    callback = swap(old, new)
    with gt.optimize(callback):
        for n in range(3):
            made = namespace["make"](n)
            assert made.more == [n, [0, 1, 2], n]
            assert made().method() == (made, n)
            assert made.__module__ == "body"
            assert made.__qualname__ == "make.<locals>.Body"
    assert callback.calls == 1


def test_a_class_body_in_a_prepared_namespace_can_be_replaced(path, swap) -> None:
    class Namespace(collections.UserDict):
        def __setitem__(self, name, value):
            order.append(name)
            super().__setitem__(name, value)

    class Meta(type):
        @classmethod
        def __prepare__(cls, name, bases):
            return Namespace(ready=1)

        def __new__(cls, name, bases, namespace):
            return super().__new__(cls, name, bases, dict(namespace))

    order: list[str] = []
    bases = "(metaclass=Meta)"
    source = compile(CLASS.format(bases=bases, extra="pass"), "<class>", "exec")
    [make] = [c for c in source.co_consts if inspect.iscode(c)]
    [old] = [c for c in make.co_consts if inspect.iscode(c)]
    new = class_body(CLASS.format(bases=bases, extra="more = [ready, kept]"))
    namespace = run(source, Meta=Meta)
    with gt.optimize(swap(old, new)):
        for n in range(3):
            del order[:]
            assert namespace["make"](n).more == [1, n]
            assert order.index("kept") < order.index("method") < order.index("more")


def test_an_exception_in_a_replaced_body_leaves_what_ran(path, swap) -> None:
    old = compile("a = 1", "<old>", "exec")
    new = compile("a = 2\nraise KeyError(a)", "<new>", "exec")
    with gt.optimize(swap(old, new)):
        for _ in range(3):
            names: dict[str, Any] = {}
            with pytest.raises(KeyError) as caught:
                exec(old, names)
            assert names["a"] == 2
            last = caught.traceback[-1]
            assert last.frame.code.raw.co_filename == "<new>"
            assert last.lineno == 1  # counted from 0


def test_a_guard_sees_the_namespace_of_a_body_by_name(path, swap) -> None:
    old = compile("b = a", "<old>", "exec")
    new = compile("b = [a]", "<new>", "exec")
    given: list[Any] = []

    def guard(f_locals):
        given.append(f_locals["a"])
        return f_locals["a"] > 1

    with gt.optimize(swap(old, new, guard)):
        assert run(old, a=0)["b"] == [0]
    with gt.optimize(False):
        assert [run(old, a=n)["b"] for n in (1, 2, 3)] == [1, [2], [3]]
    assert given == [1, 2, 3]


def test_the_module_of_an_import_can_be_replaced(path, only, tmp_path) -> None:
    (tmp_path / "guardtree_body.py").write_text("value = 'old'\n")
    new = compile("value = 'new ' + __name__", "<new>", "exec")
    seen: list[str] = []

    def callback(frame, entry, state):
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.endswith("tree_body.py"):
            seen.append(frame.__module__)
            return gt.GuardedCode(new, lambda f_locals: True)
        return gt.ASK_AGAIN

    sys.path.insert(0, str(tmp_path))
    sys.modules.pop("guardtree_body", None)
    try:
        with gt.optimize(callback):
            module = importlib.import_module("guardtree_body")
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("guardtree_body", None)
    assert module.value == "new guardtree_body"
    assert seen == ["guardtree_body"]
