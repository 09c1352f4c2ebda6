"""Systems that rank documents by the cosine of their vectors with the query's, exactly.

The arithmetic is exact, so that no library, block size or machine changes a bit of a score. A
number of half precision is a multiple of 2^-24, so the product of two is one of 2^-48; by Cauchy
and Schwarz, no partial sum of the products of two vectors of length 1 is much above 1. Double
precision holds every multiple of 2^-48 up to 32, so that a dot product of stored vectors is added
up without any rounding, in whatever order.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
from rich.console import Console

from normastcu.collection.frames import typed_frame
from normastcu.retrieval.encoders import LazyEncoder, plan_encoder
from normastcu.retrieval.encoding import Encoding, encode_texts
from normastcu.retrieval.passages import best_scores, first_passages, split_texts
from normastcu.retrieval.ranking import ranked_frame
from normastcu.retrieval.settings import DenseSystem
from normastcu.retrieval.texts import document_texts
from normastcu.retrieval.vectors import Float16Array, IntArray, VectorStore

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

TEXTS_TYPES = {
    "system": "str",
    "doc_id": "str",
    "fallback": "str",
    "n_passages": "Int64",
    "n_cut": "Int64",
    "characters": "Int64",
    "characters_shown": "Int64",
}
USAGE_TYPES = {
    "system": "str",
    "encoder": "str",
    "texts": "str",
    "n_texts": "Int64",
    "n_known": "Int64",
    "n_encoded": "Int64",
    "n_cut": "Int64",
    "tokens": "Int64",
    "cost": "Float64",
    "seconds": "Float64",
}

ROWS_AT_A_TIME = 8192
_QUERIES_AT_A_TIME = 256
_NOUNS = {"doc_id": "document", "query_id": "query"}
_MAGNITUDE = 0x7FFFFFFF
_POSITION_BITS = 31
_LAST_POSITION = (1 << _POSITION_BITS) - 1
_BELOW_EVERY_KEY = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class DenseRun:
    """What a dense system gives.

    Attributes
    ----------
    run
        The columns of `normastcu.collection.run_order.RUN_TYPES`.
    texts
        One row a document: the column that stood in for empty fields (missing where none did),
        the number of passages, how many of them the encoder saw the beginning only of, characters
        of the text, and how many the encoder saw (missing where there are several passages).
    usage
        What the encoding of the documents and of the queries took in this run.
    """

    run: pd.DataFrame
    texts: pd.DataFrame
    usage: pd.DataFrame


def run_dense(
    system: DenseSystem,
    documents: pd.DataFrame,
    queries: pd.DataFrame,
    store: VectorStore,
    *,
    depth: int = 1000,
    credentials: Mapping[str, object] | None = None,
    console: Console | None = None,
) -> DenseRun:
    """Encode what is not yet encoded, and rank the documents for every query.

    Parameters
    ----------
    system
        Encoder, fields, passages.
    documents : DataFrame
        `doc_id` and the fields.
    queries : DataFrame
        `query_id`, `text`.
    store
        Vectors of earlier runs; new ones are added.
    depth
        How many documents of a query are kept.
    credentials
        Entry name to the key of a service.
    console
        Where the progress is drawn if it is a terminal.

    Raises
    ------
    RetrievalError
        See `normastcu.retrieval.encoding.encode_texts`; a field is no column.
    """
    texts = document_texts(documents, system.fields)
    # In the order in which documents of equal score come.
    texts = texts.sort_values("doc_id", ascending=False, key=_as_objects, ignore_index=True)
    passages = split_texts(texts, system.passages)
    plan = plan_encoder(system.encoder, texts["text"].tolist(), credentials or {})
    vectors = store.of(plan.identity)
    with LazyEncoder(plan) as encoder:

        def encode(ids: str, frame: pd.DataFrame, prefix: str) -> Encoding:
            sent = [prefix + text for text in frame["text"]]
            labels = [f"{_NOUNS[ids]} {one!r}" for one in frame[ids]]
            return encode_texts(encoder, sent, labels, vectors, console)

        of_documents = encode("doc_id", passages, plan.document_prefix)
        of_queries = encode("query_id", queries, plan.query_prefix)
    starts = first_passages(passages["doc_id"])
    positions, scores = search(of_queries.vectors, of_documents.vectors, depth, starts=starts)
    return DenseRun(
        run=_run(system.name, queries["query_id"], texts["doc_id"], positions, scores),
        texts=_texts(system, texts, passages, of_documents, len(plan.document_prefix), starts),
        usage=_usage(system, {"documents": of_documents, "queries": of_queries}),
    )


class Vectors(Protocol):
    """Vectors of half precision in rows, each of length 1 or 0."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of rows, and the length of one."""
        ...

    def __getitem__(self, rows: slice, /) -> Float16Array:
        """Return some of the rows."""
        ...


