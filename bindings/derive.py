"""Writes what is derived from the built module: the stub and guards/REFERENCE.md.

    python bindings/derive.py SOURCE_DIR            writes the files
    python bindings/derive.py --check SOURCE_DIR    exits 1 when they are not up to date

The module's own lists of kinds and steps are the only input, besides stub.pyi.in.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from guardtree import _guardtree
from pasted import pasted_kind, pasted_relation, pasted_step

Entry = dict[str, Any]


# What a type checker calls an operand: inside the class its method `type` hides the
# builtin, a function is a Callable, and a set[int] is no set[object].
ANNOTATIONS = {
    "type": "builtins.type[Any]",
    "FunctionType": "Callable[..., object]",
    "set[object] | frozenset[object]": "Set[object]",
}


def parameters(entry: Entry) -> str:
    """The operands behind `self`, as a signature has them."""
    return "".join(
        f", {name}: {ANNOTATIONS.get(annotation, annotation)}"
        for name, _, annotation in entry["operands"]
    )


def method(entry: Entry, result: str) -> str:
    """One method of GuardManager, as the stub has it."""
    operands = parameters(entry)
    head = f"    def {entry['method']}(self{operands}) -> {result}:"
    text = f"{entry['summary']} In Python: `{entry['python']}`."
    lines = textwrap.wrap(text, 76)
    doc = "\n        ".join(lines)
    return f'{head}\n        """{doc}"""\n'


def relation_method(entry: Entry) -> str:
    """One relation of GuardManager, as the stub has it."""
    operands = parameters(entry)
    values = ", *values: GuardManager"
    if entry["operands"]:
        values += ", **named: GuardManager"
    text = f"{entry['summary']} In Python, for example: `{entry['python']}`."
    doc = "\n        ".join(textwrap.wrap(text, 76))
    head = f"    def {entry['method']}(self{operands}{values}) -> GuardManager:"
    return f'{head}\n        """{doc}"""\n'


def docstring(text: str, indent: str) -> list[str]:
    """The lines of a docstring; a blank line in the text ends a paragraph."""
    lines: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        lines += textwrap.wrap(" ".join(paragraph.split()), 84 - len(indent)) + [""]
    lines = [f"{indent}{line}".rstrip() for line in lines[:-1]]
    mark = 'r"""' if "\\" in text else '"""'
    lines[0] = f"{indent}{mark}{lines[0].strip()}"
    if len(lines) == 1:
        return [f'{lines[0]}"""']
    return [*lines, f'{indent}"""']


def documented(template: str) -> str:
    """The template with the docstrings that the module has, where it has none."""
    lines = template.split("\n")
    found: list[tuple[ast.stmt, str]] = []
    for node in ast.parse(template).body:
        thing = getattr(_guardtree, getattr(node, "name", ""), None)
        found.append((node, getattr(thing, "__doc__", "") or ""))
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            of = getattr(thing, getattr(member, "name", ""), None)
            found.append((member, getattr(of, "__doc__", "") or ""))
    for node, text in reversed(found):
        is_told = isinstance(node, (ast.ClassDef, ast.FunctionDef))
        if not is_told or node.name.startswith("_") or not text:
            continue
        if ast.get_docstring(node) is not None:
            continue
        indent = " " * (node.col_offset + 4)
        first = node.body[0]
        made = docstring(text, indent)
        if isinstance(node, ast.ClassDef):
            lines[node.lineno : node.lineno] = [*made, ""]
        else:
            head = lines[first.lineno - 1].removesuffix(" ...")
            lines[first.lineno - 1 : first.lineno] = [head, *made]
    return "\n".join(lines)


def stub(source: Path) -> str:
    """The text of _guardtree.pyi."""
    template = documented((source / "bindings/stub.pyi.in").read_text())
    methods = [method(step, "GuardManager") for step in _guardtree._steps()]
    methods += [method(kind, "Self") for kind in _guardtree._kinds()]
    methods += [relation_method(each) for each in _guardtree._relations()]
    return template.replace("    # @GUARD_METHODS@\n", "\n".join(methods))


