"""Dynamo's own trees: they are recorded whole, and both engines agree on them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import guardtree as gt
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import guardtree.torch as gtt  # noqa: E402

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.append(str(BENCH))

pytestmark = [
    pytest.mark.skipif(
        not gtt.has_plugin(), reason="no plugin: python -m guardtree.torch build"
    ),
    pytest.mark.filterwarnings("ignore"),
]

if gtt.has_plugin():
    from guardtree.torch.dynamo import purity, record, refused, translate
    from real import agree, programs, replay, run
    from real.replay import Tree

# Some of each family that compile in a moment.
FEW = (
    "add_one", "constants", "globals_read", "enumeration", "graph_break",
    "over_a_dict", "list_of_functions",
    "loop_over_items", "keys_that_are_objects", "ordered_dict",
    "list_of_objects", "optional_attribute", "replaced_fields", "slots",
    "linear", "self_attention", "dict_of_branches",
    "encoder_layer",
    "sgd",
    "product", "free_number",
)  # fmt: skip
WITHOUT_FEW = {"Sequential(100)", "Hugging Face"}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The number of threads is guarded."""
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(count)


def trees(name: str) -> list[Tree]:
    found = list(replay.trees({name}))
    assert found
    return found


def recordings(name: str) -> list[record.Recording]:
    (program,) = (each for each in programs.load() if each.name == name)
    return run.trees_of(program)


def test_the_list_has_sixty_programs_of_ten_families() -> None:
    listed = programs.load()
    names = Counter(each.name for each in listed)
    assert not [name for name, count in names.items() if count > 1]
    assert len(listed) >= 60
    assert len({each.family for each in listed} | WITHOUT_FEW) == 10


def test_each_family_is_tested_here() -> None:
    families = {each.family for each in programs.load() if each.name in FEW}
    listed = {each.family for each in programs.load()}
    assert listed - families <= WITHOUT_FEW


@pytest.mark.parametrize("name", FEW)
def test_a_tree_is_recorded_and_translated_whole(name: str) -> None:
    for tree in trees(name):
        counts = tree.recording.counts()
        managers = list(record.managers_of(tree.recording.root.manager))
        leafs = [leaf for each in managers for leaf in record.leafs_of(each)]
        assert counts["managers"] == len(managers)
        assert counts["leafs"] == len(leafs)
        assert not tree.translation.python
        assert not tree.translation.ambient
        ours = tree.translation.guards.counts()
        assert ours.checks + ours.relations > 0


@pytest.mark.parametrize("name", FEW)
def test_both_engines_agree_on_each_change(name: str) -> None:
    for tree in trees(name):
        found = agree.agreement(tree)
        assert not found.differences
        assert found.failed > 10


def test_an_alias_of_an_object_that_is_compared_is_compared_with_it() -> None:
    (tree,) = trees("encoder_layer")
    for literal, ours in ((False, "id_match"), (True, "same_object")):
        said = translate.translate(tree.recording, literal).said
        aliases = {word for theirs, word in said if "alias" in theirs}
        assert aliases == {ours}


class Named:
    """Reads one attribute by a property, and makes up another."""

    plain = 1

    @property
    def computed(self) -> int:
        return 2

    def __getattr__(self, name: str) -> int:
        if name != "made_up":
            raise AttributeError(name)
        return 3


class Watched:
    """Reads all attributes in Python."""

    def __getattribute__(self, name: str) -> object:
        return object.__getattribute__(self, name)


class Member:
    """Has slots."""

    __slots__ = ("count", "name")

    def __init__(self, count: int, name: str) -> None:
        self.count, self.name = count, name


@pytest.mark.parametrize(
    ("value", "name", "runs"),
    [
        (Named(), "plain", False),
        (Named(), "computed", True),
        (Named(), "made_up", True),
        (Watched(), "anything", True),
        (torch.nn.Linear(1, 1), "training", False),
        (torch.nn.Linear(1, 1), "absent", True),
        (torch.ones(1), "grad", False),
        (torch, "absent", True),
    ],
)
def test_code_that_reads_an_attribute_is_told(
    value: object, name: str, runs: bool
) -> None:
    assert purity.runs_python(value, name) == runs


@pytest.mark.parametrize(
    ("value", "name", "is_plain"),
    [
        (test_code_that_reads_an_attribute_is_told.__code__, "co_flags", False),
        (test_code_that_reads_an_attribute_is_told.__code__, "co_consts", True),
        (partial(len), "func", True),
        (slice(1), "stop", True),
        (re.compile("a"), "flags", False),
        (Named(), "computed", False),
        (Member(1, "a"), "count", True),
    ],
)
def test_what_is_read_as_a_plain_attribute_is_one(
    value: object, name: str, is_plain: bool
) -> None:
    assert purity.is_plain(value, name) == is_plain
    guards = gt.GuardManager(purity.is_plain)
    guards.local("value").plain_attr(name).exists()
    assert not is_plain or guards.check({"value": value})


def test_trees_that_run_code_of_the_user_are_told() -> None:
    (tree,) = trees("recurrent_cell")
    assert [text.rpartition(" ")[2] for text in tree.translation.user] == ["VFModule"]
    assert not trees("optional_attribute")[0].translation.user


def test_a_leaf_that_was_not_written_down_is_noticed() -> None:
    (recording,) = recordings("add_one")
    recording.root.leafs.pop()
    with pytest.raises(record.LostError, match="leafs of L"):
        record.compare(recording)


def test_a_node_that_was_not_written_down_is_noticed() -> None:
    (recording,) = recordings("add_one")
    (child,) = recording.root.children
    del recording.nodes[id(child.manager)]
    with pytest.raises(record.LostError, match=r"the manager of L\['a'\]"):
        record.compare(recording)


def test_an_unknown_leaf_is_refused_by_its_name() -> None:
    (recording,) = recordings("add_one")
    (child,) = recording.root.children
    child.leafs.append(("future_match", (1, ["parts"], None)))
    with pytest.raises(refused.RefusedError, match=r"leaf future_match of L\['a'\]"):
        translate.translate(recording)


def test_an_unknown_step_is_refused_by_its_name() -> None:
    (recording,) = recordings("nested_tuple")
    (pair,) = recording.root.children
    pair.children[0].step = "future_getitem"
    with pytest.raises(refused.RefusedError, match="step future_getitem"):
        translate.translate(recording)


def test_recording_leaves_the_methods_as_they_were() -> None:
    engine = record.engine
    before = dict(vars(engine.GuardManager))
    recordings("add_one")
    assert dict(vars(engine.GuardManager)) == before
    root = engine.RootGuardManager()
    root.add_lambda_guard(lambda values: values["x"] == 1, ["parts"], None)
    assert root.check({"x": 1})


@pytest.mark.parametrize("how", ["--real", "--agree"])
def test_the_command_runs(how: str) -> None:
    package = str(Path(gt.__file__).absolute().parent.parent)
    command = [sys.executable, str(BENCH / "compare_torch.py"), how, "--smoke"]
    done = subprocess.run(
        [*command, "--json", "--programs", "add_one,linear"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": package},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if how == "--agree":
        assert "0 differences" in done.stdout
        return
    found = json.loads(done.stdout)["trees"]
    assert [each["tree"] for each in found] == ["add_one", "linear"]
    assert all(each["ours"] > 0 and each["peer"] > 0 for each in found)
