"""The compiled part of guardtree. Derived from the module by bindings/derive.py."""

import builtins
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from enum import Enum
from inspect import Signature
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, ClassVar, Literal, Self, final

from .descriptions import (
    AssumedGuards,
    FactDifference,
    GuardCheck,
    GuardCounts,
    GuardRelation,
    ProfileRow,
    Simplification,
)
from .dispatch import MissedCall
from .explanations import CacheExplanation
from .key_plans import KeyPlan

__version__: str

class Answer(Enum):
    """What a callback may answer, besides None and a GuardedCode."""

    ASK_AGAIN = "plain this time, ask again"

ASK_AGAIN: Literal[Answer.ASK_AGAIN]
"""Run the frame plain this time; ask the callback again next time."""

class Mode(Enum):
    """What a thread's callback may be, besides None, False and a callable."""

    RAISE_ON_MISS = "hits run, misses raise"

RAISE_ON_MISS: Literal[Mode.RAISE_ON_MISS]
"""Run what is cached; a miss of code that has entries raises GuardMiss."""

@final
class Frame:
    """The frame given to a callback: about to run, so f_lasti is 0 and f_lineno the
    first line. Valid while the callback runs; using it later raises RuntimeError.
    """

    @property
    def f_code(self) -> CodeType:
        """The code object that is about to run."""
    @property
    def f_locals(self) -> dict[str, Any]:
        """Locals as locals() would give them at the first instruction: for functions a
        dict made at the first request (a snapshot: writing to it changes nothing),
        for class bodies and modules their namespace itself.
        """
    @property
    def f_globals(self) -> dict[str, Any]: ...
    @property
    def f_builtins(self) -> dict[str, Any]: ...
    @property
    def f_lasti(self) -> int: ...
    @property
    def f_lineno(self) -> int: ...
    @property
    def closure(self) -> tuple[CellType, ...] | None:
        """The function's cells, or None."""
    @property
    def function(self) -> FunctionType:
        """The function that is called."""

# Type checkers take a function for a Callable, so that is what is accepted: a function
# written in Python, a bound method where code is meant, or a code object.
_Code = CodeType | Callable[..., object]
_Scope = _Code | Frame
_Subject = Mapping[str, Any] | Frame

class Failure:
    """One guard that did not pass."""

    @property
    def path(self) -> str:
        """Where: the value as a Python expression."""
    @property
    def kind(self) -> str:
        """Which kind, or the step that found nothing."""
    @property
    def python(self) -> str:
        """The guard as Python."""
    @property
    def expected(self) -> str:
        """The guard as the call that made it."""
    @property
    def found(self) -> str:
        """The value that was found."""
    @property
    def error(self) -> str:
        """What it raised; empty for a plain failure."""
    @property
    def differences(self) -> list[FactDifference]:
        """A FactDifference for each fact that differs, of a kind that checks several:
        tensor_match. Otherwise empty.
        """
    @property
    def nodes(self) -> list[GuardManager]:
        """The nodes of the guarded values: one, or those of a relation. Empty where
        the guards were no GuardManager.
        """
    @property
    def note(self) -> Any:
        """What note() said of the guard, or None."""
    def to_dict(self) -> dict[str, Any]:
        """All of it but the nodes, as a dict by these names."""

class Explanation:
    """What explain found; true when all guards pass."""

    @property
    def failures(self) -> list[Failure]:
        """Every guard that did not pass, in program order."""
    @property
    def verdict(self) -> Literal["pass", "fail", "error"]:
        """'pass', 'fail' or 'error' (some guard raised)."""
    @property
    def checks_run(self) -> int:
        """How many steps, kinds and relations were evaluated."""
    @property
    def invalidated(self) -> list[str]:
        """Why what was assumed is checked again, as texts: "invalidated by a change of
        G['cfg']".
        """
    def to_dict(self) -> dict[str, Any]:
        """verdict, checks_run, failures (each as its to_dict()) and invalidated as a
        dict; notes are the objects themselves.
        """
    def to_json(self) -> str:
        """to_dict() as JSON text. Never fails: a note that is no JSON goes as its
        repr.
        """
    def __bool__(self) -> bool: ...

