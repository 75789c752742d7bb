"""The demo's compiler: what it folds, and that every fact it folds is guarded."""

from __future__ import annotations


from demo_runs import Make, Run, make

import guardtree as gt

__all__ = ["make"]  # the fixture


def test_type_flag_default_and_length(make: Make) -> None:
    module = make("""
        def f(x, flag=None, *rest, deep=True):
            if flag is None:
                flag = 10
            if isinstance(x, (bytes, bytearray)):
                x = x.decode()
            if not rest:
                return x, flag, deep and len(rest)
            return x, rest
    """)
    run = Run(module)
    assert run(module.f, "a") == ("a", 10, 0)
    guards = {"local x type_match", "local flag is_none", "local rest length"}
    assert run.guards("f") == [{*guards, "local deep is_true"}]
    run(module.f, b"a", 5, 1, deep=False)
    run(module.f, bytearray(b"a"))
    run(module.f, "a", None, 1)
    assert len(run.seen("f").entries) == 4
    stats = gt.code_stats(module.f)
    assert stats["dicts_built"] == run.seen("f").dicts


def test_bytecode_loses_the_branch_and_the_call(make: Make) -> None:
    module = make("""
        def f(x, quick=True):
            if quick:
                return x + 1
            return [slow(x) for slow in (int, abs, float)]
    """)
    run = Run(module)
    run(module.f, 3)
    code = run.seen("f").entries[0].made.code
    assert len(code.co_code) < len(module.f.__code__.co_code)
    assert code.co_firstlineno == module.f.__code__.co_firstlineno


def test_constants_are_computed(make: Make) -> None:
    module = make("""
        SAFE = b"abc"
        def f(text, extra="+", width=8):
            return text.strip(), SAFE + extra.encode("ascii"), 8 ** (width - 1)
    """)
    run = Run(module)
    assert run(module.f, " x ") == ("x", b"abc+", 8**7)
    assert "8 ** (width - 1) -> 2097152" in run.folds("f")
    assert run.guards("f")[0] >= {"global SAFE id_match", "local extra equals"}


def test_a_small_function_of_the_module_is_inlined(make: Make) -> None:
    module = make("""
        def separator(path):
            if isinstance(path, bytes):
                return b"/"
            return "/"
        def f(path):
            return path.rfind(separator(path))
    """)
    run = Run(module)
    assert run(module.f, "a/b") == 1
    assert "separator(path) -> '/'" in run.folds("f")
    module.separator = lambda path: "b"
    assert run(module.f, "a/b") == 2


def test_inlined_function_with_other_code_is_called(make: Make) -> None:
    module = make("""
        def mark(path):
            return "/"
        def other(path):
            return "b"
        def f(path):
            return path.rfind(mark(path))
    """)
    run = Run(module)
    run(module.f, "a/b")
    module.mark.__code__ = module.other.__code__
    assert run(module.f, "a/b") == 2


# What changes between calls


def test_a_global_that_changes_is_a_miss(make: Make) -> None:
    module = make("""
        FAST = True
        def f(x):
            if FAST:
                return "fast", x
            return "slow", x
    """)
    run = Run(module)
    assert run(module.f, 1) == ("fast", 1)
    assert run.guards("f") == [{"global FAST id_match"}]
    hits = gt.code_stats(module.f)["hits"]
    module.FAST = False
    with gt.optimize(False):
        assert module.f(1) == ("slow", 1)
    assert gt.code_stats(module.f)["hits"] == hits
    assert run(module.f, 1) == ("slow", 1)
    assert len(run.seen("f").entries) == 2


def test_a_builtin_hidden_by_a_new_global_is_seen(make: Make) -> None:
    module = make("""
        def f(x):
            if isinstance(x, str):
                return "text"
            return "other"
    """)
    run = Run(module)
    assert run(module.f, "a") == "text"
    module.isinstance = lambda value, kind: False
    assert run(module.f, "a") == "other"
    del module.isinstance
    module.str = int
    assert run(module.f, "a") == "other"


def test_a_changed_default_is_a_miss(make: Make) -> None:
    module = make("""
        def f(x, mode="r", *, strict=True):
            return x if strict and mode == "r" else None
    """)
    run = Run(module)
    assert run(module.f, 1) == 1
    module.f.__defaults__ = ("w",)
    assert run(module.f, 1) is None
    module.f.__defaults__ = ("r",)
    module.f.__kwdefaults__ = {"strict": 0}
    assert run(module.f, 1) is None


def test_a_type_is_matched_exactly(make: Make) -> None:
    module = make("""
        class Text(str):
            def __add__(self, other):
                return "own"
        def f(x):
            if type(x) is str:
                return x + "!"
            return x + "?"
    """)
    run = Run(module)
    assert run(module.f, "a") == "a!"
    assert run(module.f, module.Text("a")) == "own"
    assert run(module.f, "b") == "b!"


# What changes during a call


def test_a_global_rebound_by_a_callee_is_seen(make: Make) -> None:
    module = make("""
        FLAG = True
        def turn():
            global FLAG
            FLAG = not FLAG
        def f():
            before = "on" if FLAG else "off"
            turn()
            between = "on" if FLAG else "off"
            turn()
            return before, between, "on" if FLAG else "off"
    """)
    run = Run(module)
    assert run(module.f) == ("on", "off", "on")
    assert run.folds("f") == ["FLAG: True"]


def test_a_global_rebound_by_an_operator_is_seen(make: Make) -> None:
    module = make("""
        FLAG = 0
        class Sly:
            def __add__(self, other):
                global FLAG
                FLAG += 1
                return other
            def __bool__(self):
                return bool(self + 0) or True
            def __eq__(self, other):
                return bool(self)
            __hash__ = None
        def f(x, y):
            first = FLAG + 1
            if x == 1 or not y:
                return first, FLAG + 1
            return x + 2, FLAG + 1
        def g(x):
            return FLAG + 1, x and FLAG + 1, x[FLAG + 0:] if 0 else FLAG + 1
    """)
    run = Run(module)
    for x in (module.Sly(), 1, 2):
        for y in (module.Sly(), True):
            module.FLAG = 0
            with gt.optimize(run.compiler):
                hooked = [module.f(x, y) for _ in range(5)], module.g(x), module.g(x)
            module.FLAG = 0
            assert hooked == (
                [module.f(x, y) for _ in range(5)],
                module.g(x),
                module.g(x),
            )


def test_a_builtin_replaced_by_a_callee_is_seen(make: Make) -> None:
    module = make("""
        def spoil(on):
            if on:
                globals()["isinstance"] = lambda value, kind: "spoiled"
        def f(x, on):
            first = isinstance(x, int)
            spoil(on)
            again = [isinstance(x, int), isinstance(x, (str, int))]
            globals().pop("isinstance", None)
            return first, again
    """)
    run = Run(module)
    assert run(module.f, 1, False) == (True, [True, True])
    assert run(module.f, 1, True) == (True, ["spoiled", "spoiled"])
