"""Reciprocal rank fusion, and candidates taken in turn."""

from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from normastcu.collection.errors import CollectionError
from normastcu.collection.fusion import (
    CandidateSettings,
    check_ranks,
    of_systems,
    reciprocal_rank_fusion,
    take_candidates,
)
from normastcu.collection.pool_schemas import Candidates

TYPES = {"system": "str", "query_id": "str", "doc_id": "str", "rank": "Int64"}


def runs_of(**lists):
    """Make the runs of systems from texts of document ids, in order, for one query."""
    rows = [
        (system, "q", doc_id, rank)
        for system, documents in lists.items()
        for rank, doc_id in enumerate(documents.split(), start=1)
    ]
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def taken(runs, n, **shares):
    """Return the candidates of the one query as (document, system, rank there)."""
    frame = take_candidates(runs, CandidateSettings(n=n, shares=shares))
    assert frame["rank"].tolist() == list(range(1, len(frame) + 1))
    Candidates.validate(frame)
    return list(zip(frame["doc_id"], frame["taken_from"], frame["taken_at"], strict=True))


lists_of_documents = st.lists(
    st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10), min_size=1, max_size=4
).filter(any)


def runs_from(lists):
    """Make runs S0, S1, … from lists of documents."""
    return runs_of(**{f"S{number}": " ".join(own) for number, own in enumerate(lists)})


class TestReciprocalRankFusion:
    def test_a_worked_example(self):
        # d2: 1/62 + 1/61, d3: 1/63 + 1/62, d1: 1/61, d4: 1/63
        fused = reciprocal_rank_fusion(runs_of(A="d1 d2 d3", B="d2 d3 d4"), name="both")

        assert fused["doc_id"].tolist() == ["d2", "d3", "d1", "d4"]
        assert fused["rank"].tolist() == [1, 2, 3, 4]
        assert fused["score"].tolist() == pytest.approx(
            [0.0325224749, 0.0320020481, 0.0163934426, 0.0158730159], abs=1e-10
        )
        assert set(fused["system"]) == {"both"}

    def test_without_the_constant_a_first_rank_outweighs_two_later_ones(self):
        runs = runs_of(A="d1 x d2", B="y z d2")  # d1: 1; d2: 1/3 + 1/3

        assert reciprocal_rank_fusion(runs, k=0)["doc_id"].tolist() == ["d1", "y", "d2", "x", "z"]
        assert reciprocal_rank_fusion(runs)["doc_id"].tolist()[0] == "d2"

    def test_equal_scores_go_by_the_best_rank(self):
        # 1/70 + 1/105 = 1/84 + 1/84: ranks 10 and 45 against 24 and 24.
        rows = [("A", "z", 10), ("B", "z", 45), ("A", "a", 24), ("B", "a", 24)]
        runs = pd.DataFrame(
            [(system, "q", doc_id, rank) for system, doc_id, rank in rows], columns=list(TYPES)
        ).astype(TYPES)

        fused = reciprocal_rank_fusion(runs)

        assert fused["doc_id"].tolist() == ["z", "a"]
        assert fused["score"].nunique() == 1

    def test_equal_scores_and_best_ranks_go_by_document(self):
        assert reciprocal_rank_fusion(runs_of(A="d10", B="d9"))["doc_id"].tolist() == ["d10", "d9"]

    def test_queries_stay_apart(self):
        one, other = runs_of(A="d1 d2"), runs_of(A="d2 d1").assign(query_id="p").astype(TYPES)

        fused = reciprocal_rank_fusion(pd.concat([one, other]))

        assert list(zip(fused["query_id"], fused["doc_id"], fused["rank"], strict=True)) == [
            ("p", "d2", 1),
            ("p", "d1", 2),
            ("q", "d1", 1),
            ("q", "d2", 2),
        ]

    def test_nothing_to_fuse(self):
        fused = reciprocal_rank_fusion(runs_of(A="d1").head(0))

        assert fused.empty
        assert fused.columns.tolist() == ["system", "query_id", "doc_id", "rank", "score"]

    @settings(deadline=None, max_examples=50)
    @given(lists_of_documents, st.integers(0, 100), st.randoms())
    def test_scores_are_the_exact_sums_whatever_the_order_of_rows(self, lists, k, random):
        runs = runs_from(lists)
        order = list(range(len(runs)))
        random.shuffle(order)
        exact: dict[str, Fraction] = {}
        for own in lists:
            for rank, doc_id in enumerate(own, start=1):
                exact[doc_id] = exact.get(doc_id, Fraction(0)) + Fraction(1, k + rank)
        best = {d: min(own.index(d) for own in lists if d in own) for d in exact}

        fused = reciprocal_rank_fusion(runs.iloc[order], k)

        assert fused["doc_id"].tolist() == sorted(exact, key=lambda d: (-exact[d], best[d], d))
        assert fused["score"].tolist() == pytest.approx([float(exact[d]) for d in fused["doc_id"]])