class GuardManager:
    """A handle on a node of a guard tree: steps go to child nodes, kinds add checks
    and return the same handle. Made for a function, a code object, or the frame
    given to a callback, which it holds weakly. What is compiled (GuardedCode) is
    the tree at that moment.
    """

    def __init__(self, scope: _Scope) -> None: ...
    def check(self, subject: _Subject | object, /) -> bool:
        """Do all guards of the tree pass? `subject` is a mapping of local names, or
        the frame given to a callback. Where the guards read one local, it may also
        be the value of that local; an object with `keys` and `__getitem__`, such as
        a dict or a DataFrame, is always a mapping of names. A guard that raises
        does not pass (explain tells); KeyboardInterrupt, SystemExit and MemoryError
        are let through. 10 ns and up.
        """
    def __call__(self, subject: _Subject | object, /) -> bool: ...
    def explain(self, subject: _Subject | object) -> Explanation:
        """Every guard that does not pass on `subject` (as for check): where, what was
        expected, what was found.
        """
    @property
    def path(self) -> str:
        """The node as a Python expression; empty on the root."""
    @property
    def step(self) -> str | None:
        """The name of the step that fetches the node's value from its parent's; None
        on the root.
        """
    @property
    def operands(self) -> dict[str, Any]:
        """The step's operands by name, as objects (None for one that died)."""
    @property
    def parent(self) -> GuardManager | None:
        """The node that the step starts from; None on the root."""
    def children(self) -> list[GuardManager]:
        """Handles on the nodes one step away, in the order they were made."""
    def nodes(self) -> list[GuardManager]:
        """Handles on this node and all below it, each before its children. The root
        itself, which is no value, is left out.
        """
    def checks(self) -> list[GuardCheck]:
        """A GuardCheck for each check at and below this node."""
    def relations(self) -> list[GuardRelation]:
        """A GuardRelation for each relation over a value at or below this node."""
    def assumed(self) -> AssumedGuards:
        """AssumedGuards: what the last check() relied on without looking. Nothing
        before the second check that passed.
        """
    def counts(self) -> GuardCounts:
        """GuardCounts of what nodes(), checks() and relations() give."""
    def clone(
        self, keep: Callable[[GuardCheck | GuardRelation], object] | None = None
    ) -> GuardManager:
        """A new GuardManager for the same scope with the same guards; with `keep`,
        those whose GuardCheck or GuardRelation it accepts. Paths without checks go.
        What `keep` raises is raised, and nothing is made. The new tree keeps alive
        what this one does.
        """
    def profile(self) -> GuardProfile:
        """A GuardProfile of the whole tree as it is now, all zero."""
    def order_limits(self, profile: GuardProfile) -> list[str]:
        """Where reordered(profile) is not in fail-first order, and why: a text for
        each guard that failed more often than one before it.
        """
    def reordered(self, profile: GuardProfile) -> GuardManager:
        """A new GuardManager for the same scope: siblings that failed more often in
        `profile` come first, as far as no user code runs between them. `attr` and
        `item` run none where a guard before them says that the value is of a
        builtin type (`type_match(tuple).item(0)`). Its answers are the same; this
        one and what was compiled of it stay as they are. order_limits says what
        stays.
        """
    def specialize(
        self,
        example: Any,
        plan: KeyPlan | None = None,
        *,
        plans: Mapping[str, KeyPlan | None] | None = None,
        **facts: Any,
    ) -> Self:
        """specialize(example, plan=None, *, plans=None, **facts): guards what a
        KeyPlan says of an example: its type, a tensor's dtype and sizes, whether an
        int is 1, the parts of a container. On the root the example is a mapping of
        locals by name, and `plans` has the plans of some of them, None to leave one
        free. `facts` change the plan. Returns the same handle.
        """
    def note(self, note: object) -> Self:
        """Keeps any object with the guard that was added last, for explanations: where
        it comes from, say. Returns the same handle.
        """
    def include(self, guards: GuardManager, *, note: object = None) -> Self:
        """Adds all guards of another tree for the same code to this one, as they are
        now, with their notes. `note` is put on each that has none. Call it on the
        root. Returns the same handle.
        """
    def simplified(self) -> Simplification:
        """A Simplification: new guards for the same scope that give the same verdicts,
        without those that others imply; what went and why; and which guards exclude
        each other, so that nothing passes.
        """
    def to_text(self) -> tuple[str, dict[str, object]]:
        """`(text, names)` of the whole tree: `parse(text, scope, names)` gives the
        same tree, and Python means the same by the text. Objects without a name
        that leads to them (in a module or class, by their own account) are called
        `_0`, `_1`, ... in it; `names` has them. Notes are not in it. Raises
        ValueError where paths nest deeper than parse reads (200 calls, 1000 steps).
        """
    def to_json(self) -> str:
        """The whole tree as JSON text, for from_json: the canonical form, so equal
        trees give equal texts. Types and functions are written by name. Notes that
        are str are written, others are not. ValueError names the first guard that
        means something in this process only: code, state, objects without a name.
        """
    def to_portable_json(self) -> tuple[str, list[str]]:
        """`(text, dropped)`: to_json() without the guards that it refuses, and their
        Python text. What is left passes wherever these guards do.
        """
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the JSON text without notes: the same for equal
        trees in every process. ValueError as for to_json.
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def attr(self, name: str) -> GuardManager:
        """An attribute, through the full protocol: properties and `__getattr__` run.
        AttributeError fails the guard, other exceptions are errors. In Python:
        `value.name`."""

    def builtin(self, key: Hashable) -> GuardManager:
        """The value of a name in the frame's builtins. Fails where there is none. In
        Python: `B[key]`."""

    def call(self) -> GuardManager:
        """The value called without arguments. A value that cannot be called fetches
        nothing; what the call raises is an error. In Python: `value()`."""

    def closure(self, name: str) -> GuardManager:
        """A free variable by name, read from the function's cell. Fails while the cell
        is empty. In Python: `name`."""

    def closure_cell(self, index: int) -> GuardManager:
        """The content of a cell of a function's closure; negative counts from the end.
        Fetches nothing from an empty cell. In Python:
        `plain_function(value).__closure__[index].cell_contents`."""

    def code(self) -> GuardManager:
        """The code object of a function written in Python. In Python:
        `plain_function(value).__code__`."""

    def compute(self, function: Callable[[Any], object]) -> GuardManager:
        """`function(value)`. What it raises is an error. In Python: `function(value)`."""

    def context_var(self, variable: object) -> GuardManager:
        """The value of a contextvars.ContextVar in the current context, or its
        default; fetches nothing where it has neither. In Python: `variable.get()`."""

    def defaults(self) -> GuardManager:
        """The tuple of default values of a function written in Python; None when it
        has none. In Python: `plain_function(value).__defaults__`."""

    def deque_item(self, index: int) -> GuardManager:
        """An element of a deque or a subclass by its place; negative counts from the
        end. An overridden `__getitem__` does not run. In Python: `deque_item(value,
        index)`."""

    def dict_item(self, key: Hashable) -> GuardManager:
        """The value of a key in a dict or a subclass of dict; overridden `__getitem__`
        and `__missing__` do not run. Fetches nothing where a key of a user's type
        with the same hash would have to be asked. In Python: `dict_item(value,
        key)`."""

    def dict_key(self, position: int) -> GuardManager:
        """A key of a dict or a subclass by its place in the dict's order; negative
        counts from the end. Overridden methods, and an OrderedDict's own order, do
        not count. Linear where keys were deleted. In Python:
        `list(dict.keys(value))[position]`."""

    def dict_value(self, position: int) -> GuardManager:
        """A value of a dict or a subclass by its place in the dict's order; negative
        counts from the end. Overridden methods, and an OrderedDict's own order, do
        not count. Linear where keys were deleted. With dict_key it guards a dict by
        order. In Python: `list(dict.values(value))[position]`."""

    def f_locals(self) -> GuardManager:
        """The locals as a mapping: a dict that is made once per lookup and counted.
        For Python-level guards. In Python: `L`."""

    def function_globals(self) -> GuardManager:
        """The dict of globals of a function written in Python. In Python:
        `plain_function(value).__globals__`."""

    def generic_attr(self, name: str) -> GuardManager:
        """An attribute as `object.__getattribute__` finds it: descriptors run, an
        overridden `__getattribute__` and `__getattr__` do not. AttributeError fails
        the guard, other exceptions are errors. In Python:
        `object.__getattribute__(value, name)`."""

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

    def kwdefaults(self) -> GuardManager:
        """The dict of keyword-only default values of a function written in Python;
        None when it has none. In Python: `plain_function(value).__kwdefaults__`."""

    def list_item(self, index: int) -> GuardManager:
        """An element of a list or a subclass of list by position; negative counts from
        the end. An overridden `__getitem__` does not run. In Python:
        `list.__getitem__(value, index)`."""

    def local(self, name: str) -> GuardManager:
        """A local variable, argument or cell variable by name, read from its raw slot.
        Fails while it is unbound. In Python: `name`."""

    def method_function(self) -> GuardManager:
        """The function of a bound method. Methods of C types have another type and
        fetch nothing. In Python: `bound_method(value).__func__`."""

    def method_self(self) -> GuardManager:
        """The object that a method is bound to. Methods of C types have another type
        and fetch nothing. In Python: `bound_method(value).__self__`."""

    def module(self, name: str) -> GuardManager:
        """A module by its full name, as sys.modules has it now. It is not imported.
        Fetches nothing where sys.modules is no dict. In Python:
        `__import__('sys').modules[name]`."""

    def module_attr(self, name: str) -> GuardManager:
        """An entry of the dict of a module (or of a subclass): a module's
        `__getattr__`, and properties of a subclass, do not run. In Python:
        `dict_of_module(value)[name]`."""

    def mro(self) -> GuardManager:
        """The tuple of types that a type's attributes are looked up in, itself first.
        In Python: `mro_of(value)`."""

    def native_get(self, function: object) -> GuardManager:
        """What the C function in a capsule returns: `PyObject* (*)(PyObject* value,
        void* context)`, with the capsule's context; a new reference, null without
        an exception for nothing, null with one for an error. The capsule is called
        guardtree.native_get. In Python: `get_native(function, value)`."""

    def plain_attr(self, name: str) -> GuardManager:
        """The attribute that `getattr` returns, if it runs no code and makes no
        object: from the value's own `__dict__`, a slot, a field of a named tuple,
        or a class; from the value itself, if that is a class, functions and
        properties too. Also `__class__`, and `__name__` of a class that Python code
        made. Fetches nothing if getattr binds a descriptor, from modules (see
        `module_attr`), slots behind the items of a tuple, what only a metaclass
        has, and if the type has a `__getattribute__` other than object's or type's.
        In Python: `plain_attr(value, name)`."""

    def referent(self) -> GuardManager:
        """The object of a weakref.ref (or a subclass), while it lives. In Python:
        `live_referent(value)`."""

    def set_item(self, index: int) -> GuardManager:
        """An element of a set, frozenset or subclass by its place in iteration order;
        negative counts from the end. An overridden `__iter__` does not run. Linear.
        In Python: `plain_list(value)[index]`."""

    def size(self, index: int) -> GuardManager:
        """A tensor's size in one dimension, as an int; a negative index counts from
        the last one. An int above 256 is made for it; in integers relations
        `x.shape[0]` reads the number itself. In Python:
        `tensor(value).shape[index]`."""

    def slot(self, name: str) -> GuardManager:
        """What a slot (`__slots__`, or an object field of a C type) holds, without
        user code. Fetches nothing from an empty one, or where the type has
        something else of that name. In Python: `slot_value(value, name)`."""

    def storage_offset(self) -> GuardManager:
        """Where in its storage a tensor begins, in elements, as an int. NumPy's arrays
        and DLPack's do not tell. In Python: `tensor(value).storage_offset()`."""

    def stride(self, index: int) -> GuardManager:
        """A tensor's stride in one dimension, as an int, in the library's own unit:
        bytes in NumPy, elements elsewhere. CPython may make an int for it; in
        integers relations `stride_of(x, 0)` reads the number itself. In Python:
        `stride_of(value, index)`."""

    def tuple_item(self, index: int) -> GuardManager:
        """An element of a tuple or a subclass of tuple by position; negative counts
        from the end. An overridden `__getitem__` does not run. In Python:
        `tuple.__getitem__(value, index)`."""

    def tuple_iterator_item(self, index: int) -> GuardManager:
        """The item that an iterator of a tuple will give after `index` others. It is
        not advanced. In Python: `left_of(value)[index]`."""

    def type(self) -> GuardManager:
        """The value's type (not its `__class__`). Never fails. In Python:
        `type(value)`."""

    def type_dict(self) -> GuardManager:
        """The dict of a type's own attributes (`vars(value)` without the proxy). In
        Python: `dict_of_type(value)`."""

    def any_of(self, kinds: tuple[tuple[Any, ...], ...]) -> Self:
        """One of the inner kinds passes: `any_of((("is_none",), ("type_match",
        int)))`. They are tried in order until one passes or is an error, which
        stays one. In Python: `kinds`."""

    def complex_is_nan(self) -> Self:
        """A complex (exactly) with a NaN in either part. In Python: `type(value) is
        complex and value != value`."""

    def data_aligned(self, divisor: int) -> Self:
        """A tensor whose first element's address `divisor` divides. Tensors without
        data fail. In Python: `has_aligned_data(value, divisor)`."""

    def dict_contains(self, key: Hashable) -> Self:
        """A dict or a subclass of dict that has this key; an overridden `__contains__`
        does not run. Every other value fails, and so does a dict in which a key of
        a user's type with the same hash would have to be asked. In Python:
        `dict_has(value, key) is True`."""

    def dict_key_set(self, expected: Set[object]) -> Self:
        """A dict or a subclass of dict whose keys are exactly these constants in any
        order (types included). Looked at as a dict. In Python: `is_a(value, dict)
        and same_constant(frozenset(dict.keys(value)), expected)`."""

    def dict_keys(self, expected: tuple[object, ...]) -> Self:
        """A dict or a subclass of dict whose keys are exactly these constants in this
        order (types included, as equals compares). Looked at as a dict: an
        OrderedDict's own order and overridden methods do not count. In Python:
        `is_a(value, dict) and same_constant(tuple(dict.keys(value)), expected)`."""

    def dict_lacks(self, key: Hashable) -> Self:
        """A dict or a subclass of dict that has not this key; an overridden
        `__contains__` does not run. Every other value fails, and so does a dict in
        which a key of a user's type with the same hash would have to be asked. In
        Python: `dict_has(value, key) is False`."""

    def dict_version(self, expected: dict[Any, Any]) -> Self:
        """This very dict, and since the guard was built nothing in it was added,
        removed, replaced by another object or reordered. What the values hold may
        change. The dict, its keys and its values are held. From CPython 3.12 on the
        check compares their addresses, one by one. In Python it is told by the
        identity of the dict only. In Python: `is_unchanged(value, expected)`."""

    def divisible_by(self, divisor: int) -> Self:
        """An int (exactly: bool fails) of at most 64 bits that `divisor` divides. In
        Python: `type(value) is int and -(2**63) <= value < 2**63 and value %
        divisor == 0`."""

    def equals(self, expected: object) -> Self:
        """The value equals a constant, and so do the types of both at every depth;
        floats are compared by bits. The constant is copied. In Python:
        `same_constant(value, expected)`."""

    def exists(self) -> Self:
        """There is a value: the local is bound, and each step finds something. Any
        value passes. A step without a check is not evaluated, so say this where
        nothing else is guarded. In Python: `exists(value)`."""

    def float_is_nan(self) -> Self:
        """A float (exactly) that is a NaN of any bits. In Python: `type(value) is
        float and value != value`."""

    def function_match(self, expected: Callable[..., object]) -> Self:
        """A function written in Python of the same code object, with the same objects
        in its closure cells, as defaults and as keyword defaults as `expected` had
        when the guard was built. Its globals, name and attributes are not compared.
        All is held weakly where it can be. In Python: `is_same_function(value,
        expected)`."""

    def has_attr(self, name: str) -> Self:
        """The value has got the attribute, by the full protocol: properties and
        `__getattr__` run. Other exceptions than AttributeError are errors. In
        Python: `hasattr(value, name)`."""

    def has_static_attr(self, name: str) -> Self:
        """The value has got the attribute in a dict of its type's MRO (if it is a
        slot: a filled one) or in a dict of its own, which is not made. A type has
        its own MRO's and its metatype's. `__getattr__` and `__getattribute__` are
        not asked: they may have it all the same, or hide it; properties do not run.
        Names that are not exact str in those dicts do not count. In Python:
        `has_static_attr(value, name)`."""

    def id_match(self, expected: object) -> Self:
        """The value is this very object. Held weakly where it can be: once the object
        died, nothing matches. In Python: `value is expected`."""

    def id_match_held(self, expected: object) -> Self:
        """The value is this very object. Held strongly: use it where nothing else
        keeps the object alive. (id_match holds weakly where it can.) In Python:
        `value is expected`."""

    def instance_of(self, expected: builtins.type[Any]) -> Self:
        """The value's type is `expected` or a subclass of it, by the MRO: `__class__`,
        `__instancecheck__` and ABC registration are not asked. Held weakly. In
        Python: `is_a(value, expected)`."""

    def int_range(self, low: int, high: int) -> Self:
        """An int (exactly: bool fails) from `low` to `high`, both included. Ints
        beyond 64 bits fail. In Python: `type(value) is int and low <= value <=
        high`."""

    def int_sign(self, sign: Literal[-1, 0, 1]) -> Self:
        """An int (exactly: bool fails) of any size with this sign. In Python:
        `type(value) is int and (value > 0) - (value < 0) == sign`."""

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

    def is_truthy(self) -> Self:
        """The value counts as true: user `__bool__` and `__len__` run, and what they
        raise is an error. is_true asks for True itself. In Python: `bool(value)`."""

    def lacks_attr(self, name: str) -> Self:
        """The value has not got the attribute, by the full protocol: properties and
        `__getattr__` run. Other exceptions than AttributeError are errors. In
        Python: `not hasattr(value, name)`."""

    def lacks_instance_attr(self, name: Hashable) -> Self:
        """The value's own `__dict__` has not got the attribute, whatever its class
        says: nothing shadows what the class has. No user code runs, and no
        `__dict__` is made where there is none yet. It fails for a `__dict__` in
        which a key of a user's type with the same hash would have to be asked.
        Values that are classes, and values without a `__dict__`, have none. In
        Python: `has_instance_attr(value, name) is False`."""

    def lacks_plain_attr(self, name: str) -> Self:
        """`getattr` raises AttributeError for the name, without running code: neither
        the class nor the value's own `__dict__` has the attribute, or it is an
        empty slot. It fails where `getattr` would run code: the value is a class,
        its type has a `__getattr__` or a `__getattribute__` other than object's, or
        keys that are not str would have to be asked. In Python:
        `lacks_plain_attr(value, name)`."""

    def lacks_static_attr(self, name: str) -> Self:
        """The value has not got the attribute in a dict of its type's MRO (if it is a
        slot: a filled one) or in a dict of its own, which is not made. A type has
        its own MRO's and its metatype's. `__getattr__` and `__getattribute__` are
        not asked: they may have it all the same, or hide it; properties do not run.
        Names that are not exact str in those dicts do not count. In Python: `not
        has_static_attr(value, name)`."""

    def length(self, expected: int) -> Self:
        """A list, tuple, dict, set, frozenset, str, bytes, bytearray, range or deque
        (or a subclass that keeps its `__len__`) of this length. User `__len__`
        never runs; such values fail. In Python: `has_builtin_len(value) and
        len(value) == expected`."""

    def mapping_keys(self, expected: tuple[object, ...]) -> Self:
        """`list(value.keys())` is exactly these constants, types included. An exact
        dict runs no user code; for other values `keys` is called, and only its
        absence fails: what it raises is an error. In Python: `hasattr(value,
        'keys') and same_constant(tuple(value.keys()), expected)`."""

    def native(self, function: object) -> Self:
        """The C function in a capsule decides: `int (*)(PyObject* value, void*
        context)`, with the capsule's context. 1 passes, 0 fails, -1 is an error
        with an exception set. The capsule is called guardtree.native_check. In
        Python: `call_native(function, value)`."""

    def native_pure(self, function: object) -> Self:
        """The C function in a capsule decides, as for `native`, and promises to run no
        Python code, to keep the GIL and to raise nothing: 1 passes, all else fails.
        It costs less than `native`, after which nothing that guards have read
        before is sure. The capsule is called guardtree.native_pure. In Python:
        `call_native(function, value)`."""

    def not_(self, kind: tuple[Any, ...]) -> Self:
        """The inner kind fails: `not_(("type_match", int))`. An error of it stays an
        error. Kinds nest at most 32 deep. In Python: `not kind`."""

    def one_of(self, values: tuple[object, ...]) -> Self:
        """The value is one of these constants, types included, as equals compares.
        Tried one by one, in order. In Python: `any(same_constant(value, each) for
        each in values)`."""

    def python(self, predicate: Callable[[Any], object]) -> Self:
        """`predicate(value)` is true. The one kind that runs Python code of the
        user's; on the root it gets the locals as a dict. An exception makes the
        verdict error: the guard fails and explain tells. In Python:
        `predicate(value)`."""

    def range_iterator(self, remaining: range) -> Self:
        """An iterator of a range that will still give exactly the numbers of
        `remaining`. It is not advanced. Iterators of ranges beyond a machine word
        fail. In Python: `is_left(value, remaining)`."""

    def set_contains(self, item: Hashable) -> Self:
        """A set, a frozenset or a subclass of one that has this item; an overridden
        `__contains__` does not run. Every other value fails. In Python:
        `is_a_set(value) and plain_contains(value, item)`."""

    def set_equals(self, expected: Set[object]) -> Self:
        """A set or a frozenset (both are accepted, subclasses are not) of exactly
        these constants, types included. In Python: `is_exact_set(value) and
        same_constant(frozenset(value), expected)`."""

    def set_lacks(self, item: Hashable) -> Self:
        """A set, a frozenset or a subclass of one that has not this item; an
        overridden `__contains__` does not run. Every other value fails. In Python:
        `is_a_set(value) and not plain_contains(value, item)`."""

    def str_prefix(self, prefix: str) -> Self:
        """A str (exactly: subclasses fail) that starts with `prefix`. In Python:
        `type(value) is str and value.startswith(prefix)`."""

    def tensor_match(self, spec: object) -> Self:
        """A tensor has these metadata: those of an example, or any subset, sizes and
        strides exact, free (None) or between bounds. Read anew on every check,
        without the library's own code. In Python: `has_tensor_facts(value, spec)`."""

    def tuple_iterator_length(self, expected: int) -> Self:
        """An iterator of a tuple with this many items left. It is not advanced. In
        Python: `type(value) is tuple_iterator and len(left_of(value)) == expected`."""

    def type_match(self, expected: builtins.type[Any]) -> Self:
        """The value's type is exactly `expected`; subclasses fail. In Python:
        `type(value) is expected`."""

    def type_version(self, expected: builtins.type[Any]) -> Self:
        """This very type, and since the guard was built no attribute and no base of it
        was changed, in it or in what it inherits from: CPython's version tag is the
        same. (It does not cover the metatype, nor `__name__` from 3.13 on.) Held
        weakly. A type that cannot have a tag any more is refused. In Python it is
        told by its identity only. In Python: `value is expected`."""

    def user_length(self, expected: int) -> Self:
        """`len(value)` through the full protocol: user `__len__` runs. A value without
        a length fails; what `__len__` raises is an error. In Python:
        `has_len(value) and len(value) == expected`."""

    def weakref_alive(self) -> Self:
        """A weakref.ref (or a subclass) whose object is alive. Proxies fail. In
        Python: `is_a(value, weak_reference) and weak_reference.__call__(value) is
        not None`."""

    def distinct_objects(self, *values: GuardManager) -> GuardManager:
        """Of two or more values no two are the same object (no aliasing). In Python,
        for example: `distinct_objects(a, b)`."""

    def integers(self, expression: str, *values: GuardManager, **named: GuardManager) -> GuardManager:
        """An expression over exact ints, lengths of builtin containers, shapes and
        strides of tensors is true, computed in 64 bits: + - * // %, comparisons,
        and, or, not, len(name), name.shape[0], stride_of(name, 0), name.ndim. A
        value of another type, an overflow and a division by zero fail it. In
        Python, for example: `int64(a) == int64(b) * 2`."""

    def overlapping_memory(self, pairs: tuple[tuple[int, int], ...], *values: GuardManager, **named: GuardManager) -> GuardManager:
        """Of several tensors exactly these pairs, given by position, overlap: the
        extents of their memory, from the first byte to the last. () says that none
        do. What is no tensor, or does not tell its memory, fails it. In Python, for
        example: `overlapping_pairs(a, b) == {(0, 1)}`."""

    def same_object(self, *values: GuardManager) -> GuardManager:
        """Two or more values are the same object. In Python, for example: `a is b`."""

