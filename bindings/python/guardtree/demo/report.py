"""What the demo found, as one dict: counters, times, a tree, an explained miss."""

from __future__ import annotations

import sys
from statistics import median
from typing import Any

from .. import __version__, features
from .compiler import Compiler, Entry, Function
from .measure import FunctionTimes, TaskTimes
from .workload import Corpus

Times = dict[str, FunctionTimes | None]


def make_report(
    corpus: Corpus, tasks: list[TaskTimes], compiler: Compiler, times: Times
) -> dict[str, Any]:
    """All that the demo tells; `--json` writes this."""
    functions = [_function(each, times.get(each.name)) for each in _seen(compiler)]
    functions.sort(key=lambda each: -each["hits"])
    return {
        "guardtree": __version__,
        "python": sys.version.split()[0],
        "release_build": not features()["assertions"],
        "files": len(corpus.paths),
        "root": corpus.root,
        "tasks": [_task(each) for each in tasks],
        "functions": functions,
        "left_as_they_are": dict(compiler.left.most_common()),
        "totals": _totals(tasks, functions),
        "tree": _tree(compiler),
        "polymorphic": _polymorphic(compiler),
    }


def _seen(compiler: Compiler) -> list[Function]:
    return [each for each in compiler.functions.values() if each.entries]


def _task(task: TaskTimes) -> dict[str, Any]:
    return {
        "name": task.task.__name__,
        "what": task.task.__doc__,
        "plain_ms": median(one for one, _ in task.specialized) / 1e6,
        "pass_through_ms": median(two for _, two in task.pass_through) / 1e6,
        "specialized_ms": median(two for _, two in task.specialized) / 1e6,
        # Of pairs that ran one after the other, so that a drifting clock cancels out.
        "pass_through_ratio": median(two / one for one, two in task.pass_through),
        "specialized_ratio": median(two / one for one, two in task.specialized),
        "equal": True,  # a difference ends the demo
    }


def _function(function: Function, times: FunctionTimes | None) -> dict[str, Any]:
    stats, hits = function.stats, function.hits
    entries = [
        {
            "bytes": len(each.made.code.co_code),
            "hits": count,
            "guards": [_guard(need) for need in each.made.needs],
            "folds": list(each.made.folds),
        }
        for each, count in zip(function.entries, hits, strict=False)
    ]
    return {
        "name": function.name,
        "module": function.module,
        "entries": entries,
        "runs_as_it_is": hits[-1] if function.catch_all else 0,
        "lookups": stats["lookups"],
        "hits": stats["hits"],
        "misses": stats["misses"],
        "errors": stats["errors"],
        "substituted": stats["substituted"],
        "called": stats["called"],
        # The callback reads f_locals, once a call; look-ups are to build none.
        "dicts_built": stats["dicts_built"] - function.dicts,
        "dicts_for_callback": function.dicts,
        "bytes_before": len(function.code.co_code),
        "bytes_after": [each["bytes"] for each in entries],
        "bytecode_differs": all(
            each.made.code.co_code != function.code.co_code for each in function.entries
        ),
        "times_ns": None if times is None else dict(vars(times)),
    }


def _guard(need: Any) -> str:
    operands = ", ".join(
        each.__name__ if isinstance(each, type) else repr(each) for each in need.operand
    )
    return f"{need.root} {need.name}: {need.kind}({operands})"


def _totals(tasks: list[TaskTimes], functions: list[dict[str, Any]]) -> dict[str, Any]:
    """Sums, and whole rounds over all tasks against whole plain rounds."""

    def ratio(runs: list[list[tuple[int, int]]]) -> float:
        rounds = zip(*runs, strict=True)
        return median(sum(p[1] for p in r) / sum(p[0] for p in r) for r in rounds)

    measured = [each["times_ns"] for each in functions if each["times_ns"]]
    lookups = sorted(each["lookup"] for each in measured)
    names = ("hits", "misses", "errors", "substituted", "called", "dicts_built")
    return {
        **{name: sum(each[name] for each in functions) for name in names},
        "functions": len(functions),
        "entries": sum(len(each["entries"]) for each in functions),
        "measured": len(measured),
        "faster_than_hook": sum(each["hit"] < each["hooked"] for each in measured),
        "faster_than_plain": sum(each["hit"] < each["plain"] for each in measured),
        "lookup_ns": median(lookups) if lookups else None,
        "lookup_ns_range": [lookups[0], lookups[-1]] if lookups else None,
        "pass_through_ratio": ratio([each.pass_through for each in tasks]),
        "specialized_ratio": ratio([each.specialized for each in tasks]),
    }


def _tree(compiler: Compiler) -> dict[str, Any] | None:
    """The most varied guard tree, and why it refuses a call that differs a little."""
    choices = [
        (each, entry, entry.sample.f_locals)
        for each in _seen(compiler)
        for entry in each.entries
        if entry.sample
    ]
    if not choices:
        return None
    function, entry, seen = max(choices, key=lambda choice: _variety(choice[1]))
    changed = next(need for need in entry.made.needs if need.root == "local")
    other: Any = None if seen[changed.name] is not None else 1
    miss = entry.guards.explain({**seen, changed.name: other})
    return {
        "function": function.name,
        "text": str(entry.guards),
        "changed": f"{changed.name}={other!r}",
        "explanation": str(miss),
        "folds": list(entry.made.folds),
    }


def _variety(entry: Entry) -> int:
    return len({(each.root, each.kind) for each in entry.made.needs})


def _polymorphic(compiler: Compiler) -> dict[str, Any] | None:
    """The function with the busiest second entry; why the first refuses its call."""
    choices = [
        each
        for each in _seen(compiler)
        if len(each.entries) > 1 and each.entries[1].sample
    ]
    if not choices:
        return None
    function = max(choices, key=lambda each: sorted(each.hits)[-2])
    first, second = function.entries[:2]
    call = second.sample.f_locals if second.sample else {}
    return {
        "function": function.name,
        "entries": [
            {"guards": [_guard(need) for need in each.made.needs], "hits": count}
            for each, count in zip(function.entries, function.hits, strict=False)
        ],
        "explanation": str(first.guards.explain(call)),
    }
