"""Exact cosine search, and the runs of dense systems."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from normastcu.collection.run_order import RUN_TYPES
from normastcu.retrieval.dense import TEXTS_TYPES, USAGE_TYPES, DenseRun, run_dense, search
from normastcu.retrieval.encoding import unit_vectors
from normastcu.retrieval.settings import DenseSystem, Passages, SvdEncoder
from normastcu.retrieval.vectors import VectorStore

LENGTH = 5
COMPONENTS = st.floats(-1, 1, width=16) | st.sampled_from([0.0, 1.0, -1.0])


def matrices(most: int) -> st.SearchStrategy[np.ndarray]:
    shapes = st.tuples(st.integers(1, most), st.just(LENGTH))
    return hnp.arrays(np.float64, shapes, elements=COMPONENTS).map(unit_vectors)


def cosine(a: np.ndarray, b: np.ndarray) -> np.float32:
    """Return the cosine from sums that are exact because they are sums of whole numbers."""
    whole_a, whole_b = ([round(float(x) * 2**24) for x in one] for one in (a, b))
    dot = sum(x * y for x, y in zip(whole_a, whole_b, strict=True)) / 2**48
    squares = [sum(x * x for x in one) / 2**48 for one in (whole_a, whole_b)]
    lengths = np.sqrt(squares[0]) * np.sqrt(squares[1])
    return np.float32(dot / lengths if lengths else 0.0)


@settings(deadline=None)
@given(matrices(4), matrices(25), st.integers(1, 30), st.data())
def test_search_is_the_definition_for_every_block_size(
    queries: np.ndarray, passages: np.ndarray, depth: int, data: st.DataObject
) -> None:
    n = len(passages)
    starts = sorted({0} | data.draw(st.sets(st.integers(0, n - 1))))
    ends = [*starts[1:], n]
    for rows_at_a_time in (1, 2, 3, 7, n, 1000):
        positions, scores = search(
            queries, passages, depth, starts=starts, rows_at_a_time=rows_at_a_time
        )
        for row, query in enumerate(queries):
            best = [
                (-max(cosine(query, passages[i]) for i in range(a, b)), place)
                for place, (a, b) in enumerate(zip(starts, ends, strict=True))
            ]
            expected = sorted(best)[:depth]
            assert positions[row].tolist() == [place for _, place in expected]
            assert scores[row].tolist() == [-score for score, _ in expected]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_large_vectors_have_the_same_bits_in_every_block(seed: int) -> None:
    draw = np.random.default_rng(seed)
    documents = unit_vectors(draw.normal(size=(2500, 384)))
    queries = unit_vectors(draw.normal(size=(3, 384)))
    found = [
        search(queries, documents, 100, rows_at_a_time=rows) for rows in (17, 256, 1000, 2499, 9999)
    ]
    for positions, scores in found[1:]:
        np.testing.assert_array_equal(positions, found[0][0])
        np.testing.assert_array_equal(scores.view(np.int32), found[0][1].view(np.int32))


def test_a_score_does_not_depend_on_the_other_documents_or_queries() -> None:
    draw = np.random.default_rng(3)
    documents, queries = (unit_vectors(draw.normal(size=(n, 300))) for n in (400, 20))
    positions, scores = search(queries, documents, 400)
    for query in (0, 19):
        for place in (0, 5, 399):
            document = positions[query, place]
            alone = search(queries[query : query + 1], documents[document : document + 1], 1)[1]
            assert alone[0, 0] == scores[query, place]


def test_a_vector_of_zeros_has_the_cosine_zero() -> None:
    documents = np.array([[0, 0], [-1, 0], [1, 0]], np.float16)
    positions, scores = search(np.array([[1, 0], [0, 0]], np.float16), documents, 3)
    assert positions.tolist() == [[2, 0, 1], [0, 1, 2]]
    assert scores.tolist() == [[1, 0, -1], [0, 0, 0]]


def test_no_documents_and_no_queries() -> None:
    some, none = np.ones((2, 3), np.float16), np.ones((0, 3), np.float16)
    assert search(some, none, 5)[0].shape == (2, 0)
    assert search(none, some, 5)[0].shape == (0, 2)


def test_directions_survive_any_length_of_vector() -> None:
    unit = unit_vectors(np.array([[3e-30, 4e-30], [6e30, -8e30], [0, 0]]))
    np.testing.assert_array_equal(unit, np.array([[0.6, 0.8], [0.6, -0.8], [0, 0]], np.float16))


DOCUMENTS = pd.DataFrame(
    {
        "doc_id": ["9", "10", "a", "b", "x"],
        "title": ["Título", "t", "t", "t", None],
        "subject": [None, "férias", None, None, None],
        "text": [
            "diárias e passagens no exterior",
            "",
            "licença para tratar de assunto",
            "licença para tratar de assunto",
            " ",
        ],
    }
)
QUERIES = pd.DataFrame(
    {"query_id": ["2", "1"], "text": ["Licença, a seu critério", "zebra"]}, dtype="str"
)


def ran(folder: Path, **changes: object) -> DenseRun:
    values: dict[str, object] = {
        "name": "S",
        "family": "svd",
        "encoder": SvdEncoder(name="svd", components=4),
        "fields": ("text",),
    }
    return run_dense(DenseSystem(**values | changes), DOCUMENTS, QUERIES, VectorStore(folder))


def test_a_run_has_every_document_and_ties_by_id_descending(tmp_path: Path) -> None:
    run = ran(tmp_path).run
    assert run.dtypes.astype(str).to_dict() == RUN_TYPES
    by_query = run.groupby("query_id", sort=False)["doc_id"].agg(list)
    assert by_query.index.tolist() == ["2", "1"]
    # Two equal texts hold a word of the query; of the query zebra no word is known.
    assert by_query["2"][:2] == ["b", "a"]
    assert by_query["1"] == ["x", "b", "a", "9", "10"]
    for _, scores in run.groupby("query_id")["score"]:
        assert (np.diff(scores.to_numpy(np.float32)) < 0).all()


def test_fallbacks_are_recorded(tmp_path: Path) -> None:
    texts = ran(tmp_path).texts
    assert texts.dtypes.astype(str).to_dict() == TEXTS_TYPES
    assert texts.set_index("doc_id")["fallback"].dropna().to_dict() == {
        "10": "subject",
        "x": "doc_id",
    }
    assert texts.set_index("doc_id")["characters"].to_dict() == {
        "9": 31,
        "10": 6,
        "a": 30,
        "b": 30,
        "x": 1,
    }
    assert texts["characters_shown"].tolist() == texts["characters"].tolist()


def test_a_second_run_encodes_nothing_and_is_the_same(tmp_path: Path) -> None:
    first, second = ran(tmp_path), ran(tmp_path)
    pd.testing.assert_frame_equal(first.run, second.run)
    assert first.usage.dtypes.astype(str).to_dict() == USAGE_TYPES
    # Of the five documents two have the same text.
    assert first.usage["n_encoded"].tolist() == [4, 2]
    assert second.usage["n_encoded"].tolist() == [0, 0]
    assert second.usage["n_known"].tolist() == [4, 2]
    assert second.usage["cost"].tolist() == [0, 0]


def test_the_order_of_the_documents_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = ran(tmp_path / "one").run
    monkeypatch.setitem(globals(), "DOCUMENTS", DOCUMENTS.iloc[[3, 0, 4, 2, 1]])
    pd.testing.assert_frame_equal(ran(tmp_path / "other").run, expected)


def test_a_document_of_several_passages_is_recorded(tmp_path: Path) -> None:
    texts = ran(tmp_path, passages=Passages(words=2, stride=1)).texts.set_index("doc_id")
    assert texts["n_passages"].to_dict() == {"10": 1, "9": 4, "a": 4, "b": 4, "x": 1}
    assert texts["characters_shown"].isna().tolist() == [False, True, True, True, False]


def test_the_best_passage_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = ["prazo férias", "prazo licença", "férias licença", "prazo prazo férias", "férias um"]
    documents = pd.DataFrame({"doc_id": list("abcde"), "text": pairs})
    monkeypatch.setitem(globals(), "DOCUMENTS", documents)
    monkeypatch.setitem(
        globals(), "QUERIES", pd.DataFrame({"query_id": ["q"], "text": ["licença"]})
    )
    whole = ran(tmp_path / "whole").run.set_index("doc_id")["score"]
    best = ran(tmp_path, passages=Passages(words=1, stride=1)).run.set_index("doc_id")["score"]
    # Where the word stands alone in a passage, the passage is the query.
    assert best.index[:2].tolist() == ["c", "b"]
    assert best[["c", "b"]].round(6).tolist() == [1, 1]
    assert (whole[["c", "b"]] < 0.95).all()


def test_only_the_first_documents_are_kept(tmp_path: Path) -> None:
    system = DenseSystem(
        name="S", family="f", encoder=SvdEncoder(name="svd", components=4), fields=("text",)
    )
    run = run_dense(system, DOCUMENTS, QUERIES, VectorStore(tmp_path), depth=2).run
    assert run["rank"].tolist() == [1, 2, 1, 2]
