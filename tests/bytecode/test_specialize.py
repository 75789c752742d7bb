"""The specialising example: what it makes, and that rebound names are seen."""

from __future__ import annotations

import builtins
import sys
import textwrap
import tokenize
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import alone
import pytest

if not alone.IS_BUILT:
    pytest.skip("needs the frame hook, which is not built", allow_module_level=True)

import guardtree as gt
from guardtree.bytecode import read
from guardtree.examples import specialize as example
from guardtree.examples.specialize import Specializer, specialized

SOURCE = """
    A, B, C = 1, 2, "c"
    total = 0

    class Odd:
        def __hash__(self):
            raise LookupError("hashed")

    odd = Odd()

    def loop(items):
        found = []
        for item in items:
            if isinstance(item, (list, tuple)):
                found.append(len(item))
            elif item in (A, B):
                found.append("tuple")
            elif item in {A, C}:
                found.append("set")
            else:
                found.append(str(item))
        return found

    def counts(step):
        global total
        total = total + step
        return total, A

    def catches(text):
        try:
            return int(text) + A
        except ValueError:
            return C
        finally:
            len("x")

    def asks(value):
        return value in {A, odd}

    def keywords(items):
        return sorted(items, key=len, reverse=True)

    def unpacks(args, named):
        return dict(*args, **named)

    def of_builtins():
        return guarded_builtin

    def generator():
        yield A

    def nothing(a):
        return a
"""


@pytest.fixture
def made(hook: None) -> Iterator[Any]:
    """A module of SOURCE, anew for each test, so that its code has no entries yet."""
    module = ModuleType("specialize_subject")
    sys.modules[module.__name__] = module
    exec(textwrap.dedent(SOURCE), module.__dict__)
    yield module
    del sys.modules[module.__name__]


def hits(function: Any) -> int:
    return sum(entry.hits for entry in gt.cache_entries(function))


CALLS = [
    ("loop", ([1, "c", [5, 6], 2, 1.5, ()],)),
    ("catches", ("41",)),
    ("catches", ("no",)),
    ("keywords", (["a", "ccc", "bb"],)),
    ("unpacks", ([[("a", 1)]], {"b": 2})),
    ("nothing", (3,)),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_specialised_functions_give_what_plain_ones_give(
    made: Any, name: str, arguments: tuple[Any, ...]
) -> None:
    function = getattr(made, name)
    plain = function(*arguments)
    with gt.optimize(Specializer()):
        assert [function(*arguments) for _ in range(3)] == [plain] * 3
    assert hits(function) == (0 if name == "nothing" else 2)


def test_names_tuples_and_sets_are_constants(made: Any) -> None:
    new = specialized(made.loop.__code__, made.__dict__, vars(builtins))
    body = read(new.code)
    assert not [each for each in body if each.opname == "LOAD_GLOBAL"]
    constants = [each.arg for each in body if each.opname == "LOAD_CONST"]
    assert (1, 2) in constants
    assert frozenset({1, "c"}) in constants
    assert (list, tuple) in constants
    assert new.globals == {"A": 1, "B": 2, "C": "c"}
    assert new.builtins.keys() == {"isinstance", "list", "tuple", "len", "str"}


def test_a_rebound_global_counts_from_the_next_call(made: Any) -> None:
    with gt.optimize(Specializer()):
        assert made.loop([1, 7]) == ["tuple", "7"]
        made.B = 7
        assert made.loop([1, 7]) == ["tuple", "tuple"]
        made.B = 2
        assert made.loop([1, 7]) == ["tuple", "7"]
    assert len(gt.cache_entries(made.loop)) == 2


def test_a_global_that_hides_a_builtin_is_seen(made: Any) -> None:
    with gt.optimize(Specializer()):
        assert made.loop([[5, 6]]) == [2]
        made.len = lambda items: "hidden"
        assert made.loop([[5, 6]]) == ["hidden"]
        del made.len
        assert made.loop([[5, 6]]) == [2]


def test_a_builtin_that_changes_is_seen(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtins, "guarded_builtin", "old", raising=False)
    with gt.optimize(Specializer()):
        assert made.of_builtins() == "old"
        monkeypatch.setattr(builtins, "guarded_builtin", "new")
        assert made.of_builtins() == "new"


def test_a_name_that_the_function_rebinds_stays_a_name(made: Any) -> None:
    with gt.optimize(Specializer()):
        assert [made.counts(2) for _ in range(3)] == [(2, 1), (4, 1), (6, 1)]
    assert hits(made.counts) == 2


def test_a_set_whose_making_runs_code_is_made_each_time(made: Any) -> None:
    with gt.optimize(Specializer()):
        for _ in range(2):
            with pytest.raises(LookupError, match="hashed"):
                made.asks(1)
    assert hits(made.asks) == 1


@pytest.fixture
def specialize(hook: None) -> Iterator[Callable[[Any], Any]]:
    """The decorator; what it guards is let go behind a test."""
    decorated: list[Any] = []

    def decorate(function: Any) -> Any:
        decorated.append(example.specialize(function))
        return decorated[-1]

    yield decorate
    for function in decorated:
        gt.guard_function(function).restore()


def stats(function: Any) -> tuple[int, int]:
    """Calls of a decorated function: specialised ones, plain ones."""
    told = gt.guard_function(function).stats()
    return told["hits"], told["misses"]


def test_a_decorated_function_of_the_library_runs_specialised(hook: None) -> None:
    """Each round of the job is one hit; the result is compared inside."""
    measured = example.measure(rounds=3)
    assert measured.tokens > 1000
    assert measured.hits == 4
    assert gt.guard_function(tokenize.Untokenizer.compat).restore()


def test_a_decorated_function_is_the_same_and_needs_no_hook(
    made: Any, specialize: Any
) -> None:
    assert specialize(made.loop) is made.loop
    assert made.loop([1, 7]) == ["tuple", "7"]
    assert stats(made.loop) == (1, 0)
    if gt.features()["guards_calls_by"] == "entry":
        assert gt.get_eval_frame() is None


def test_a_decorated_function_runs_plain_while_a_name_is_another(
    made: Any, specialize: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    specialize(made.loop)
    made.B = 7
    assert made.loop([1, 7]) == ["tuple", "tuple"]
    made.B = 2
    assert made.loop([[5, 6]]) == [2]
    assert stats(made.loop) == (1, 1)
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "len", lambda items: "patched")
        assert made.loop([[5, 6]]) == ["patched"]
    made.len = lambda items: "hidden"
    assert made.loop([[5, 6]]) == ["hidden"]
    del made.len
    assert made.loop([[5, 6]]) == [2]
    assert stats(made.loop) == (2, 3)


def test_what_cannot_be_decorated_is_refused(made: Any, specialize: Any) -> None:
    with pytest.raises(TypeError, match="expected a function written in Python"):
        specialize(len)
    with pytest.raises(ValueError, match="generator is a generator, or"):
        specialize(made.generator)
    with pytest.raises(ValueError, match="nothing uses no global"):
        specialize(made.nothing)
    elsewhere: dict[str, Callable[[], Any]] = {}
    exec("def f(): return len", elsewhere)
    with pytest.raises(ValueError, match="its globals are no module's"):
        specialize(elsewhere["f"])


def test_generators_are_left_alone(made: Any) -> None:
    with gt.optimize(Specializer()):
        assert list(made.generator()) == [1]
    assert hits(made.generator) == 0
