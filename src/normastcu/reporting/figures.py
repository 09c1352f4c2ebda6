"""Figures of the paper and further ones, drawn from the tables.

Colours are told apart by colour-blind readers and in grey print: a map of even lightness (cividis)
for matrices, lightness steps for grades, shapes besides colours for kinds.
"""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

CELL_INCHES = 0.72
BAR_INCHES = 0.34
MATRIX_COLOURS = mpl.colormaps["cividis"]
DARK = "#1b1b1b"
KIND_COLOURS = {"assessor": "#0072b2", "judge": "#d55e00", "reference": DARK}
KIND_MARKERS = {"assessor": "o", "judge": "s", "reference": "D"}
# Where white and black text contrast alike: (1.05 / (L + 0.05)) = ((L + 0.05) / 0.05).
EQUAL_CONTRAST = 0.179


def kappa_matrix(kappas: pd.DataFrame) -> Figure:
    """Draw pairwise quadratic weighted kappas as a lower triangle (Figures 3 and 5).

    Parameters
    ----------
    kappas
        annotator_a, annotator_b, kappa_quadratic, n (pairs both graded, below the value); the
        annotators in the order of the table. An undefined value is said in its cell.
    """
    names = _in_order(kappas)
    values = np.full((len(names), len(names)), np.nan)
    counts = np.zeros(values.shape, dtype=int)
    for row in kappas.to_dict("records"):
        place = names.index(row["annotator_b"]), names.index(row["annotator_a"])
        counts[place] = row["n"]
        if not pd.isna(row["kappa_quadratic"]):
            values[place] = row["kappa_quadratic"]
    shown = values[1:, :-1]
    width = 2.4 + CELL_INCHES * shown.shape[1]
    figure = Figure(figsize=(width, 1.6 + CELL_INCHES * shown.shape[0]), layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor("white")
    image = axes.imshow(np.ma.masked_invalid(shown), cmap=MATRIX_COLOURS, vmin=0, vmax=1)
    _label_cells(axes, shown, counts[1:, :-1])
    axes.set_xticks(range(len(names) - 1), names[:-1], rotation=40, ha="right")
    axes.set_yticks(range(len(names) - 1), names[1:])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, shrink=0.8, label="quadratic weighted kappa")
    bar.outline.set_visible(False)
    return figure


def grade_shares(counts: pd.DataFrame, grade_names: Mapping[int, str]) -> Figure:
    """Draw the share of each grade by annotator as stacked bars (Figure 4).

    Parameters
    ----------
    counts
        annotator, grade, n, share, as `evaluation.counts.grade_counts` returns them.
    grade_names
        The name of each grade.
    """
    names = list(dict.fromkeys(counts["annotator"]))
    figure = Figure(figsize=(7, 1.5 + BAR_INCHES * len(names)), layout="constrained")
    axes = figure.subplots()
    left = np.zeros(len(names))
    lightness = np.linspace(0.93, 0.12, len(grade_names))
    for grade, name in grade_names.items():
        own = counts[counts["grade"] == grade].set_index("annotator")
        shares = own["share"].reindex(names).astype(float).fillna(0).to_numpy()
        level = lightness[list(grade_names).index(grade)]
        colour = MATRIX_COLOURS(1 - level)
        axes.barh(
            range(len(names)),
            shares,
            left=left,
            color=colour,
            edgecolor="white",
            label=f"{grade} {name}",
        )
        for position, (start, share, n) in enumerate(
            zip(left, shares, own["n"].reindex(names), strict=True)
        ):
            if share > 0.04:
                axes.text(
                    start + share / 2,
                    position,
                    f"{n}",
                    ha="center",
                    va="center",
                    color=ink_on(colour),
                )
        left += shares
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1))
    axes.set_xlabel("share of the annotator's grades (numbers: pairs)")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=len(grade_names), frameon=False)
    return figure


def strong_disagreements(by_query: pd.DataFrame) -> Figure:
    """Draw the pairs of each query, and those with a strong disagreement.

    Parameters
    ----------
    by_query
        query_id, n, n_strong, share, the most disputed query first.
    """
    figure = Figure(figsize=(max(5, 1.5 + 0.22 * len(by_query)), 3), layout="constrained")
    axes = figure.subplots()
    positions = range(len(by_query))
    axes.bar(positions, by_query["n"], color="#d9d9d9", label="judged pairs")
    axes.bar(
        positions, by_query["n_strong"], color=DARK, label="strong disagreement (range 2 or more)"
    )
    axes.set_xticks(positions, by_query["query_id"], rotation=90)
    axes.set_xlabel("query")
    axes.set_ylabel("pairs")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


def kappa_intervals(kappas: pd.DataFrame, kinds: Mapping[str, str]) -> Figure:
    """Draw the kappa of each annotator with the reference, with 90 and 95 % intervals.

    Parameters
    ----------
    kappas
        annotator_b, kappa_quadratic, ci90_low, ci90_high, ci95_low, ci95_high; `annotator_a` is
        the reference.
    kinds
        The kind of each annotator.
    """
    figure = Figure(figsize=(6.5, 1.6 + BAR_INCHES * len(kappas)), layout="constrained")
    axes = figure.subplots()
    labelled: set[str] = set()
    for position, row in enumerate(kappas.to_dict("records")):
        if pd.isna(row["kappa_quadratic"]):
            inside = axes.get_yaxis_transform()
            axes.text(0.01, position, "undefined", transform=inside, va="center", color=DARK)
            continue
        kind = kinds[row["annotator_b"]]
        colour = KIND_COLOURS[kind]
        if not pd.isna(row["ci95_low"]):
            axes.plot([row["ci95_low"], row["ci95_high"]], [position] * 2, color=colour, lw=1)
            axes.plot([row["ci90_low"], row["ci90_high"]], [position] * 2, color=colour, lw=3)
        axes.plot(
            row["kappa_quadratic"],
            position,
            KIND_MARKERS[kind],
            color=colour,
            markeredgecolor="white",
            markersize=8,
            label=kind if kind not in labelled else None,
        )
        labelled.add(kind)
    axes.set_yticks(range(len(kappas)), kappas["annotator_b"])
    axes.invert_yaxis()
    axes.set_xlim(right=1)
    axes.grid(axis="x", color="#e5e5e5")
    axes.set_axisbelow(True)
    axes.set_xlabel(
        "quadratic weighted kappa with the reference\n(90 and 95 % intervals over queries; "
        "the reference contains the assessors' own grades)"
    )
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


def _in_order(kappas: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys([*kappas["annotator_a"], *kappas["annotator_b"]]))


def _label_cells(axes: Axes, values: np.ndarray, counts: np.ndarray) -> None:
    for row, column in np.ndindex(values.shape):
        if column > row:
            continue
        value, n = values[row, column], counts[row, column]
        ink = "black" if np.isnan(value) else ink_on(MATRIX_COLOURS(value))
        text, size = ("undefined", 7) if np.isnan(value) else (f"{value:.2f}", 10)
        axes.text(column, row - 0.04, text, ha="center", va="bottom", fontsize=size, color=ink)
        axes.text(column, row + 0.08, f"n {n}", ha="center", va="top", fontsize=7, color=ink)


def ink_on(background: tuple[float, float, float, float]) -> str:
    """Return black or white, whichever contrasts more by the relative luminance of WCAG 2."""
    channels = np.array(background[:3])
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return "white" if luminance < EQUAL_CONTRAST else "black"
