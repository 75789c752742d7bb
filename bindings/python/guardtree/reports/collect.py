"""What a report tells of a function, a table, a guarded function, a Dispatcher or one
tree."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any

from .. import _guardtree
from .._guardtree import Dispatcher, Frame, GuardedFunction, GuardManager, Table
from ..explanations import explain
from ..functions import ATTRIBUTE, HookedFunction
from ..history import History
from .rows import Row, cut, rows_of

FORMAT = "guardtree report 1"

Document = dict[str, Any]
Subject = Mapping[str, Any] | Frame


def shown(value: object) -> None: ...


def value_text(value: object) -> str:
    """The value as explanations show it: short whatever its repr is, and its type."""
    guards = GuardManager(shown)
    guards.local("value").id_match_held(object())
    return guards.explain({"value": value}).failures[0].found


def subject_texts(subject: Subject | None) -> dict[str, str] | None:
    if subject is None:
        return None
    values = subject.f_locals if isinstance(subject, Frame) else subject
    return {cut(str(name)): value_text(values[name]) for name in values}


def tree_entry(
    guards: GuardManager, subject: Subject | None, repeat: int, **data: Any
) -> Document:
    """An entry with its rows, and what they say of the subject."""
    explanation = profile = None
    if subject is not None:
        explanation = guards.explain(subject)
        data["verdict"] = explanation.verdict
        data["invalidated"] = explanation.invalidated
        if repeat:
            profile = guards.profile()
            for _ in range(repeat):
                profile.check(subject)
    rows = rows_of(guards, explanation, profile)
    times = [row["ns"] for row in rows if "ns" in row]
    if times:
        data["ns"] = round(sum(times), 1)
    return {**data, "rows": rows}


def callable_row(entry: _guardtree.CacheEntry) -> Row:
    """The row of an entry whose guard is a callable."""
    return {
        "depth": 0, "what": "check", "kind": "python", "path": "",
        "python": f"{value_text(entry.check_fn)}(locals)",
    }  # fmt: skip


def error_text(error: BaseException | None) -> str:
    return value_text(error) if error is not None else ""


def cache_entry(
    entry: Any, explained: Any, subject: Subject | None, repeat: int
) -> Document:
    """An entry of a code object's cache."""
    data = {"hits": entry.hits, "errors": entry.errors}
    data["last_error"] = error_text(entry.last_error)
    data["runs"] = entry.code.co_qualname
    if isinstance(entry.check_fn, GuardManager):
        return tree_entry(entry.check_fn, subject, repeat, **data)
    row = callable_row(entry)
    if explained is not None:
        failed = explained.explanation.failures
        data["verdict"] = explained.explanation.verdict
        row["state"] = data["verdict"]
        for failure in failed:
            row.update(expected=cut(failure.expected), found=failure.found)
            row.update({"error": cut(failure.error)} if failure.error else {})
    return {**data, "rows": [row]}


def table_entry(entry: Any, subject: Subject | None, repeat: int) -> Document:
    """An entry of a table or of a guarded function."""
    data = {"hits": entry.hits, "errors": entry.errors}
    data["last_error"] = error_text(entry.last_error)
    data["runs"] = value_text(entry.payload)
    return tree_entry(entry.guards, subject, repeat, **data)


def differences_of(found: dict[str, list[str]]) -> list[Document]:
    return [
        {"fact": cut(fact), "demands": [cut(each) for each in demands]}
        for fact, demands in found.items()
    ]


def of_code(code: Any, subject: Subject | None, repeat: int) -> Document:
    """Of a code object's cache, which the frame hook fills."""
    entries: list[tuple[Any, Any]]
    if subject is None:
        entries = [(entry, None) for entry in _guardtree.cache_entries(code)]
    else:  # explain gives the nearest first
        explained = sorted(explain(code, subject).entries, key=lambda each: each.index)
        entries = [(each.entry, each) for each in explained]
    return {
        "name": getattr(code, "__code__", code).co_qualname,
        "stats": _guardtree.code_stats(code),
        "policy": _guardtree.get_policy(code),
        "entries": [
            cache_entry(entry, explained, subject, repeat)
            for entry, explained in entries
        ],
        "differences": differences_of(_guardtree.differences(code)),
        "removed": [list(each) for each in _guardtree.removed_entries(code)],
    }


def of_table(table: Table, subject: Subject | None, repeat: int) -> Document:
    return {
        "name": "Table",
        "stats": {},
        "entries": [table_entry(each, subject, repeat) for each in table.entries()],
        "differences": differences_of(table.differences()),
    }


