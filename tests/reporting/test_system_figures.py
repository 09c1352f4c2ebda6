"""Figures of systems show what their tables hold, in the reference's order, by groups."""

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from normastcu.evaluation.verdict import TYPES
from normastcu.reporting import system_figures as figures

KINDS = {"reference": "reference", "A_1": "assessor", "A_2": "assessor", "judge": "judge"}
VALUES = {
    "reference": {"S_1": 0.5, "S_2": 0.9, "S_10": 0.5},
    "A_1": {"S_1": 0.1, "S_2": 0.2, "S_10": 0.3},
    "A_2": {"S_1": 0.4, "S_2": 0.5, "S_10": 0.6},
    "judge": {"S_1": None, "S_2": None, "S_10": None},
    "without_A_1": {"S_1": 0.1, "S_2": 0.1, "S_10": 0.1},
}
RANKS = {
    "reference": {"S_1": 2, "S_2": 1, "S_10": 2},
    "A_1": {"S_1": 3, "S_2": 2, "S_10": 1},
    "A_2": {"S_1": 3, "S_2": 2, "S_10": 1},
    "judge": {"S_1": None, "S_2": None, "S_10": None},
    "without_A_1": {"S_1": 1, "S_2": 1, "S_10": 1},
}


def measures_of(*names):
    rows = [
        (qrels, system, measure, query_set, value, RANKS[qrels][system])
        for measure in names
        for query_set in ("per_qrels", "common")
        for qrels, by_system in VALUES.items()
        for system, value in by_system.items()
    ]
    columns = ["qrels", "system", "measure", "query_set", "value", "rank"]
    table = pd.DataFrame(rows, columns=columns)
    # What is averaged over the common queries must not be drawn.
    table.loc[table["query_set"] == "common", ["value", "rank"]] = 99
    return table.astype({"value": "Float64", "rank": "Int64"})


