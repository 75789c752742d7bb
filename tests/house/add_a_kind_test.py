"""Adding one file adds a guard kind: to the binding, the stub and the reference.

    python tests/house/add_a_kind_test.py SOURCE SCRATCH CMAKE COMPILER

Copies the sources to SCRATCH, adds guards/kinds/is_ellipsis.h there, builds the Python
package, and looks for the kind. Takes a build: run by ctest, not by pytest, and skipped
unless GUARDTREE_TEST_LONG is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77  # what ctest takes for "skipped" (tests/CMakeLists.txt)

KIND = """\
// is_ellipsis: identity with Ellipsis.
// SPDX-License-Identifier: MIT
#pragma once
#include "../concepts/kind.h"

namespace guardtree {

struct IsEllipsis {
    static constexpr Info info{
        .name = "is_ellipsis",
        .summary = "The value is Ellipsis.",
        .python = "value is ...",
    };
    static constexpr Example examples[] = {{"", "...", "0"}};

    static constexpr auto operands() { return std::tuple{}; }

    bool check(PyObject* value) const noexcept { return value == Py_Ellipsis; }
};

}  // namespace guardtree
"""

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

# What builds and tools make; none of it is source.
MADE = ("build", "dist", "wheelhouse", "__pycache__", "*.egg-info", ".venv", ".git")


def environment(**more: str) -> dict[str, str]:
    """Ours, without what may be preloaded for a sanitized interpreter."""
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    return {**plain, **more}


def run(*command: str | Path, **more: str) -> None:
    """Runs a command; its output is shown only when it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{command} gave {done.returncode}")


def copied(source: Path, to: Path) -> None:
    """Copies what git would: tracked files, and new ones it does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = None
    if shutil.which("git"):
        listing = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if listing is None or listing.returncode:  # an unpacked archive, or no git
        shutil.copytree(source, to, ignore=shutil.ignore_patterns(*MADE))
        return
    for name in filter(None, listing.stdout.split("\0")):
        if (source / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, to / name)


def expect(path: Path, text: str) -> None:
    """Fails unless the file holds the text."""
    if text not in path.read_text():
        sys.exit(f"{path} lacks {text!r}")


def main() -> None:
    """Copies, adds, builds, looks."""
    if not os.environ.get("GUARDTREE_TEST_LONG"):
        sys.exit(SKIPPED)
    source, scratch = Path(sys.argv[1]), Path(sys.argv[2])
    cmake, compiler, generator, program = sys.argv[3:7]
    shutil.rmtree(scratch, ignore_errors=True)
    tree, build = scratch / "source", scratch / "build"
    copied(source, tree)
    (tree / "guards/kinds/is_ellipsis.h").write_text(KIND)
    run(
        cmake,
        *("-S", tree, "-B", build, "-G", generator, "-DCMAKE_BUILD_TYPE=Debug"),
        f"-DCMAKE_MAKE_PROGRAM={program}",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-DCMAKE_CXX_COMPILER={compiler}",
        *("-DGUARDTREE_BUILD_TESTS=OFF", "-DGUARDTREE_BUILD_BENCH=OFF"),
    )
    run(cmake, "--build", build, "-j2")
    run(sys.executable, "-c", USE, PYTHONPATH=str(build / "python"))
    expect(tree / "bindings/python/guardtree/_guardtree.pyi", "def is_ellipsis(self)")
    expect(tree / "guards/REFERENCE.md", "`is_ellipsis()`")
    expect(tree / "guards/ops/kinds.gen.h", "X(IsEllipsis, is_ellipsis)")
    print("one file added is_ellipsis to the binding, the stub and the reference")


if __name__ == "__main__":
    main()