class GuardProfile:
    """Counts and times of a tree's guards, as they were when profile() was called.
    Only its own check counts: GuardManager.check and the hook stay as they are.
    """

    clock_ns: ClassVar[float]
    """What one reading of the clock takes; taken off each guard's time."""
    @property
    def checks(self) -> int:
        """How many subjects were checked."""
    @property
    def passed(self) -> int:
        """How many of them passed."""
    def check(self, subject: _Subject | object, /) -> bool:
        """What GuardManager.check answers, counted and timed. It stops where a check
        stops, at the first guard that does not pass.
        """
    def rows(self) -> list[ProfileRow]:
        """A ProfileRow for each step, check and relation, most expensive first."""

class GuardedCode:
    """Replacement code and the guards under which it may run, as they are now: later
    edits of the GuardManager change nothing. Raises when `code` is not a code
    object or does not fit the guarded one, saying what differs; with `verify`
    (None: in strict mode), also when it may crash the interpreter: see
    guardtree.bytecode.verify. `captures`: a dict of locals of `code`, no arguments,
    to paths of the GuardManager; the code finds them bound to the very values that
    the guards checked. Such code runs on no frame that its guards did not pass, nor
    in the few frames that cannot become its own where they lie.
    """

    def __init__(
        self,
        code: CodeType,
        check_fn: Callable[[dict[str, Any]], object],  # a GuardManager is one
        *,
        captures: dict[str, GuardManager] | None = None,
        verify: bool | None = None,
    ) -> None: ...
    @property
    def code(self) -> CodeType: ...
    @property
    def check_fn(self) -> GuardManager | Any:
        """What it was made with: guards, or a callable."""

