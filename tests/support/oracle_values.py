"""Values that the oracle's trees are evaluated on; every hook misbehaves."""

import json
import weakref
from collections import OrderedDict, defaultdict, deque
from types import MappingProxyType, MethodType, SimpleNamespace


class Named:
    """Prints as the global name it has, so that printed trees evaluate."""

    def __init__(self, name, **attributes):
        self.name = name
        self.__dict__.update(attributes)

    def __repr__(self):
        return self.name

    def method(self):
        return self.name


class Slotted:
    """A filled slot, an empty one, and an odd key in the class's dict."""

    __slots__ = ("a", "b")

    def __init__(self):
        self.a = [1]

    def __repr__(self):
        return "slotted"


class HidesAll(Named):
    """Its `__getattribute__` tells of nothing but what CPython asks for."""

    def __getattribute__(self, name):
        if name.startswith("__") or name == "name":
            return object.__getattribute__(self, name)
        raise AttributeError(name)


class LyingSet(set):
    """Says that it holds everything, and iterates over nothing."""

    def __contains__(self, item):
        return True

    def __iter__(self):
        return iter(())


class BackwardsKeys(dict):
    """A dict whose keys come in another order, and whose look-ups lie."""

    def keys(self):
        return list(dict.keys(self))[::-1]

    def __contains__(self, key):
        return False


class RaisingKeys:
    """A mapping whose keys raise."""

    def keys(self):
        raise ValueError("no keys")


class RaisingEq(Named):
    """Equality raises; the hash is that of 'a', so that dicts do compare."""

    def __eq__(self, other):
        raise ValueError("no equality")

    def __hash__(self):
        return hash("a")


class LyingEq(Named):
    """Equals everything; no kind may be taken in."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("b")


class RaisingGetattr(Named):
    """An unknown attribute is an error, not an absence."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise ValueError(name)


class Properties(Named):
    """Properties that raise, and one that is absent in its own words."""

    @property
    def a(self):
        1 / 0

    @property
    def b(self):
        raise AttributeError("b")


class RaisingLen(list):
    """A list whose own length raises."""

    def __len__(self):
        raise ValueError("no length")


class LongerList(list):
    """A list that says it is longer."""

    def __len__(self):
        return list.__len__(self) + 1


class KeepsLen(list):
    """A list subclass with list's own length; items are someone else's."""

    def __getitem__(self, index):
        return "overridden"


class Missing(dict):
    """Absent keys appear through []; not through dict_item."""

    def __missing__(self, key):
        return key


class ItemsRaise:
    """value[key] raises: an absence for LookupError, else an error."""

    def __init__(self, error):
        self.error = error

    def __getitem__(self, key):
        raise self.error

    def __repr__(self):
        return "items_raise"


class RaisingBool:
    """A predicate's answer without a truth."""

    def __bool__(self):
        raise ValueError("no truth")


def is_big(value):
    return value > 2


def is_list(value):
    return isinstance(value, list)


def is_hashable(value):
    return hash(value) is not None


def has_no_truth(value):
    return RaisingBool()


def raises(value):
    raise RuntimeError(str(type(value)))


def always(value):
    return [0]


def never(value):
    return ""


def make_inner():
    captured = [1]

    def inner():
        return captured

    return inner


def with_defaults(x=1, *, y=2):
    return x


inner = make_inner()
inner.__qualname__ = "inner"  # prints as the global name it has
slotted = Slotted()
hides_all = HidesAll("hides_all", a=1)
ordered = OrderedDict([("b", 1), (1, 2)])
ordered.move_to_end("b")
advanced = iter(range(1, 4))
next(advanced)
ended = iter((1, 2))
list(ended)
user = Named("user", a=1, b=[1, 2])
other = Named("other", a={"a": None}, real=2)
raising_eq = RaisingEq("raising_eq")
lying_eq = LyingEq("lying_eq", a=3)
raising_getattr = RaisingGetattr("raising_getattr", a=0.0)
properties = Properties("properties")
itself = []
itself.append(itself)


class LyingMeta(type):
    """The metaclass speaks for its class, which has nothing of it."""

    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__

    def __len__(cls):
        return 1


class OfLyingMeta(metaclass=LyingMeta):
    pass


of_lying_meta = OfLyingMeta()


class Plain:
    """Attributes in the order in which they come, in whatever CPython keeps them."""

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


def with_dict(instance):
    """The instance, which has a dict of its own now."""
    instance.__dict__["e"] = instance
    return instance


