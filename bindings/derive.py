"""Writes what is derived from the built module: the stub and guards/REFERENCE.md.

    python bindings/derive.py SOURCE_DIR            writes the files
    python bindings/derive.py --check SOURCE_DIR    exits 1 when they are not up to date

The module's own lists of kinds and steps are the only input, besides stub.pyi.in.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap
from pathlib import Path
from typing import Any

from guardtree import _guardtree

Entry = dict[str, Any]


def method(entry: Entry, result: str) -> str:
    """One method of GuardManager, as the stub has it."""
    operands = "".join(f", {name}: {kind}" for name, _, kind in entry["operands"])
    head = f"    def {entry['method']}(self{operands}) -> {result}:"
    text = f"{entry['summary']} In Python: `{entry['python']}`."
    lines = textwrap.wrap(text, 76)
    doc = "\n        ".join(lines)
    return f'{head}\n        """{doc}"""\n'


def relation_method(entry: Entry) -> str:
    """One relation of GuardManager, as the stub has it."""
    operands = "".join(f", {name}: {kind}" for name, _, kind in entry["operands"])
    values = ", *values: GuardManager"
    if entry["operands"]:
        values += ", **named: GuardManager"
    text = f"{entry['summary']} In Python, for example: `{entry['python']}`."
    doc = "\n        ".join(textwrap.wrap(text, 76))
    head = f"    def {entry['method']}(self{operands}{values}) -> GuardManager:"
    return f'{head}\n        """{doc}"""\n'


def stub(source: Path) -> str:
    """The text of _guardtree.pyi."""
    template = (source / "bindings/stub.pyi.in").read_text()
    methods = [method(step, "GuardManager") for step in _guardtree._steps()]
    methods += [method(kind, "Self") for kind in _guardtree._kinds()]
    methods += [relation_method(each) for each in _guardtree._relations()]
    return template.replace("    # @GUARD_METHODS@\n", "\n".join(methods))


def cell(text: str) -> str:
    """A Markdown table cell of code."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def section(entry: Entry, columns: list[str]) -> list[str]:
    """The part of the reference about one kind or step."""
    names = ", ".join(name for name, _, _ in entry["operands"])
    lines = [f"### `{entry['method']}({names})`", "", entry["summary"], ""]
    for name, expects, _ in entry["operands"]:
        lines.append(f"- `{name}`: {expects}")
    python = f"In Python: `{entry['python']}`."
    if entry["calls_python"]:
        python += " User code may run."
    if entry["shorthand"]:
        python += f" Text may say `{entry['shorthand']}`."
    lines += ["", python, "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for example in entry["examples"]:
        lines.append(f"| {' | '.join(cell(text) for text in example)} |")
    return [*lines, ""]


def reference() -> str:
    """The text of guards/REFERENCE.md."""
    lines = [
        "# Reference of guard kinds, steps and relations",
        "",
        "Derived from guards/kinds, steps and relations by bindings/derive.py; do not "
        "edit.",
        "Every row of a table is executed by the tests, against its own Python text.",
        "",
        "## Kinds",
        "",
        "A kind checks one value; a guard tree passes when all its checks do.",
        "",
    ]
    for kind in _guardtree._kinds():
        lines += section(kind, ["operands", "passes", "fails"])
    lines += ["## Steps", "", "A step fetches a value from another; roots start paths."]
    lines += [""]
    for step in _guardtree._steps():
        lines += section(step, ["operands", "from", "fetches", "nothing from"])
    lines += ["## Relations", "", "A relation checks several values of one tree. "]
    lines[-1] += "Its values are given in order; those of an expression also by name."
    lines += [""]
    for each in _guardtree._relations():
        lines += section(each, ["operands", "passes over", "fails over"])
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
