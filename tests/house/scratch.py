"""A scratch copy of the sources, for tests that change sources: copied, built, run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77  # what ctest takes for "skipped" (tests/CMakeLists.txt)

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


class Scratch:
    """A copy of the sources, and a debug build of it.

    Made from the arguments of the program: SOURCE SCRATCH CMAKE COMPILER GENERATOR
    MAKE. Ends the process, as skipped, unless GUARDTREE_TEST_LONG is set.
    """

    def __init__(self) -> None:
        if not os.environ.get("GUARDTREE_TEST_LONG"):
            sys.exit(SKIPPED)
        source, folder = Path(sys.argv[1]), Path(sys.argv[2])
        self._cmake, self._compiler, self._generator, self._program = sys.argv[3:7]
        shutil.rmtree(folder, ignore_errors=True)
        self.tree, self.build = folder / "source", folder / "build"
        copied(source, self.tree)

    def configure(self, *more: str) -> None:
        run(
            self._cmake,
            *("-S", self.tree, "-B", self.build, "-G", self._generator),
            "-DCMAKE_BUILD_TYPE=Debug",
            f"-DCMAKE_MAKE_PROGRAM={self._program}",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DCMAKE_CXX_COMPILER={self._compiler}",
            "-DGUARDTREE_BUILD_BENCH=OFF",
            *more,
        )

    def make(self, *targets: str) -> None:
        """Builds the targets, or all."""
        chosen = ("--target", *targets) if targets else ()
        run(self._cmake, "--build", self.build, "-j2", *chosen)

    def python(
        self, *arguments: str | Path, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs Python with the package of the build; the output is captured."""
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=environment(PYTHONPATH=str(self.build / "python"), **more),
            cwd=self.tree,
            capture_output=True,
            text=True,
        )
