"""The random tests find each defect in the rows of blocks.

    python tests/house/wrong_rows_test.py SOURCE SCRATCH CMAKE COMPILER GENERATOR MAKE

Copies the sources to SCRATCH and builds the C++ tests of guards/ there. Then it makes
one defect after the other, builds again, and runs the random trees, which have to find
it. Takes many builds: run by ctest, not by pytest, and skipped unless
GUARDTREE_TEST_LONG is set.
"""

from __future__ import annotations

import os
import subprocess
import sys

from scratch import Scratch, environment

BUILDER, ROWS, ROW = (
    "guards/compile/block_builder.cpp",
    "guards/ops/name_block.cpp",
    "guards/ops/name_block.h",
)
ITEMS = "guards/ops/item_block.h"

# What is wrong, where, the text, and what it becomes.
DEFECTS = [
    ("an object is not compared", BUILDER,
     "row.sure = NameRow::identity;", "row.sure = NameRow::existence;"),
    ("another type", BUILDER,
     "row.sure = NameRow::type;\n        row.expected = type->object;",
     "row.sure = NameRow::type;\n        row.expected = as_object(&PyLong_Type);"),
    ("the length is off by one", BUILDER,
     "to = static_cast<int32_t>(length);", "to = static_cast<int32_t>(length) + 1;"),
    ("a type without its length", BUILDER,
     "row.check_count = 2;", "row.check_count = 1;"),
    ("a check is left out", BUILDER, "row.check_count = 1;", "row.check_count = 0;"),
    ("two checks of three", BUILDER,
     "default: return false;", "default: return set_check(kind(0), to);"),
    ("any type", ROW,
     "found == expected || (sure == length && found == as_object(&PyDict_Type));",
     "true;"),
    ("the checks of another name", ROWS,
     "for (; row != unsure; ++row) covered += 1 + row->check_count;",
     "for (; row != unsure; ++row) covered += 1;"),
    ("names after the first unsure one", ROWS,
     "unsure = first_unsure(row + 1, end, names);", "unsure = end;"),
    ("only the first check", ROWS,
     "for (uint8_t i = 0; i < row.check_count; ++i) {",
     "for (uint8_t i = 0; i < row.check_count && i < 1; ++i) {"),
    ("names of another owner", BUILDER,
     "if (!run.rows.empty() && owner != run.operands.owner) break;", ""),
    ("the types of items are not compared", ITEMS,
     "if (!item.type.is(as_object(Py_TYPE(all[item.index])))) return false;", ""),
]  # fmt: skip

TESTS = "guardtree_guards_tests"
CASES, SEED = "60000", "1"


def main() -> None:
    """Builds, sees the random trees pass, and then fail with each defect."""
    scratch = Scratch()
    scratch.configure("-DGUARDTREE_BUILD_TESTS=ON", "-DGUARDTREE_UNITY=ON")
    package = os.environ.get("PYTHONPATH", "")

    def passes() -> bool:
        scratch.make(TESTS)
        chosen = {"GUARDTREE_TEST_CASES": CASES, "GUARDTREE_TEST_SEED": SEED}
        command = [scratch.build / "tests" / TESTS, "--gtest_filter=RandomTrees.*"]
        done = subprocess.run(
            command, env=environment(PYTHONPATH=package, **chosen), capture_output=True
        )
        return done.returncode == 0

    if not passes():
        sys.exit("the random trees fail without a defect")
    missed = []
    for what, name, right, wrong in DEFECTS:
        path = scratch.tree / name
        text = path.read_text()
        if text.count(right) != 1:
            sys.exit(f"{name} has {text.count(right)} times: {right}")
        path.write_text(text.replace(right, wrong))
        is_missed = passes()
        print(f"{what}: {'missed' if is_missed else 'found'}", flush=True)
        if is_missed:
            missed.append(what)
        path.write_text(text)
    if missed:
        sys.exit(f"the random trees do not find: {', '.join(missed)}")
    print(f"the random trees find {len(DEFECTS)} defects")


if __name__ == "__main__":
    main()