class TestTakeCandidates:
    def test_three_of_one_list_for_one_of_the_other(self):
        runs = runs_of(bm25="x y z", dense="a b c d e f")

        assert taken(runs, 6, bm25=0.25, dense=0.75) == [
            ("a", "dense", 1),
            ("b", "dense", 2),
            ("c", "dense", 3),
            ("x", "bm25", 1),
            ("d", "dense", 4),
            ("e", "dense", 5),
        ]

    def test_shared_documents_are_made_up_for_in_the_same_proportion(self):
        # Read in turns: a b c, a again; d e f, b again; g h i, x.
        runs = runs_of(bm25="a b x y", dense="a b c d e f g h i j")

        candidates = taken(runs, 10, bm25=0.25, dense=0.75)

        assert "".join(document for document, _, _ in candidates) == "abcdefghix"
        assert candidates[-1] == ("x", "bm25", 3)

    def test_a_quarter_and_three_quarters_of_570_documents(self):
        runs = runs_of(
            bm25=" ".join(f"b{n}" for n in range(1000)),
            dense=" ".join(f"d{n}" for n in range(1000)),
        )

        systems = [system for _, system, _ in taken(runs, 570, bm25=0.25, dense=0.75)]

        assert (systems.count("bm25"), systems.count("dense")) == (142, 428)

    def test_a_list_that_ends_leaves_its_turns_to_the_others(self):
        runs = runs_of(bm25="x y z u v", dense="a b")

        documents = [document for document, _, _ in taken(runs, 6, bm25=0.25, dense=0.75)]

        assert documents == ["a", "b", "x", "y", "z", "u"]

    def test_a_corpus_smaller_than_the_number_is_taken_whole(self):
        runs = runs_of(bm25="a b c", dense="c b a")

        assert {document for document, _, _ in taken(runs, 570, bm25=25, dense=75)} == set("abc")

    def test_only_the_proportion_of_the_shares_counts(self):
        runs = runs_of(A="a b c d", B="e f g h", C="i j k l")

        assert taken(runs, 7, A=0.1, B=0.2, C=0.7) == taken(runs, 7, A=1, B=2, C=7)

    def test_equal_shares_begin_in_the_order_of_the_settings(self):
        runs = runs_of(A="a b", B="c d")

        assert [document for document, _, _ in taken(runs, 4, B=1, A=1)] == ["c", "a", "d", "b"]

    def test_a_query_that_one_system_does_not_know_is_served_by_the_other(self):
        other = runs_of(dense="c").assign(query_id="p").astype(TYPES)
        runs = pd.concat([runs_of(bm25="a", dense="b"), other])

        frame = take_candidates(runs, CandidateSettings(n=2, shares={"bm25": 1, "dense": 1}))

        assert frame[["query_id", "doc_id"]].values.tolist() == [["p", "c"], ["q", "a"], ["q", "b"]]

    @settings(deadline=None, max_examples=50)
    @given(lists_of_documents.filter(all), st.integers(1, 12), st.randoms())
    def test_distinct_documents_the_first_of_every_list(self, lists, n, random):
        runs = runs_from(lists)
        order = list(range(len(runs)))
        random.shuffle(order)
        shares = {f"S{number}": number + 1 for number in range(len(lists))}

        candidates = taken(runs, n, **shares)

        documents = [document for document, _, _ in candidates]
        everything = {document for own in lists for document in own}
        assert len(documents) == len(set(documents)) == min(n, len(everything))
        assert candidates == taken(runs.iloc[order], n, **shares)
        for _, system, rank in candidates:
            # What stands above a candidate in its list is a candidate as well.
            assert set(lists[int(system[1:])][: rank - 1]) <= set(documents)


class TestErrors:
    def test_an_unknown_system(self):
        with pytest.raises(CollectionError, match=r"nothing of a system called 'C'\. There"):
            take_candidates(runs_of(A="a", B="b"), CandidateSettings(shares={"A": 1, "C": 1}))

    def test_systems_of_no_runs(self):
        with pytest.raises(CollectionError, match="There are: none"):
            of_systems(runs_of(A="a").head(0), ["A"])

    @pytest.mark.parametrize("share", [0, -1, float("inf"), float("nan")])
    def test_a_share_that_is_none(self, share):
        with pytest.raises(ValidationError, match="must be above 0"):
            CandidateSettings(shares={"A": share})

    def test_a_document_twice(self):
        runs = pd.concat([runs_of(A="a b"), runs_of(A="x y a").tail(1)])

        with pytest.raises(
            CollectionError, match=r"'a' for query 'q' of the system A stands .* twi"
        ):
            reciprocal_rank_fusion(runs)

    def test_a_rank_twice(self):
        with pytest.raises(CollectionError, match=r"'b' .* on the rank of another one"):
            check_ranks(runs_of(A="a b").assign(rank=1))

    @pytest.mark.parametrize("ranks", [[1, None], [1, 0]])
    def test_a_document_without_a_rank(self, ranks):
        runs = runs_of(A="a b").assign(rank=pd.array(ranks, dtype="Int64"))

        with pytest.raises(CollectionError, match=r"'b' .* has no rank from 1 on"):
            check_ranks(runs)

    def test_ids_that_are_numbers(self):
        with pytest.raises(CollectionError, match="doc_id of the runs holds int64, not text"):
            check_ranks(runs_of(A="a b").assign(doc_id=[1, 2]))
