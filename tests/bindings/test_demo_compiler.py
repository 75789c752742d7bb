"""The demo's compiler: specialised code means what the original does, whatever changes.

Each test writes a module, runs one of its functions under the compiler until it has an
entry, changes something that the entry rests on, and asks for the original's answer.
"""

from __future__ import annotations

import importlib.util
import random
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import guardtree as gt
from guardtree.demo.compiler import Compiler, Function
from guardtree.demo.specialize import Refused, specialize

Make = Callable[[str], ModuleType]


@pytest.fixture
def make(tmp_path: Path, hook: None) -> Iterator[Make]:
    """`make(source)`: a module in a file, so that its source can be found."""
    names: list[str] = []

    def build(source: str) -> ModuleType:
        name = f"specimen_{len(names)}_{tmp_path.name}"
        file = tmp_path / f"{name}.py"
        file.write_text(textwrap.dedent(source))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        names.append(name)
        spec.loader.exec_module(module)
        return module

    yield build
    for name in names:
        del sys.modules[name]


class Run:
    """A compiler for one module, which finds everything worth it."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.compiler = Compiler(frozenset({module.__name__}), worth=float("-inf"))

    def __call__(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The call under the hook, after two that make the entry; it must do what it
        does without."""
        plain = outcome(function, args, kwargs)
        with gt.optimize(self.compiler):
            for _ in range(3):
                hooked = outcome(function, args, kwargs)
                assert hooked == plain
        return plain[1]

    def seen(self, name: str) -> Function:
        found = [each for each in self.compiler.functions.values() if each.entries]
        return next(each for each in found if each.name.endswith(f".{name}"))

    def guards(self, name: str) -> list[set[str]]:
        """Of each entry of a function: its guards, as `root name kind`."""
        entries = self.seen(name).entries
        return [{f"{n.root} {n.name} {n.kind}" for n in e.made.needs} for e in entries]

    def folds(self, name: str) -> list[str]:
        return [fold for entry in self.seen(name).entries for fold in entry.made.folds]

    def left(self, name: str) -> bool:
        return not any(
            each.name.endswith(f".{name}") and each.entries
            for each in self.compiler.functions.values()
        )


