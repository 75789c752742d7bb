"""A guard tree as the rows that a report shows: steps, their checks, relations."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .._guardtree import Explanation, GuardManager, GuardProfile
from ..descriptions import GuardCheck, GuardRelation

MAX_TEXT = 2000  # characters; a constant in a guard may be of any size

Row = dict[str, Any]
"""`depth`, `what` (step, check or relation), `kind`, `path`, `python`; where known also
`note`, `state` (pass, fail, error or unreached), `expected`, `found`, `error`, and of a
profile `runs`, `failed` and `ns`, which is the mean of one run."""


def cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3]}..."


def note_text(note: Any) -> str:
    """A note as text. What user code raises must not cost the report."""
    if isinstance(note, str):
        return cut(note)
    try:
        return cut(repr(note))
    except MemoryError:
        raise
    except Exception:
        return f"<{type(note).__name__} object, its repr raises>"


class Answers:
    """What a call and a profile say of each guard, by kind and Python text."""

    def __init__(
        self, explanation: Explanation | None, profile: GuardProfile | None
    ) -> None:
        self.is_explained = explanation is not None
        failures = explanation.failures if explanation is not None else []
        self.failures = {(each.kind, each.python): each for each in failures}
        ran = profile.rows() if profile is not None else []
        self.ran = {(each.kind, each.python): each for each in ran if each.executed}

    def add_to(self, row: Row, note: Any, is_reached: bool) -> bool:
        """Adds to a row what is known; whether what is below it was reached."""
        if note is not None:
            row["note"] = note_text(note)
        key = (row["kind"], row["python"])
        row["python"] = cut(row["python"])
        ran = self.ran.get(key)
        if ran is not None:
            row.update(runs=ran.executed, failed=ran.failed + ran.errors)
            row["ns"] = round(ran.ns / ran.executed, 1)
        if not self.is_explained:
            return True
        failure = self.failures.get(key)
        if not is_reached:
            row["state"] = "unreached"
        elif failure is None:
            row["state"] = "pass"
        else:
            row["state"] = "error" if failure.error else "fail"
            row["expected"], row["found"] = cut(failure.expected), failure.found
            if failure.error:
                row["error"] = cut(failure.error)
        return is_reached and failure is None


def new_row(depth: int, what: str, kind: str, path: str, python: str) -> Row:
    return {
        "depth": depth, "what": what, "kind": kind, "path": cut(path), "python": python
    }  # fmt: skip


def rows_of(
    guards: GuardManager,
    explanation: Explanation | None = None,
    profile: GuardProfile | None = None,
) -> list[Row]:
    """The rows of a tree: a step, then its checks, then the steps from it."""
    answers = Answers(explanation, profile)
    checks: dict[tuple[str, str | None], list[GuardCheck]] = defaultdict(list)
    for check in guards.checks():
        checks[check.path, check.node.step].append(check)
    rows: list[Row] = []
    below = [(node, 0, True) for node in reversed(guards.children())]
    while below:
        node, depth, is_reached = below.pop()
        row = new_row(depth, "step", node.step or "", node.path, node.path)
        is_reached = answers.add_to(row, None, is_reached)
        rows.append(row)
        for check in checks.pop((node.path, node.step), ()):
            row = new_row(depth + 1, "check", check.kind, check.path, check.python)
            answers.add_to(row, check.note, is_reached)
            rows.append(row)
        children = reversed(node.children())
        below += [(child, depth + 1, is_reached) for child in children]
    rows += [relation_row(each, answers) for each in guards.relations()]
    return rows


def relation_row(relation: GuardRelation, answers: Answers) -> Row:
    row = new_row(
        0, "relation", relation.kind, ", ".join(relation.paths), relation.python
    )
    answers.add_to(row, relation.note, True)
    return row
