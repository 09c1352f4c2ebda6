"""Further documents that people find for a query: judged by who suggested them, and nobody else."""

from typing import Any

from sqlalchemy import Connection

from normastcu.annotation.answers import check_grade, check_length, check_submission_id
from normastcu.annotation.campaign import require_open
from normastcu.annotation.database import FIRST, Record, change, now, one, rows, scalar, storable
from normastcu.annotation.errors import AnnotationError, NotAssignedError, NotSuggestibleError
from normastcu.annotation.people import require_person
from normastcu.annotation.records import Suggestion

_INSERT = """INSERT INTO suggestions
    (person, query, document, source, grade, reason, at, submission_id)
    VALUES (:person, :query, :document, :source, :grade, :reason, :at, :submission_id)"""
_SUGGESTIONS = """SELECT q.query_id, d.doc_id, d.title, s.grade, s.reason, s.at
    FROM suggestions s JOIN queries q ON q.id = s.query JOIN documents d ON d.id = s.document"""
_LATEST = """NOT EXISTS (SELECT 1 FROM suggestions l WHERE l.person = s.person
    AND l.query = s.query AND l.document = s.document AND l.id > s.id)"""


def suggest(
    connection: Connection,
    person_id: int,
    query_id: str,
    doc_id: str,
    *,
    grade: int,
    reason: str,
    submission_id: str,
) -> Suggestion:
    """Store a suggestion, once for each submission; a second one of a document replaces the first.

    Raises
    ------
    AnnotationError
        The query is not this person's, the document is unknown or in the query's pool already
        (the message does not tell which: others judge it), the grade is off the scale, the reason
        too long, or the campaign closed.
    """
    check_submission_id(submission_id)
    require_person(connection, person_id)
    known = _submitted(connection, person_id, submission_id)
    if known is None:
        require_open(connection)
        check_grade(connection, grade)
        check_length(reason, "reason")
        store_suggestion(
            connection,
            person=person_id,
            query=_query_of(connection, person_id, query_id),
            document=_document_outside_pool(connection, query_id, doc_id),
            source="screen",
            grade=grade,
            reason=storable(reason),
            submission_id=submission_id,
        )
        known = _submitted(connection, person_id, submission_id)
    assert known is not None
    stored = Suggestion(*known)
    if (stored.query_id, stored.doc_id, stored.grade, stored.reason) != (
        query_id,
        doc_id,
        grade,
        storable(reason),
    ):
        raise AnnotationError(
            f"The submission {submission_id} was stored already with another suggestion. Reload "
            "the page and suggest again."
        )
    return stored


def suggestions_of(connection: Connection, person_id: int, query_id: str) -> list[Suggestion]:
    """Return what a person suggested for a query, each document once, the latest last."""
    found = rows(
        connection,
        f"{_SUGGESTIONS} WHERE s.person = :person AND q.query_id = :query_id AND {_LATEST}"
        " ORDER BY s.id",
        person=person_id,
        query_id=storable(query_id),
    )
    return [Suggestion(*row) for row in found]


def store_suggestion(connection: Connection, **values: Any) -> None:
    """Append a suggestion that was checked."""
    change(connection, _INSERT, at=now(), **values)


def _submitted(connection: Connection, person_id: int, submission_id: str) -> Record | None:
    return one(
        connection,
        f"{_SUGGESTIONS} WHERE s.person = :person AND s.submission_id = :submission_id",
        person=person_id,
        submission_id=submission_id,
    )


def _query_of(connection: Connection, person_id: int, query_id: str) -> int:
    found = scalar(
        connection,
        "SELECT q.id FROM queries q JOIN orders o ON o.query = q.id AND o.person = :person"
        " WHERE q.query_id = :query_id",
        person=person_id,
        query_id=storable(query_id),
    )
    if found is None:
        raise NotAssignedError(
            "This query is not one of yours, so that nothing can be suggested for it."
        )
    return int(found)


def _document_outside_pool(connection: Connection, query_id: str, doc_id: str) -> int:
    document = scalar(
        connection, "SELECT id FROM documents WHERE doc_id = :doc_id", doc_id=storable(doc_id)
    )
    if document is None:
        raise NotSuggestibleError
    pooled = scalar(
        connection,
        "SELECT 1 FROM pairs p JOIN queries q ON q.id = p.query"
        " WHERE q.query_id = :query_id AND p.document = :document AND p.round = :round",
        query_id=query_id,
        document=document,
        round=FIRST,
    )
    if pooled:
        raise NotSuggestibleError
    return int(document)
