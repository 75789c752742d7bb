"""Every row of guards/REFERENCE.md runs as it is pasted and answers as it says."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from guardtree import semantics

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bindings"))

import pasted  # noqa: E402

REFERENCE = (ROOT / "guards/REFERENCE.md").read_text()
PASTED = {
    "Kinds": pasted.pasted_kind,
    "Steps": pasted.pasted_step,
    "Relations": pasted.pasted_relation,
}

# Steps that fetch from every value, kinds that pass every value: their rows have no
# value to fail with.
NEVER_FAIL = {
    "builtin", "compute", "context_var", "exists", "f_locals", "global_", "module",
    "native_get",
    "type",
}  # fmt: skip

# Words of printed trees, and what the functions raise and return.
NOT_IN_ROWS = {
    "CannotSay", "DoesNotHold", "Int64", "inf", "nan", "nan_of_bits",
}  # fmt: skip

# What a text raises where its guard fails, besides being false.
RELATIONS_RAISE = (semantics.DoesNotHold, ZeroDivisionError, TypeError, IndexError)
STEPS_RAISE = (
    AttributeError, LookupError, NameError, TypeError, ValueError,
)  # fmt: skip


@dataclass
class Row:
    """One row of a table, and what stands above it."""

    group: str
    method: str
    names: list[str]
    python: str
    cells: list[str]

    def __str__(self) -> str:
        return f"{self.method}({self.cells[0]}) {self.cells[1]}"[:60]

    def pasted(self, value: str) -> str:
        """The last cell, with another value in the place of the first one."""
        fill = PASTED[self.group]
        return fill(self.method, self.names, self.python, self.cells[0], value)


def rows_of(text: str) -> list[Row]:
    rows = []
    for group in re.split(r"^## ", text, flags=re.M)[1:]:
        for section in re.split(r"^### ", group, flags=re.M)[1:]:
            method, operands = re.findall(r"^`(\w+)\((.*)\)`$", section, re.M)[0]
            (python,) = re.findall(r"^In Python[\w, ]*: `(.+?)`\.", section, re.M)
            names = operands.split(", ") if operands else []
            for line in re.findall(r"^\| (?!operands)(.*) \|$", section, re.M):
                cells = [cell.strip().strip("`") for cell in line.split(" | ")]
                rows.append(Row(group.split()[0], method, names, python, cells))
    return rows


ROWS = rows_of(REFERENCE)


def pasted_value(text: str) -> Any:
    """The value of a text in a fresh scope, which has the words and nothing else."""
    scope: dict[str, Any] = {}
    exec("from guardtree.semantics import *", scope)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return eval(text, scope)


def needs(*texts: str) -> None:
    for package in ("numpy", "torch"):
        is_used = any(f"{package}." in text for text in texts)
        if is_used and find_spec(package) is None:
            pytest.skip(f"needs {package}")


def test_the_reference_has_rows_of_every_entry() -> None:
    sections = re.findall(r"^### `(\w+)", REFERENCE, re.M)
    assert list(dict.fromkeys(row.method for row in ROWS)) == sections
    widths = {row.group: len(row.cells) for row in ROWS}
    assert widths == {"Kinds": 4, "Steps": 5, "Relations": 4}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_row_runs_as_it_is_pasted(row: Row) -> None:
    needs(*row.cells)
    found = pasted_value(row.cells[-1])
    if row.group == "Steps":
        assert repr(found) == repr(pasted_value(row.cells[2]))
    else:
        assert found is True


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_row_with_the_failing_value_in_its_place_fails(row: Row) -> None:
    failing = row.cells[3 if row.group == "Steps" else 2]
    if not failing:
        assert row.method in NEVER_FAIL
        return
    needs(*row.cells)
    text = row.pasted(failing)
    if row.group == "Kinds":
        assert pasted_value(text) is False
    elif row.group == "Steps":
        with pytest.raises(STEPS_RAISE):
            pasted_value(text)
    else:
        try:
            assert pasted_value(text) is False
        except RELATIONS_RAISE:
            pass


def words_of(text: str) -> set[str]:
    """The names that a text reads, but for those that it binds itself."""
    nodes = list(ast.walk(ast.parse(text)))
    names = [each for each in nodes if isinstance(each, ast.Name)]
    bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    bound |= {each.arg for each in nodes if isinstance(each, ast.arg)}
    return {each.id for each in names} - bound


def test_every_word_is_published_and_every_published_word_is_used() -> None:
    found: set[str] = set()
    for row in ROWS:
        found |= words_of(row.python) - set(row.names) - {"value", "L", "G", "B"}
        found |= words_of(row.cells[-1])
    published = set(semantics.__all__)
    assert found - published - vars(builtins).keys() - {"a", "b"} == set()
    assert published - found == NOT_IN_ROWS


def test_importing_the_words_imports_neither_numpy_nor_torch() -> None:
    code = (
        "import sys; from guardtree.semantics import *\n"
        "print([each for each in ('numpy', 'torch') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
