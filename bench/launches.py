"""What a launch of a Triton kernel costs on the host: guardtree.triton, Triton's run.

Needs a release build and Triton 3.9, no GPU:

    PYTHONPATH=<build>/python python bench/launches.py [--json] [--smoke]

Needs a C compiler too. Triton's binder, key, kernel objects and launch metadata are its
own. Below them C code stands in, as on a GPU (tests/launches/native_standin.c): tensors
whose ``data_ptr()`` is a method in C, the driver's answers for device and stream, and a
launcher that does nothing. If torch is installed, its tensors (on the CPU) are measured
too, read by `guardtree.torch`. Both ways are written ``kernel[grid](...)``, and include
that subscript and the calls of all these. What a real launcher does with the arguments
is in neither. What is told is the median over the rounds, which alternate, in ns.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "launches"))

FORMS = {
    "5 arguments": "p[0], p[1], p[2], 1000, {last}",
    "19 arguments, 5 by name": "p[0], p[1], p[2], p[3], p[4], p[5], 16, 32, 48, 64, "
    "80, 96, 112, 1, c1=2, c2=3, c3=4, c4=5, c5={last}",
}


def time_of(loop: Any, calls: int) -> float:
    start = process_time_ns()
    loop(calls)
    return (process_time_ns() - start) / calls


def measure(kernel: Any, pointers: Any, call: str, kernels: int, smoke: bool) -> Any:
    """ns for each way, with so many kernels, of which one is launched."""
    from guardtree import triton as guarded

    def loop_of(last: int) -> Any:
        names: dict[str, Any] = {"kernel": kernel, "p": pointers, "grid": (4,)}
        exec(  # noqa: S102
            "def loop(times):\n"
            "    for _ in range(times):\n"
            f"        kernel[grid]({call.format(last=last)})\n",
            names,
        )
        return names["loop"]

    guarded.install(kernel)
    for last in range(1000, 1000 + kernels):
        loop_of(last)(1)
    loop, times = loop_of(1000 + kernels - 1), {}
    dispatcher, calls = guarded.dispatcher_of(kernel), 10 if smoke else 5000
    if len(dispatcher) != kernels:
        raise RuntimeError(f"{len(dispatcher)} entries, expected {kernels}")
    missed = dispatcher.stats()["misses"]
    own = type(kernel).__mro__[1].__getitem__
    guarded_item = type(kernel).__getitem__
    for _ in range(3 if smoke else 31):
        for name, item in (("guardtree", guarded_item), ("Triton", own)):
            type(kernel).__getitem__ = item
            times.setdefault(name, []).append(time_of(loop, calls))
    if dispatcher.stats()["misses"] != missed:
        raise RuntimeError("calls missed that were to hit")
    type(kernel).__getitem__ = guarded_item
    guarded.uninstall(kernel)
    row = {name: median(each) for name, each in times.items()}
    return {**row, "Triton / guardtree": row["Triton"] / row["guardtree"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    try:
        import guardtree.triton  # noqa: F401
    except ImportError as error:
        print(f"not measured: {error}")
        return 0
    import kernels
    import standin
    import triton.language as tl
    from pytest import MonkeyPatch

    patch = MonkeyPatch()
    if standin.native() is None:
        print("not measured: there is no C compiler")
        return 0
    standin.stand_in_natively(patch)
    tensors = {"": [standin.native().Pointer(64 * i, tl.float32) for i in range(6)]}
    try:
        import guardtree.torch  # its reader of tensors
        import torch

        tensors[", torch"] = [torch.empty(64) for _ in range(6)]
    except ImportError:
        pass
    rows = {}
    for of, pointers in tensors.items():
        for (name, call), make in zip(FORMS.items(), kernels.MEASURED, strict=True):
            for count in (1, 8 if options.smoke else 1024):
                row = measure(make(), pointers, call, count, options.smoke)
                rows[f"{name}{of}, {count} kernels"] = row
    if options.json:
        print(json.dumps(rows))
        return 0
    for name, row in rows.items():
        print(f"{name:40} " + "  ".join(f"{k}: {v:.4g}" for k, v in row.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
