"""The plot: where raw slots win against dicts, and by how much. Needs matplotlib."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluate import Rounds
from tables_of_cpp import FORMS

NEEDS = "no plot: it needs matplotlib (pip install matplotlib)"
FIXED_GUARDS = 8
FIXED_LOCALS = 16


def available() -> bool:
    """Whether matplotlib can be imported."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def heat_map(figure: Any, axes: Any, rounds: Rounds, form: str) -> None:
    """Locals down, guards across; the colour is the ratio."""
    from matplotlib.colors import LogNorm

    cells = rounds.cells()
    rows = sorted({cell[0] for cell in cells})
    columns = sorted({cell[1] for cell in cells})
    ratios = [[rounds.ratio(form, (r, c)) for c in columns] for r in rows]
    largest = max(max(line) for line in ratios)
    scale = LogNorm(vmin=1, vmax=max(largest, 1.1))
    image = axes.imshow(ratios, norm=scale, cmap="YlGnBu", aspect="auto")
    for y, line in enumerate(ratios):
        for x, ratio in enumerate(line):
            dark = scale(ratio) > 0.55
            text = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
            colour = "white" if dark else "black"
            axes.text(x, y, text, ha="center", va="center", color=colour, fontsize=8)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xlabel("guards")
    axes.set_ylabel("locals")
    axes.set_title(f"{FORMS[form]}: times as long as raw slots")
    bar = figure.colorbar(image, ax=axes)
    bar.set_ticks([tick for tick in (1, 2, 5, 10, 20, 50, 100) if tick <= largest])
    bar.ax.yaxis.set_major_formatter("{x:g}")
    bar.ax.minorticks_off()


def lines(axes: Any, rounds: Rounds, over: str) -> None:
    """The three forms over the number of locals, or of guards."""
    labels = {"raw": "raw slots", **FORMS}
    for form, label in labels.items():
        if over == "locals":
            cells = [cell for cell in rounds.cells() if cell[1] == FIXED_GUARDS]
        else:
            cells = [cell for cell in rounds.cells() if cell[0] == FIXED_LOCALS]
        xs = [cell[0] if over == "locals" else cell[1] for cell in cells]
        ys = [rounds.time(f"evaluate/{form}/locals:{n}/guards:{g}") for n, g in cells]
        axes.plot(xs, ys, marker="o", markersize=4, label=label)
    finish(axes, over, "ns per evaluation")
    fixed = f"{FIXED_GUARDS} guards" if over == "locals" else f"{FIXED_LOCALS} locals"
    axes.set_title(f"{fixed}, over the number of {over}")


def finish(axes: Any, x: str, y: str) -> None:
    """Scales, names, and a legend below the axes, where it covers no curve."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)


@contextmanager
def drawing(path: Path, rows: int, columns: int, title: str) -> Iterator[Any]:
    """A figure with its axes, written as SVG when the block is done."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    with pyplot.rc_context({"svg.fonttype": "none", "svg.hashsalt": "guardtree"}):
        size = (6.5 * columns, 4.5 * rows)
        figure, axes = pyplot.subplots(
            rows, columns, figsize=size, layout="constrained", squeeze=False
        )
        yield figure, axes
        figure.suptitle(title)
        figure.savefig(path, format="svg", metadata={"Date": None})
        pyplot.close(figure)


def draw(rounds: Rounds, title: str, path: Path) -> None:
    """Writes the plot of the sweep."""
    with drawing(path, 2, 2, title) as (figure, axes):
        heat_map(figure, axes[0][0], rounds, "dict")
        heat_map(figure, axes[0][1], rounds, "built_dict")
        lines(axes[1][0], rounds, "locals")
        lines(axes[1][1], rounds, "guards")


def table_costs(rounds: Rounds, group: str) -> dict[str, dict[int, float]]:
    """ns of a look-up in C++ by the number of entries, with and without the hash."""
    pattern = re.compile(rf"table/{group}/entries:(\d+)(/one_by_one)?$")
    by_hash, scan = "guardtree: one hash probe", "guards of all entries in turn"
    found: dict[str, dict[int, float]] = {by_hash: {}, scan: {}}
    for name in rounds.times:
        if match := pattern.match(name):
            how = scan if match[2] else by_hash
            found[how][int(match[1])] = rounds.time(name)
    return found


def draw_tables(
    tables: dict[str, dict[int, float]],
    hooks: dict[str, dict[int, float]],
    title: str,
    path: Path,
) -> None:
    """Writes the plot of look-ups over the number of entries: ns by number, for each
    engine's frame hook (if any was measured) on the left, and in C++ on the right."""
    panels = [
        (hooks, "ns per call in the hook, less a plain call"),
        (tables, "ns per look-up in C++, without a hook"),
    ]
    panels = [each for each in panels if each[0]]
    with drawing(path, 1, len(panels), title) as (_, (row,)):
        for axes, (series, measured) in zip(row, panels, strict=True):
            for label, costs in series.items():
                xs = sorted(costs)
                ys = [costs[x] for x in xs]
                axes.plot(xs, ys, marker="o", markersize=4, label=label)
            finish(axes, "entries, hit in turn", measured)
        least = min(axes.get_ylim()[0] for axes in row)
        most = max(axes.get_ylim()[1] for axes in row)
        for axes in row:
            axes.set_ylim(least, most)