def correlations_of(rows):
    columns = ["qrels", "measure", "value", "ci90_low", "ci90_high"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.astype(dict.fromkeys(columns[2:], "Float64"))
    shown = table.assign(coefficient="tau_b", query_set="per_qrels", system_set="all")
    others = [
        shown.assign(**{name: value})
        for name, value in (
            ("coefficient", "rho"),
            ("query_set", "common"),
            ("system_set", "one_per_family"),
        )
    ]
    return pd.concat([shown, *others], ignore_index=True)


def verdict_of(**changes):
    row = dict.fromkeys(TYPES) | {
        "judge": "judge",
        "measure": "MRR",
        "tau": 0.8,
        "ci90_low": 0.7,
        "ci90_high": 0.9,
        "ci95_low": 0.6,
        "ci95_high": 0.95,
        "confidence": 0.9,
        "interval": "bca",
        "tau_shrunken": 0.85,
        "shrunken_low": 0.75,
        "shrunken_high": 0.97,
    }
    return pd.DataFrame([row | changes]).astype(TYPES)


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def texts(figure):
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def saved(figure):
    figure.savefig(io.BytesIO(), format="svg")
    return figure


class TestRankMaps:
    def test_columns_in_the_references_order_and_rows_in_that_of_the_kinds(self):
        axes = saved(figures.rank_maps(measures_of("MRR"), KINDS)).axes[0]

        # S_1 and S_10 share the second rank: then they stand as in the table.
        assert labels(axes.xaxis) == ["S_2", "S_1", "S_10"]
        assert labels(axes.yaxis) == list(KINDS)

    def test_cells_hold_the_ranks(self):
        axes = figures.rank_maps(measures_of("MRR"), KINDS).axes[0]
        cells = {text.get_position(): text.get_text() for text in axes.texts}
        rows = [[cells[column, row] for column in range(3)] for row in range(4)]
        assert rows == [["1", "2", "2"], ["2", "3", "1"], ["2", "3", "1"], ["–", "–", "–"]]

    def test_the_best_is_the_lightest(self):
        image = figures.rank_maps(measures_of("MRR"), KINDS).axes[0].images[0].get_array()
        assert image[0].tolist() == [1.0, 0.5, 0.5]
        assert image.mask[3].all()

    def test_a_panel_a_measure_but_none_for_the_share_of_judged_documents(self):
        figure = figures.rank_maps(measures_of("P@10", "Judged@10", "MRR"), KINDS)
        assert [axes.get_title("left") for axes in figure.axes] == ["P@10", "MRR"]

    def test_kinds_are_parted(self):
        lines = figures.rank_maps(measures_of("MRR"), KINDS).axes[0].lines
        assert [line.get_ydata()[0] for line in lines] == [0.5, 2.5]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("draw", [figures.rank_maps, figures.measures_by_system])
def test_long_names_of_systems_have_room(draw):
    table = measures_of("MRR", "P@10").replace(
        {"system": {"S_1": "bm25_reranker+join_bm25_sts_reranker", "S_10": "x" * 60}}
    )

    figure = draw(table, KINDS)
    figure.savefig(io.BytesIO(), format="png")

    assert labels(figure.axes[0].xaxis)[1] == "bm25_rerank…ts_reranker"
    upper, lower = (axes.get_tightbbox() for axes in figure.axes)
    assert upper.y0 >= lower.y1 - 1
    assert all(axes.get_position().height > 0.1 for axes in figure.axes)


def test_names_that_would_look_alike_are_not_cut():
    names = ["a" * 15 + "b" + "c" * 15, "a" * 15 + "d" + "c" * 15]
    table = measures_of("MRR").replace({"system": {"S_1": names[0], "S_10": names[1]}})
    assert labels(figures.rank_maps(table, KINDS).axes[0].xaxis)[1:] == names


class TestMeasuresBySystem:
    def test_every_qrels_has_its_line(self):
        axes = saved(figures.measures_by_system(measures_of("MRR"), KINDS)).axes[0]

        lines = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
        assert list(lines) == list(KINDS)
        assert lines["reference"] == [0.9, 0.5, 0.5]
        assert lines["A_1"] == [0.2, 0.1, 0.3]
        assert np.isnan(lines["judge"]).all()
        assert labels(axes.xaxis) == ["S_2", "S_1", "S_10"]

    def test_lines_are_told_apart_without_colour(self):
        names = {f"j{i}": "judge" for i in range(12)}
        styles = [
            (style["marker"], style["linestyle"]) for style in figures._styles(names).values()
        ]
        assert len(set(styles)) == 12

    def test_one_legend_names_all(self):
        figure = figures.measures_by_system(measures_of("MRR", "P@10"), KINDS)
        assert [text.get_text() for text in figure.legends[0].get_texts()] == list(KINDS)


class TestTauIntervals:
    ROWS = (
        ("A_1", "MRR", 0.9, 0.8, 1.0),
        ("A_2", "MRR", 0.5, None, None),
        ("judge", "MRR", None, None, None),
    )

    def test_points_intervals_and_the_bound(self):
        axes = saved(figures.tau_intervals(correlations_of(self.ROWS), KINDS, 0.9)).axes[0]

        drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
        assert ([0.8, 1.0], [0, 0]) in drawn
        assert ([0.9], [0]) in drawn
        assert ([0.5], [1]) in drawn
        assert ([0.9, 0.9], [0, 1]) in drawn
        # Two points, one interval, the bound, the line between assessors and judges.
        assert len(drawn) == 5
        assert labels(axes.yaxis) == ["A_1", "A_2", "judge"]
        assert "undefined" in texts(axes.figure)

    def test_the_axis_holds_every_interval(self):
        rows = [("A_1", "MRR", 0.1, -0.4, 0.5), ("A_2", "P@10", 0.9, 0.8, 1.0)]
        figure = saved(figures.tau_intervals(correlations_of(rows), KINDS, 0.9))
        for axes in figure.axes:
            low, high = axes.get_xlim()
            assert low < -0.4
            assert high > 1

    def test_it_says_that_the_intervals_promise_too_much(self):
        shown = texts(figures.tau_intervals(correlations_of(self.ROWS), KINDS, 0.9))
        assert any("more rarely" in text for text in shown)

    @pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
    def test_any_number_of_measures(self, n):
        rows = [("A_1", f"P@{i}", 0.9, 0.8, 1.0) for i in range(1, n + 1)]
        figure = saved(figures.tau_intervals(correlations_of(rows), KINDS, 0.9))
        visible = [axes.get_title("left") for axes in figure.axes if axes.get_visible()]
        assert visible == [f"P@{i}" for i in range(1, n + 1)]


class TestVerdictIntervals:
    def test_both_intervals(self):
        axes = saved(figures.verdict_intervals(verdict_of(), 0.9)).axes[0]
        drawn = [list(line.get_xdata()) for line in axes.lines]
        assert drawn == [[0.7, 0.9], [0.8], [0.75, 0.97], [0.85], [0.9, 0.9]]

    def test_the_confidence_is_that_of_the_rule(self):
        axes = figures.verdict_intervals(verdict_of(confidence=0.95), 0.9).axes[0]
        assert list(axes.lines[0].get_xdata()) == [0.6, 0.95]

    @pytest.mark.parametrize(("interval", "word"), [("bca", "BCa"), ("shrunken", "shrunken")])
    def test_it_says_which_one_decides(self, interval, word):
        figure = figures.verdict_intervals(verdict_of(interval=interval), 0.9)
        named = [text.get_text() for text in figure.legends[0].get_texts()]
        (deciding,) = [text for text in named if "decides" in text]
        assert word in deciding

    def test_without_a_shrunken_interval(self):
        nothing = {"tau_shrunken": None, "shrunken_low": None, "shrunken_high": None}
        axes = figures.verdict_intervals(verdict_of(**nothing), 0.9).axes[0]
        assert len(axes.lines) == 3


def test_nothing_to_show_is_said():
    empty = measures_of("MRR")[:0]
    for figure in (
        figures.rank_maps(empty, KINDS),
        figures.measures_by_system(empty, KINDS),
        figures.tau_intervals(correlations_of([]), KINDS, 0.9),
        figures.verdict_intervals(verdict_of()[:0], 0.9),
    ):
        assert any(text.startswith("Nothing to show") for text in texts(saved(figure)))
