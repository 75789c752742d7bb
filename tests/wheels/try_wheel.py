"""Tries an installed guardtree: what a new user does, with nothing but Python.

    python tests/wheels/try_wheel.py CHECKOUT

cibuildwheel runs this on each wheel. It needs no package beside guardtree; of the
checkout it reads README.md alone, and it imports nothing from there.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path


def main(checkout: Path) -> None:
    start = time.monotonic()
    import guardtree as gt

    home = Path(gt.__file__).parent
    assert checkout.resolve() not in home.resolve().parents, "not an installed package"
    assert (Path(gt.get_include()) / "guardtree.h").is_file()
    text = (checkout / "README.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    for number, block in enumerate(blocks, 1):
        with contextlib.redirect_stdout(io.StringIO()):
            code = compile(block, f"README.md, block {number}", "exec")
            exec(code, {"__name__": "readme"})
    print(f"guardtree {gt.__version__} in {home}: README.md's {len(blocks)} blocks run")
    # `bin` alone: a compiler that the machine may have is not found.
    environment = {**os.environ, "PATH": str(Path(sys.executable).parent)}
    assert not shutil.which("c++", path=environment["PATH"])
    for words in (["features"], ["demo", "--help"], ["view", "--help"], ["demo"]):
        subprocess.run(
            [sys.executable, "-m", "guardtree", *words],
            env=environment,
            stdout=subprocess.DEVNULL if words[-1] == "--help" else None,
            check=True,
        )
    print(f"all of it in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
