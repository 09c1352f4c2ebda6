"""The order of runs: ties, single precision, ranks, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from normastcu.evaluation.runs import rank_runs


def run_of(rows, system="S"):
    """Make a run from (query, document, score)."""
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    types = {"query_id": "str", "doc_id": "str", "score": "float64"}
    return frame.assign(system=system).astype(types)


def order_of(ranked, query_id="q"):
    """Return the documents of a query in their order."""
    own = ranked.queries[ranked.query] == query_id
    return ranked.documents[ranked.document[own]].tolist()


class TestOrder:
    def test_ties_go_by_document_descending_and_are_counted(self):
        ranked = rank_runs(run_of([("q", "a", 1), ("q", "c", 1), ("q", "b", 1), ("q", "z", 0)]))

        assert order_of(ranked) == ["c", "b", "a", "z"]
        assert ranked.n_tied.tolist() == [3]

    def test_scores_are_compared_in_single_precision(self):
        close = run_of([("q", "a", 0.3 + 1e-12), ("q", "b", 0.3)])

        assert order_of(rank_runs(close)) == ["b", "a"]

    def test_documents_are_compared_as_bytes(self):
        ids = ["Z", "a", "É", "10", "9"]

        ranked = rank_runs(run_of([("q", doc_id, 1) for doc_id in ids]))

        assert order_of(ranked) == sorted(ids, key=str.encode, reverse=True)

    def test_a_run_without_scores_goes_by_rank(self):
        runs = pd.DataFrame(
            {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "system": "S", "rank": [3, 1, 2]}
        )

        assert order_of(rank_runs(runs)) == ["b", "c", "a"]

    def test_scores_come_before_ranks(self):
        runs = run_of([("q", "a", 1), ("q", "b", 2)]).assign(rank=[1, 2])

        assert order_of(rank_runs(runs)) == ["b", "a"]

    def test_runs_with_and_without_scores_together(self):
        by_rank = pd.DataFrame(
            {"query_id": ["q", "q"], "doc_id": ["a", "b"], "system": "R", "rank": [2, 1]}
        )

        ranked = rank_runs(pd.concat([run_of([("q", "a", 2), ("q", "b", 1)]), by_rank]))

        assert ranked.documents[ranked.document].tolist() == ["b", "a", "a", "b"]

    def test_skipped_documents_let_the_others_move_up(self):
        ranked = rank_runs(run_of([("q", "a", 3), ("q", "b", 2), ("q", "c", 1), ("p", "a", 1)]))

        left = ranked.without(pd.DataFrame({"query_id": ["q", "z"], "doc_id": ["a", "a"]}))

        assert order_of(left) == ["b", "c"]
        assert order_of(left, "p") == ["a"]
        assert left.rank.tolist() == [1, 1, 2]


class TestErrors:
    def test_a_document_twice_in_a_run(self):
        with pytest.raises(ValueError, match="run S has document d1 more than once for query q1"):
            rank_runs(run_of([("q1", "d1", 3), ("q1", "d2", 2.5), ("q1", "d1", 2)]))

    def test_an_empty_id(self):
        with pytest.raises(ValueError, match="doc_id has an empty cell in row 1"):
            rank_runs(run_of([("q", "d", 1), ("q", None, 1)]))

    def test_a_score_here_and_none_there(self):
        runs = run_of([("q", "a", 1), ("q", "b", None)]).assign(rank=[1, 2])
        with pytest.raises(ValueError, match="Document b for query q of the run S has no score"):
            rank_runs(runs)

    @pytest.mark.parametrize("score", [np.inf, -np.inf, 1e39])
    def test_a_score_without_end(self, score):
        with pytest.raises(ValueError, match="give a score that single precision holds"):
            rank_runs(run_of([("q", "a", score)]))

    def test_neither_score_nor_rank(self):
        runs = run_of([("q", "a", 1)]).drop(columns="score")
        with pytest.raises(ValueError, match="or a rank"):
            rank_runs(runs)

    def test_ids_as_numbers(self):
        with pytest.raises(ValueError, match="query_id holds int64, not text"):
            rank_runs(run_of([("1", "2", 1)]).astype({"query_id": "int64"}))
