"""The demo's compiler: scopes, control flow, and programs made by chance."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from demo_runs import Make, Run, make, outcome

import guardtree as gt
from guardtree.demo.compiler import Compiler
from guardtree.demo.specialize import Refused, specialize

__all__ = ["make"]  # the fixture


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
    "assert {test}, {value}",
    "{name} += {value}",
    "{name} -= LEVEL * 0",
    "{name}, {name} = {value}, {value}",
    "{name}, c = divmod({value}, LEVEL + 1)",
    "try: {name} = {value} + 1\n    except TypeError as error: log.append(str(error))",
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
VALUES += ["abs({name})", "round({value}) * 2.0", "({name}, 3)", "{name} * 2", "-LEVEL"]
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
