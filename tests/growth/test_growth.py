"""Every public operation costs what its input is large: at most six times the
instructions for four times the parts, as Callgrind counts them."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import growth_operations as operations
import guardtree as gt
import pytest

PROGRAM = Path(operations.__file__)
MOST = 6.0

# What costs more, and why it does.
NOT_LINEAR: dict[str, str] = {}

# Public names that are no operation on something of n parts, and why.
NO_PARTS: dict[str, str] = {}


def public_names() -> set[str]:
    """Functions, and the methods and properties of classes."""
    names = set()
    for name in gt.__all__:
        found = getattr(gt, name)
        if not inspect.isclass(found):
            names.add(name)
            continue
        members = {m for m in vars(found) if not m.startswith("_")}
        names |= {f"{name}.{member}" for member in members} or {name}
    return names


def test_every_public_operation_is_measured_or_has_no_parts() -> None:
    measured = {name.split(":")[0].split(",")[0] for name in operations.OPERATIONS}
    listed = measured | set(NO_PARTS)
    assert sorted(public_names() - listed) == []
    assert sorted(set(NO_PARTS) - public_names()) == []
    assert sorted(set(NOT_LINEAR) - set(operations.OPERATIONS)) == []


def counted(folder: Path) -> dict[str, tuple[int, int]]:
    """The instructions of each operation at both sizes."""
    command = ["valgrind", "--tool=callgrind", "--dump-before=getloadavg"]
    command += ["--dump-line=no", f"--callgrind-out-file={folder}/out"]
    environment = dict(os.environ, PYTHONHASHSEED="0", PYTHONMALLOC="malloc")
    done = subprocess.run(
        [*command, sys.executable, str(PROGRAM)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    counts = []
    for part in sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:])):
        found = re.search(r"^summary: (\d+)", part.read_text(), re.MULTILINE)
        assert found, part
        counts.append(int(found[1]))
    between = counts[1::2]
    assert len(between) == 2 * len(operations.OPERATIONS)
    return dict(
        zip(operations.OPERATIONS, zip(between[::2], between[1::2], strict=True), strict=True)
    )


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11) and "GUARDTREE_GROWTH" not in os.environ,
    reason="counted on 3.11 (GUARDTREE_GROWTH=1: here too)",
)
@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="valgrind cannot run sanitizers")
def test_four_times_the_parts_take_six_times_the_instructions_at_most(
    tmp_path: Path,
) -> None:
    grown = {
        name: large / small
        for name, (small, large) in counted(tmp_path).items()
        if large > MOST * small and name not in NOT_LINEAR
    }
    told = [f"{name}: {times:.1f}" for name, times in sorted(grown.items())]
    assert not told, "\n".join(["four times the parts take more than six times:", *told])