class CacheEntry:
    """One cached (guards, code) of a code object."""

    @property
    def code(self) -> CodeType:
        """The replacement code. None once it is gone, where it was the guarded code
        itself.
        """
    @property
    def check_fn(self) -> GuardManager | Any:
        """The GuardManager or callable it was made with."""
    @property
    def next(self) -> CacheEntry | None:
        """The next younger entry, or None."""
    @property
    def hits(self) -> int: ...
    @property
    def errors(self) -> int:
        """How often a guard raised, which counts as a miss."""
    @property
    def last_error(self) -> BaseException | None:
        """The last exception of a guard, without its traceback; None when none raised."""

@final
class TableEntry:
    """One (guards, payload) of a Table."""

    @property
    def guards(self) -> GuardManager: ...
    @property
    def payload(self) -> Any: ...
    @property
    def hits(self) -> int: ...
    @property
    def errors(self) -> int:
        """How often a guard raised, which counts as a miss."""
    @property
    def last_error(self) -> BaseException | None: ...

class Table:
    """Guards with payloads for the calls of one function, looked up without a hook:
    Table(function). Entries are tried in the order they were added; the first whose
    guards pass is the answer, found without trying all. `default`: what a look-up
    returns when there is none.
    """

    def __init__(self, scope: _Scope, *, default: Any = None) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        guards: GuardManager,
        payload: Any,
        *,
        captures: dict[str, GuardManager] | None = None,
    ) -> TableEntry:
        """Adds guards, as they are now, behind all others. `payload`: what lookup
        gives for them. `captures`: a dict of names to paths of the guards, whose
        values lookup gives with the payload; a path without a check only has to be
        there.
        """
    def remove(self, entry: TableEntry) -> None:
        """Takes an entry out."""
    def lookup(self, subject: _Subject, default: Any = ..., /) -> Any:
        """The payload of the first entry, oldest first, whose guards pass. Of an entry
        with captures it is a pair: the payload, and a dict of the very values that
        the guards checked in this look-up. `default`, or the table's, when there is
        no entry. `subject` is a mapping of local names, or the frame given to a
        callback. Its cost does not grow with the number of entries where they
        differ in types, constants, identities, lengths or sizes.
        """
    def lookup_call(self, /, *args: Any, **kwargs: Any) -> Any:
        """As lookup, for a call of the table's function with these arguments:
        defaults, *args and **kwargs are bound as Python does, and no dict is made
        for it. The table's default when no entry's guards pass. TypeError where the
        call does not fit the function.
        """
    def explain(self, subject: _Subject) -> CacheExplanation:
        """Why a look-up of `subject` would miss: every entry's failed guards."""
    def find(self, subject: _Subject) -> TableEntry | None:
        """As lookup, but the entry itself, or None."""
    def entries(self) -> list[TableEntry]:
        """The oldest first."""
    def differences(self) -> dict[str, list[str]]:
        """The facts that entries do not agree on, with what each entry demands."""

