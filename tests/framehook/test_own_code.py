"""A callback is never asked about guardtree's own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import guardtree as gt
import pytest
from guardtree import _guardtree

Asked = list[tuple[str, str]]


@pytest.fixture
def asked(hook: None) -> Asked:
    """What a callback that takes everything was asked about: module, function."""
    return []


@pytest.fixture
def ask(asked: Asked) -> Callable[..., Any]:
    def callback(frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        asked.append((frame.f_globals["__name__"], frame.f_code.co_qualname))
        return gt.ASK_AGAIN

    return callback


def f(x: Any) -> Any:
    return x


def test_the_end_of_optimize_is_not_offered(asked: Asked, ask: Any) -> None:
    with gt.optimize(ask):
        f(1)
    assert asked == [(__name__, "f")]


def test_optimize_as_a_decorator_offers_the_function_alone(
    asked: Asked, ask: Any
) -> None:
    decorated = gt.optimize(ask)(f)
    assert decorated(1) == 1
    with gt.optimize(ask):
        assert decorated(2) == 2
    assert asked == [(__name__, "f")] * 2


def test_the_decorated_function_keeps_its_name_and_returns_and_raises(
    asked: Asked, ask: Any
) -> None:
    @gt.optimize(ask)
    def halve(x: int, *, by: int = 2) -> float:
        """Its text."""
        return x / by

    assert (halve.__name__, halve.__doc__) == ("halve", "Its text.")
    assert halve(3) == 1.5
    with pytest.raises(ZeroDivisionError):
        halve(3, by=0)
    assert gt.get_eval_frame() is None
    assert len(asked) == 2


def test_no_function_of_the_package_is_offered(asked: Asked, ask: Any) -> None:
    def code_of_entry(x):
        return [x]

    class Guard(gt.GuardFn):
        def __call__(self, f_locals):
            return True

    guards = gt.GuardManager(f)
    guards.local("x").type_match(int)
    with gt.optimize(ask):
        with gt.optimize(False):
            f(1)
        gt.is_generator(f.__code__)
        guarded = gt.guard_function(f)
        entry = guarded.add(guards, code_of_entry.__code__)
        f(1)
        str(gt.explain(f, {"x": "text"}))
        guarded.entries(), len(guarded), guarded.stats()
        guarded.remove(entry)
        guarded.restore()
        gt.set_logs("guards")
        gt.set_logs()
        with pytest.raises(ValueError, match="expected names"):
            gt.set_logs("no such")
        with pytest.raises(TypeError):
            gt.optimize("no callback")
        Guard()({})
        with pytest.raises(NotImplementedError):
            gt.GuardFn()({})
    modules = {module for module, _ in asked}
    assert __name__ in modules
    assert not {each for each in modules if each.split(".")[0] == "guardtree"}


@pytest.mark.parametrize(
    "source",
    [
        "lambda: 1",
        "lambda: list(x for x in [1])",
        "lambda: eval('(lambda: 1)()')",
        "lambda: exec('def f(): pass\\nf()', globals())",
        "lambda: exec('class C:\\n  def f(self): pass\\nC().f()', globals())",
    ],
)
def test_what_its_modules_compile_later_is_not_offered(
    asked: Asked, ask: Any, source: str
) -> None:
    namespace = {"__name__": "guardtree.explanations"}
    function = eval(source, namespace)
    with gt.optimize(ask):
        function()
    assert asked == []


@pytest.mark.parametrize(
    "module",
    [
        "guardtree_of_others",
        "guard",
        "my.guardtree",
        "guardtree.examples.specialize",
        "guardtree.demo.workload",
        "guardtree.bench.rounds",
        "__main__",
        None,
        17,
    ],
)
def test_functions_of_other_modules_are(hook: None, module: Any) -> None:
    namespace: dict[str, Any] = {} if module is None else {"__name__": module}
    exec("def f(): return 1", namespace)
    code = namespace["f"].__code__
    asked = []

    def callback(frame: Any, entry: Any, state: dict[str, Any]) -> Any:
        asked.append(frame.f_code)
        return gt.ASK_AGAIN

    with gt.optimize(callback):
        namespace["f"]()
    assert asked == [code]


def test_it_is_counted_as_skipped_until_it_is_reset(asked: Asked, ask: Any) -> None:
    code = gt.optimize.__exit__.__code__
    gt.reset_code(code)
    assert not gt.code_stats(code)["skipped"]
    for _ in range(2):
        with gt.optimize(ask):
            pass
    assert gt.code_stats(code)["skipped"]
    gt.reset_code(code)
    with gt.optimize(ask):
        pass
    assert asked == []


def test_somebody_may_add_an_entry_to_it(hook: None) -> None:
    function = gt.is_generator
    gt.reset_code(function)  # another test may have had it skipped
    new = function.__code__.replace(co_consts=function.__code__.co_consts)
    _guardtree.add_entry(
        function.__code__, gt.GuardedCode(new, gt.GuardManager(function))
    )
    with gt.optimize(False):
        assert gt.is_generator(f.__code__) is False
    assert gt.code_stats(function)["hits"] == 1
    gt.reset_code(function)
