"""The compiled part of guardtree. Derived from the module by bindings/derive.py."""

from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from types import CellType, CodeType, FunctionType
from typing import Any, ClassVar, Literal, Self, final

from .descriptions import GuardCheck, GuardCounts, GuardRelation, ProfileRow

__version__: str

class Answer(Enum):
    """What a callback may answer, besides None and a GuardedCode."""

    ASK_AGAIN = "plain this time, ask again"

ASK_AGAIN: Literal[Answer.ASK_AGAIN]
"""Run the frame plain this time; ask the callback again next time."""

@final
class Frame:
    """The frame given to a callback; using it later raises RuntimeError."""

    @property
    def f_code(self) -> CodeType: ...
    @property
    def f_locals(self) -> dict[str, Any]: ...
    @property
    def f_globals(self) -> dict[str, Any]: ...
    @property
    def f_builtins(self) -> dict[str, Any]: ...
    @property
    def f_lasti(self) -> int: ...
    @property
    def f_lineno(self) -> int: ...
    @property
    def closure(self) -> tuple[CellType, ...] | None: ...
    @property
    def function(self) -> FunctionType: ...

class Failure:
    """One guard that did not pass."""

    @property
    def path(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def python(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def found(self) -> str: ...
    @property
    def error(self) -> str: ...
    @property
    def note(self) -> Any: ...
    def to_dict(self) -> dict[str, Any]:
        """All of it, by these names."""

class Explanation:
    """What explain found; true when all guards pass."""

    @property
    def failures(self) -> list[Failure]: ...
    @property
    def verdict(self) -> Literal["pass", "fail", "error"]: ...
    @property
    def checks_run(self) -> int: ...
    def to_dict(self) -> dict[str, Any]:
        """verdict, checks_run and failures; notes are the objects themselves."""
    def to_json(self) -> str:
        """to_dict() as JSON; a note that is no JSON goes as its repr."""
    def __bool__(self) -> bool: ...

class GuardManager:
    """A handle on a node of a guard tree."""

    def __init__(self, scope: FunctionType | CodeType | Frame) -> None: ...
    def check(self, subject: Mapping[str, Any] | Frame, /) -> bool:
        """Whether all guards of the tree pass."""
    def __call__(self, subject: Mapping[str, Any] | Frame, /) -> bool: ...
    def explain(self, subject: Mapping[str, Any] | Frame) -> Explanation:
        """Every guard that does not pass."""
    @property
    def path(self) -> str:
        """The node as a Python expression; empty on the root."""
    @property
    def step(self) -> str | None:
        """The step that fetches the node's value; None on the root."""
    @property
    def operands(self) -> dict[str, Any]:
        """The step's operands by name; None for one that has died."""
    @property
    def parent(self) -> GuardManager | None:
        """The node that the step starts from; None on the root."""
    def children(self) -> list[GuardManager]:
        """The nodes one step away, in the order they were made."""
    def nodes(self) -> list[GuardManager]:
        """This node and all below it, each before its children; not the root."""
    def checks(self) -> list[GuardCheck]:
        """The checks at and below this node."""
    def relations(self) -> list[GuardRelation]:
        """The relations over a value at or below this node."""
    def counts(self) -> GuardCounts:
        """How many nodes(), checks() and relations() gives, and of which kinds."""
    def clone(
        self, keep: Callable[[GuardCheck | GuardRelation], object] | None = None
    ) -> GuardManager:
        """New guards for the same scope: all, or those that `keep` accepts."""
    def profile(self) -> GuardProfile:
        """Counters for the whole tree as it is now, all zero."""
    def reordered(self, profile: GuardProfile) -> GuardManager:
        """New guards for the same scope, fail-first; the answers are the same."""
    def note(self, note: object) -> Self:
        """Keeps any object with the guard that was added last, for explanations."""
    def attr(self, name: str) -> GuardManager:
        """An attribute, through the full protocol: properties and `__getattr__` run.
        AttributeError fails the guard, other exceptions are errors. In Python:
        `value.name`."""

    def builtin(self, key: Hashable) -> GuardManager:
        """The value of a name in the frame's builtins. Fails where there is none. In
        Python: `B[key]`."""

    def closure(self, name: str) -> GuardManager:
        """A free variable by name, read from the function's cell. Fails while the cell
        is empty. In Python: `name`."""

    def dict_item(self, key: Hashable) -> GuardManager:
        """The value of a key in a dict or a subclass of dict; overridden `__getitem__`
        and `__missing__` do not run. Fetches nothing where a key of a user's type
        with the same hash would have to be asked. In Python:
        `plain_dict_item(value, key)`."""

    def f_locals(self) -> GuardManager:
        """The locals as a mapping: a dict that is made once per lookup and counted.
        For Python-level guards. In Python: `L`."""

    def global_(self, key: Hashable) -> GuardManager:
        """The value of a name in the frame's globals. Fails where there is none. In
        Python: `G[key]`."""

    def instance_attr(self, name: Hashable) -> GuardManager:
        """An attribute that the value's own `__dict__` holds, whatever its class says.
        No user code runs, and no `__dict__` is made where there is none yet. Values
        that are classes have none. In Python: `instance_attr(value, name)`."""

    def item(self, key: Hashable) -> GuardManager:
        """`value[key]` through the full protocol: user `__getitem__` runs.
        LookupError, and a value that has no items, fail the guard; other exceptions
        are errors. In Python: `value[key]`."""

    def list_item(self, index: int) -> GuardManager:
        """An element of a list or a subclass of list by position; negative counts from
        the end. An overridden `__getitem__` does not run. In Python:
        `list.__getitem__(value, index)`."""

    def local(self, name: str) -> GuardManager:
        """A local variable, argument or cell variable by name, read from its raw slot.
        Fails while it is unbound. In Python: `name`."""

    def tuple_item(self, index: int) -> GuardManager:
        """An element of a tuple or a subclass of tuple by position; negative counts
        from the end. An overridden `__getitem__` does not run. In Python:
        `tuple.__getitem__(value, index)`."""

    def type(self) -> GuardManager:
        """The value's type (not its `__class__`). Never fails. In Python:
        `type(value)`."""

    def equals(self, expected: object) -> Self:
        """The value equals a constant, and so do the types of both at every depth;
        floats are compared by bits. The constant is copied. In Python:
        `same_constant(value, expected)`."""

    def id_match(self, expected: object) -> Self:
        """The value is this very object. Held weakly where it can be: once the object
        died, nothing matches. In Python: `value is expected`."""

    def is_false(self) -> Self:
        """The value is False itself; other false values fail. In Python: `value is
        False`."""

    def is_none(self) -> Self:
        """The value is None. In Python: `value is None`."""

    def is_not_none(self) -> Self:
        """The value is anything but None. In Python: `value is not None`."""

    def is_true(self) -> Self:
        """The value is True itself; other true values fail. In Python: `value is
        True`."""

    def length(self, expected: int) -> Self:
        """A list, tuple, dict, set, frozenset, str, bytes, bytearray, range or deque
        (or a subclass that keeps its `__len__`) of this length. User `__len__`
        never runs; such values fail. In Python: `has_builtin_len(value) and
        len(value) == expected`."""

    def python(self, predicate: Callable[[Any], object]) -> Self:
        """`predicate(value)` is true. The one kind that runs Python code of the
        user's; on the root it gets the locals as a dict. An exception makes the
        verdict error: the guard fails and explain tells. In Python:
        `predicate(value)`."""

    def type_match(self, expected: type) -> Self:
        """The value's type is exactly `expected`; subclasses fail. In Python:
        `type(value) is expected`."""

    def distinct_objects(self, *values: GuardManager) -> GuardManager:
        """Of two or more values no two are the same object (no aliasing). In Python,
        for example: `all_distinct(a, b)`."""

    def integers(self, expression: str, *values: GuardManager, **named: GuardManager) -> GuardManager:
        """An expression over exact ints and lengths of builtin containers is true,
        computed in 64 bits: + - * // %, comparisons, and, or, not, len(name). A
        value of another type, an overflow and a division by zero fail it. In
        Python, for example: `int64(a) == int64(b) * 2`."""

    def same_object(self, *values: GuardManager) -> GuardManager:
        """Two or more values are the same object. In Python, for example: `a is b`."""

class GuardProfile:
    """Counts and times of a tree's guards, as they were when profile() was called."""

    clock_ns: ClassVar[float]
    """What one reading of the clock takes; taken off each guard's time."""
    @property
    def checks(self) -> int: ...
    @property
    def passed(self) -> int: ...
    def check(self, subject: Mapping[str, Any] | Frame, /) -> bool:
        """What GuardManager.check answers, counted and timed."""
    def rows(self) -> list[ProfileRow]:
        """Each step, check and relation, most expensive first."""

class GuardedCode:
    """Replacement code and the guards under which it may run."""

    def __init__(
        self,
        code: CodeType,
        check_fn: GuardManager | Callable[[dict[str, Any]], object],
    ) -> None: ...
    @property
    def code(self) -> CodeType: ...
    @property
    def check_fn(self) -> GuardManager | Callable[[dict[str, Any]], object]: ...

class CacheEntry:
    """One cached (guards, code) of a code object."""

    @property
    def code(self) -> CodeType: ...
    @property
    def check_fn(self) -> GuardManager | Callable[[dict[str, Any]], object]: ...
    @property
    def next(self) -> CacheEntry | None: ...
    @property
    def hits(self) -> int: ...
    @property
    def errors(self) -> int: ...
    @property
    def last_error(self) -> BaseException | None: ...

_Callback = Callable[[Frame, CacheEntry | None, dict[str, Any]], Any]

def set_eval_frame(
    callback: _Callback | Literal[False] | None,
) -> _Callback | Literal[False] | None: ...
def get_eval_frame() -> _Callback | Literal[False] | None: ...
def skip_code(code: CodeType | FunctionType) -> None: ...
def reset_code(code: CodeType | FunctionType) -> None: ...
def cache_entries(code: CodeType | FunctionType) -> list[CacheEntry]: ...
def code_stats(code: CodeType | FunctionType) -> dict[str, int | bool]: ...
def set_entry_limit(limit: int) -> int: ...
def _explain_entry(
    entry: CacheEntry,
    code: CodeType | FunctionType,
    subject: Mapping[str, Any] | Frame,
) -> Explanation: ...
def features() -> dict[str, str | bool]: ...
def _kinds() -> list[dict[str, Any]]: ...
def _steps() -> list[dict[str, Any]]: ...
def _force_called(on: bool) -> None: ...
def _hook_installed() -> bool: ...
def _hooked_threads() -> int: ...
def _dicts_built() -> int: ...
def _shut_down() -> None: ...
