"""Searching Lucene's indexes with BM25: all systems of a representation from one index.

Hits cross from Java to Python as one JSON text a query, for object by object takes far longer than
the search itself.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.collection.run_order import RUN_TYPES, strict_scores
from normastcu.retrieval.analysis import make_analyzer
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.java import JAVA_LOCK, java_class, java_errors, start_java
from normastcu.retrieval.lucene_index import (
    CONTENTS,
    ID,
    Fields,
    LuceneIndexes,
    LuceneSettings,
    open_directory,
    wanted_manifest,
)
from normastcu.retrieval.manifest import CorpusPrint, read_manifest
from normastcu.retrieval.settings import Bm25System, representation

REPORT_TYPES = {
    "system": "str",
    "n_queries": "Int64",
    "n_without_terms": "Int64",
    "without_terms": "str",
    "n_without_hits": "Int64",
    "without_hits": "str",
    "n_tied": "Int64",
}
"""What happened to the queries of each system; ids are joined by a blank."""

_MOST_CLAUSES = 2**31 - 1

Hits = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Bm25Runs:
    """What BM25 found.

    Attributes
    ----------
    runs : DataFrame
        `system`, `query_id`, `doc_id`, `rank` (from 1), `score`; systems and queries as given.
    report : DataFrame
        The columns of `REPORT_TYPES`, one row a system: queries without a term after analysis
        (only stopwords or signs), queries with terms none of which any document has, and documents
        that shared their score with another one of the query.
    """

    runs: pd.DataFrame
    report: pd.DataFrame


def search_bm25(
    indexes: LuceneIndexes,
    systems: Sequence[Bm25System],
    queries: pd.DataFrame,
    corpus: CorpusPrint,
    *,
    settings: LuceneSettings,
    depth: int,
) -> Bm25Runs:
    """Search all systems, each in the index of its fields.

    A query is a bag of words: the terms that the analyzer makes of it; nothing in it is read as
    query syntax. Scores are Lucene's, which leaves the factor k1 + 1 out and holds the length of a
    document in one byte. Documents of equal score stand in the order of their ids, descending,
    compared as text (trec_eval's rule), also where the depth cuts; their scores are then lowered
    by the least steps that single precision knows, so that scores fall strictly with the rank.
    The order in which the documents were indexed does not matter.

    Parameters
    ----------
    indexes
        Made by `normastcu.retrieval.lucene_index.index_documents`.
    systems
        The systems.
    queries : DataFrame
        `query_id` and `text`.
    corpus
        Of the documents that are to be searched, with all fields of the systems.
    settings
        As at indexing.
    depth
        Documents of each query, at most.

    Raises
    ------
    RetrievalError
        For an index that is missing, in another language, or made from other documents.
    """
    start_java(settings.heap_mb)
    found: dict[str, tuple[pd.DataFrame, dict[str, object]]] = {}
    with JAVA_LOCK, java_errors("Searching"):
        for fields in dict.fromkeys(system.fields for system in systems):
            _check(indexes, fields, settings, corpus)
            with open_index(indexes, fields, settings) as index:
                asked = [index.query(text) for text in queries["text"]]
                for system in [one for one in systems if one.fields == fields]:
                    found[system.name] = _search(index, system, queries, asked, depth)
    runs = [found[system.name][0] for system in systems]
    reports = [found[system.name][1] for system in systems]
    return Bm25Runs(
        runs=pd.concat(runs, ignore_index=True) if runs else typed_frame([], RUN_TYPES),
        report=typed_frame(reports, REPORT_TYPES),
    )


class OpenIndex:
    """An open index; Java must run, and `JAVA_LOCK` be held as long as it is used.

    Parameters
    ----------
    reader, analyzer
        Java's objects.
    """

    def __init__(self, reader: Any, analyzer: Any) -> None:
        self._analyzer = analyzer
        searcher_class = java_class("org.apache.lucene.search.IndexSearcher")
        # A clause is a word: a long query must not fail.
        searcher_class.setMaxClauseCount(_MOST_CLAUSES)
        self._searcher = searcher_class(
            reader, signature="(Lorg/apache/lucene/index/IndexReader;)V"
        )
        self._bag_of_words = java_class("io.anserini.search.query.BagOfWordsQueryGenerator")()
        self._json = java_class("com.fasterxml.jackson.databind.ObjectMapper")()
        self._n_documents = int(reader.maxDoc())

    def query(self, text: str) -> Any:
        """Return Lucene's query for a text; None if the analyzer leaves no term of it."""
        query = self._bag_of_words.buildQuery(CONTENTS, self._analyzer, text)
        return query if query.toString() else None

    def rank_with(self, k1: float, b: float) -> None:
        """Choose the parameters of the next searches."""
        similarity = java_class("org.apache.lucene.search.similarities.BM25Similarity")
        self._searcher.setSimilarity(similarity(float(k1), float(b)))

    def search(self, query: Any, depth: int) -> Hits:
        """Return places in `doc_ids` and scores of the first documents, ties by id descending."""
        taken = depth + 1
        documents, scores = self._top(query, taken)
        # Lucene may cut a tie anywhere: take more, until all that share the last score are there.
        while len(scores) == taken and scores[depth - 1] == scores[-1]:
            taken *= 2
            documents, scores = self._top(query, taken)
        places = self._place[documents]
        order = np.lexsort((places, -scores))[:depth]
        return places[order], scores[order]

    @cached_property
    def doc_ids(self) -> npt.NDArray[np.object_]:
        """All ids, descending as text."""
        return np.array([doc_id for _, doc_id in self._numbered_ids], dtype=object)

    @cached_property
    def _place(self) -> npt.NDArray[np.int64]:
        """Place in `doc_ids` by Lucene's number of a document."""
        numbers = np.array([number for number, _ in self._numbered_ids], dtype=np.int64)
        place = np.empty(self._n_documents, dtype=np.int64)
        place[numbers] = np.arange(len(numbers))
        return place

    @cached_property
    def _numbered_ids(self) -> list[tuple[int, str]]:
        search = "org.apache.lucene.search."
        by_id = java_class(f"{search}SortField")(
            ID, java_class(f"{search}SortField$Type").STRING, True
        )
        everything = java_class(f"{search}MatchAllDocsQuery")()
        hits = self._searcher.search(
            everything, max(self._n_documents, 1), java_class(f"{search}Sort")(by_id)
        )
        return [(hit["doc"], _text(hit["fields"][0])) for hit in self._read(hits)]

    def _top(self, query: Any, n: int) -> Hits:
        hits = self._read(self._searcher.search(query, n))
        documents = np.array([hit["doc"] for hit in hits], dtype=np.int64)
        return documents, np.array([hit["score"] for hit in hits], dtype=np.float32)

    def _read(self, top_docs: Any) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = json.loads(self._json.writeValueAsString(top_docs))[
            "scoreDocs"
        ]
        return hits


@contextmanager
def open_index(
    indexes: LuceneIndexes, fields: Fields, settings: LuceneSettings
) -> Iterator[OpenIndex]:
    """Open an index for searching; Java must run, and `JAVA_LOCK` be held."""
    directory = open_directory(indexes.path(fields))
    reader = java_class("org.apache.lucene.index.DirectoryReader").open(directory)
    try:
        yield OpenIndex(reader, make_analyzer(settings.language))
    finally:
        reader.close()
        directory.close()


def _check(
    indexes: LuceneIndexes, fields: Fields, settings: LuceneSettings, corpus: CorpusPrint
) -> None:
    path = indexes.path(fields)
    own = read_manifest(path)
    if own is None:
        raise RetrievalError(
            f"There is no index of {representation(fields)} in {path}. Index the documents first."
        )
    differences = own.differences(wanted_manifest(fields, settings, corpus))
    if differences:
        raise RetrievalError(
            f"The index in {path} is not the one to search: {'; '.join(differences)}. "
            "Index the documents again."
        )


def _search(
    index: OpenIndex, system: Bm25System, queries: pd.DataFrame, asked: Sequence[Any], depth: int
) -> tuple[pd.DataFrame, dict[str, object]]:
    index.rank_with(system.k1, system.b)
    hits = [index.search(query, depth) if query is not None else _NOTHING for query in asked]
    sizes = np.array([len(scores) for _, scores in hits], dtype=np.int64)
    list_of = np.repeat(np.arange(len(hits)), sizes)
    scores = np.concatenate([scores for _, scores in hits] or [_NOTHING[1]])
    places = np.concatenate([places for places, _ in hits] or [_NOTHING[0]])
    query_ids = queries["query_id"].to_numpy(dtype=object)
    run = pd.DataFrame(
        {
            "system": np.full(len(places), system.name, dtype=object),
            "query_id": query_ids[list_of],
            "doc_id": index.doc_ids[places],
            "rank": np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1,
            "score": strict_scores(scores, list_of),
        }
    ).astype(RUN_TYPES)
    without_terms = [q for q, query in zip(query_ids, asked, strict=True) if query is None]
    without_hits = [q for q, n in zip(query_ids, sizes, strict=True) if n == 0]
    return run, {
        "system": system.name,
        "n_queries": len(hits),
        "n_without_terms": len(without_terms),
        "without_terms": " ".join(without_terms),
        "n_without_hits": len(without_hits) - len(without_terms),
        "without_hits": " ".join(q for q in without_hits if q not in without_terms),
        "n_tied": sum(_n_tied(scores) for _, scores in hits),
    }


_NOTHING: Hits = (np.empty(0, np.int64), np.empty(0, np.float32))


def _n_tied(scores: npt.NDArray[np.float32]) -> int:
    """Count the scores that a neighbour shares."""
    same = scores[1:] == scores[:-1]
    return int((np.r_[False, same] | np.r_[same, False])[: len(scores)].sum())


def _text(value: dict[str, Any]) -> str:
    """Return the text of Lucene's BytesRef."""
    start, end = value["offset"], value["offset"] + value["length"]
    return base64.b64decode(value["bytes"])[start:end].decode()
