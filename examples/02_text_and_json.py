"""The same guards as Python text and as JSON, and what is superfluous in them."""

from __future__ import annotations

import guardtree as gt


def step(x: int, items: list[float], flag: bool) -> None: ...


guards = gt.parse(
    "type(x) is int and x == 3 and 0 <= x <= 9 and len(items) == 2 and flag is True",
    step,
)
simple = guards.simplified()
for removed in simple.removed:
    print("not needed:", removed)

text, names = simple.guards.to_text()
print("text:", text)

saved = simple.guards.to_json()
again = gt.from_json(saved, step)
print("the same tree:", again.digest() == simple.guards.digest())
print("passes:", again.check({"x": 3, "items": [0.5, 1.5], "flag": True}))

try:
    gt.parse("x / 2 == 1", step)
except gt.GuardSyntaxError as error:
    print(error)
