"""Bias of judges in groups of pairs, worked out by hand, then on the real grades."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.evaluation.agreement import mean_grades, wide_grades
from normastcu.evaluation.bootstrap import resample_indices
from normastcu.evaluation.judge_bias import (
    by_document_length,
    by_family,
    by_reference_grade,
    judge_bias,
)
from normastcu.evaluation.runs import rank_runs

SEED = 20260
QUERIES = ["q1", "q2"]
PAIRS = [("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "c")]
MEANS = (2.0, 0.5, 1.5, 0.0)


def wide_of(**annotators):
    index = pd.MultiIndex.from_tuples(PAIRS, names=["query_id", "doc_id"])
    return pd.DataFrame(annotators, index=index, dtype="Int64")


def means_of(values=MEANS):
    return pd.DataFrame(PAIRS, columns=["query_id", "doc_id"]).assign(mean_grade=values)


def bias(wide, groupings, resamples=100):
    indices = resample_indices(len(QUERIES), resamples, SEED)
    judges = list(wide.columns)
    return judge_bias(wide, means_of(), judges, groupings, indices, queries=QUERIES)


def value(table, **wanted):
    for column, name in wanted.items():
        table = table[table[column] == name]
    assert len(table) == 1
    return table.iloc[0]


class TestByHand:
    def test_by_reference_grade(self):
        wide = wide_of(J=[1, 2, 2, 1])

        table = bias(wide, {"reference_grade": by_reference_grade(wide, means_of(), (0, 1, 2))})

        # Half to even: the reference is 2, 0, 2, 0.
        assert table["group"].tolist() == ["0", "1", "2"]
        assert value(table, group="0")["me"] == (2 - 0.5 + 1 - 0) / 2
        assert value(table, group="2")["me"] == (1 - 2 + 2 - 1.5) / 2
        assert value(table, group="0")["n"] == 2
        empty = value(table, group="1")
        assert pd.isna(empty["me"])
        assert empty["undefined"] == "no pair of the group has a grade of the judge"

    def test_pairs_that_the_judge_did_not_grade_do_not_count(self):
        wide = wide_of(J=[None, 2, 2, 1])

        table = bias(wide, {"reference_grade": by_reference_grade(wide, means_of(), (0, 1, 2))})

        assert value(table, group="2")["n"] == 1
        assert value(table, group="2")["me"] == 0.5

    def test_by_family(self):
        wide = wide_of(J=[1, 2, 2, 1])
        runs = pd.DataFrame(
            [
                ("S_1", "q1", "b", 1),
                ("S_1", "q1", "a", 2),
                ("S_2", "q2", "c", 1),
                ("S_3", "q2", "a", 1),
                ("S_3", "q1", "x", 1),
            ],
            columns=["system", "query_id", "doc_id", "rank"],
        )
        families = {"S_1": "bm25", "S_2": "bm25", "S_3": "dense"}

        groups = by_family(wide, rank_runs(runs), families, depth=1)
        table = bias(wide, {"family": groups})

        assert {name: mask.tolist() for name, mask in groups.items()} == {
            "bm25": [False, True, False, True],
            "dense": [False, False, True, False],
        }
        assert value(table, group="bm25")["me"] == (1.5 + 1) / 2
        assert value(table, group="dense")["me"] == 0.5

    def test_a_family_that_retrieves_no_judged_pair_is_undefined(self):
        wide = wide_of(J=[1, 2, 2, 1])
        runs = pd.DataFrame({"system": ["S_1"], "query_id": ["q1"], "doc_id": ["x"], "rank": [1]})

        table = bias(wide, {"family": by_family(wide, rank_runs(runs), {"S_1": "bm25"}, 10)})

        assert table["n"].tolist() == [0]
        assert table["undefined"].notna().all()

    def test_by_length_the_quarters_are_of_documents_not_of_pairs(self):
        wide = wide_of(J=[1, 2, 2, 1])
        lengths = pd.DataFrame({"doc_id": ["a", "b", "c", "z"], "n_characters": [5, 7, 9, 10**6]})

        groups = by_document_length(wide, lengths)

        # Quartiles of 5, 7, 9 are 6, 7, 8; a document on the bound belongs below.
        assert {name: mask.tolist() for name, mask in groups.items()} == {
            "1 (5 to 5)": [True, False, True, False],
            "2 (7 to 7)": [False, True, False, False],
            "4 (9 to 9)": [False, False, False, True],
        }

    def test_documents_without_a_length_are_named(self):
        wide = wide_of(J=[1, 2, 2, 1])
        lengths = pd.DataFrame({"doc_id": ["b"], "n_characters": pd.array([7], dtype="Int64")})

        groups = by_document_length(wide, lengths)
        nothing = by_document_length(wide, lengths[:0])

        assert groups["unknown"].tolist() == [True, False, True, True]
        assert list(nothing) == ["unknown"]

    def test_columns_are_promised(self):
        table = bias(wide_of(J=[1, 2, 2, 1]), {})
        assert list(table.columns) == [
            *["judge", "grouping", "group", "n", "me", "ci90_low", "ci90_high", "ci95_low"],
            *["ci95_high", "ci_method", "n_left_out", "n_queries", "undefined"],
        ]


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=30))
def test_every_pair_is_in_exactly_one_quarter(lengths):
    names = [f"d{i}" for i in range(len(lengths))]
    index = pd.MultiIndex.from_product([["q"], names], names=["query_id", "doc_id"])

    groups = by_document_length(
        pd.DataFrame(index=index), pd.DataFrame({"doc_id": names, "n_characters": lengths})
    )

    assert (np.sum(list(groups.values()), axis=0) == 1).all()


def test_the_groups_by_grade_of_real_judges_make_up_their_bias(everybody, people):
    """The published mean errors are the means of the groups, weighted by their pairs."""
    wide = wide_grades(everybody)
    means = mean_grades(people)
    queries = sorted(set(people["query_id"]))
    judges = ["deepseek-3.2_simple", "gpt-5-mini_simple", "sabiazinho-4_rationale"]

    table = judge_bias(
        wide,
        means,
        judges,
        {"reference_grade": by_reference_grade(wide, means, (0, 1, 2))},
        resample_indices(len(queries), 200, SEED),
        queries=queries,
    )

    assert table.groupby("group")["n"].first().to_dict() == {"0": 513, "1": 145, "2": 154}
    for judge, published in zip(judges, (0.08, 0.47, 0.52), strict=True):
        own = table[table["judge"] == judge]
        assert f"{(own['me'] * own['n']).sum() / own['n'].sum():.2f}" == f"{published:.2f}"
    assert (table["ci95_low"] <= table["ci90_low"]).all()
    assert table["ci_method"].eq("bca").all()


def test_an_unknown_judge_is_an_error():
    with pytest.raises(ValueError, match="J"):
        judge_bias(
            wide_of(K=[1, 2, 2, 1]),
            means_of(),
            ["J"],
            {"all": {"all": np.ones(4, dtype=bool)}},
            resample_indices(2, 10, SEED),
            queries=QUERIES,
        )
