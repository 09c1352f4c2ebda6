"""The order of a run, and scores that leave every tool no choice."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.collection.errors import CollectionError
from normastcu.collection.run_order import RUN_TYPES, order_run, strict_scores
from normastcu.evaluation.runs import rank_runs

SINGLE = st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=False)
FALLING = st.lists(SINGLE, max_size=30).map(lambda scores: sorted(scores, reverse=True))


def run(rows, columns=("system", "query_id", "doc_id", "score")):
    return pd.DataFrame(rows, columns=list(columns))


@given(FALLING, FALLING)
def test_scores_fall_strictly_in_single_precision_and_as_little_as_can_be(first, second):
    strict = strict_scores(first + second, [0] * len(first) + [3] * len(second))
    single = strict.astype(np.float32)
    assert (single == strict).all()
    for given_scores, made in ((first, single[: len(first)]), (second, single[len(first) :])):
        expected = np.float32(np.inf)
        for score, value in zip(given_scores, made, strict=True):
            below = np.nextafter(expected, np.float32(-np.inf))
            if 0 < abs(below) < np.finfo(np.float32).smallest_normal:
                below = np.float32(0) if below > 0 else -np.finfo(np.float32).smallest_normal
            expected = min(np.float32(score), below)
            assert value == expected


@pytest.mark.parametrize("score", [np.inf, -np.inf, np.nan, 1e39])
def test_a_score_that_single_precision_lacks_is_an_error(score):
    with pytest.raises(CollectionError, match="single precision"):
        strict_scores([score])


def test_the_lowest_number_can_not_be_lowered():
    lowest = float(np.finfo(np.float32).min)
    with pytest.raises(CollectionError, match="Scale the scores"):
        strict_scores([lowest, lowest])


def test_ties_go_by_document_id_descending_whatever_the_order_of_rows():
    rows = [
        ("B", "q2", "10", 1.0),
        ("B", "q1", "9", 0.5),
        ("A", "q1", "lei", 1.0),
        ("A", "q1", "LEI", 1.0),
        ("A", "q1", "é", 1.0),
        ("A", "q1", "x", 1.0 + 1e-12),
        ("A", "q1", "top", 2.0),
    ]
    for order in (rows, rows[2:] + rows[:2]):
        table = order_run(run(order))
        assert table.dtypes.astype(str).to_dict() == RUN_TYPES
        of_a = table[table["system"] == "A"]
        # é is U+00E9: after x, also in the bytes of UTF-8, which trec_eval compares.
        assert of_a["doc_id"].tolist() == ["top", "é", "x", "lei", "LEI"]
        assert of_a["rank"].tolist() == [1, 2, 3, 4, 5]
        assert table["system"].tolist() == sorted(table["system"], reverse=order is rows)


def test_queries_stay_in_the_order_in_which_they_come():
    table = order_run(run([("S", "2", "a", 1.0), ("S", "10", "a", 1.0), ("S", "2", "b", 3.0)]))
    assert table["query_id"].tolist() == ["2", "2", "10"]


def test_without_scores_the_ranks_count():
    columns = ("system", "query_id", "doc_id", "rank")
    table = order_run(run([("S", "q", "a", 4), ("S", "q", "b", 2)], columns))
    assert table["doc_id"].tolist() == ["b", "a"]
    assert table["score"].tolist() == [0.5, 0.25]


def test_an_empty_run_has_its_columns():
    assert order_run(run([])).dtypes.astype(str).to_dict() == RUN_TYPES


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("S", "q", "a", 1.0), ("S", "q", "a", 2.0)], "'a' for query 'q' .* more than once"),
        ([("S", "q", "a", 1.0), ("S", "q", "b", None)], "'b' for query 'q' .* has no score"),
        ([("S", "q", "a", None)], "has no score"),
        ([("S", "q", "a", 1e40)], "has the score 1e\\+40, which single precision can't hold"),
    ],
)
def test_a_run_without_order_is_an_error(rows, message):
    with pytest.raises(CollectionError, match=message):
        order_run(run(rows))


LISTS = st.lists(
    st.tuples(
        st.sampled_from("AB"),
        st.sampled_from(["1", "01"]),
        st.sampled_from(["a", "B", "é", "00", "1e5"]),
        st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, -3.5]),
    ),
    min_size=1,
    unique_by=lambda row: row[:3],
)


@settings(deadline=None)
@given(LISTS, st.randoms())
def test_the_order_is_that_of_the_evaluation_and_does_not_change_again(rows, chance):
    shuffled = chance.sample(rows, len(rows))
    once = order_run(run(shuffled))
    pd.testing.assert_frame_equal(order_run(once), once)
    for table in (run(rows), once):
        ranked = rank_runs(table)
        order = pd.DataFrame(
            {
                "system": ranked.systems[ranked.system],
                "query_id": ranked.queries[ranked.query],
                "doc_id": ranked.documents[ranked.document],
                "rank": ranked.rank,
            }
        )
        expected = once.sort_values(["system", "query_id", "rank"], ignore_index=True)
        assert order.values.tolist() == expected[list(order)].values.tolist()
    assert ranked.n_tied.sum() == 0
