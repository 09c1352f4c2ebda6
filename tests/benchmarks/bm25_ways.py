"""Three ways from a corpus to the runs of eight BM25 systems, each a process that tells its stages.

python -m tests.benchmarks.bm25_ways <way> <folder of write_texts> <empty folder>
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from tests.benchmarks.peak import peak_mib

DEPTH = 1000
REPRESENTATIONS = (("subject", "text"), ("text",))
PARAMETERS = ((0.9, 0.4), (0.82, 0.68), (1.0, 0.3), (1.0, 0.9))
# S_1 to S_8: each pair of parameters on both representations.
SYSTEMS = {
    f"S_{2 * i + j + 1}": (fields, k1, b)
    for i, (k1, b) in enumerate(PARAMETERS)
    for j, fields in enumerate(REPRESENTATIONS)
}


class Stages:
    """Adds up the seconds of each stage, wall and processor."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self._last = (time.perf_counter(), time.process_time())

    def done(self, name: str) -> None:
        now = (time.perf_counter(), time.process_time())
        wall, processor = self.seconds.get(name, (0.0, 0.0))
        self.seconds[name] = [wall + now[0] - self._last[0], processor + now[1] - self._last[1]]
        self._last = now


def with_lucene(folder: Path, work: Path, stages: Stages) -> dict[str, np.ndarray]:
    import pyarrow.parquet as pq

    from normastcu.collection.documents import DocumentChunks
    from normastcu.retrieval.java import start_java
    from normastcu.retrieval.lucene_index import IndexRequest, LuceneSettings, index_documents
    from normastcu.retrieval.lucene_search import search_bm25
    from normastcu.retrieval.manifest import corpus_print
    from normastcu.retrieval.settings import Bm25System

    stages.done("imports")
    settings = LuceneSettings(language="pt")
    start_java(settings.heap_mb)
    stages.done("Java's start")

    def chunks() -> Iterator:
        with pq.ParquetFile(folder / "documents.parquet") as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group).to_pandas()

    documents = DocumentChunks(chunks)
    corpus = corpus_print(documents, ("subject", "text"))
    stages.done("hash of the corpus")
    indexes = index_documents(work, IndexRequest(documents, corpus, REPRESENTATIONS, settings))
    stages.done("indexing")
    systems = [
        Bm25System(name=name, family="bm25", fields=fields, k1=k1, b=b)
        for name, (fields, k1, b) in SYSTEMS.items()
    ]
    queries = pq.read_table(folder / "queries.parquet").to_pandas()
    found = search_bm25(indexes, systems, queries, corpus, settings=settings, depth=DEPTH)
    stages.done("search")
    return {name: run["score"].to_numpy() for name, run in found.runs.groupby("system")}


def with_bm25s(folder: Path, _: Path, stages: Stages) -> dict[str, np.ndarray]:
    """Tokenize each representation once, with stopwords and the Snowball stemmer."""
    import bm25s
    import pandas as pd
    import pyarrow.parquet as pq
    import Stemmer

    stages.done("imports")
    documents = pq.read_table(folder / "documents.parquet").to_pydict()
    queries = pq.read_table(folder / "queries.parquet").to_pydict()
    doc_ids = np.array(documents["doc_id"], dtype=object)
    stages.done("reading")
    options = {
        "stopwords": "pt",
        "stemmer": Stemmer.Stemmer("portuguese"),
        "show_progress": False,
    }
    runs = {}
    for representation in REPRESENTATIONS:
        columns = [documents[field] for field in representation]
        tokens = bm25s.tokenize(
            ["\n".join(texts) for texts in zip(*columns, strict=True)], **options
        )
        asked = bm25s.tokenize(queries["text"], return_ids=False, **options)
        stages.done("tokenizing")
        for name, (fields, k1, b) in SYSTEMS.items():
            if fields != representation:
                continue
            retriever = bm25s.BM25(k1=k1, b=b, method="lucene")
            retriever.index(tokens, show_progress=False)
            stages.done("indexing")
            hits, scores = retriever.retrieve(asked, corpus=doc_ids, k=DEPTH, show_progress=False)
            runs[name] = pd.DataFrame(
                {
                    "system": name,
                    "query_id": np.repeat(queries["query_id"], DEPTH),
                    "doc_id": hits.ravel(),
                    "rank": np.tile(np.arange(1, DEPTH + 1), len(queries["query_id"])),
                    "score": scores.ravel(),
                }
            )
            stages.done("search")
    return {name: run["score"].to_numpy() for name, run in runs.items()}


def with_plain_python(folder: Path, _: Path, stages: Stages) -> dict[str, np.ndarray]:
    """Keep postings in a dictionary; words are split at blanks, no stopwords and no stemming."""
    import pyarrow.parquet as pq

    stages.done("imports")
    documents = pq.read_table(folder / "documents.parquet").to_pydict()
    queries = pq.read_table(folder / "queries.parquet").to_pydict()
    stages.done("reading")
    runs = {}
    for representation in REPRESENTATIONS:
        postings: dict[str, tuple[list[int], list[int]]] = {}
        sizes = []
        columns = [documents[field] for field in representation]
        for number, texts in enumerate(zip(*columns, strict=True)):
            words = "\n".join(texts).lower().split()
            sizes.append(len(words))
            for word, count in Counter(words).items():
                in_documents, counts = postings.setdefault(word, ([], []))
                in_documents.append(number)
                counts.append(count)
        stages.done("indexing")
        for name, (fields, k1, b) in SYSTEMS.items():
            if fields == representation:
                found = [_best(postings, sizes, text, k1, b) for text in queries["text"]]
                runs[name] = np.array([score for hits in found for score, _ in hits])
        stages.done("search")
    return runs


def _best(
    postings: dict[str, tuple[list[int], list[int]]],
    sizes: list[int],
    text: str,
    k1: float,
    b: float,
) -> list[tuple[float, int]]:
    mean, n_documents = sum(sizes) / len(sizes), len(sizes)
    scores: dict[int, float] = {}
    for word in text.lower().split():
        in_documents, counts = postings.get(word, ([], []))
        n = len(in_documents)
        idf = np.log(1 + (n_documents - n + 0.5) / (n + 0.5)).item()
        for number, count in zip(in_documents, counts, strict=True):
            part = idf * count / (count + k1 * (1 - b + b * sizes[number] / mean))
            scores[number] = scores.get(number, 0.0) + part
    return sorted(((score, number) for number, score in scores.items()), reverse=True)[:DEPTH]


WAYS: dict[str, Callable[[Path, Path, Stages], dict[str, np.ndarray]]] = {
    "lucene": with_lucene,
    "bm25s": with_bm25s,
    "plain": with_plain_python,
}

if __name__ == "__main__":
    started = Stages()
    scores = WAYS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]), started)
    told = {
        "stages": started.seconds,
        "peak_mib": peak_mib(),
        "n": {name: len(values) for name, values in sorted(scores.items())},
    }
    print(json.dumps(told))
