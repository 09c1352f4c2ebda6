"""Figures of systems and their rankings (Figures 6, 7 and 12 to 15), drawn from the tables.

One panel a measure. Rows and lines stand in the order reference, assessors, judges, systems in the
order that the reference gives them under the panel's measure. As wide as a printed page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from normastcu.reporting.figures import (
    DARK,
    KIND_COLOURS,
    KIND_MARKERS,
    MATRIX_COLOURS,
    ink_on,
)
from normastcu.reporting.system_tables import is_judged_share, of_all_systems

PAGE_INCHES = 7.2
ROW_INCHES = 0.21
SMALL = 8
LINE_INCHES = 0.15
LETTER_INCHES = 0.046
LONGEST_STRAIGHT, MOST_STRAIGHT, LONGEST_NAME = 6, 20, 23
PANELS_PER_ROW = 2
PALE = "#e5e5e5"
BOUND_COLOUR = "#7a7a7a"
SHRUNKEN_COLOUR = "#0072b2"
MARKERS = ("o", "s", "^", "v", "P", "X", "<", ">", "p", "h")
LINES = ("-", "--", "-.", ":")
SHADES = {"assessor": mpl.colormaps["Blues"], "judge": mpl.colormaps["Oranges"]}
DARKEST, PALEST = 0.95, 0.5


def rank_maps(measures: pd.DataFrame, kinds: Mapping[str, str]) -> Figure:
    """Draw the rank of every system under every qrels, one map a measure (Figure 6).

    Parameters
    ----------
    measures
        What `systems.average_measures` returns; the `per_qrels` averages are shown.
    kinds
        The kind of each qrels that is shown, in the order of the rows, the reference first.
    """
    panels = list(_panels(measures, kinds, "rank"))
    if not panels:
        return _nothing("no system has been measured")
    of_panel = 0.6 + ROW_INCHES * len(kinds) + _inches_of_names(panels[0].systems)
    figure = Figure(figsize=(PAGE_INCHES, len(panels) * of_panel), layout="constrained")
    for axes, panel in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
        _draw_ranks(axes, panel)
        _part_kinds(axes, kinds, len(panel.systems))
    figure.supxlabel(
        "systems in the reference's order; 1 is the best, equal values share the lowest rank",
        fontsize=SMALL,
    )
    return figure


def measures_by_system(measures: pd.DataFrame, kinds: Mapping[str, str]) -> Figure:
    """Draw each measure by system under each qrels (Figures 12 to 15).

    Parameters
    ----------
    measures, kinds
        As `rank_maps` takes them.
    """
    panels = list(_panels(measures, kinds, "value"))
    if not panels:
        return _nothing("no system has been measured")
    height = 0.9 + (2.15 + _inches_of_names(panels[0].systems)) * len(panels)
    figure = Figure(figsize=(PAGE_INCHES, height), layout="constrained")
    for axes, panel in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
        for name, style in _styles(kinds).items():
            axes.plot(panel.systems, panel.values[panel.rows.index(name)], label=name, **style)
        axes.set_title(panel.measure, fontsize=SMALL + 1, loc="left")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", color=PALE)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=SMALL)
        _name_systems(axes, panel.systems)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=SMALL
    )
    return figure


def tau_intervals(correlations: pd.DataFrame, kinds: Mapping[str, str], bound: float) -> Figure:
    """Draw Kendall's tau-b of each qrels with the reference, with 90 % BCa intervals (Figure 7).

    Parameters
    ----------
    correlations
        What `rank_correlation` returns; of it tau-b of all systems on `per_qrels` queries.
    kinds
        The kind of each qrels, in the order of the rows; the reference is left out.
    bound
        Where the line is drawn.
    """
    shown = of_all_systems(correlations[correlations["coefficient"] == "tau_b"])
    if shown.empty:
        return _nothing("there is nothing to compare")
    names = [name for name, kind in kinds.items() if kind != "reference"]
    figure, grid = _interval_panels(shown, names)
    for axes, (_, rows) in zip(grid, shown.groupby("measure", sort=False), strict=False):
        for row in rows.to_dict("records"):
            at, kind = names.index(row["qrels"]), kinds[row["qrels"]]
            style = {"color": KIND_COLOURS[kind], "marker": KIND_MARKERS[kind]}
            _draw_interval(axes, at, row["value"], row["ci90_low"], row["ci90_high"], style)
        axes.axvline(bound, color=BOUND_COLOUR, lw=1, ls="--", zorder=0)
        _part_kinds(axes, {name: kinds[name] for name in names}, 0)
    _end_at_one(grid, shown["ci90_low"], shown["value"], bound)
    figure.supxlabel(
        "Kendall's tau-b with the reference, 90 % BCa intervals over queries (each qrels on its "
        f"own queries);\ndashed: {bound:g}. These intervals hold the true value more rarely than "
        "they say; mostly they lie too low.",
        fontsize=SMALL,
    )
    return figure


def verdict_intervals(verdict: pd.DataFrame, bound: float) -> Figure:
    """Draw the intervals of each judge's tau-b on the common queries: BCa and shrunken.

    Parameters
    ----------
    verdict
        What `verdict.verdicts` returns.
    bound
        Where the line is drawn.
    """
    if verdict.empty:
        return _nothing("there is no judge")
    names = list(dict.fromkeys(verdict["judge"]))
    figure, grid = _interval_panels(verdict, names)
    bca: dict[str, Any] = {"color": KIND_COLOURS["judge"], "marker": KIND_MARKERS["judge"]}
    shrunken: dict[str, Any] = {"color": SHRUNKEN_COLOUR, "marker": "o"}
    for axes, (_, rows) in zip(grid, verdict.groupby("measure", sort=False), strict=False):
        for row in rows.to_dict("records"):
            at = names.index(row["judge"])
            ends = "ci90" if row["confidence"] == 0.9 else "ci95"
            low, high = row[f"{ends}_low"], row[f"{ends}_high"]
            _draw_interval(axes, at - 0.17, row["tau"], low, high, bca)
            if not pd.isna(row["tau_shrunken"]):
                low, high = row["shrunken_low"], row["shrunken_high"]
                _draw_interval(axes, at + 0.17, row["tau_shrunken"], low, high, shrunken)
        axes.axvline(bound, color=BOUND_COLOUR, lw=1, ls="--", zorder=0)
    _end_at_one(grid, verdict["ci95_low"], verdict["shrunken_low"], verdict["tau"], bound)
    confidence = verdict["confidence"].iloc[0]
    rule = verdict["interval"].iloc[0]
    decides = dict.fromkeys(("bca", "shrunken") if rule == "both" else (rule,), " (decides)")
    figure.supxlabel(
        f"Kendall's tau-b with the reference on the common queries, {100 * confidence:g} % "
        f"intervals; dashed: {bound:g}",
        fontsize=SMALL,
    )
    handles = [
        mpl.lines.Line2D([], [], lw=2, markeredgecolor="white", label=label, **style)
        for label, style in (
            (f"as observed, BCa{decides.get('bca', '')}", bca),
            (f"without the noise of the queries, shrunken{decides.get('shrunken', '')}", shrunken),
        )
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=2, frameon=False, fontsize=SMALL
    )
    return figure


@dataclass(frozen=True, eq=False)
class _Panel:
    """Values of one measure, qrels by systems, NaN where undefined."""

    measure: str
    rows: list[str]
    systems: list[str]
    values: np.ndarray


def _panels(measures: pd.DataFrame, names: Mapping[str, str], column: str) -> Iterator[_Panel]:
    shown = of_all_systems(measures[measures["qrels"].isin(list(names))])
    rows = list(names)
    for measure, own in shown.groupby("measure", sort=False):
        if is_judged_share(str(measure)):
            continue
        first = own[own["qrels"] == rows[0]]
        systems = list(first.sort_values("rank", kind="stable")["system"])
        table = own.pivot(index="qrels", columns="system", values=column)
        values = table.reindex(index=rows, columns=systems).to_numpy(np.float64, na_value=np.nan)
        yield _Panel(str(measure), rows, systems, values)


def _draw_ranks(axes: Axes, panel: _Panel) -> None:
    n = max(2, len(panel.systems))
    goodness = 1 - (panel.values - 1) / (n - 1)
    axes.imshow(np.ma.masked_invalid(goodness), cmap=MATRIX_COLOURS, vmin=0, vmax=1, aspect="auto")
    for (row, column), rank in np.ndenumerate(panel.values):
        known = not np.isnan(rank)
        ink = ink_on(MATRIX_COLOURS(float(goodness[row, column]))) if known else DARK
        text = f"{rank:.0f}" if known else "–"
        axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=SMALL)
    axes.set_title(panel.measure, fontsize=SMALL + 1, loc="left")
    axes.set_yticks(range(len(panel.rows)), panel.rows, fontsize=SMALL)
    _name_systems(axes, panel.systems)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _name_systems(axes: Axes, systems: Sequence[str]) -> None:
    turned: dict[str, Any] = {}
    if _are_turned(systems):
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(range(len(systems)), _shown_names(systems), fontsize=SMALL, **turned)


def _are_turned(systems: Sequence[str]) -> bool:
    return len(systems) > MOST_STRAIGHT or max(map(len, systems)) > LONGEST_STRAIGHT


def _inches_of_names(systems: Sequence[str]) -> float:
    """Return the height that the names of the systems take below a panel."""
    if not _are_turned(systems):
        return LINE_INCHES
    return LINE_INCHES + LETTER_INCHES * max(map(len, _shown_names(systems)))


def _shown_names(systems: Sequence[str]) -> list[str]:
    """Cut long names, unless two of them would look alike."""
    names = [_shortened(name) for name in systems]
    return names if len(set(names)) == len(set(systems)) else list(systems)


def _shortened(name: str) -> str:
    """Cut a long name in its middle: names of one family often differ at the end only."""
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def _part_kinds(axes: Axes, kinds: Mapping[str, str], width: int) -> None:
    """Draw a line between the rows of one kind and the next; white over a map of some width."""
    names = list(kinds)
    style: dict[str, Any] = {"color": "white", "lw": 4} if width else {"color": PALE, "lw": 1}
    for position in range(1, len(names)):
        if kinds[names[position]] != kinds[names[position - 1]]:
            axes.axhline(position - 0.5, **style)


def _styles(kinds: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Give each qrels a colour of its kind, and a marker and a line of its own."""
    styles: dict[str, dict[str, Any]] = {}
    for kind in dict.fromkeys(kinds.values()):
        names = [name for name, own in kinds.items() if own == kind]
        shades = np.linspace(DARKEST, PALEST, len(names))
        for position, (name, shade) in enumerate(zip(names, shades, strict=True)):
            styles[name] = {
                "color": SHADES[kind](shade) if kind in SHADES else DARK,
                "marker": MARKERS[position % len(MARKERS)] if kind in SHADES else "D",
                "linestyle": LINES[position % len(LINES)],
                "markersize": 4,
                "markeredgecolor": "white",
                "markeredgewidth": 0.4,
                "lw": 1.1 if kind in SHADES else 2.2,
                "zorder": 2 if kind in SHADES else 3,
            }
    return styles