def search(
    queries: Vectors,
    documents: Vectors,
    depth: int,
    *,
    starts: npt.ArrayLike | None = None,
    rows_at_a_time: int = ROWS_AT_A_TIME,
) -> tuple[IntArray, Float32Array]:
    """Find the documents with the highest cosine for each query.

    Parameters
    ----------
    queries : shape (queries, length)
        Their vectors.
    documents : shape (passages, length)
        Those of the documents' passages, the passages of a document together.
    depth
        How many documents of a query are found.
    starts : array_like of int, shape (documents,), optional
        The row of each document's first passage; its best passage's cosine is its own. Every row
        is a document unless given.
    rows_at_a_time
        How many rows are held in double precision; it changes no result.

    Returns
    -------
    tuple of ndarray, each of shape (queries, at most depth)
        Positions of documents, and cosines in single precision: descending, equal ones by
        ascending position. A vector 0 has the cosine 0 with all others.

    Examples
    --------
    >>> documents = np.array([[1, 0], [0, 1], [0, 0]], np.float16)
    >>> search(np.array([[0, 1]], np.float16), documents, 2)
    (array([[1, 0]]), array([[1., 0.]], dtype=float32))
    """
    n_rows = documents.shape[0]
    first = np.arange(n_rows) if starts is None else np.asarray(starts, np.int64)
    best = np.full((queries.shape[0], min(depth, len(first))), _BELOW_EVERY_KEY)
    for a, b in _blocks(first, n_rows, rows_at_a_time):
        end = first[b] if b < len(first) else n_rows
        block = documents[slice(first[a], end)].astype(np.float64)
        norms = _norms(block)
        for chunk in _slices(queries.shape[0], _QUERIES_AT_A_TIME):
            cosines = _cosines(queries[chunk].astype(np.float64), block, norms)
            keys = _keys(best_scores(cosines, first[a:b] - first[a]), np.arange(a, b))
            together = np.concatenate([best[chunk], keys], axis=1)
            cut = together.shape[1] - best.shape[1]
            best[chunk] = np.partition(together, cut, axis=1)[:, cut:]
    best = -np.sort(-best, axis=1)
    return _LAST_POSITION - (best & _LAST_POSITION), _scores(best >> _POSITION_BITS)


def _blocks(first: IntArray, n_rows: int, at_a_time: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents whose rows are at most so many, or one document."""
    ends = np.append(first[1:], n_rows)
    a = 0
    while a < len(first):
        b = max(int(np.searchsorted(ends, first[a] + at_a_time, side="right")), a + 1)
        yield a, b
        a = b


def _slices(n: int, at_a_time: int) -> Iterator[slice]:
    return (slice(a, min(a + at_a_time, n)) for a in range(0, n, at_a_time))


def _norms(vectors: Float64Array) -> Float64Array:
    norms: Float64Array = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return norms


def _cosines(queries: Float64Array, documents: Float64Array, norms: Float64Array) -> Float32Array:
    lengths = _norms(queries)[:, None] * norms
    cosines = np.divide(
        queries @ documents.T, lengths, out=np.zeros_like(lengths), where=lengths > 0
    )
    return cosines.astype(np.float32)


def _keys(scores: Float32Array, positions: IntArray) -> IntArray:
    """Return numbers that ascend with the score and, where it is equal, descend with position."""
    bits = scores.view(np.int32).astype(np.int64)
    place = np.where(bits < 0, -(bits & _MAGNITUDE), bits)
    keys: IntArray = (place << _POSITION_BITS) | (_LAST_POSITION - positions)
    return keys


def _scores(places: IntArray) -> Float32Array:
    """Return the scores of `_keys`."""
    magnitude = np.abs(places).astype(np.int32).view(np.float32)
    return np.where(places < 0, -magnitude, magnitude)


def _run(
    system: str,
    query_ids: "pd.Series[str]",
    doc_ids: "pd.Series[str]",
    positions: IntArray,
    scores: Float32Array,
) -> pd.DataFrame:
    queries = np.repeat(query_ids.to_numpy(dtype=object), positions.shape[1])
    documents = doc_ids.to_numpy(dtype=object)[positions.ravel()]
    return ranked_frame(system, queries, documents, scores.ravel())


def _texts(
    system: DenseSystem,
    texts: pd.DataFrame,
    passages: pd.DataFrame,
    encoding: Encoding,
    n_prefix: int,
    starts: npt.NDArray[np.intp],
) -> pd.DataFrame:
    shown = np.maximum(encoding.vectors.shown - n_prefix, 0)
    cut = shown < passages["text"].str.len().to_numpy()
    n_passages = np.diff(np.append(starts, len(passages)))
    columns = {
        "system": [system.name] * len(texts),
        "doc_id": texts["doc_id"],
        "fallback": texts["fallback"],
        "n_passages": n_passages,
        "n_cut": np.add.reduceat(cut.astype(np.int64), starts) if len(starts) else [],
        "characters": texts["text"].str.len(),
        "characters_shown": pd.Series(shown[starts], dtype="Int64").where(n_passages == 1),
    }
    frame = pd.DataFrame(columns).astype(TEXTS_TYPES)
    return frame.sort_values("doc_id", key=_as_objects, ignore_index=True)


def _usage(system: DenseSystem, encodings: Mapping[str, Encoding]) -> pd.DataFrame:
    rows = [
        {"system": system.name, "encoder": system.encoder.name, "texts": texts}
        | {name: value for name, value in vars(encoding).items() if name in USAGE_TYPES}
        for texts, encoding in encodings.items()
    ]
    return typed_frame(rows, USAGE_TYPES)


def _as_objects(ids: "pd.Series[str]") -> "pd.Series[str]":
    return ids.astype(object)
