"""What the hook sees of `__init__`, the hole of CPython 3.13 included."""

from __future__ import annotations

import sys
import sysconfig

import guardtree as gt

# CALL_ALLOC_AND_ENTER_INIT of 3.13 enters `__init__` without asking for an evaluator
# (CPython 3.13 Python/bytecodes.c; 3.14 added the check). Free-threaded 3.13 does not
# specialise, so it has no hole.
HAS_HOLE = sys.version_info[:2] == (3, 13) and not sysconfig.get_config_var(
    "Py_GIL_DISABLED"
)
CALLS = 1000


def test_init_is_seen_on_every_construction_except_on_3_13(only) -> None:
    class Point:
        def __init__(self, x):
            self.x = x

    callback = only(Point.__init__, lambda *_: gt.ASK_AGAIN)
    with gt.optimize(callback):
        points = [Point(i) for i in range(CALLS)]
    assert [p.x for p in points] == list(range(CALLS))
    if HAS_HOLE:
        assert 1 <= callback.calls < CALLS, "the hole is gone: say so in the README"
    else:
        assert callback.calls == CALLS


def test_init_runs_either_the_original_or_the_replacement_whole(path, swap) -> None:
    class Point:
        def __init__(self, x):
            self.x = x
            self.who = "old"

    def new(self, x):
        local = [x]
        self.x = local[0]
        self.who = "new"

    with gt.optimize(swap(Point.__init__, new)):
        points = [Point(i) for i in range(CALLS)]
    assert [p.x for p in points] == list(range(CALLS))
    expected = {"old", "new"} if HAS_HOLE else {"new"}
    assert {p.who for p in points} == expected


def test_init_is_seen_through_every_call_that_is_not_specialised(path, swap) -> None:
    class Point:
        def __init__(self, x):
            self.x = x

    def new(self, x):
        self.x = [x]

    callback = swap(Point.__init__, new)
    with gt.optimize(callback):
        for _ in range(100):
            points = [*map(Point, (1, 2)), Point(*(3,)), Point(**{"x": 4})]
            assert [p.x for p in points] == [[1], [2], [3], [4]]
    assert callback.calls == 1


def test_a_replacement_init_that_returns_a_value_is_an_error(path, swap) -> None:
    class Point:
        def __init__(self):
            return None

    def new(self):
        return 1

    errors = 0
    with gt.optimize(swap(Point.__init__, new)):
        for _ in range(2):
            try:
                Point(*())  # the form that 3.13 does not specialise
            except TypeError as error:
                assert "__init__" in str(error)
                errors += 1
    assert errors == 2


def test_new_init_subclass_and_metaclass_calls_are_seen(path, swap) -> None:
    class Meta(type):
        def __call__(cls, *args):
            return super().__call__(*args)

        def new(cls, *args):
            return [super().__call__(*args)]

    made: list[str] = []

    class Base(metaclass=Meta):
        def __new__(cls):
            return super().__new__(cls)

        def __init_subclass__(cls):
            made.append("old")

        def new_new(cls):
            return __class__ and "new"

        def new_subclass(cls):
            made.append("new")

    with gt.optimize(swap(Meta.__call__, Meta.new)):
        for _ in range(2):
            [made_by_new] = Base()
            assert isinstance(made_by_new, Base)
    gt.reset_code(Meta.__call__)
    with gt.optimize(swap(Base.__new__, Base.new_new)):
        assert Base() == "new"
        assert Base() == "new"
    hook = Base.__dict__["__init_subclass__"].__func__
    with gt.optimize(swap(hook, Base.new_subclass)):
        for _ in range(2):
            type(Base)("Child", (Base,), {})
    assert made == ["new", "new"]