def _interval_panels(table: pd.DataFrame, names: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Make a panel for each measure of a table, with a row for each name."""
    measures = list(dict.fromkeys(table["measure"]))
    columns = min(PANELS_PER_ROW, len(measures))
    rows = -(-len(measures) // columns)
    height = 0.9 + rows * (0.6 + 1.15 * ROW_INCHES * len(names))
    figure = Figure(figsize=(PAGE_INCHES, height), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
    for axes, measure in zip(grid, measures, strict=False):
        axes.set_title(measure, fontsize=SMALL + 1, loc="left")
        axes.set_yticks(range(len(names)), names, fontsize=SMALL)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.grid(axis="x", color=PALE)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="x", labelsize=SMALL)
        axes.tick_params(axis="y", length=0)
    for axes in grid[len(measures) :]:
        axes.set_visible(False)
    return figure, grid


def _end_at_one(grid: Sequence[Axes], *least: Any) -> None:
    """Let the axes, which are shared, reach from the lowest of some values to 1."""
    values = pd.concat([pd.Series(part, dtype="Float64") for part in least]).dropna()
    lowest = float(np.floor(values.min() * 10 - 0.5) / 10)
    for axes in grid[:1]:
        axes.set_xlim(max(-1.02, lowest), 1.02)
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))


def _draw_interval(
    axes: Axes, at: float, value: Any, low: Any, high: Any, style: Mapping[str, Any]
) -> None:
    if pd.isna(value):
        inside = axes.get_yaxis_transform()
        axes.text(0.01, at, "undefined", transform=inside, va="center", fontsize=7, color=DARK)
        return
    if not pd.isna(low):
        axes.plot([low, high], [at, at], color=style["color"], lw=2, solid_capstyle="butt")
    axes.plot(value, at, markersize=6, markeredgecolor="white", linestyle="", **style)


def _nothing(why: str) -> Figure:
    """Return a figure that says why it is empty."""
    figure = Figure(figsize=(PAGE_INCHES, 1), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0.5, 0.5, f"Nothing to show: {why}.", ha="center", va="center", color=DARK)
    return figure
