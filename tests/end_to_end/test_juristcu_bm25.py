"""BM25 on real documents: by hand, beside bm25s, and with queries that must find something."""

import logging
import math
from collections import Counter

import bm25s
import numpy as np
import pandas as pd
import pytest

from normastcu.collection.frames import typed_frame
from normastcu.evaluation.measures import measure_runs, rank_runs
from normastcu.retrieval.analysis import make_analyzer, terms_of
from normastcu.retrieval.lucene_index import IndexRequest, LuceneSettings, index_documents
from normastcu.retrieval.lucene_search import search_bm25
from normastcu.retrieval.manifest import corpus_print
from normastcu.retrieval.settings import Bm25System

LOGGER = logging.getLogger(__name__)
SETTINGS = LuceneSettings()
TEXT = ("text",)
PARAMETERS = {"S_2": (0.9, 0.4), "S_4": (0.82, 0.68), "S_6": (1.0, 0.3), "S_8": (1.0, 0.9)}
SYSTEMS = [
    Bm25System(name=name, family="bm25", fields=TEXT, k1=k1, b=b)
    for name, (k1, b) in PARAMETERS.items()
]
DEPTH = 1000
SAMPLE = 12
SEED = 20260
MOST_APART = 0.005


@pytest.fixture(scope="module")
def juristcu(shared_data):
    """Return documents, queries and qrels."""
    folder = shared_data / "juristcu"
    columns = {"ID": "doc_id", "ENUNCIADO": "text"}
    documents = pd.read_csv(folder / "doc.csv", dtype="str").rename(columns=columns)
    columns = {"ID": "query_id", "TEXT": "text"}
    queries = pd.read_csv(folder / "query.csv", dtype="str").rename(columns=columns)
    columns = {"QUERY_ID": "query_id", "DOC_ID": "doc_id", "SCORE": "grade"}
    qrels = pd.read_csv(folder / "qrel.csv", dtype="str").rename(columns=columns)
    qrels = qrels.assign(qrels="reference", grade=pd.to_numeric(qrels["grade"]).astype("Int64"))
    return documents, queries, qrels


@pytest.fixture(scope="module")
def found(juristcu, tmp_path_factory):
    documents, queries, _ = juristcu
    corpus = corpus_print([documents], TEXT)
    request = IndexRequest([documents], corpus, (TEXT,), SETTINGS)
    indexes = index_documents(tmp_path_factory.mktemp("indexes"), request)
    return search_bm25(indexes, SYSTEMS, queries, corpus, settings=SETTINGS, depth=DEPTH)


@pytest.fixture(scope="module")
def terms(found, juristcu):
    """Return the terms of documents and queries by Pyserini's analyzer, which `found` started."""
    documents, queries, _ = juristcu
    analyzer = make_analyzer("pt")
    return tuple(
        [terms_of(analyzer, text) for text in table["text"]] for table in (documents, queries)
    )


def kept_length(n):
    """Return what Lucene keeps of a length in one byte: from 40 on its four highest bits.

    The first 24 numbers are kept as they are, the others as a number above 24.
    """
    if n < 24:
        return n
    above = n - 24
    lost = max(above.bit_length() - 4, 0)
    return 24 + (above >> lost << lost)


class ByHand:
    """BM25 from term statistics."""

    def __init__(self, documents):
        self.counts = [Counter(terms) for terms in documents]
        self.lengths = [kept_length(len(terms)) for terms in documents]
        self.frequency = Counter(term for counts in self.counts for term in counts)
        self.n_documents = sum(bool(terms) for terms in documents)
        self.mean = sum(map(len, documents)) / self.n_documents

    def score(self, query, number, k1, b):
        counts, total = self.counts[number], 0.0
        norm = k1 * (1 - b + b * self.lengths[number] / self.mean)
        for term in query:
            n = self.frequency[term]
            idf = math.log(1 + (self.n_documents - n + 0.5) / (n + 0.5))
            total += idf * counts[term] / (counts[term] + norm)
        return total


