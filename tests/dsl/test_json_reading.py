"""Guard trees from JSON that comes from anywhere: refused with its place, or read.

That what is written comes back is asked in test_json.py.
"""

from __future__ import annotations

import gc
import itertools
import json
import sys
import types
from typing import Any

import guardtree as gt
import pytest


def step(x: Any, y: Any = 0, z: Any = 0) -> None: ...


class Thing:
    """A class with a name."""


def tree_text(*checks: Any, **changed: Any) -> str:
    """A text of one node; keyword arguments replace members of the node."""
    node = {"parent": -1, "step": "local", "operands": ["x"], "checks": list(checks)}
    return json.dumps({"guardtree": 1, "nodes": [{**node, **changed}], "relations": []})


def check(kind: str, *operands: Any, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "operands": list(operands), **more}


def equals(value: Any) -> str:
    return tree_text(check("equals", value))


def relation_text(**changed: Any) -> str:
    relation = {"relation": "same_object", "operands": [], "values": [0, 0], **changed}
    tree = json.loads(tree_text())
    return json.dumps({**tree, "relations": [relation]})


def nested(tag: str, depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {tag: [value]}
    return value


def deep_kind(depth: int) -> Any:
    kind = check("is_none")
    for _ in range(depth):
        kind = check("not_", kind)
    return kind


def refs(kind: str, *name: str) -> str:
    return tree_text(check(kind, {"ref": list(name)}))


AT = r"^nodes\[0\]"
OPERAND = AT + r"\.checks\[0\]\.operands\[0\]"
HOSTILE = {
    "empty": ("", "^not JSON: Expecting value: line 1"),
    "no JSON": ("{'guardtree': 1}", "^not JSON: "),
    "more than JSON": (tree_text() + "1", "^not JSON: Extra data"),
    "a null byte": ("\0", "^not JSON"),
    "deep lists": ("[" * 10**6, "nest deeper than"),
    "deep objects": ('{"a":' * 10**5, "nest deeper than"),
    "long number": ("1" * 10**6, "more than 400 digits"),
    "a list": ("[]", "^this is no guard tree"),
    "a string": ('"guardtree"', "^this is no guard tree"),
    "no version": ('{"nodes": [], "relations": []}', "^this is no guard tree"),
    "version 2": (
        '{"guardtree": 2, "sets": []}',
        "^version 2 is not read.* version 1$",
    ),
    "version True": ('{"guardtree": true}', "^version True is not read"),
    "version 1.0": ('{"guardtree": 1.0}', "^version 1.0 is not read"),
    "no nodes": ('{"guardtree": 1, "relations": []}', '^the key "nodes" is missing'),
    "other key": ('{"guardtree":1,"nodes":[],"relations":[],"x":1}', "no other keys"),
    "key twice": ('{"guardtree":1,"nodes":[],"nodes":[]}', "'nodes' is twice"),
    "nodes object": ('{"guardtree":1,"nodes":{},"relations":[]}', "^nodes: .*a list"),
    "node list": ('{"guardtree":1,"nodes":[[]],"relations":[]}', AT + ": .*an object"),
    "relations": ('{"guardtree":1,"nodes":[],"relations":0}', "^relations: .*a list"),
    "unknown step": (tree_text(step="locals"), AT + ": there is no step .*'locals'"),
    "kind as step": (tree_text(step="is_none", operands=[]), "there is no step"),
    "step of a list": (tree_text(step=["local"]), "there is no step"),
    "no root step": (tree_text(step="attr"), AT + ": attr needs a value to start from"),
    "parent ahead": (tree_text(parent=0), AT + r"\.parent: .*earlier node, found 0"),
    "parent -2": (tree_text(parent=-2), r"\.parent: "),
    "parent huge": (tree_text(parent=2**70), r"\.parent: "),
    "parent True": (tree_text(parent=True), r"\.parent: .*found True"),
    "parent 0.0": (tree_text(parent=0.0), r"\.parent: "),
    "note on node": (tree_text(note="x"), AT + ": expected no other keys"),
    "two operands": (tree_text(operands=["x", "y"]), "local takes 1 operand"),
    "no operands": (tree_text(operands=None), AT + r"\.operands: expected a list"),
    "name of int": (tree_text(operands=[1]), r"local\(name\): expected a name"),
    "unknown kind": (tree_text(check("is_nothing")), r"checks\[0\]: there is no kind"),
    "step as kind": (tree_text(check("type")), "there is no kind called 'type'"),
    "relation kind": (tree_text(check("same_object")), "there is no kind"),
    "check number": (tree_text(3), r"checks\[0\]: expected an object, found 3"),
    "checks null": (tree_text(checks=None), r"\.checks: expected a list, found None"),
    "note number": (tree_text(check("is_none", note=3)), r"\.note: expected a string"),
    "code": (tree_text(check("python", {"ref": ["os", "abort"]})), "has no form"),
    "state": (refs("type_version", "builtins", "int"), "has no form in JSON"),
    "inner code": (
        tree_text(check("not_", check("python", {"ref": ["builtins", "eval"]}))),
        OPERAND + r"\.operands\[0\]: python has no form",
    ),
    "no module": (refs("id_match", "nowhere", "x"), OPERAND + r"\.ref: no module 'now"),
    "no member": (refs("id_match", "json", "loads.x"), "'json' has no 'loads.x'"),
    "empty name": (refs("id_match", "", ""), "no module '' is imported"),
    "dots": (refs("id_match", "json", "...."), "has no"),
    "odd name": (refs("id_match", "json", "\ud800\0"), "has no"),
    "ref of one": (refs("id_match", "json"), "two strings"),
    "ref of ints": (tree_text(check("id_match", {"ref": [1, 2]})), "two strings"),
    "bare identity": (
        tree_text(check("id_match", 3)),
        OPERAND + ": expected .*found 3",
    ),
    "no type": (refs("type_match", "json", "loads"), "this is no type"),
    "no function": (refs("function_match", "builtins", "len"), "no function written"),
    "null type": (tree_text(check("type_match", None)), "expected {.ref.*None"),
    "ref constant": (equals({"ref": ["json", "loads"]}), "a ref is allowed only where"),
    "plain list": (equals([1]), "lists are written"),
    "plain float": (equals(1.5), "as float.hex"),
    "infinity": (equals(float("inf")), "as float.hex"),
    "large int": (equals(2**53), "because other programs round"),
    "no tag": (equals({}), "expected an object of one of the keys"),
    "two tags": (equals({"list": [], "set": []}), "expected an object of one of"),
    "unknown tag": (equals({"object": []}), "expected an object of one of the keys"),
    "decimal": (equals({"int": "12"}), OPERAND + r"\.int: expected an int in hexadec"),
    "int with _": (equals({"int": "0x1_0"}), r"\.int: "),
    "int number": (equals({"int": 12}), r"\.int: "),
    "int empty": (equals({"int": ""}), r"\.int: "),
    "int sign": (equals({"int": "-"}), r"\.int: "),
    "float text": (equals({"float": "1.5"}), r"\.float: expected a float as"),
    "float blank": (equals({"float": " 0x1.0000000000000p+0"}), r"\.float: "),
    "float nan": (equals({"float": "nan"}), "a NaN as"),
    "float huge": (equals({"float": "0x1p+99999"}), r"\.float: "),
    "bits short": (equals({"float_bits": "7ff8"}), "16 digits"),
    "complex one": (equals({"complex": [{"float": "inf"}]}), "expected two floats"),
    "complex ints": (equals({"complex": [1, 2]}), "expected two floats"),
    "bytes odd": (equals({"bytes": "abc"}), "pairs of digits"),
    "bytes upper": (equals({"bytes": "FF"}), "pairs of digits"),
    "bytes \u0663": (equals({"bytes": "\u0663\u0663"}), "pairs of digits"),
    "str no UTF-8": (equals({"str": "ff"}), "expected the UTF-8 of a str"),
    "ellipsis": (equals({"ellipsis": None}), "expected true"),
    "unhashable": (equals({"set": [{"list": []}]}), "expected what a set can hold"),
    "twice in set": (equals({"set": [1, True]}), "two of the elements are equal"),
    "NaN in set": (equals({"set": [{"float_bits": "7ff8000000000000"}]}), "a NaN"),
    "dict of one": (equals({"dict": [[1]]}), r"\.dict\[0\]: expected a pair"),
    "dict object": (equals({"dict": {"a": 1}}), r"\.dict: expected a list of pairs"),
    "key twice in dict": (equals({"dict": [[1, 2], [True, 3]]}), "equal to an earlier"),
    "range": (tree_text(check("range_iterator", {"range": [0, 1, 0]})), "a range"),
    "range constant": (equals({"range": [0, 1, 1]}), "expected a constant"),
    "deep constant": (equals(nested("list", 101)), "nest at most 100 deep"),
    "deep kinds": (
        tree_text(deep_kind(40)),
        r"^nodes\[0\]\.checks\[0\]: not_\(kind\): .*kinds nest at most 32 deep",
    ),
    "facts list": (tree_text(check("tensor_match", [])), "an object of facts"),
    "unknown fact": (tree_text(check("tensor_match", {"color": 1})), "tensor_match"),
    "fact type": (
        tree_text(check("tensor_match", {"type": {"ref": ["json", "loads"]}})),
        r"operands\[0\]\['type'\]\.ref: this is no type",
    ),
    "no tensor type": (
        tree_text(check("tensor_match", {"type": {"ref": ["builtins", "int"]}})),
        "expected a tensor",
    ),
    "values ahead": (relation_text(values=[0, 1]), r"^relations\[0\]\.values\[1\]: "),
    "values -1": (relation_text(values=[0, -1]), r"values\[1\]: expected the number"),
    "one value": (relation_text(values=[0]), "^relations.0.: .*at least two values"),
    "unknown relation": (relation_text(relation="is_none"), "there is no relation"),
    "expression": (
        relation_text(relation="integers", operands=["a ="], values=[0]),
        r"integers\(expression\)",
    ),
    "long expression": (
        relation_text(relation="integers", operands=["a" + "+a" * 10**6], values=[0]),
        "at most 4096 characters",
    ),
}


@pytest.mark.parametrize(("text", "told"), HOSTILE.values(), ids=map(ascii, HOSTILE))
def test_a_hostile_text_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        gt.from_json(text, step)
    assert len(str(caught.value)) < 1000


def test_no_change_of_a_text_does_more_than_be_refused() -> None:
    guards = gt.GuardManager(step)
    x = guards.local("x")
    x.type_match(int).equals((1, 2.5, b"\xff", {"a": {1, None}}))
    x.attr("a").not_(("any_of", (("id_match", len), ("int_range", -1, 1))))
    guards.integers("a + 1 < b", x, x.attr("a")).note("said")
    text = guards.to_json()
    read = 0
    for i, with_what in itertools.product(range(len(text)), ("", "0", '"', "[", "\\")):
        try:
            gt.from_json(text[:i] + with_what + text[i + 1 :], step).to_json()
            read += 1
        except (ValueError, NameError) as error:
            assert str(error)
    assert 0 < read < len(text)
    for i in range(len(text)):
        with pytest.raises(ValueError, match="not JSON"):
            gt.from_json(text[:i], step)


def test_one_path_stands_once() -> None:
    tree = json.loads(tree_text())
    tree["nodes"] *= 2
    with pytest.raises(ValueError, match=r"nodes\[1\]: this path is that of an earl"):
        gt.from_json(json.dumps(tree), step)


def test_limits() -> None:
    with pytest.raises(ValueError, match="longer than 16777216 bytes"):
        gt.from_json(tree_text() + " " * (16 << 20), step)
    crowd = [check("length", n) for n in range(30000)]
    with pytest.raises(ValueError, match="too many to compare with each other"):
        gt.from_json(tree_text(*crowd), step)
    with pytest.raises(ValueError, match="too many to compare with each other"):
        gt.from_json(equals({"set": list(range(20000))}), step)
    with pytest.raises(ValueError, match="there are more than 1048576"):
        nodes = "[" + "{}," * (1 << 20) + "{}]"
        gt.from_json(f'{{"guardtree":1,"nodes":{nodes},"relations":[]}}', step)
    assert gt.from_json(tree_text(*crowd[:5000]), step).counts().checks == 5000
    assert not gt.from_json(equals(nested("list", 100)), step).check({"x": 1})
    assert gt.from_json(tree_text(deep_kind(30)), step).check({"x": None})


def test_variables_are_those_of_the_scope() -> None:
    with pytest.raises(NameError, match=r"^nodes\[0\]: 'step' has no local 'w'"):
        gt.from_json(tree_text(operands=["w"]), step)
    with pytest.raises(NameError, match=r"^nodes\[0\]: .*no free variable 'x'"):
        gt.from_json(tree_text(step="closure"), step)
    with pytest.raises(TypeError, match="expected a function, a code object"):
        gt.from_json(tree_text(), 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a str"):
        gt.from_json(b"{}", step)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        gt.from_json("\ud800", step)


def test_nothing_is_imported_and_nothing_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called = []

    class Meta(type):
        def __repr__(cls) -> str:
            called.append("repr of a class")
            return "class"

        def __getattr__(cls, name: str) -> Any:
            called.append("getattr of a class")
            return cls

    class Trap(types.ModuleType, metaclass=Meta):
        def __getattr__(self, name: str) -> Any:
            called.append("getattr of a module")
            return Trap

        def __repr__(self) -> str:
            called.append("repr of a module")
            return "trap"

        __call__ = __eq__ = __hash__ = __getattr__  # type: ignore[assignment]

    trap = Trap("trap")
    vars(trap).update(inside=trap, kind=Trap)
    monkeypatch.setitem(sys.modules, "trap", trap)
    called.clear()
    before = set(sys.modules)
    names = [("trap", ""), ("trap", "inside"), ("trap", "kind"), ("trap", "absent")]
    names += [("trap", "kind.absent"), ("antigravity", ""), ("this", "s")]
    kinds = ["id_match", "id_match_held", "type_match", "instance_of", "function_match"]
    for kind, name in itertools.product(kinds, names):
        try:
            gt.from_json(refs(kind, *name), step)
        except ValueError:
            pass
    assert called == []
    assert set(sys.modules) == before


def test_a_step_that_calls_is_read_where_it_is_allowed() -> None:
    guards = gt.GuardManager(step)
    guards.module("sys").module_attr("exit").call().is_none()
    text = guards.to_json()
    with pytest.raises(ValueError, match=r"nodes\[2\]: call calls what it finds"):
        gt.from_json(text, step)
    assert gt.from_json(text, step, allow_calls=True).to_json() == text


def test_a_resolver_is_asked_first() -> None:
    asked = []

    def resolver(module: str, path: str) -> Any:
        asked.append((module, path))
        return {"mine": Thing, "builtins": None}[module]

    text = tree_text(
        check("type_match", {"ref": ["mine", "any.path"]}),
        check("instance_of", {"ref": ["builtins", "object"]}),
    )
    guards = gt.from_json(text, step, resolver=resolver)
    assert asked == [("mine", "any.path"), ("builtins", "object")]
    assert [each.operands for each in guards.checks()] == [
        {"expected": Thing},
        {"expected": object},
    ]
    with pytest.raises(KeyError, match="other"):
        gt.from_json(refs("type_match", "other", ""), step, resolver=resolver)
    with pytest.raises(ValueError, match="this is no type"):
        gt.from_json(refs("type_match", "a", "b"), step, resolver=lambda *_: 3)
    with pytest.raises(TypeError, match="a callable of .module, path."):
        gt.from_json(text, step, resolver=3)  # type: ignore[arg-type]

    def interrupted(module: str, path: str) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gt.from_json(text, step, resolver=interrupted)


def test_reading_leaves_nothing_behind() -> None:
    texts = [text for text, _ in HOSTILE.values() if len(text) < 5000]
    texts.append(tree_text(check("equals", nested("tuple", 9)), check("length", 2)))

    def use() -> None:
        for text in texts:
            try:
                gt.from_json(text, step).to_json()
            except ValueError:
                pass

    def blocks() -> int:
        gc.collect()
        return sys.getallocatedblocks()

    rounds = 60
    growth = 0
    for _ in range(5):  # caches of CPython fill slowly; what leaks grows every time
        before = blocks()
        for _ in range(rounds):
            use()
        growth = blocks() - before
        if growth < rounds:
            return
    pytest.fail(f"{growth} more blocks of memory after {rounds} rounds")
