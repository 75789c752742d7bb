"""How deep a recursion gets, plain and under the hook; also a script for the README.

python tests/framehook/test_recursion_table.py
"""

from __future__ import annotations

import subprocess
import sys

COLUMNS = ("plain", "skipped", "substituted", "called")
LIMITS = (1000, 20_000, 1_000_000)

# One child per cell: prints the number of nested calls that fitted.
CHILD = """
import sys
kind, limit = sys.argv[1], int(sys.argv[2])
deepest = 0

def dive(n):
    global deepest
    deepest = n
    dive(n + 1)

if kind != "plain":
    import guardtree as gt
    from guardtree import _guardtree
    new = dive.__code__.replace(co_name="new")

    def callback(frame, entry, state):
        if frame.f_code is not dive.__code__ or kind == "skipped":
            return None
        return gt.GuardedCode(new, gt.GuardManager(frame.f_code))

    _guardtree._force_called(kind == "called")
    gt.set_eval_frame(callback)

sys.setrecursionlimit(limit)
try:
    dive(1)
except RecursionError:
    print(deepest)
"""


def depth(kind: str, limit: int) -> int:
    """The depth one child reached; a child that crashes raises."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", CHILD, kind, str(limit)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{kind}, limit {limit}: {done.returncode}\n{done.stderr}")
    return int(done.stdout)


def table() -> dict[int, dict[str, int]]:
    return {limit: {kind: depth(kind, limit) for kind in COLUMNS} for limit in LIMITS}


def render(rows: dict[int, dict[str, int]]) -> str:
    version = sys.version.split()[0]
    lines = [f"CPython {version}: calls that fit, by sys.setrecursionlimit"]
    lines.append("limit".rjust(9) + "".join(kind.rjust(13) for kind in COLUMNS))
    for limit, row in rows.items():
        cells = "".join(str(row[kind]).rjust(13) for kind in COLUMNS)
        lines.append(str(limit).rjust(9) + cells)
    return "\n".join(lines)


def test_no_way_of_running_a_frame_crashes_at_any_limit() -> None:
    rows = table()
    print("\n" + render(rows))
    for limit, row in rows.items():
        assert 0.9 * limit < row["plain"] <= limit
        for kind in COLUMNS[1:]:
            assert 300 < row[kind] <= limit, (limit, kind)


if __name__ == "__main__":
    print(render(table()))
