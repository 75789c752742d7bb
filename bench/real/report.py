"""The recorded trees as tables: each tree, the families, what both engines agree on."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from guardtree.bench.report import Table, number, ratio_text

from .agree import Agreement
from .replay import Replayed

COLUMNS = ["", "family", "nodes", "guards", "us", "peer", "x peer", "literal"]
NOTES = [
    "`us` is guardtree; `literal` is guardtree with the step of the same name, always. "
    "Nothing is subtracted.",
    "Guards are those of the peer's tree: leafs, relations and lambdas.",
]
FEW = 2
SHOWN = 12
"""So many differences are told, and how many more there are."""


def micro(ns: float) -> str:
    """us, with the digits that matter."""
    return f"{ns / 1000:.2f}" if ns < 10_000 else f"{ns / 1000:.1f}"


def row_of(each: Replayed) -> list[str]:
    """A tree's row."""
    return [
        each.tree,
        each.family,
        str(each.nodes),
        str(each.guards),
        micro(each.ours),
        micro(each.peer),
        f"x{ratio_text(each.ratio)}",
        micro(each.literal),
    ]


def tables(found: list[Replayed]) -> list[Table]:
    """All trees, those that ask Python apart, and the median of each family."""
    plain = [each for each in found if not each.python]
    asking = [each for each in found if each.python]
    made = [
        Table("Dynamo's own trees", COLUMNS, [row_of(each) for each in plain], NOTES),
        families(plain),
    ]
    if asking:
        notes = [f"{each.tree}: {told(each.python)}" for each in asking]
        rows = [row_of(each) for each in asking]
        title = "Trees that run Python code for more than that"
        made.insert(1, Table(title, COLUMNS, rows, notes))
    return made


def told(texts: list[str]) -> str:
    """The first few, and how many there are."""
    more = f"; and {len(texts) - FEW} more" if len(texts) > FEW else ""
    return "; ".join(texts[:FEW]) + more


def families(found: list[Replayed]) -> Table:
    """The families: how many times as long as guardtree the peer takes."""
    rows = []
    for family in dict.fromkeys(each.family for each in found):
        ratios = sorted(each.ratio for each in found if each.family == family)
        told = (min(ratios), median(ratios), max(ratios))
        texts = (f"x{ratio_text(each)}" for each in told)
        rows.append([family, number(len(ratios)).removesuffix(".0"), *texts])
    columns = ["family", "trees", "least", "median", "most"]
    return Table("Families, times as long as guardtree", columns, rows)


def agreement_text(found: Iterable[Agreement]) -> str:
    """What was changed, and where the engines differ."""
    known = list(found)
    differences = [text for each in known for text in each.differences]
    unseen = [text for each in known for text in each.unseen]
    changes, failed = (
        sum(getattr(each, name) for each in known) for name in ("changes", "failed")
    )
    skipped = sum(len(each.skipped) for each in known)
    lines = [
        f"{changes} changes of {len(known)} trees, {failed} fail: "
        f"{len(differences)} differences; {skipped} cannot be made",
        f"{len(unseen)} more are below a dict that was empty, where the peer does not "
        "look",
        *differences[:SHOWN],
    ]
    if len(differences) > SHOWN:
        lines.append(f"and {len(differences) - SHOWN} more")
    return "\n".join(lines)
