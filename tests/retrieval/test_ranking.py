"""Tests of the order of a run: against its definition, hit by hit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normastcu.collection.run_order import RUN_TYPES
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.ranking import ranked_frame

SCORES = st.one_of(
    st.floats(width=32, allow_subnormal=False, min_value=-1e6, max_value=1e6),
    st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]),
)
HITS = st.dictionaries(
    st.tuples(st.sampled_from(["q2", "q1"]), st.sampled_from(["1", "01", "10", "2", "é", "z"])),
    SCORES,
)


@settings(deadline=None)
@given(HITS, st.none() | st.integers(1, 4))
def test_order_is_by_score_then_by_id_descending(
    hits: dict[tuple[str, str], float], depth: int | None
) -> None:
    queries, documents = [query for query, _ in hits], [document for _, document in hits]
    frame = ranked_frame("S", queries, documents, list(hits.values()), depth)
    expected = [
        (query, document, rank)
        for query in dict.fromkeys(queries)
        for rank, (_, document) in enumerate(
            sorted(((np.float32(s), d) for (q, d), s in hits.items() if q == query), reverse=True)[
                :depth
            ],
            start=1,
        )
    ]
    assert list(zip(frame["query_id"], frame["doc_id"], frame["rank"], strict=True)) == expected
    for _, scores in frame.groupby("query_id")["score"]:
        assert (np.diff(scores.to_numpy(np.float32)) < 0).all()


def test_no_hit_still_has_the_columns() -> None:
    frame = ranked_frame("S", [], [], [])
    assert frame.dtypes.astype(str).to_dict() == RUN_TYPES


@pytest.mark.parametrize("score", [np.nan, np.inf, 1e39])
def test_a_score_without_order_names_its_pair(score: float) -> None:
    with pytest.raises(RetrievalError, match=r"Document 'd2' for query 'q1' of the run 'S'"):
        ranked_frame("S", ["q1", "q1"], ["d1", "d2"], [1.0, score])


def test_a_repeated_document_is_named() -> None:
    with pytest.raises(RetrievalError, match=r"Document 'd1' for query 'q2' .* more than once"):
        ranked_frame("S", ["q1", "q2", "q2"], ["d1", "d1", "d1"], [1.0, 2.0, 3.0])