def test_scores_worked_out_from_term_statistics_are_lucenes(juristcu, found, terms):
    documents, queries, _ = juristcu
    by_hand = ByHand(terms[0])
    number_of = {doc_id: number for number, doc_id in enumerate(documents["doc_id"])}
    terms_by_query = dict(zip(queries["query_id"], terms[1], strict=True))
    sample = queries["query_id"].sample(SAMPLE, random_state=SEED).tolist()
    runs = found.runs[found.runs["query_id"].isin(sample)]
    for (name, query_id), run in runs.groupby(["system", "query_id"]):
        expected = [
            by_hand.score(terms_by_query[query_id], number_of[doc_id], *PARAMETERS[name])
            for doc_id in run["doc_id"]
        ]
        np.testing.assert_allclose(run["score"].to_numpy(dtype=float), expected, rtol=1e-5)
        others = set(number_of) - set(run["doc_id"])
        if len(run) < DEPTH:
            assert all(
                by_hand.score(terms_by_query[query_id], number_of[doc_id], *PARAMETERS[name]) == 0
                for doc_id in others
            )
    assert len(runs) > SAMPLE * len(SYSTEMS) * 100


def test_ndcg_is_about_that_of_bm25s_on_the_same_terms(juristcu, found, terms):
    documents, queries, qrels = juristcu
    theirs = pd.concat(with_bm25s(documents, queries, *terms))
    values = [
        dict(zip(measured.systems, measured.of("reference", "nDCG@10").mean(axis=1), strict=True))
        for measured in (measure_runs(rank_runs(runs), qrels) for runs in (found.runs, theirs))
    ]
    for name, (k1, b) in PARAMETERS.items():
        ours, other = (of_run[name] for of_run in values)
        LOGGER.warning("%s k1 %g b %g: nDCG@10 %.4f, bm25s %.4f", name, k1, b, ours, other)
        assert abs(ours - other) < MOST_APART
        assert ours > 0.5


def with_bm25s(documents, queries, document_terms, query_terms):
    """Yield a run for each system; documents without a term of the query are left out."""
    doc_ids = documents["doc_id"].to_numpy(dtype=object)
    for name, (k1, b) in PARAMETERS.items():
        retriever = bm25s.BM25(k1=k1, b=b, method="lucene")
        retriever.index(document_terms, show_progress=False)
        hits, scores = retriever.retrieve(query_terms, corpus=doc_ids, k=DEPTH, show_progress=False)
        run = {
            "query_id": np.repeat(queries["query_id"].to_numpy(dtype=object), DEPTH),
            "doc_id": hits.ravel(),
            "score": scores.ravel().astype(float),
        }
        run = pd.DataFrame(run).assign(system=name)
        types = {"system": "str", "query_id": "str", "doc_id": "str", "score": "Float64"}
        yield typed_frame(run[run["score"] > 0].to_dict("records"), types)


def test_every_real_query_finds_documents(juristcu, found):
    _, queries, _ = juristcu
    assert found.report["n_queries"].tolist() == [len(queries)] * len(SYSTEMS)
    assert found.report["n_without_terms"].tolist() == [0] * len(SYSTEMS)
    assert found.report["n_without_hits"].tolist() == [0] * len(SYSTEMS)


def test_scores_fall_strictly_and_the_order_of_documents_does_not_matter(juristcu, found, tmp_path):
    documents, queries, _ = juristcu
    shuffled = documents.sample(frac=1, random_state=SEED)
    corpus = corpus_print([shuffled], TEXT)
    request = IndexRequest([shuffled[:800], shuffled[800:]], corpus, (TEXT,), SETTINGS)
    indexes = index_documents(tmp_path, request)
    again = search_bm25(indexes, SYSTEMS, queries, corpus, settings=SETTINGS, depth=DEPTH)
    pd.testing.assert_frame_equal(again.runs, found.runs)
    single = found.runs["score"].to_numpy(dtype=np.float32)
    assert (np.diff(single)[found.runs["rank"].to_numpy()[1:] > 1] < 0).all()
