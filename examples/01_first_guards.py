"""Guards on the arguments of one function: build them, check a call, explain a miss."""

from __future__ import annotations

import guardtree as gt


def area(shape: tuple[int, int], scale: int = 1) -> int:
    return shape[0] * shape[1] * scale


guards = gt.GuardManager(area)
guards.local("shape").type_match(tuple).length(2)
guards.local("scale").equals(1).note("the compiled code assumes no scaling")
print(guards)

print("passes:", guards.check({"shape": (3, 4), "scale": 1}))
print("passes:", guards.check({"shape": [3, 4], "scale": 2}))
print(guards.explain({"shape": [3, 4], "scale": 2}))
