"""Figures show what their tables hold."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from normastcu.reporting import figures

KAPPAS = pd.DataFrame(
    {
        "annotator_a": ["A_1", "A_1", "A_2"],
        "annotator_b": ["A_2", "judge", "judge"],
        "kappa_quadratic": pd.array([0.731, None, 0.25], dtype="Float64"),
        "n": [20, 0, 7],
    }
)


def texts(figure):
    """Return every text of a figure."""
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def test_a_matrix_names_every_pair_and_says_undefined():
    figure = figures.kappa_matrix(KAPPAS)
    shown = texts(figure)
    assert {"0.73", "n 20", "0.25", "n 7", "undefined", "n 0"} <= set(shown)
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert labels == ["A_1", "A_2"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["A_2", "judge"]


def test_the_text_of_a_cell_reads_on_every_colour():
    """Contrast of at least 4.5 to 1 by the definition of WCAG 2, over the whole map."""

    def luminance(colour):
        channels = np.array(mpl.colors.to_rgb(colour))
        linear = np.where(
            channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return linear @ [0.2126, 0.7152, 0.0722]

    for value in np.linspace(0, 1, 101):
        background = figures.MATRIX_COLOURS(value)
        light, dark = sorted([luminance(background), luminance(figures.ink_on(background))])[::-1]
        assert (light + 0.05) / (dark + 0.05) >= 4.5, value


def test_shares_are_stacked_to_the_whole():
    counts = pd.DataFrame(
        {
            "annotator": ["A", "A", "B", "B"],
            "grade": [0, 1, 0, 1],
            "n": [3, 1, 0, 0],
            "share": pd.array([0.75, 0.25, None, None], dtype="Float64"),
        }
    )
    figure = figures.grade_shares(counts, {0: "no", 1: "yes"})
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert widths == [0.75, 0.0, 0.25, 0.0]
    assert {"0 no", "1 yes", "3", "1"} <= set(texts(figure))


def test_strong_disagreements_stand_in_the_pairs_of_their_query():
    table = pd.DataFrame({"query_id": ["7", "1"], "n": [20, 19], "n_strong": [9, 0]})
    bars = [bar.get_height() for bar in figures.strong_disagreements(table).axes[0].patches]
    assert bars == [20, 19, 9, 0]


@pytest.mark.parametrize("low", [0.2, None])
def test_intervals_are_drawn_where_there_are_some(low):
    table = KAPPAS[:1].assign(
        **{name: pd.array([low], dtype="Float64") for name in ("ci90_low", "ci95_low")},
        **{name: pd.array([0.9], dtype="Float64") for name in ("ci90_high", "ci95_high")},
    )
    figure = figures.kappa_intervals(table, {"A_2": "assessor"})
    assert len(figure.axes[0].lines) == (1 if low is None else 3)
