"""Answers: given, changed, taken back; the history keeps them all."""

import math
from collections.abc import Collection
from typing import Any, get_args

from sqlalchemy import Connection

from normastcu.annotation.campaign import read_settings, require_open
from normastcu.annotation.database import Record, change, now, one, scalar, storable
from normastcu.annotation.errors import AnnotationError, AnswerChangedError, NotAssignedError
from normastcu.annotation.people import require_person
from normastcu.annotation.records import Answer, Choice, Task
from normastcu.annotation.tasks import as_answer, order_of, read_task

MOST_COMMENT_CHARACTERS = 5_000
MOST_ID_CHARACTERS = 100
Event = dict[str, Any]

_ANSWERED = ("grade", "unknown")
_INSERT = """INSERT INTO events (person, pair, kind, source, choice, grade, comment, seconds, at,
    submission_id, undoes) VALUES (:person, :pair, :kind, :source, :choice, :grade, :comment,
    :seconds, :at, :submission_id, :undoes)"""
_LAST_CHANGE = """SELECT e.id FROM events e WHERE e.person = :person AND e.kind = 'answer'
    AND e.source = 'screen' AND NOT EXISTS (SELECT 1 FROM events u WHERE u.undoes = e.id)
    ORDER BY e.id DESC LIMIT 1"""
_OWN_ANSWER = """SELECT e.id, e.pair,
    EXISTS (SELECT 1 FROM events u WHERE u.undoes = e.id) AS taken_back
    FROM events e WHERE e.id = :event AND e.person = :person AND e.kind = 'answer'
    AND e.source = 'screen'"""
_STANDING = """SELECT e.id, e.choice FROM events e WHERE e.person = :person AND e.pair = :pair
    AND e.kind = 'answer' AND NOT EXISTS (SELECT 1 FROM events u WHERE u.undoes = e.id)
    ORDER BY e.id DESC LIMIT 1"""
_CURRENT = """SELECT e.*, e.id AS event FROM current c JOIN events e ON e.id = c.event
    WHERE c.person = :person AND c.pair = :pair"""


def give_answer(
    connection: Connection,
    person_id: int,
    pair_id: int,
    *,
    choice: Choice,
    grade: int | None,
    comment: str,
    seconds: float,
    submission_id: str,
    based_on: int | None = None,
    replaces: Collection[str] = (),
) -> Answer:
    """Store an answer, once for each submission; return it as it was stored.

    Parameters
    ----------
    based_on
        The number of the answer that the person saw when they gave this one, 0 for none; None
        where it may take the place of any other.
    replaces
        Earlier submissions of the person's for the pair that this one takes the place of, whether
        or not they arrived.

    Raises
    ------
    AnswerChangedError
        What counts is neither what the person saw, nor one of `replaces`, nor this same answer.
    AnnotationError
        The pair is not this person's, the campaign is closed, the grade is off the scale, the
        comment is too long, or the submission came before with another answer.
    """
    check_submission_id(submission_id)
    event: Event = {
        "person": person_id,
        "pair": pair_id,
        "kind": "answer",
        "source": "screen",
        "choice": choice,
        "grade": grade,
        "comment": storable(comment),
        "seconds": seconds,
        "at": now(),
        "submission_id": submission_id,
        "undoes": None,
    }
    require_person(connection, person_id)
    if known := _submitted(connection, person_id, submission_id):
        _check_same(known, event)
        return as_answer(known)
    require_open(connection)
    order = order_of(connection, person_id, pair_id)
    if order is None:
        raise NotAssignedError("This pair is not one of yours, so that it can't be answered.")
    _check_answer(connection, event)
    if based_on is not None:
        _check_basis(connection, event, based_on, replaces)
    number = store_event(connection, event, order.id)
    return Answer(choice, grade, event["comment"], float(seconds), event["at"], number)


def last_change(connection: Connection, person_id: int) -> int | None:
    """Return the event of a person's last answer on the screen that was not taken back yet."""
    found: int | None = scalar(connection, _LAST_CHANGE, person=person_id)
    return found


def undo(connection: Connection, person_id: int, event_id: int | None) -> Task | None:
    """Take back an answer of a person; return its pair, also where it was taken back already.

    What counted before it counts again; where a newer answer was imported, that one goes on
    counting. None where there is nothing to take back: answers that were imported, and pairs that
    the person now sees in the adjudication, stay as they are.
    """
    require_person(connection, person_id)
    require_open(connection)
    answer = one(connection, _OWN_ANSWER, person=person_id, event=event_id)
    order = None if answer is None else order_of(connection, person_id, answer.pair)
    if answer is None or order is None:
        return None
    values = {"person": person_id, "pair": answer.pair}
    if not answer.taken_back:
        _take_back(connection, answer.id, order.id, **values)
    return read_task(connection, person_id, answer.pair)


