"""Judgments as tables: what counts, everything that was answered, and judgments from elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Connection, text

from normastcu.annotation.answers import store_event
from normastcu.annotation.campaign import ROUND_NAMES, read_settings, require_open
from normastcu.annotation.database import ADJUDICATION, FIRST, now, one, rows, scalar, whole_numbers
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.orders import distribute
from normastcu.annotation.people import named_person
from normastcu.annotation.settings import Counting
from normastcu.annotation.suggestions import store_suggestion
from normastcu.annotation.tasks import order_of
from normastcu.collection.frames import typed_frame
from normastcu.collection.judgments import (
    JUDGMENT_TYPES,
    ORIGINS,
    check_annotators,
    read_assessor_judgments,
)
from normastcu.collection.settings import AssessorFormat
from normastcu.collection.sources import local_file

POOL, SUGGESTED = ORIGINS
_IMPORTED = "imported"
_PAIR = ["query_id", "doc_id"]

ANSWER_TYPES = dict.fromkeys(
    ("query_id", "doc_id", "annotator", "origin", "round", "source", "choice"), "str"
) | {
    "grade": "Int64",
    "comment": "str",
    "seconds": "Float64",
    "answered_at": "str",
    "counts": "bool",
}
"""Columns of `answers_table` and their types."""

# Every answer and suggestion with what became of it; an answer taken back does not stand.
_ANSWERS = """
    SELECT q.query_id, d.doc_id, n.name, 'pool', p.round, e.source, e.choice, e.grade, e.comment,
        CASE e.source WHEN 'screen' THEN e.seconds END, e.at, c.event IS NOT NULL
    FROM events e JOIN people n ON n.id = e.person JOIN pairs p ON p.id = e.pair
    JOIN queries q ON q.id = p.query JOIN documents d ON d.id = p.document
    LEFT JOIN current c ON c.event = e.id AND c.person = e.person AND c.pair = e.pair
    WHERE e.kind = 'answer' ORDER BY e.id"""
_SUGGESTIONS = """
    SELECT q.query_id, d.doc_id, n.name, 'suggested', 1, s.source,
        CASE WHEN s.grade IS NULL THEN 'unknown' ELSE 'grade' END, s.grade, s.reason, NULL, s.at,
        NOT EXISTS (SELECT 1 FROM suggestions l WHERE l.person = s.person AND l.query = s.query
            AND l.document = s.document AND l.id > s.id)
    FROM suggestions s JOIN people n ON n.id = s.person
    JOIN queries q ON q.id = s.query JOIN documents d ON d.id = s.document ORDER BY s.id"""
_STANDING = """
    SELECT p.query, p.document, c.person, ifnull(e.grade, -1) FROM current c
    JOIN events e ON e.id = c.event JOIN pairs p ON p.id = c.pair
    WHERE p.round = :round AND e.choice <> 'skipped'"""
_SUGGESTED = """
    SELECT s.query, s.document, s.person, ifnull(s.grade, -1) FROM suggestions s
    WHERE NOT EXISTS (SELECT 1 FROM suggestions l WHERE l.person = s.person
        AND l.query = s.query AND l.document = s.document AND l.id > s.id)"""


def judgments_table(connection: Connection, counts: Counting) -> pd.DataFrame:
    """Return the judgments that count: one for each person and pair that they judged.

    Parameters
    ----------
    counts
        ``first``: the first round; ``adjudicated``: where somebody graded a pair in the
        adjudication, the judgments of that round take the place of all of the first one's.

    Returns
    -------
    DataFrame
        query_id, doc_id, annotator, grade (missing: *don't know*), origin (``pool`` or
        ``suggested``), sorted by the first three. Skipped pairs are no judgments. A person's
        suggestion gives way to their answer, should its pair come into the pool later.
    """
    return as_text(compact_judgments(connection, counts))


def as_text(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return compact judgments with ids and names as text."""
    return judgments.astype(JUDGMENT_TYPES)


