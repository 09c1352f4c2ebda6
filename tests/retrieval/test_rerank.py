"""The first documents of a system in another order."""

import numpy as np
import pandas as pd
import pytest
from tests.retrieval.lists import order, runs

from normastcu.collection.run_order import RUN_TYPES, order_run
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.rerank import first_documents, rerank_by_model, rerank_by_run
from normastcu.retrieval.settings import LexicalReranker, Passages, RerankSystem

QUERIES = pd.DataFrame({"query_id": ["2", "10"], "text": ["b", "long query"]}, dtype="str")
TEXTS = pd.DataFrame(
    {"doc_id": ["a", "b", "c", "d", "e"], "text": ["w1 w2 w3 w4 b", "b b", "", "b", "other"]},
    dtype="str",
)


def by_run(depth=4):
    return RerankSystem(name="S_14", family="f", first="S_8", by="S_10", depth=depth)


def by_model(**changes):
    given = {
        "name": "R",
        "family": "f",
        "first": "S_8",
        "depth": 4,
        "reranker": LexicalReranker(name="lexical"),
        "fields": ("text",),
    }
    return RerankSystem(**(given | changes))


class CountOfB:
    """Scores a text by its share of the letter b, and keeps what it was asked."""

    def __init__(self):
        self.pairs = []

    def scores(self, pairs):
        self.pairs += pairs
        return np.array([text.count("b") / (len(text) or 1) for _, text in pairs])


def test_ranks_of_another_system_reorder_and_what_it_lacks_keeps_its_order_at_the_end():
    table = runs(
        S_8={"2": "abcdefg", "10": "xyz", "7": "pq"},
        S_10={"2": "gdzb", "10": "zw", "3": "a"},
    )
    reordered = rerank_by_run(by_run(depth=5), table)
    # Of abcde, S_10 has d before b; g is beyond the depth.
    assert order(reordered) == {"2": "dbace", "10": "zxy", "7": "pq"}
    assert reordered.dtypes.astype(str).to_dict() == RUN_TYPES
    assert reordered["system"].unique().tolist() == ["S_14"]
    assert reordered["rank"].tolist() == [1, 2, 3, 4, 5, 1, 2, 3, 1, 2]
    pd.testing.assert_frame_equal(order_run(reordered), reordered)


def test_the_order_of_rows_does_not_matter():
    table = runs(S_8={"2": "abcdefg"}, S_10={"2": "gdzb"})
    shuffled = table.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(rerank_by_run(by_run(), shuffled), rerank_by_run(by_run(), table))


def test_a_reranker_reorders_the_first_documents():
    table = runs(S_8={"2": "acbde", "10": "edc"})
    scorer = CountOfB()
    run = rerank_by_model(by_model(), table, QUERIES, TEXTS, scorer)
    # Of acbd: d 1, b 2/3, a 1/14, c 0; of edc: d 1, then e and c tie and go by id descending.
    assert order(run) == {"2": "dbac", "10": "dec"}
    assert ("b", "w1 w2 w3 w4 b") in scorer.pairs
    assert ("long query", "other") in scorer.pairs
    assert len(scorer.pairs) == 7
    pd.testing.assert_frame_equal(order_run(run), run)


def test_the_best_passage_counts():
    table = runs(S_8={"2": "ab"})
    scorer = CountOfB()
    settings = by_model(passages=Passages(words=2, stride=1))
    run = rerank_by_model(settings, table, QUERIES, TEXTS, scorer)
    assert [text for _, text in scorer.pairs] == ["w1 w2", "w2 w3", "w3 w4", "w4 b", "b b"]
    assert run["doc_id"].tolist() == ["b", "a"]
    np.testing.assert_allclose(run["score"], [2 / 3, 1 / 4], rtol=1e-7)


def test_only_the_depth_is_looked_at():
    table = runs(S_8={"2": "abcde"})
    assert first_documents(by_model(depth=2), table)["doc_id"].tolist() == ["a", "b"]
    run = rerank_by_model(by_model(depth=2), table, QUERIES, TEXTS, CountOfB())
    assert order(run) == {"2": "ba"}


@pytest.mark.parametrize(
    ("queries", "texts", "message"),
    [
        (QUERIES[1:], TEXTS, "S_8 has the query '2', which is not among the queries: R can't"),
        (QUERIES, TEXTS[1:], "S_8 has the document 'a', of which there is no text: R can't"),
    ],
)
def test_a_text_that_is_missing_is_an_error(queries, texts, message):
    with pytest.raises(RetrievalError, match=message):
        rerank_by_model(by_model(), runs(S_8={"2": "ab"}), queries, texts, CountOfB())


def test_a_missing_system_is_an_error():
    with pytest.raises(RetrievalError, match=r"S_14 needs the run of S_10, .* There are: S_8"):
        rerank_by_run(by_run(), runs(S_8={"2": "ab"}))
    with pytest.raises(RetrievalError, match=r"R needs the run of S_8, .* There are: none"):
        rerank_by_model(by_model(), runs(), QUERIES, TEXTS, CountOfB())