def store_event(connection: Connection, event: Event, order_id: int | None) -> int:
    """Append an answer that was checked, and let it count; return its number in the history.

    Parameters
    ----------
    order_id
        The row of `orders` whose counts follow; None where the pair is in none yet.
    """
    values = {"person": event["person"], "pair": event["pair"]}
    before = one(connection, _CURRENT, **values)
    number = change(connection, _INSERT, **event)
    _make_current(connection, number, **values)
    if order_id is not None:
        _count(connection, order_id, before.choice if before else None, event["choice"])
    return number


def check_submission_id(submission_id: str) -> None:
    """Raise for an empty or oversized id of a submission."""
    if not 0 < len(submission_id) <= MOST_ID_CHARACTERS or storable(submission_id) != submission_id:
        raise AnnotationError(
            f"A submission needs an id of 1 to {MOST_ID_CHARACTERS} characters, so that it is "
            "stored once however often it is sent. Reload the page."
        )


def check_length(text: str, what: str) -> None:
    """Raise for a text that is too long."""
    if len(text) > MOST_COMMENT_CHARACTERS:
        raise AnnotationError(
            f"The {what} has {len(text):,} characters; at most {MOST_COMMENT_CHARACTERS:,} are "
            "kept. Shorten it."
        )


def check_grade(connection: Connection, grade: int | None) -> None:
    """Raise for a grade that is not on the scale."""
    values = read_settings(connection).scale.values
    if isinstance(grade, bool) or grade not in values:
        raise AnnotationError(
            f"{grade!r} is no grade of the scale. Choose one of {', '.join(map(str, values))}."
        )


def _submitted(connection: Connection, person_id: int, submission_id: str) -> Record | None:
    return one(
        connection,
        "SELECT *, id AS event FROM events"
        " WHERE person = :person AND submission_id = :submission_id",
        person=person_id,
        submission_id=submission_id,
    )


def _check_same(known: Record, event: Event) -> None:
    if not _is_same(known, event):
        raise AnnotationError(
            f"The submission {event['submission_id']} was stored already with another answer. "
            "Reload the page and answer again."
        )


def _is_same(known: Record, event: Event) -> bool:
    names = ("pair", "choice", "grade", "comment")
    return all(getattr(known, name) == event[name] for name in names)


def _check_basis(
    connection: Connection, event: Event, based_on: int, replaces: Collection[str]
) -> None:
    current = one(connection, _CURRENT, person=event["person"], pair=event["pair"])
    if current is None:
        if based_on != 0:
            raise AnswerChangedError(None)
    elif not (
        current.event == based_on or current.submission_id in replaces or _is_same(current, event)
    ):
        raise AnswerChangedError(as_answer(current))


def _check_answer(connection: Connection, event: Event) -> None:
    choices = get_args(Choice)
    if event["choice"] not in choices:
        raise AnnotationError(
            f"{event['choice']!r} is no answer. Choose one of {', '.join(choices)}."
        )
    if event["choice"] == "grade":
        check_grade(connection, event["grade"])
    elif event["grade"] is not None:
        raise AnnotationError(f"The answer {event['choice']!r} has no grade. Leave the grade out.")
    check_length(event["comment"], "comment")
    if not (math.isfinite(event["seconds"]) and event["seconds"] >= 0):
        raise AnnotationError(
            f"{event['seconds']} is no time: seconds are a number from 0. Reload the page."
        )


def _take_back(
    connection: Connection, event_id: int, order_id: int, *, person: int, pair: int
) -> None:
    values = {"person": person, "pair": pair}
    current = one(connection, _CURRENT, **values)
    undoing = dict.fromkeys(("choice", "grade", "submission_id")) | {
        "kind": "undo",
        "source": "screen",
        "comment": "",
        "seconds": 0.0,
        "at": now(),
        "undoes": event_id,
    }
    change(connection, _INSERT, **values, **undoing)
    if current is not None and current.id == event_id:
        _fall_back(connection, order_id, current.choice, **values)


def _fall_back(
    connection: Connection, order_id: int, before: str, *, person: int, pair: int
) -> None:
    """Let the newest answer that stands count in place of one that was taken back."""
    standing = one(connection, _STANDING, person=person, pair=pair)
    if standing is None:
        change(
            connection,
            "DELETE FROM current WHERE person = :person AND pair = :pair",
            person=person,
            pair=pair,
        )
    else:
        _make_current(connection, standing.id, person=person, pair=pair)
    _count(connection, order_id, before, standing.choice if standing else None)


def _make_current(connection: Connection, event_id: int, *, person: int, pair: int) -> None:
    change(
        connection,
        "INSERT INTO current (person, pair, event) VALUES (:person, :pair, :event)"
        " ON CONFLICT (person, pair) DO UPDATE SET event = :event",
        person=person,
        pair=pair,
        event=event_id,
    )


def _count(connection: Connection, order_id: int, before: str | None, after: str | None) -> None:
    """Let the counts of a query follow a change of one answer."""
    change(
        connection,
        "UPDATE orders SET n_answered = n_answered + :answered, n_skipped = n_skipped + :skipped"
        " WHERE id = :id",
        answered=(after in _ANSWERED) - (before in _ANSWERED),
        skipped=(after == "skipped") - (before == "skipped"),
        id=order_id,
    )
