"""Exact search in stored vectors beside sentence-transformers, and FAISS where it is installed.

All start from the same vectors of half precision and end with the first 1,000 documents of each
query. What the others need first (single precision, length 1, an index) is timed on its own.
"""

import importlib.util
import os
import statistics
import time

import numpy as np
import pytest
import torch
from sentence_transformers.util import semantic_search

from normastcu.retrieval.dense import search
from normastcu.retrieval.encoding import unit_vectors
from normastcu.retrieval.vectors import VectorStore

DOCUMENTS = int(os.environ.get("NORMASTCU_BENCHMARK_DOCUMENTS", "14469"))
LENGTH = int(os.environ.get("NORMASTCU_BENCHMARK_LENGTH", "1024"))
QUERIES = 46
DEPTH = 1000
ROUNDS = 5
BATCH = 16
BLOCKS = (512, 2048, 8192)


@pytest.fixture(scope="module")
def vectors():
    """Return vectors of documents and queries in a few hundred bunches, as texts' are."""
    rng = np.random.default_rng(20260)
    themes = rng.normal(size=(300, LENGTH))
    documents, queries = (
        themes[rng.integers(0, 300, n)] + rng.normal(size=(n, LENGTH)) * 0.7
        for n in (DOCUMENTS, QUERIES)
    )
    return unit_vectors(documents), unit_vectors(queries)


def median_seconds(call):
    """Return the median of what the calls took, and the last result."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        result = call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), result


def single(half):
    wide = half.astype(np.float32)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def test_search_beside_the_libraries(benchmark, vectors):
    documents, queries = vectors
    report = {}
    for rows in BLOCKS:
        report[f"ours, {rows} rows"], (positions, scores) = median_seconds(
            lambda rows=rows: search(queries, documents, DEPTH, rows_at_a_time=rows)
        )
    report["single precision"], (wide, asked) = median_seconds(
        lambda: (single(documents), single(queries))
    )
    corpus, questions = torch.from_numpy(wide), torch.from_numpy(asked)
    report["sentence-transformers"], hits = median_seconds(
        lambda: semantic_search(questions, corpus, top_k=DEPTH)
    )
    overlap = np.mean(
        [
            len({hit["corpus_id"] for hit in found} & set(ours.tolist())) / DEPTH
            for found, ours in zip(hits, positions, strict=True)
        ]
    )
    faiss_scores = None
    if importlib.util.find_spec("faiss"):
        import faiss

        def index():
            made = faiss.IndexFlatIP(LENGTH)
            made.add(wide)
            return made

        report["FAISS, index"], made = median_seconds(index)
        report["FAISS, search"], (faiss_scores, _) = median_seconds(
            lambda: made.search(asked, DEPTH)
        )
    benchmark.pedantic(lambda: search(queries, documents, DEPTH), rounds=1)
    benchmark.extra_info |= report
    print(f"\n{DOCUMENTS:,} documents of length {LENGTH}, {QUERIES} queries, first {DEPTH:,}:")
    for name, seconds in report.items():
        print(f"  {name:24} {seconds * 1000:8.1f} ms")
    print(f"  of the documents, sentence-transformers finds {overlap:.4%}")
    assert overlap > 0.999
    theirs = np.array([[hit["score"] for hit in found] for found in hits])
    assert np.abs(theirs - scores).max() < 1e-5
    if faiss_scores is not None:
        assert np.abs(faiss_scores - scores).max() < 1e-5


def test_the_store(benchmark, vectors, tmp_path):
    documents, queries = vectors
    store = VectorStore(tmp_path).of({"kind": "benchmark"})
    keys = [store.key(f"document {number}") for number in range(DOCUMENTS)]

    def write():
        for start in range(0, DOCUMENTS, BATCH):
            part = slice(start, start + BATCH)
            store.append(keys[part], documents[part], [1] * len(keys[part]))

    def opened():
        return VectorStore(tmp_path).of({"kind": "benchmark"}).select(keys)

    report, start = {}, time.perf_counter()
    write()
    report[f"written, {BATCH} at a time, each synced"] = time.perf_counter() - start
    report["opened"], chosen = median_seconds(opened)
    report["searched on the disk"], found = median_seconds(lambda: search(queries, chosen, DEPTH))
    benchmark.pedantic(opened, rounds=1)
    benchmark.extra_info |= report
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    print(f"\n{DOCUMENTS:,} vectors of length {LENGTH}, {size / 1e6:.1f} MB:")
    for name, seconds in report.items():
        print(f"  {name:36} {seconds * 1000:8.1f} ms")
    np.testing.assert_array_equal(found[0], search(queries, documents, DEPTH)[0])
