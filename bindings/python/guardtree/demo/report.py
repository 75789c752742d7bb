"""What the demo found, as one dict: times, counters, a tree, an explained miss."""

from __future__ import annotations

import sys
from statistics import geometric_mean, median
from typing import Any

from .. import __version__, differences, features
from .jit import Entry, Function, Jit
from .measure import JobTimes
from .workload import Corpus

WAYS = ("hooked", "specialised", "guarded")
COUNTERS = ("hits", "misses", "errors", "substituted", "called", "dicts_built")


def make_report(corpus: Corpus, jobs: list[JobTimes], jit: Jit) -> dict[str, Any]:
    """All that the demo tells; `--json` writes this."""
    seen = sorted(jit.functions.values(), key=lambda each: -each.stats["hits"])
    functions = [_function(each) for each in seen]
    return {
        "guardtree": __version__,
        "python": sys.version.split()[0],
        "release_build": features()["optimized"],
        "files": len(corpus.paths),
        "jobs": [_job(each) for each in jobs],
        "speeds": {way: _mean(jobs, way) for way in WAYS},
        "functions": functions,
        "totals": {name: sum(f[name] for f in functions) for name in COUNTERS},
        "compile_ms": jit.seconds * 1e3,
        "left_as_they_are": dict(jit.left.most_common()),
        "tree": _tree(seen),
        "polymorphic": _polymorphic(seen),
    }


def _job(job: JobTimes) -> dict[str, Any]:
    pairs = [pair for way in job.pairs.values() for pair in way]
    return {
        "name": job.job.__name__,
        "what": job.job.__doc__,
        "plain_ms": median(plain for plain, _ in pairs) / 1e6,
        **{way: job.speed(way) for way in WAYS},
    }


def _mean(jobs: list[JobTimes], way: str) -> float | None:
    speeds = [speed for job in jobs if (speed := job.speed(way))]
    return geometric_mean(speeds) if speeds else None


def _function(function: Function) -> dict[str, Any]:
    stats = dict(function.stats)
    # The callback reads f_locals; look-ups are to build no dict.
    stats["dicts_built"] -= function.asked
    entries = [
        {
            "bytes": len(each.made.code.co_code),
            "hits": hits,
            "guards": [str(check) for check in each.tree.checks()],
            "notes": each.made.notes,
        }
        for each, hits in zip(function.entries, function.hits, strict=False)
    ]
    return {
        "name": function.name,
        "bytes": len(function.code.co_code),
        "entries": entries,
        **{name: stats[name] for name in ("lookups", *COUNTERS)},
    }


def _tree(functions: list[Function]) -> dict[str, Any] | None:
    """The most varied guard tree, and why it refuses a call that differs a little."""
    choices = [
        (function, entry, path[0][1])
        for function in functions
        for entry in function.entries
        for path, _ in entry.made.guards
        if path[0][0] == "local" and len(entry.made.guards) < 20
    ]
    if not choices:
        return None
    function, entry, name = max(choices, key=lambda choice: _variety(choice[1]))
    other: Any = None if entry.locals[name] is not None else 1
    return {
        "function": function.name,
        "text": str(entry.tree),
        "changed": f"{name}={other!r}",
        "explanation": str(entry.tree.explain({**entry.locals, name: other})),
        "notes": entry.made.notes,
    }


def _variety(entry: Entry) -> int:
    return len({(path[0][0], kind) for path, (kind, _) in entry.made.guards})


def _polymorphic(functions: list[Function]) -> dict[str, Any] | None:
    """The function with the busiest second entry; why the first refuses its call."""
    choices = [
        each
        for each in functions
        if len(each.entries) > 1
        and not each.entries[0].tree.explain(each.entries[1].locals)
    ]
    if not choices:
        return None
    function = max(choices, key=lambda each: sorted(each.hits)[-2])
    first, second = function.entries[:2]
    return {
        "function": function.name,
        "hits": function.hits,
        "differences": differences(function.code),
        "explanation": str(first.tree.explain(second.locals)),
    }
