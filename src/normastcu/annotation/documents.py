"""The documents of the collection in the database: brought in, shown, searched."""

import json
import re
import unicodedata
from collections.abc import Iterable
from html import escape

import pandas as pd
from sqlalchemy import Connection

from normastcu.annotation.database import change_many, one, rows, storable
from normastcu.annotation.records import DocumentView, Hit

_COLUMNS = (
    "doc_id",
    "title",
    "subject",
    "number",
    "type",
    "status",
    "in_force_since",
    "html",
    "text",
)
_SEARCHED = ("doc_id", "title", "subject", "number")
_MOST_WORDS = 16
_MOST_HITS = 100
_MOST_RANKED = 5_000
_HITS = """SELECT f.doc_id, f.title, f.subject FROM (
        SELECT id, score FROM (
            SELECT rowid AS id, rank AS score FROM found WHERE found MATCH :expression LIMIT :most
        ) ORDER BY score, id LIMIT :limit
    ) best JOIN found f ON f.rowid = best.id ORDER BY best.score, best.id"""
_WORD = re.compile(r"[^\W_]+")


def store_documents(connection: Connection, documents: pd.DataFrame) -> int:
    """Bring in documents, new ones and known ones; return how many known ones have changed.

    Parameters
    ----------
    documents
        Columns `doc_id`, `title`, `subject`, `type`, `status`, `in_force_since`, `html`, `text`,
        and `number` and `year` where there are any; missing cells are NA.
    """
    table = _stored_columns(documents)
    records = [dict(zip(_COLUMNS, row, strict=True)) for row in table]
    known = {
        row.doc_id: tuple(row)
        for row in rows(
            connection,
            f"SELECT {', '.join(_COLUMNS)} FROM documents"
            " WHERE doc_id IN (SELECT value FROM json_each(:ids))",
            ids=json.dumps([record["doc_id"] for record in records]),
        )
    }
    new = [record for record in records if record["doc_id"] not in known]
    changed = [
        record
        for record in records
        if record["doc_id"] in known and known[record["doc_id"]] != tuple(record.values())
    ]
    _insert(connection, new)
    _replace(connection, changed)
    return len(changed)


def index_for_search(connection: Connection) -> None:
    """Make every stored document findable."""
    connection.exec_driver_sql("DELETE FROM found")
    names = ", ".join(_SEARCHED)
    connection.exec_driver_sql(
        f"INSERT INTO found (rowid, {names}) SELECT id, {names} FROM documents ORDER BY id"
    )


def read_document(connection: Connection, doc_id: str) -> DocumentView | None:
    """Return a document as it is shown, None for an unknown one."""
    row = one(
        connection,
        "SELECT doc_id, title, subject, type, status, in_force_since, html, text FROM documents"
        " WHERE doc_id = :doc_id",
        doc_id=storable(doc_id),
    )
    if row is None:
        return None
    values = dict(row._mapping)
    return DocumentView(**values | {"html": values["html"] or _paragraphs(values["text"])})


def search_documents(connection: Connection, text: str, limit: int) -> list[Hit]:
    """Find documents by the words of their titles, subjects, numbers and ids.

    Every word counts, the last also as the beginning of one; where no document has them all, any
    of them does. Best first by BM25, of the first `_MOST_RANKED` documents found: what is in more
    tells them hardly apart. No text is an error: it is taken as words, never as syntax.
    """
    words = _WORD.findall(unicodedata.normalize("NFC", text))[:_MOST_WORDS]
    if not words:
        return []
    phrases = [f'"{word}"' for word in words[:-1]] + [f'"{words[-1]}"*']
    wanted = max(1, min(limit, _MOST_HITS))
    return _hits(connection, " AND ".join(phrases), wanted) or _hits(
        connection, " OR ".join(phrases), wanted
    )


def _hits(connection: Connection, expression: str, limit: int) -> list[Hit]:
    found = rows(
        connection,
        _HITS,
        expression=expression,
        most=_MOST_RANKED,
        limit=limit,
    )
    return [Hit(*row) for row in found]


def _stored_columns(documents: pd.DataFrame) -> Iterable[tuple[str | None, ...]]:
    table = documents.reindex(columns=[*_COLUMNS, "year"]).astype("object")
    numbers = table["number"].str.cat(table["year"], sep="/").fillna(table["number"])
    table = table.assign(number=numbers)[list(_COLUMNS)]
    for row in table.itertuples(index=False, name=None):
        yield tuple(None if pd.isna(cell) else storable(str(cell)) for cell in row)


def _insert(connection: Connection, records: list[dict[str, str | None]]) -> None:
    names, values = ", ".join(_COLUMNS), ", ".join(f":{name}" for name in _COLUMNS)
    change_many(connection, f"INSERT INTO documents ({names}) VALUES ({values})", records)
    names = ", ".join(_SEARCHED)
    change_many(
        connection,
        f"INSERT INTO found (rowid, {names}) SELECT id, {names} FROM documents"
        " WHERE doc_id = :doc_id",
        records,
    )


def _replace(connection: Connection, records: list[dict[str, str | None]]) -> None:
    settings = ", ".join(f"{name} = :{name}" for name in _COLUMNS)
    change_many(connection, f"UPDATE documents SET {settings} WHERE doc_id = :doc_id", records)
    settings = ", ".join(f"{name} = :{name}" for name in _SEARCHED)
    where = "WHERE rowid = (SELECT id FROM documents WHERE doc_id = :doc_id)"
    change_many(connection, f"UPDATE found SET {settings} {where}", records)


def _paragraphs(text: str | None) -> str | None:
    """Return plain text as markup, one paragraph a line."""
    if text is None:
        return None
    lines = [escape(line) for line in text.splitlines() if line.strip()]
    return "".join(f"<p>{line}</p>\n" for line in lines)