@final
class GuardedFunction:
    """The guarded calls of one function: what guard_function gives."""

    @property
    def function(self) -> FunctionType | None:
        """The function, or None when it is gone."""
    @property
    def original(self) -> Callable[..., Any] | None:
        """A callable that runs the function past its guards; None when the function is
        gone.
        """
    def restore(self) -> bool:
        """Forgets all entries and gives the calls back. False where another library
        has taken them over since: it goes on calling through, plain.
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __len__(self) -> int: ...
    def add(
        self,
        guards: GuardManager,
        target: _Code,
        *,
        captures: dict[str, GuardManager] | Sequence[GuardManager] | None = None,
    ) -> TableEntry:
        """Adds guards, as they are now, behind all others. `target`: what a call that
        passes them runs. Code (of the same arguments) runs with the function's
        globals, closure and defaults; any other callable is called with the
        arguments as the call gave them. `captures`: paths of the guards, whose
        values the target gets, the very ones that were checked. A dict of names to
        paths: a callable gets them as further keyword arguments, code as locals of
        its own. A list of paths: the callable gets these values, in this order, and
        nothing else.
        """
    def remove(self, entry: TableEntry) -> None:
        """Takes an entry out."""
    def entries(self) -> list[TableEntry]:
        """The entries, the oldest first."""
    def find(self, /, *args: Any, **kwargs: Any) -> TableEntry | None:
        """The entry that would serve a call with these arguments, or None. Nothing is
        called or counted.
        """
    def explain(self, /, *args: Any, **kwargs: Any) -> CacheExplanation:
        """Why a call with these arguments would miss: every entry's failed guards."""
    def report(self) -> str:
        """A text: the counts, each entry with its hits and guards, and what the
        entries differ in.
        """
    def differences(self) -> dict[str, list[str]]:
        """The facts that entries do not agree on, with what each entry demands."""
    def stats(self) -> dict[str, int]:
        """Counts of calls: hits, misses (looked up, not served), other_code (ran
        plain: the function's __code__ was another); errors of guards; entries;
        compiled (entries by on_miss), evicted (entries that gave their place).
        """
    @property
    def on_miss(self) -> Callable[[MissedCall], Any] | None:
        """What is asked about calls that no entry serves, or None."""

