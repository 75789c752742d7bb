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
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(over)
    axes.set_ylabel("ns per evaluation")
    fixed = f"{FIXED_GUARDS} guards" if over == "locals" else f"{FIXED_LOCALS} locals"
    axes.set_title(f"{fixed}, over the number of {over}")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()


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
    """ns of a look-up by the number of entries: found, and tried one by one."""
    pattern = re.compile(rf"table/{group}/entries:(\d+)(/one_by_one)?$")
    found: dict[str, dict[int, float]] = {"found": {}, "tried one by one": {}}
    for name in rounds.times:
        if match := pattern.match(name):
            how = "tried one by one" if match[2] else "found"
            found[how][int(match[1])] = rounds.time(name)
    return found


def draw_tables(rounds: Rounds, peer: dict[int, float], title: str, path: Path) -> None:
    """Writes the plot of look-ups over the number of entries. ``peer``: ns by number,
    its hook included; empty without one."""
    series = table_costs(rounds, "int/cyclic")
    if peer:
        series["PyTorch's engine, its hook included"] = peer
    with drawing(path, 1, 1, title) as (_, ((axes,),)):
        for label, costs in series.items():
            xs = sorted(costs)
            axes.plot(xs, [costs[x] for x in xs], marker="o", markersize=4, label=label)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("entries, hit in turn")
        axes.set_ylabel("ns per look-up")
        axes.grid(True, which="major", alpha=0.3)
        axes.legend()
