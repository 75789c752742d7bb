"""Values that guards fetched are handed to the code: a property runs once."""

from __future__ import annotations

import guardtree as gt


class Config:
    reads = 0

    @property
    def factor(self) -> int:
        self.reads += 1
        return 21


def scale(x: int, config: Config) -> int:
    return x * config.factor


def scaled(x: int, config: Config, factor: int) -> int:
    return x * factor


guards = gt.GuardManager(scale)
guards.local("config").type_match(Config)
factor = guards.local("config").generic_attr("factor").type_match(int)

guarded = gt.guard_function(scale)
guarded.add(guards, scaled, captures={"factor": factor})
config = Config()
print(scale(2, config), "after", config.reads, "read of the property")
guarded.restore()

table = gt.Table(scale)
table.add(guards, "a kernel", captures={"factor": factor})
print(table.lookup_call(2, config))
