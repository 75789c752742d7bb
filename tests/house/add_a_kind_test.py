"""Adding one file adds a guard kind: to the binding, the stub and the reference.

    python tests/house/add_a_kind_test.py SOURCE SCRATCH CMAKE COMPILER GENERATOR MAKE

Copies the sources to SCRATCH, adds guards/kinds/is_ellipsis.h there as CONTRIBUTING.md
has it, builds the Python package, and looks for the kind. Takes a build: run by ctest,
not by pytest, and skipped unless GUARDTREE_TEST_LONG is set.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from scratch import Scratch

USE = """\
import guardtree as gt

def f(x): ...

guards = gt.GuardManager(f)
guards.local("x").is_ellipsis()
assert guards.check({"x": ...}), "it fails on Ellipsis"
assert not guards.check({"x": 3}), "it passes on 3"
assert "x is ..." in str(guards), str(guards)
assert "is_ellipsis" in str(guards.explain({"x": 3}))
assert guards.to_text()[0] == "x is ..."
for again in (gt.parse("x is ...", f), gt.from_json(guards.to_json(), f)):
    assert again.checks()[0].kind == "is_ellipsis", again
"""


def kind_of_the_manual(tree: Path) -> str:
    """The C++ block of CONTRIBUTING.md."""
    manual = (tree / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"^ *```cpp\n(.*?)^ *```", manual, re.MULTILINE | re.DOTALL)
    if len(blocks) != 1:
        sys.exit(f"CONTRIBUTING.md has {len(blocks)} blocks of C++: which is the kind?")
    return textwrap.dedent(blocks[0])


def expect(path: Path, text: str) -> None:
    """Fails unless the file holds the text."""
    if text not in path.read_text():
        sys.exit(f"{path} lacks {text!r}")


def main() -> None:
    """Copies, adds, builds, looks."""
    scratch = Scratch()
    tree = scratch.tree
    (tree / "guards/kinds/is_ellipsis.h").write_text(kind_of_the_manual(tree))
    scratch.configure("-DGUARDTREE_BUILD_TESTS=OFF")
    scratch.make()
    used = scratch.python("-c", USE)
    if used.returncode:
        sys.exit(used.stdout + used.stderr)
    expect(tree / "bindings/python/guardtree/_guardtree.pyi", "def is_ellipsis(self)")
    expect(tree / "guards/REFERENCE.md", "`is_ellipsis()`")
    expect(tree / "guards/ops/kinds.gen.h", "X(IsEllipsis, is_ellipsis)")
    print("one file added is_ellipsis to the binding, the stub and the reference")


if __name__ == "__main__":
    main()