def of_guarded(
    guarded: GuardedFunction, subject: Subject | None, repeat: int
) -> Document:
    """Of the guarded calls of one function."""
    function = guarded.function
    entries = guarded.entries()
    found: dict[str, list[str]] = {}
    if function is not None:  # a table of the same guards says what they differ in
        table = Table(function)
        for entry in entries:
            table.add(entry.guards, None)
        found = table.differences()
    return {
        "name": getattr(function, "__qualname__", "a function that is gone"),
        "stats": guarded.stats(),
        "entries": [table_entry(each, subject, repeat) for each in entries],
        "differences": differences_of(found),
    }


def of_dispatcher(
    dispatcher: Dispatcher, subject: Subject | None, repeat: int
) -> Document:
    return {
        "name": dispatcher._name,
        "stats": dispatcher.stats(),
        "entries": [
            table_entry(each, subject, repeat) for each in dispatcher.entries()
        ],
        "differences": differences_of(dispatcher.differences()),
    }


def of_guards(guards: GuardManager, subject: Subject | None, repeat: int) -> Document:
    return {
        "name": "Guards",
        "stats": {},
        "entries": [tree_entry(guards, subject, repeat)],
        "differences": [],
    }


def found_of(target: Any, subject: Subject | None, repeat: int) -> Document:
    """What is shown of the target, by its type."""
    if isinstance(target, MethodType):
        target = target.__func__
    if isinstance(target, HookedFunction):  # CPython 3.11: the entries of its code
        if target.function is None:
            raise ValueError("this GuardedFunction's function is gone")
        target = target.function
    elif isinstance(target, FunctionType) and not _guardtree.cache_entries(target):
        guarded = getattr(target, ATTRIBUTE, None)
        target = guarded if isinstance(guarded, GuardedFunction) else target
    if isinstance(target, GuardedFunction):
        return of_guarded(target, subject, repeat)
    if isinstance(target, Dispatcher):
        return of_dispatcher(target, subject, repeat)
    if isinstance(target, GuardManager):
        return of_guards(target, subject, repeat)
    if isinstance(target, Table):
        return of_table(target, subject, repeat)
    if isinstance(target, (FunctionType, CodeType)):
        return of_code(target, subject, repeat)
    raise TypeError(
        "report(target): expected a function, a code object, a Table, what "
        "guard_function gives, a Dispatcher or a GuardManager, found "
        f"{value_text(target)}"
    )


def failed_rows(entry: Document) -> list[Row]:
    return [row for row in entry["rows"] if row.get("state") in ("fail", "error")]


def summary_of(entries: list[Document]) -> Document:
    """The nearest entry, and the most expensive guard: (entry, row) by number."""
    summary: Document = {}
    explained = [(len(failed_rows(each)), i) for i, each in enumerate(entries)]
    if any("verdict" in each for each in entries):
        passing = [i for i, each in enumerate(entries) if each["verdict"] == "pass"]
        summary["nearest"] = passing[0] if passing else min(explained)[1]
    costs = [
        (row["ns"], -i, -j)
        for i, entry in enumerate(entries)
        for j, row in enumerate(entry["rows"])
        if "ns" in row
    ]
    if costs:
        _, i, j = max(costs)
        summary["most_expensive"] = [-i, -j]
    return summary


def document_of(
    target: object,
    subject: Subject | None = None,
    repeat: int = 0,
    history: History | None = None,
) -> Document:
    """A report's plain data."""
    found = {"removed": [], **found_of(target, subject, repeat)}
    events = [each.to_dict() for each in history.events] if history else []
    name = found["name"]
    return {
        "format": FORMAT,
        "version": _guardtree.__version__,
        "python": sys.version.split()[0],
        **found,
        "subject": subject_texts(subject),
        "history": [each for each in events if each["code"] == name],
        "summary": summary_of(found["entries"]),
    }


def document_of_explanation(explanation: Document) -> Document:
    """A report of what CacheExplanation.to_json() wrote: failures alone."""
    entries = []
    for each in sorted(explanation["entries"], key=lambda entry: int(entry["index"])):
        rows = [
            {
                "depth": 0, "what": "check", "state": "error" if f["error"] else "fail",
                **{key: str(f[key]) for key in ("kind", "path", "python", "expected")},
                "found": str(f["found"]), "error": str(f["error"]),
                **({"note": str(f["note"])} if f["note"] is not None else {}),
            }
            for f in each["failures"]
        ]  # fmt: skip
        entries.append({"hits": each["hits"], "verdict": each["verdict"], "rows": rows})
    return {
        "format": FORMAT,
        "version": _guardtree.__version__,
        "python": "",
        "name": str(explanation["name"]),
        "stats": {},
        "entries": entries,
        "differences": differences_of(explanation["differences"]),
        "removed": explanation["removed"],
        "subject": None,
        "history": [],
        "summary": summary_of(entries),
    }