def guard_function(
    function: Callable[..., object],
    on_miss: Callable[[MissedCall], Any] | None = None,
    entry_limit: int | None = None,
    when_full: Literal["evict", "keep"] | None = None,
) -> GuardedFunction:
    """Guards the calls of one function where they arrive, before there is a frame; all
    else in the process runs at full speed, and no hook is needed. Gives its
    GuardedFunction, the same one each time. It lives as long as the function.
    NotImplementedError on CPython 3.11.
    """

@final
class Dispatcher:
    """A callable that runs, for each call, the payload of the first entry whose guards
    pass. `signature`: a Python function or another callable, which runs calls that
    no entry serves, or an inspect.Signature or code object, below which nothing
    runs. `on_miss(call)` is asked about such a call: it fills call.guards and
    returns what runs: a callable, code where a Python function is below, ASK_AGAIN
    (plain this time), or a TableEntry that it added. At `entry_limit` a new entry
    replaces the least recently used one ('evict'), or on_miss is no longer asked
    ('keep').
    """

    def __init__(
        self,
        signature: Callable[..., Any] | Signature | CodeType,
        on_miss: Callable[[MissedCall], Any] | None = None,
        *,
        entry_limit: int = 1024,
        when_full: Literal["evict", "keep"] = "evict",
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any: ...
    @property
    def original(self) -> Callable[..., Any] | None:
        """What runs calls that no entry serves: the function or callable that it was
        made for; None of a signature or code.
        """
    @property
    def _name(self) -> str: ...
    def __reduce__(self) -> str: ...
    def __len__(self) -> int: ...
    def add(
        self,
        guards: GuardManager,
        target: CodeType | Callable[..., Any],
        *,
        captures: dict[str, GuardManager] | Sequence[GuardManager] | None = None,
    ) -> TableEntry:
        """Adds guards, as they are now, behind all others. `target`: what a call that
        passes them runs. Code (of the same arguments) runs with the function's
        globals, closure and defaults; any other callable is called with the
        arguments as the call gave them. `captures`: paths of the guards, whose
        values the target gets, the very ones that were checked. A dict of names to
        paths: a callable gets them as further keyword arguments, code as locals of
        its own. A list of paths: the callable gets these values, in this order, and
        nothing else.
        """
    def remove(self, entry: TableEntry) -> None:
        """Takes an entry out."""
    def entries(self) -> list[TableEntry]:
        """The entries, the oldest first."""
    def find(self, /, *args: Any, **kwargs: Any) -> TableEntry | None:
        """The entry that would serve a call with these arguments, or None. Nothing is
        called or counted.
        """
    def explain(self, /, *args: Any, **kwargs: Any) -> CacheExplanation:
        """Why a call with these arguments would miss: every entry's failed guards."""
    def report(self) -> str:
        """A text: the counts, each entry with its hits and guards, and what the
        entries differ in.
        """
    def differences(self) -> dict[str, list[str]]:
        """The facts that entries do not agree on, with what each entry demands."""
    def stats(self) -> dict[str, int]:
        """Counts of calls: hits, misses (looked up, not served), other_code (ran
        plain: the function's __code__ was another); errors of guards; entries;
        compiled (entries by on_miss), evicted (entries that gave their place).
        """
    @property
    def on_miss(self) -> Callable[[MissedCall], Any] | None:
        """What is asked about calls that no entry serves, or None."""

_Callback = Callable[
    [Frame, CacheEntry | None, dict[str, Any]], GuardedCode | Answer | None
]
_AnyCallback = _Callback | Literal[False] | Mode | None

def set_eval_frame(callback: _AnyCallback) -> _AnyCallback:
    """Set this thread's callback and return the prior one. None: off. False: run what
    is cached. RAISE_ON_MISS: the same, but a miss of code that has entries raises
    GuardMiss. A callable (frame, cache_entry, frame_state): asked when no entry's
    guards pass; it returns None (skip this code from now on), ASK_AGAIN (plain this
    time) or a GuardedCode, which is kept and run at once. RuntimeWarning, once,
    where another evaluator took the place of guardtree's.
    """
def get_eval_frame() -> _AnyCallback:
    """This thread's callback: None, False, RAISE_ON_MISS or a callable."""
def set_policy(
    code: _Code | None = None,
    *,
    entry_limit: int | None = None,
    when_full: Literal["evict", "keep"] | None = None,
    on_miss: Literal["ask", "plain", "raise"] | None = None,
    warm_up: int | None = None,
) -> dict[str, Any]:
    """Settle what holds for a code (or function), or for every code that has no policy
    of its own; what is not given stays. Returns the prior policy. entry_limit:
    entries a code may have (64). when_full: 'evict' the entry that was hit longest
    ago, or 'keep' them and ask the callback no longer. on_miss: 'ask' the callback,
    run 'plain', or 'raise' GuardMiss where there are entries. warm_up: how many
    frames run plain before the callback is asked (0).
    """

def get_policy(code: _Code | None = None) -> dict[str, Any]:
    """What set_policy settled, as a dict of its arguments."""
def skip_code(code: _Code, recursive: bool = False) -> None:
    """Run this code (or function) plain from now on, until reset_code; with
    `recursive` also all that it calls.
    """
def run_only(code: _Code) -> None:
    """Ask no callback for this code (or function) and all that it calls, until
    reset_code: hits run, misses run plain.
    """
def fail_code(code: _Code, reason: str) -> None:
    """Give this code up: it runs plain until reset_code, and code_stats says why."""
def add_entry(code: _Code, guarded_code: GuardedCode) -> CacheEntry:
    """Add an entry outside a callback, from any thread, and return it: compile in the
    background, answer ASK_AGAIN meanwhile.
    """
def _add_listed_entry(
    code: CodeType,
    guarded_code: GuardedCode,
    entries: dict[TableEntry, Any],
    value: object,
    target: object,
) -> TableEntry: ...
def _remove_listed_entry(code: CodeType, entry: TableEntry, reason: str) -> None: ...
def invalidate(code: _Code, entry: CacheEntry, reason: str) -> None:
    """Take an entry out of its code, for a reason that `removed_entries` and explain
    tell. Frames that run its code go on.
    """
def removed_entries(code: _Code) -> list[tuple[int, str]]:
    """(hits, reason) of the last entries that were evicted or invalidated, the newest
    last; eight at most.
    """
def reset_code(code: _Code) -> None:
    """Forget all that is kept on this code: entries, skip, counters, frame_state. Safe
    at any time, from guards and callbacks too.
    """
def cache_entries(code: _Code) -> list[CacheEntry]:
    """The entries of this code, oldest first: the order they are tried in."""
def code_stats(code: _Code) -> dict[str, Any]:
    """Counters of this code: lookups, hits, misses, errors, entries, compiled,
    dicts_built, substituted, called, evicted, invalidated, skipped, failure (why,
    where a compiler gave up), limit_reached.
    """
def differences(code: _Code) -> dict[str, list[str]]:
    """The facts that the entries of a code (or function) do not agree on, with what
    each entry demands, the oldest first: {'x.shape[0]': ['8', '16', '24']}. What a
    compiler may generalise.
    """
def _explain_entry(
    entry: CacheEntry, code: _Code, subject: _Subject
) -> Explanation: ...
def features() -> dict[str, str | bool]:
    """What this build does on this CPython, as a dict: cpython, built_for,
    init_may_escape_hook (constructors that CPython 3.13 specialised run `__init__`
    unseen), guards_calls_by ('entry': guard_function needs no hook; 'hook': CPython
    3.11), checks_c_stack, dict_watcher (False: this CPython has none, or others
    have taken all eight; assumptions compare then), free_threaded, subinterpreters,
    optimized (False: a debug build, whose times mean nothing).
    """
def set_assumptions(enabled: bool, /) -> bool:
    """Whether guards compiled from now on are assumed to hold as long as no dict that
    they go through changes, after they have passed. On at first. Gives the former
    setting. Answers are the same; for comparing and debugging.
    """
def assumption_counts() -> dict[str, int]:
    """What became of assumptions in this process, as a dict of counts: arms (checked
    and relied on from then), rearms (those that had been broken), events (changes
    that broke some, told by CPython), found (by comparing), demotions (dicts that
    change too often and are read directly), armed and watched (assumptions and
    dicts now).
    """
def from_json(
    text: str,
    scope: _Scope,
    *,
    resolver: Callable[[str, str], object] | None = None,
    allow_calls: bool = False,
) -> GuardManager:
    """Guards for `scope` (as for GuardManager) of what to_json() wrote, perhaps in
    another process. Types and functions are looked up by their names in modules
    that are imported; nothing is imported or called. `resolver(module, path)` is
    asked first, if it is given: it returns the object, or None where it knows none.
    ValueError says where and why a text is refused: it is safe to read any. A text
    whose steps call what they find is refused unless allow_calls: its guards could
    run any function. NameError for a variable that the scope has not.
    """

def parse(
    text: str,
    scope: _Scope,
    names: dict[str, Any] | None = None,
    *,
    allow_calls: bool = True,
) -> GuardManager:
    """A GuardManager for `scope` (a function, a code object, or the frame given to a
    callback) with the guards that `text` claims: Python expressions joined by `and`
    (the documentation's page 'Text and JSON of guards'). Names are the scope's
    variables, its globals, builtins; `names` gives objects names in the text.
    Raises SyntaxError, NameError, or what the operand of a guard refuses, with the
    place and what was expected. Runs no code of the text's. A check runs what the
    text names, though: `eval(x)` calls eval. With allow_calls=False such guards are
    refused (ValueError).
    """

def _all_or_none(guards: GuardManager, add: Callable[[], object]) -> Any: ...
def _reserved_words() -> list[str]: ...
def tensor_facts(tensor: object) -> dict[str, Any]:
    """The facts of a tensor as a dict that tensor_match takes. TypeError when it is
    none.
    """

def register_tensor_type(type: type[Any], reader: object | None) -> None:
    """Has tensors of a type read by a plugin's reader, a capsule called
    guardtree.tensor_reader; None: by the DLPack interface of the type. For ever;
    ImportError for a reader of another version.
    """

_C_API: object
"""The table of capi/guardtree.h, in a capsule."""

def _kinds() -> list[dict[str, Any]]: ...
def _steps() -> list[dict[str, Any]]: ...
def _relations() -> list[dict[str, Any]]: ...
def _kernel_grids(dispatcher: Dispatcher, limit: int) -> Callable[[Any], Any]: ...
def _kernel_launch(parts: tuple[Any, ...]) -> Callable[..., Any]: ...
def _time_evaluations(
    guards: GuardManager, subject: _Subject, count: int
) -> float: ...
def _force_called(on: bool) -> None: ...
def _observe(
    entries: Callable[[CodeType, CacheEntry], None] | None,
    misses: Callable[[Frame], None] | None,
) -> None: ...
def _set_strict(on: bool) -> bool: ...
def _set_miss_maker(make: Callable[[Frame], BaseException]) -> None: ...
def _names_for_calls(
    code: CodeType, guards: GuardManager, captures: dict[str, GuardManager] | None
) -> tuple[str, ...]: ...
def _hook_installed() -> bool: ...
def _hooked_threads() -> int: ...
def _dicts_built() -> int: ...
def _shut_down() -> None: ...
