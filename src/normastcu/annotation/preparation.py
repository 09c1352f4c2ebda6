"""Making a campaign of a pool: what is new comes in, what was judged stays."""

from collections.abc import Mapping

import pandas as pd
from sqlalchemy import Connection

from normastcu.annotation.assignment import Pair
from normastcu.annotation.database import FIRST, change_many, rows, scalar, storable
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.orders import Pairs


def store_queries(connection: Connection, pool: pd.DataFrame, queries: pd.DataFrame) -> None:
    """Bring in the queries of the pool.

    Raises
    ------
    AnnotationError
        The pool has a query that `queries` lacks, or a judged query has another text than before.
    """
    texts = dict(zip(queries["query_id"], queries["text"], strict=True))
    pooled = pool["query_id"].drop_duplicates()
    unknown = pooled[~pooled.isin(list(texts))]
    if len(unknown):
        raise AnnotationError(
            f"The pool has {len(unknown)} queries that the collection lacks, the first "
            f"{unknown.iloc[0]!r}. Make the pool again from the collection's queries."
        )
    known = {
        row.query_id: row.text for row in rows(connection, "SELECT query_id, text FROM queries")
    }
    for query_id in pooled:
        if query_id in known and known[query_id] != storable(texts[query_id]):
            _check_unjudged(connection, query_id)
    change_many(
        connection,
        "INSERT INTO queries (query_id, text) VALUES (:query_id, :text)"
        " ON CONFLICT (query_id) DO UPDATE SET text = :text",
        [{"query_id": query_id, "text": storable(texts[query_id])} for query_id in pooled],
    )


def store_pairs(connection: Connection, pool: pd.DataFrame) -> tuple[int, int, int]:
    """Bring in the pairs of the pool, withdraw those that left it and that nobody answered.

    Returns
    -------
    tuple of int
        Pairs that are new, that were withdrawn, and that were kept though they left the pool.

    Raises
    ------
    AnnotationError
        The pool has a document that the database lacks.
    """
    wanted = dict.fromkeys(zip(pool["query_id"], pool["doc_id"], strict=True))
    _check_documents(connection, wanted)
    known = Pairs(connection, FIRST).ids
    new = [pair for pair in wanted if pair not in known]
    change_many(
        connection,
        "INSERT INTO pairs (query, document, round) SELECT q.id, d.id, :round"
        " FROM queries q, documents d WHERE q.query_id = :query_id AND d.doc_id = :doc_id",
        [{"query_id": query, "doc_id": document, "round": FIRST} for query, document in new],
    )
    left = [known[pair] for pair in known if pair not in wanted]
    touched = {row.pair for row in rows(connection, "SELECT DISTINCT pair FROM events")}
    withdrawn = [pair for pair in left if pair not in touched]
    change_many(connection, "DELETE FROM pairs WHERE id = :id", [{"id": id_} for id_ in withdrawn])
    return len(new), len(withdrawn), len(left) - len(withdrawn)


def size(connection: Connection) -> tuple[int, int]:
    """Return the numbers of queries and of pairs in the first round."""
    found = rows(
        connection,
        "SELECT count(DISTINCT query) AS queries, count(*) AS pairs FROM pairs"
        " WHERE round = :round",
        round=FIRST,
    )
    return found[0].queries, found[0].pairs


def _check_unjudged(connection: Connection, query_id: str) -> None:
    judged = scalar(
        connection,
        "SELECT 1 FROM queries q WHERE query_id = :query_id AND ("
        " EXISTS (SELECT 1 FROM events e JOIN pairs p ON p.id = e.pair WHERE p.query = q.id)"
        " OR EXISTS (SELECT 1 FROM suggestions s WHERE s.query = q.id))",
        query_id=query_id,
    )
    if judged:
        raise AnnotationError(
            f"The query {query_id!r} has another text than the one that people have judged. Give "
            "the new text a query_id of its own, or keep the old text."
        )


def _check_documents(connection: Connection, wanted: Mapping[Pair, None]) -> None:
    known = {row.doc_id for row in rows(connection, "SELECT doc_id FROM documents")}
    unknown = [pair for pair in wanted if pair[1] not in known]
    if unknown:
        query_id, doc_id = unknown[0]
        raise AnnotationError(
            f"{len(unknown)} pairs of the pool are of documents that the collection lacks, the "
            f"first: document {doc_id!r} for query {query_id!r}. Add the documents to the corpus, "
            "or make the pool again."
        )