def cell(text: str) -> str:
    """A Markdown table cell of code."""
    return f"`{text}`".replace("|", "\\|") if text else ""


INNER_KINDS = {
    "kinds": "`kinds` are the Python texts of the inner kinds, joined by `or`",
    "kind": "`kind` is the Python text of the inner kind",
}


def python_line(entry: Entry, introduction: str) -> str:
    """What an entry is in Python, and what else a text may say."""
    line = f"{introduction}: `{entry['python']}`."
    inner = [INNER_KINDS[name] for name, *_ in entry["operands"] if name in INNER_KINDS]
    line += "".join(f" Here {each}." for each in inner)
    if entry["calls_python"]:
        line += " User code may run."
    if entry["shorthand"]:
        line += f" Text may say `{entry['shorthand']}`."
    return line


def section(
    entry: Entry,
    columns: list[str],
    pasted: Callable[..., str],
    introduction: str = "In Python",
) -> list[str]:
    """The part of the reference about one kind, step or relation."""
    names = [name for name, *_ in entry["operands"]]
    title = f"### `{entry['method']}({', '.join(names)})`"
    lines = [title, "", entry["summary"], ""]
    lines += [f"- `{name}`: {expects}" for name, expects, _ in entry["operands"]]
    lines += [""] if names else []
    lines += [python_line(entry, introduction), "", f"| {' | '.join(columns)} |"]
    lines += ["|---" * len(columns) + "|"]
    for example in entry["examples"]:
        operands, value = example[:2]
        text = pasted(entry["method"], names, entry["python"], operands, value)
        lines.append(f"| {' | '.join(cell(each) for each in (*example, text))} |")
    return [*lines, ""]


HEAD = """\
# Reference of guard kinds, steps and relations

Derived from guards/kinds, steps and relations by bindings/derive.py; do not edit.

The texts "In Python" and the last cell of each row are Python. Paste them after

    from guardtree.semantics import *

In a text, `value` is the value that is checked or that a step starts from, operands
have their names, and `L`, `G` and `B` are the locals, globals and builtins of a frame.

- The last cell of a kind or a relation is true. With the value that fails in the place
  of the value that passes it is false, or raises (`integers`, `overlapping_memory`).
- The last cell of a step is what the step fetches. With the value of "nothing from" in
  its place it raises. A root reads the locals of "from"; the one global is `FLAG`.

Rows about tensors need NumPy or torch. The tests run each row, with both values, and
compare it with the guard.

## Kinds

A kind checks one value; a guard tree passes when all its checks do.
"""


def reference() -> str:
    """The text of guards/REFERENCE.md."""
    lines = HEAD.split("\n")
    for kind in _guardtree._kinds():
        lines += section(
            kind, ["operands", "passes", "fails", "in Python, true"], pasted_kind
        )
    lines += ["## Steps", "", "A step fetches a value from another; roots start paths."]
    lines += [""]
    columns = ["operands", "from", "fetches", "nothing from", "in Python"]
    for step in _guardtree._steps():
        lines += section(step, columns, pasted_step)
    lines += ["## Relations", "", "A relation checks several values of one tree. "]
    lines[-1] += "Its values are given in order; those of an expression also by name."
    lines += [""]
    columns = ["operands", "passes over", "fails over", "in Python, true"]
    for each in _guardtree._relations():
        lines += section(each, columns, pasted_relation, "In Python, for example")
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Writes or checks; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("source", type=Path)
    options = parser.parse_args()
    source = options.source
    files = {
        source / "bindings/python/guardtree/_guardtree.pyi": stub(source),
        source / "guards/REFERENCE.md": reference(),
    }
    stale = 0
    for path, text in files.items():
        present = path.read_text() if path.exists() else ""
        if present == text:
            continue
        stale += 1
        if not options.check:
            path.write_text(text)
            continue
        diff = difflib.unified_diff(
            present.splitlines(), text.splitlines(), str(path), "derived", lineterm=""
        )
        print("\n".join(list(diff)[:40]))
        print(f"{path.name} is not up to date: run a build and commit what it derives")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