def compact_judgments(connection: Connection, counts: Counting) -> pd.DataFrame:
    """Return `judgments_table` with categories for ids and names: quick for millions."""
    table = _numbered(connection, FIRST)
    if counts == "adjudicated":
        table = _adjudicated(table, _numbered(connection, ADJUDICATION))
    named = {
        "query_id": _category(connection, "SELECT id, query_id FROM queries", table["query"]),
        "doc_id": _category(connection, "SELECT id, doc_id FROM documents", table["document"]),
        "annotator": _category(connection, "SELECT id, name FROM people", table["person"]),
    }
    compact = pd.DataFrame(named).assign(grade=table["grade"], origin=table["origin"])
    return compact.sort_values([*_PAIR, "annotator"], ignore_index=True)


def answers_table(connection: Connection) -> pd.DataFrame:
    """Return every answer and suggestion that was ever given, in the order of giving.

    Returns
    -------
    DataFrame
        query_id, doc_id, annotator, origin, round, source (``screen`` or ``imported``), choice
        (``grade``, ``unknown``, ``skipped``), grade, comment (of a suggestion: its reason),
        seconds (missing where nothing was measured), answered_at, and `counts`: whether this is
        the person's last word on the pair in that round.
    """
    return typed_frame(answer_records(connection), ANSWER_TYPES)


def answer_records(connection: Connection) -> Iterator[dict[str, Any]]:
    """Return the rows of `answers_table` one by one."""
    for statement in (_ANSWERS, _SUGGESTIONS):
        for row in connection.execute(text(statement)):
            values = dict(zip(ANSWER_TYPES, row, strict=True))
            changed = {"round": ROUND_NAMES[values["round"]], "counts": bool(values["counts"])}
            yield values | changed


def import_judgments(connection: Connection, path: Path) -> int:
    """Bring in judgments from a CSV or JSON lines, marked as imported; all or none.

    Returns
    -------
    int
        How many are new; those that a person gave already with the same grade are left alone.

    Raises
    ------
    AnnotationError
        A person or a pair is not of the campaign, or a person judged a pair differently.
    CollectionError
        The file can't be read, see `read_assessor_judgments`.
    """
    settings = read_settings(connection)
    require_open(connection)
    queries = [row.query_id for row in rows(connection, "SELECT query_id FROM queries")]
    imported = read_assessor_judgments(
        local_file(path), AssessorFormat(), settings.scale.values, queries
    )
    check_annotators(imported.files)
    people = {
        name: named_person(connection, name).id for name in imported.table["annotator"].unique()
    }
    n_new = 0
    for query_id, doc_id, name, grade, origin in imported.table.itertuples(index=False):
        judgment = {
            "where": f"{path}: {name} on document {doc_id!r} for query {query_id!r}",
            "person": people[name],
            "query_id": query_id,
            "doc_id": doc_id,
            "grade": None if pd.isna(grade) else int(grade),
        }
        store = _import_suggestion if origin == SUGGESTED else _import_answer
        n_new += store(connection, judgment)
    distribute(connection)
    return n_new


def _numbered(connection: Connection, round_number: int) -> pd.DataFrame:
    """Return the judgments of a round with the numbers of queries, documents and people."""
    names = ["query", "document", "person", "grade"]
    pooled = whole_numbers(connection, _STANDING, len(names), round=round_number)
    parts = [pd.DataFrame(pooled, columns=names).assign(origin=POOL)]
    if round_number == FIRST:
        suggested = whole_numbers(connection, _SUGGESTED, len(names))
        parts.append(pd.DataFrame(suggested, columns=names).assign(origin=SUGGESTED))
    table = pd.concat(parts).astype({"grade": "Int64", "origin": "str"})
    table["grade"] = table["grade"].mask(table["grade"] < 0)
    return table.drop_duplicates(names[:3], keep="first", ignore_index=True)


