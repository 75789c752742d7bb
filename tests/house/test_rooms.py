"""The rooms of guards/ and dsl/: what each may include, and how many files it holds."""

from __future__ import annotations

import posixpath
import re

import test_house
from test_house import code, demand_none, files, matches

# From the ground up; those in one row do not know each other.
FLOORS = [
    ["guards/text"],
    ["guards/objects"],
    ["guards/operands"],
    ["guards/tensors"],
    ["guards/integers"],
    ["guards/concepts"],
    ["guards/kinds", "guards/steps", "guards/relations"],
    ["guards/ops"],
    ["guards/tree"],
    ["guards/program"],
    ["guards/assumptions"],
    ["guards/compile"],
    ["guards/run"],
    ["guards/lookup"],
    ["dsl/names"],
    ["dsl/text", "dsl/json", "dsl/cpp"],
]
FLOOR_OF = {room: i for i, floor in enumerate(FLOORS) for room in floor}
HOUSES = ("guards/", "dsl/")


def test_every_room_has_a_floor() -> None:
    """Each folder of guards/ and dsl/ has a place in FLOORS; C++ lies in those only."""
    rooms = {posixpath.dirname(path) for path in files(".h", ".cpp", inside=HOUSES)}
    demand_none(sorted(rooms ^ set(FLOOR_OF)), test_every_room_has_a_floor)


def test_includes_go_down() -> None:
    """A room includes its own files and those of floors below."""
    offenders = []
    for path in files(".h", ".cpp", inside=HOUSES):
        room = posixpath.dirname(path)
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', code(path), re.M):
            target = posixpath.normpath(posixpath.join(room, name))
            there = posixpath.dirname(target)
            if there != room and FLOOR_OF.get(there, -1) >= FLOOR_OF[room]:
                offenders.append(f'{path}: "{name}"')
    demand_none(offenders, test_includes_go_down)


def test_kinds_are_not_named() -> None:
    """What simplify, the order and the blocks know of kinds, steps and relations is
    what their hooks say."""
    names_one = r"\bcode_of<|\bas<[A-Z]\w+>|\bsame_as<\w+, [A-Z]"
    paths = ["tree/simplify.cpp", "tree/order.cpp", "compile/block_builder.cpp"]
    paths.append("compile/relation_joiner.cpp")
    found = matches(names_one, [f"guards/{path}" for path in paths], code)
    demand_none(found, test_kinds_are_not_named)


def test_checks_write_to_no_operand() -> None:
    """A program is immutable: what a check remembers is the place of a hint."""
    rooms = ("kinds", "steps", "relations", "ops")
    paths = files(".h", ".cpp", inside=tuple(f"guards/{room}/" for room in rooms))
    writes = r"\bmutable (?!uint16_t place\b)|\bconst_cast<"
    demand_none(matches(writes, paths, code), test_checks_write_to_no_operand)


MEMBER = re.compile(
    r"^    (?! )(?!return|explicit)(?:[\w:<>,]+[\s*&]+)+(\w+)\(", re.MULTILINE
)
ASKED = re.compile(r"(?:\w\.|\b[RT]::)(\w+)\(")


def test_hooks() -> None:
    """A public function of a kind, a step or a relation is one that concepts/ names:
    nobody asks for another, which may be a misspelt hook."""
    concepts = ("guards/concepts/kind.h", "guards/concepts/hooks.h")
    asked = {name for path in concepts for name in ASKED.findall(code(path))}
    assert {"check", "get", "operands", "add_keys", "bind"} <= asked, asked
    offenders = [
        f"{path}: {name}"
        for path in test_house.entity_files()
        for name in MEMBER.findall(code(path).split("private:")[0])
        if name not in asked
    ]
    demand_none(offenders, test_hooks)


def test_rooms_have_readmes() -> None:
    """Each room of guards/ and dsl/ has a README.md of 20 to 60 lines."""
    lengths = {
        room: len(test_house.text(f"{room}/README.md").splitlines())
        for room in FLOOR_OF
        if f"{room}/README.md" in test_house.FILES
    }
    offenders = [room for room in FLOOR_OF if not 20 <= lengths.get(room, 0) <= 60]
    demand_none(offenders, test_rooms_have_readmes)


def test_rooms_are_small() -> None:
    """Outside tests, a folder holds at most 25 files, but those that are lists of one
    thing to a file."""
    lists = {"guards/kinds", "guards/steps", "bindings/python/guardtree/bytecode"}
    counts: dict[str, int] = {}
    for path in files(*test_house.SOURCES):
        folder = posixpath.dirname(path)
        if not path.startswith("tests/") and folder not in lists:
            counts[folder] = counts.get(folder, 0) + 1
    found = [f"{folder}: {n} files" for folder, n in counts.items() if n > 25]
    demand_none(found, test_rooms_are_small)