# Trees ask runs of these names of one dict or instance.
NAMED = [
    {"a": 1, "b": "a", "c": None, "d": {"a": 1}}, {"a": 1, "b": "a", "c": True, "d": 1},
    {"d": {"a": 1}, "c": None, "b": "a", "a": 1}, {"a": True, "b": "b", "c": None},
    {"a": 1, 0: 1, "b": "a", "c": None, "d": OrderedDict(a=1)}, {"b": "a", "c": None},
    OrderedDict(a=1, b="a", c=True, d={"a": 1}), {"c": None, "a": 2, "b": "a"},
    Plain(a=1, b="a", c=None, d={"a": 1}), Plain(a=1, b="a", c=True, d={"a": 2}),
    Plain(d=[1], c=None, b="a", a=1), Plain(a=2, b="".join(["a"]), c=None),
    with_dict(Plain(a=1, b="a", c=None, d={"a": 1})), Plain(b="a", d={"a": 1}),
    with_dict(Plain(c=True, a=2, b="a")), Named("named", a=1, b="a", c=None, d={}),
    {"a": 1, "b": "b", "c": None, "d": {"a": 1}}, Plain(a=1, b="c", c=None, d={"a": 1}),
    {"a": 1, "b": "a", "c": None, "d": []}, Plain(a="a", b="a", c=None, d={"a": 1}),
    {"a": 1, "b": 1, "c": None, "d": {"a": 1}}, Plain(a=1, b=1, c=None, d={"a": 1}),
    {"a": 1, "b": "a", "c": None, "d": {"a": 1, "b": 1}},
    Plain(a=1, b="a", c=None, d={"a": 1, "b": 1}),
]  # fmt: skip

VALUES = [
    *NAMED, None, True, False, ..., 0, 1, 2, 3, -1, 2**70, 0.0, -0.0, 1.0, float("nan"),
    float("inf"), 1j, complex(-0.0, 1), "", "a", "ab", b"", b"a", bytearray(b"ab"),
    (), (1,), (True,), (1, 2), ((1,), (True,)), [], [0], [1, 2], [[1], [2, 3]], {},
    {"a": 1}, {"a": True}, {1: "a", "b": {"a": 2}}, {True: 0}, {(1, 2): [3]},
    {raising_eq: 1}, {lying_eq: 2}, {raising_eq}, frozenset({lying_eq}), set(), {1},
    {True}, {1, "a"}, frozenset(), frozenset({1}), frozenset({(1, 2)}), range(0),
    range(2),
    # With a factory, it would have another length after each look at it.
    deque([1, 2]), OrderedDict(a=1), defaultdict(None, {"a": [1]}), Missing(b=2),
    RaisingLen([1]), LongerList([1]), KeepsLen([7, 8]), ItemsRaise(KeyError("a")),
    ItemsRaise(IndexError(0)), ItemsRaise(ValueError("a")), ItemsRaise(TypeError("a")),
    user, other, raising_eq, lying_eq, raising_getattr, properties, itself, int, list,
    Named, len, is_big, memoryview(b"ab"), slotted, hides_all, LyingSet({1, "a"}),
    BackwardsKeys([("b", 1), (1, 2)]), RaisingKeys(), ordered, advanced, iter(range(3)),
    iter(range(0)), iter(range(9, 0, -4)), iter(range(2**70)), iter((1, "a")), ended,
    iter(()), MappingProxyType({"a": 1}), MappingProxyType({}), SimpleNamespace(a=1),
    inner, with_defaults, user.method, MethodType(len, "ab"), weakref.ref(user),
    weakref.ref(Named), weakref.ref(set()), weakref.proxy(Named), json, slice(1, 2),
    of_lying_meta, OfLyingMeta,
    type, type(None), 9, -6, 2**62, -(2**63), -(2**70), "a\u00e9 \ud800",
]  # fmt: skip

if numpy is not None:  # noqa: F821 - whoever runs this file has it, or None
    from numpy import (  # noqa: E402
        arange,
        array,
        float32,
        ndarray,
        zeros,
    )

    class OwnArray(ndarray):
        """Lies about its shape where Python asks it, not in what it is."""

    sliced = arange(6, dtype="i8")
    fixed = zeros((2, 3), "f")
    fixed.flags.writeable = False
    VALUES += [
        zeros((2, 3), "f"), zeros((3, 2), "f").T, fixed, sliced, sliced[1:4],
        sliced[::-2], zeros((0, 3)), zeros(()), zeros((2, 3), ">i4"),
        zeros(3, [("a", "i4"), ("b", "f8")]), zeros((2, 3), "f").view(OwnArray),
        float32(1), array(["a", None], dtype=object), zeros((1,) * 20), zeros(2, "?"),
    ]  # fmt: skip