def _adjudicated(first: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    """Put the adjudication in the place of the first round, for the pairs graded in it."""
    decided = _pair_keys(again[again["grade"].notna()])
    again = again[_pair_keys(again).isin(decided)]
    # The adjudication knows no origin of its own: a suggested pair stays one.
    suggested = _pair_keys(first[first["origin"] == SUGGESTED])
    again = again.assign(origin=again["origin"].mask(_pair_keys(again).isin(suggested), SUGGESTED))
    return pd.concat([first[~_pair_keys(first).isin(decided)], again], ignore_index=True)


def _pair_keys(table: pd.DataFrame) -> pd.Series:
    return table["query"] * 2**32 + table["document"]


def _category(connection: Connection, names: str, numbers: pd.Series) -> Any:
    """Return the names of numbers as categories in the order of the alphabet."""
    by_name = sorted((name, number) for number, name in map(tuple, rows(connection, names)))
    codes = pd.Series(range(len(by_name)), index=[number for _, number in by_name], dtype="int64")
    categories = pd.Index([name for name, _ in by_name], dtype="str")
    return pd.Categorical.from_codes(codes.loc[numbers].to_numpy(), categories)


def _import_answer(connection: Connection, judgment: dict[str, Any]) -> bool:
    pair = scalar(
        connection,
        "SELECT p.id FROM pairs p JOIN queries q ON q.id = p.query"
        " JOIN documents d ON d.id = p.document"
        " WHERE q.query_id = :query_id AND d.doc_id = :doc_id AND p.round = 1",
        query_id=judgment["query_id"],
        doc_id=judgment["doc_id"],
    )
    if pair is None:
        raise AnnotationError(
            f"{judgment['where']}: the pair is not in the pool of the campaign. Add it to the "
            f"pool, or give the judgment the origin {SUGGESTED!r}. Nothing was imported."
        )
    before = one(
        connection,
        "SELECT e.choice, e.grade FROM current c JOIN events e ON e.id = c.event"
        " WHERE c.person = :person AND c.pair = :pair AND e.choice <> 'skipped'",
        person=judgment["person"],
        pair=pair,
    )
    if before is not None:
        _check_agrees(before.grade, judgment)
        return False
    grade = judgment["grade"]
    event = {
        "person": judgment["person"],
        "pair": pair,
        "kind": "answer",
        "source": _IMPORTED,
        "choice": "unknown" if grade is None else "grade",
        "grade": grade,
        "comment": "",
        "seconds": 0.0,
        "at": now(),
        "submission_id": None,
        "undoes": None,
    }
    order = order_of(connection, judgment["person"], pair)
    store_event(connection, event, None if order is None else order.id)
    return True


def _import_suggestion(connection: Connection, judgment: dict[str, Any]) -> bool:
    ids = one(
        connection,
        "SELECT q.id AS query, d.id AS document FROM queries q, documents d"
        " WHERE q.query_id = :query_id AND d.doc_id = :doc_id",
        query_id=judgment["query_id"],
        doc_id=judgment["doc_id"],
    )
    if ids is None:
        raise AnnotationError(
            f"{judgment['where']}: the document is not in the collection. Add it to the corpus "
            "and prepare the campaign again. Nothing was imported."
        )
    values = {"person": judgment["person"], "query": ids.query, "document": ids.document}
    before = one(
        connection,
        "SELECT grade FROM suggestions WHERE person = :person AND query = :query"
        " AND document = :document ORDER BY id DESC LIMIT 1",
        **values,
    )
    if before is not None:
        _check_agrees(before.grade, judgment)
        return False
    store_suggestion(
        connection,
        **values,
        source=_IMPORTED,
        grade=judgment["grade"],
        reason="",
        submission_id=f"{_IMPORTED} {judgment['query_id']} {judgment['doc_id']}",
    )
    return True


def _check_agrees(before: int | None, judgment: dict[str, Any]) -> None:
    if before != judgment["grade"]:
        words = ["don't know" if g is None else f"grade {g}" for g in (before, judgment["grade"])]
        raise AnnotationError(
            f"{judgment['where']}: the campaign has {words[0]} already, the file {words[1]}. Take "
            "the row out of the file, or change the answer on the screen. Nothing was imported."
        )