def outcome(function: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """What a call gives; of an exception also the lines it came through."""
    try:
        return "value", function(*args, **kwargs)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        places = [(each.name, each.lineno, each.line) for each in frames]
        return "error", (type(error), str(error)), places


# What is folded


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


def test_arguments_that_are_assigned_again_are_forgotten(make: Make) -> None:
    module = make("""
        def f(x, flag=None, mode="a"):
            if flag is None:
                flag = len(x)
            for mode in x:
                if isinstance(mode, int):
                    x = None
                    break
            while flag:
                flag -= 1
                if flag == 2:
                    flag = None
            with open(__file__) as flag:
                pass
            try:
                mode = int(mode)
            except ValueError as mode:
                return x is None, flag is None, mode is None
            else:
                mode += 1
            del flag
            return x is None, isinstance(mode, int), (x := 4) is None, x
    """)
    run = Run(module)
    for x in ("abc", [1, 2], "12", ["a", 3], ()):
        run(module.f, x)
        run(module.f, x, 4)


def test_an_argument_rebound_by_an_inner_function_is_forgotten(make: Make) -> None:
    module = make("""
        def f(flag=True, mode=None):
            def turn():
                nonlocal flag
                flag = not flag
            turn()
            first = "yes" if flag else "no"
            turn()
            return first, "yes" if flag else "no", [mode is None for _ in range(2)]
    """)
    run = Run(module)
    assert run(module.f) == ("no", "yes", [True, True])
    assert run(module.f, False, 1) == ("yes", "no", [False, False])


# Scopes


def test_closures_are_guarded_and_rebound_cells_left_alone(make: Make) -> None:
    module = make("""
        def outer(fixed, moving):
            def f(x):
                if fixed is None and moving is None:
                    return x, "none"
                return x, fixed, moving
            def move(value):
                nonlocal moving
                moving = value
            return f, move
    """)
    run = Run(module)
    f, move = module.outer(None, None)
    assert run(f, 1) == (1, "none")
    assert run.guards("f") == [{"closure fixed is_none"}]
    move(3)
    assert run(f, 1) == (1, None, 3)
    other, _ = module.outer(7, None)  # the same code, another cell
    assert run(other, 1) == (1, 7, None)


def test_methods_super_and_private_names(make: Make) -> None:
    module = make("""
        class Base:
            def __init__(self, strict=True):
                self.__strict = strict
            def f(self, x, strict=True):
                return "base", x, strict and self.__strict
        class Derived(Base):
            @classmethod
            def build(cls, strict=True):
                return cls(strict) if strict else None
            @staticmethod
            def double(x, twice=True):
                return x * 2 if twice else x
            def f(self, x, strict=True):
                if strict:
                    x = super().f(x, strict), __class__.__name__
                return self.double(x)
    """)
    run = Run(module)
    made = run(lambda: module.Derived.build().f("x"))
    assert made == ((("base", "x", True), "Derived") * 2)
    run(module.Derived().f, "x", False)
    assert run(module.Derived.build, False) is None
    assert run.folds("Derived.f") and run.folds("Derived.build")


def test_decorated_documented_and_annotated_functions(make: Make) -> None:
    module = make('''
        from __future__ import annotations
        import functools
        def twice(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs), function(*args, **kwargs)
            return wrapper
        @twice
        @functools.lru_cache(maxsize=None)
        def f(x: int, flag: bool = True) -> Undefined:
            """Says what f does."""
            y: int = 2
            if flag:
                return x + y
            return f.__doc__
    ''')
    run = Run(module)
    assert run(module.f, 1) == (3, 3)
    inner = module.f.__wrapped__.__wrapped__
    assert run(inner, 1) == 3
    code = run.seen("f").entries[0].made.code
    assert code.co_consts[0] == "Says what f does."
    assert code.co_name == "f" and code.co_flags == inner.__code__.co_flags


def test_a_local_whose_only_assignment_is_dead_stays_local(make: Make) -> None:
    module = make("""
        y = "global"
        def f(flag=False):
            if flag:
                y = 1
                def inner():
                    return y
            return y
        def g(flag=False):
            def inner():
                return y
            if flag:
                y = 1
            return inner()
    """)
    run = Run(module)
    assert run(module.f)[0] is UnboundLocalError
    assert run(module.g)[0] is NameError
    assert run(module.f, True) == 1


def test_a_comprehension_variable_hides_a_global(make: Make) -> None:
    module = make("""
        def f(values, flag=False, mode=None):
            one = [isinstance(1, int) for isinstance in values]
            two = {type: type(3) for type in values if not flag}
            three = [(mode, flag) for mode in (4, None) if mode is None]
            return one, [*two.values()], three, [x for x in "ab" if mode is None and x]
    """)
    run = Run(module)
    shout = [lambda *args: "called"]
    assert run(module.f, shout) == (["called"], ["called"], [(None, False)], ["a", "b"])


# Control flow and errors


def test_try_finally_and_loops(make: Make) -> None:
    module = make("""
        def f(x, log, flag=True, none=None):
            try:
                if flag:
                    log.append(int(x))
                else:
                    return log
            except ValueError:
                log.append("bad" if none is None else none)
                if isinstance(x, str):
                    return log, "early"
            else:
                flag = False
            finally:
                log.append(flag)
                if none is not None:
                    log.append("never")
            for each in log:
                if flag:
                    break
            else:
                log.append("else")
            return log, flag
    """)
    run = Run(module)
    for x in ("3", "z", 4, b"q"):
        for flag in (True, False):
            for none in (None, 0):
                with gt.optimize(run.compiler):
                    hooked = [module.f(x, [], flag, none) for _ in range(3)]
                assert hooked == [module.f(x, [], flag, none)] * 3
    assert run.seen("f").entries


def test_errors_come_through_the_same_lines(make: Make) -> None:
    module = make("""
        def helper(x):
            return "/"
        def f(x, flag=None, safe="/"):
            if flag is None:
                x = x.strip()
            if isinstance(x, bytes):
                return x

            y = helper(x)
            return (
                y
                + x[10]
            )
    """)
    run = Run(module)
    assert run(module.f, "short") == (IndexError, "string index out of range")
    assert run(module.f, 3)[0] is AttributeError
    assert run(module.f, "short", flag=1)[0] is IndexError
    assert run.folds("f")


def test_generators_lambdas_and_others_are_left(make: Make) -> None:
    module = make("""
        def generate(flag=True):
            if flag:
                yield 1
        f = lambda flag=True: flag and 2
        def plain(x):
            return x[0]
    """)
    run = Run(module)
    run(lambda: list(module.generate()))
    run(module.f)
    run(module.plain, [2])
    assert run.left("generate") and run.left("<lambda>") and run.left("plain")
    assert gt.code_stats(module.generate)["skipped"]


def test_source_that_is_not_the_codes_is_refused(make: Make) -> None:
    module = make("""
        def f(flag=True):
            return 1 if flag else 2
    """)
    file = Path(module.__file__ or "")
    file.write_text(file.read_text().replace("1", "3"))
    with pytest.raises(Refused, match="source not found"):
        specialize(module.f.__code__, vars(module), {}, {"flag": True})


def test_nothing_to_fold_is_refused(make: Make) -> None:
    module = make("""
        def f(x):
            return x.y
    """)
    with pytest.raises(Refused, match="nothing to fold"):
        specialize(module.f.__code__, vars(module), {}, {"x": 1})


# Chance

STATEMENTS = [
    "if {test}: {name} = {value}",
    "if {test}: return {value}, {name}",
    "{name} = {value}",
    "while {test}: {name} = {value}; break",
    "for {name} in [{value}, {value}]: {name} = {value} if {test} else {name}",
    "log.append({value})",
    "log.append([{value} for {name} in (1, None) if {test}])",
    "{name} = turn({value})",
    "assert {test} or True",
]
TESTS = [
    "{name} is None",
    "{name} is not None and {name}",
    "isinstance({name}, (int, str))",
    "not isinstance({name}, bytes)",
    "type({name}) is int",
    "FLAG",
    "not FLAG or {name}",
    "LEVEL > 1 and LEVEL < 4",
    "kind({name}) == 'text'",
]
VALUES = ["{name}", "LEVEL + 1", "str({name})", "kind({name})", "None", "7", "b'x'"]
HEAD = """
FLAG, LEVEL = True, 2
def turn(value):
    global FLAG, LEVEL
    FLAG, LEVEL = not FLAG, (LEVEL + 1) % 5
    return value
def kind(value):
    if isinstance(value, str):
        return 'text'
    return 'other'
def f(a, b, c=None, *d):
    log = []
"""


def program(chance: random.Random) -> str:
    def fill(text: str) -> str:
        while "{" in text:
            text = text.replace("{test}", chance.choice(TESTS), 1)
            text = text.replace("{value}", chance.choice(VALUES), 1)
            text = text.replace("{name}", chance.choice("abcd"), 1)
        return text

    lines = [fill(chance.choice(STATEMENTS)) for _ in range(chance.randint(2, 9))]
    return (
        HEAD
        + "".join(f"    {line}\n" for line in lines)
        + "    return log, a, b, c, d\n"
    )


@pytest.mark.parametrize("seed", range(25))
def test_programs_made_by_chance_mean_the_same(make: Make, seed: int) -> None:
    chance = random.Random(seed)
    module = make(program(chance))
    compiler = Compiler(frozenset({module.__name__}), worth=float("-inf"))
    choices = [1, "text", None, b"x", True, 2.5, (1,)]
    calls = [chance.choices(choices, k=chance.randint(2, 5)) for _ in range(4)]

    def results() -> list[Any]:
        module.FLAG, module.LEVEL = True, 2
        return [outcome(module.f, call, {}) for call in calls * 4]

    plain = results()
    with gt.optimize(compiler):
        assert results() == plain
    with gt.optimize(False):
        assert results() == plain
