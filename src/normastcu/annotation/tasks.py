"""The pairs that one person is to judge, in that person's order."""

import json
from collections.abc import Sequence

from sqlalchemy import Connection

from normastcu.annotation.campaign import ROUND_NAMES, ROUND_NUMBERS
from normastcu.annotation.database import FIRST, Record, is_row_id, one, rows, scalar, storable
from normastcu.annotation.records import Answer, QueryProgress, Round, RoundProgress, Task

_ORDER = "SELECT o.*, q.query_id, q.text FROM orders o JOIN queries q ON q.id = o.query"
_OPEN = "o.n_pairs > o.n_answered + o.n_skipped"
_CURRENT = """SELECT d.doc_id, e.id AS event, e.choice, e.grade, e.comment, e.seconds, e.at
    FROM pairs p JOIN documents d ON d.id = p.document
    LEFT JOIN current c ON c.person = :person AND c.pair = p.id
    LEFT JOIN events e ON e.id = c.event"""
_PROGRESS_HERE = """SELECT q.query_id, q.text, o.position, o.n_pairs, o.n_answered, o.n_skipped,
    o.first_pair, coalesce(s.n, 0), CASE o.round WHEN :first THEN 'first' ELSE 'adjudication' END
    FROM orders o JOIN queries q ON q.id = o.query LEFT JOIN (
        SELECT query, count(DISTINCT document) AS n FROM suggestions WHERE person = :person
        GROUP BY query) s ON s.query = o.query AND o.round = :first
    WHERE o.person = :person {part} ORDER BY o.round, o.position"""
_PROGRESS = _PROGRESS_HERE.format(part="")
_PROGRESS_PART = _PROGRESS_HERE.format(
    part="AND o.round = :round AND o.position BETWEEN :start AND :last"
)
_TOTALS = """SELECT round, count(*), sum(n_pairs), sum(n_answered), sum(n_skipped) FROM orders
    WHERE person = :person GROUP BY round ORDER BY round"""
_FIRST_SKIPPED = """SELECT j.value FROM
    (SELECT * FROM orders WHERE person = :person AND n_skipped > 0
        ORDER BY round, position LIMIT 1) o, json_each(o.pairs) j
    JOIN current c ON c.person = o.person AND c.pair = j.value
    JOIN events e ON e.id = c.event WHERE e.choice = 'skipped' ORDER BY j.key LIMIT 1"""
_FIRST_OPEN = """SELECT j.value FROM orders o, json_each(o.pairs) j
    LEFT JOIN current c ON c.person = o.person AND c.pair = j.value
    WHERE o.id = :order AND j.key > :key AND c.event IS NULL ORDER BY j.key LIMIT 1"""


def read_task(connection: Connection, person_id: int, pair_id: int) -> Task | None:
    """Return a pair of this person; None for any other number."""
    order = order_of(connection, person_id, pair_id)
    if order is None:
        return None
    row = one(connection, f"{_CURRENT} WHERE p.id = :pair", person=person_id, pair=pair_id)
    n_queries = _n_queries(connection, person_id, order.round)
    pairs = json.loads(order.pairs)
    return None if row is None else _task(order, n_queries, pairs, pair_id, row)


def query_tasks(
    connection: Connection, person_id: int, query_id: str, round_name: Round
) -> list[Task]:
    """Return this person's pairs of a query in one round."""
    order = _order_of_query(connection, person_id, query_id, round_name)
    if order is None:
        return []
    found = rows(
        connection,
        _CURRENT.replace("SELECT", "SELECT p.id,", 1)
        + " WHERE p.id IN (SELECT value FROM json_each(:pairs))",
        person=person_id,
        pairs=order.pairs,
    )
    by_pair = {row.id: row for row in found}
    n_queries = _n_queries(connection, person_id, order.round)
    pairs = json.loads(order.pairs)
    return [_task(order, n_queries, pairs, pair, by_pair[pair]) for pair in pairs]


def next_open(connection: Connection, person_id: int, after: int | None) -> Task | None:
    """Return the next pair without an answer after a pair, from the start again after the last."""
    start = None if after is None else order_of(connection, person_id, after)
    if start is None:
        pair = _first_open_from(connection, person_id, 0, 0)
    else:
        key = json.loads(start.pairs).index(after)
        pair = _first_open_in(connection, start.id, key)
        if pair is None:
            pair = _first_open_from(connection, person_id, start.round, start.position)
        if pair is None:
            pair = _first_open_from(connection, person_id, 0, 0)
    return None if pair is None else read_task(connection, person_id, pair)


def neighbours(
    connection: Connection, person_id: int, pair_id: int
) -> tuple[int | None, int | None]:
    """Return the pairs before and after one in this person's order; None at its ends."""
    order = order_of(connection, person_id, pair_id)
    if order is None:
        return None, None
    pairs = json.loads(order.pairs)
    key = pairs.index(pair_id)
    before = pairs[key - 1] if key else _edge(connection, order, "<", "DESC", -1)
    after = pairs[key + 1] if key + 1 < len(pairs) else _edge(connection, order, ">", "ASC", 0)
    return before, after


def progress(connection: Connection, person_id: int) -> list[QueryProgress]:
    """Return how far a person is with each query, in their order; the first round first."""
    found = rows(connection, _PROGRESS, person=person_id, first=FIRST)
    return [QueryProgress(*row) for row in found]


def progress_part(
    connection: Connection, person_id: int, round_name: Round, first: int, last: int
) -> list[QueryProgress]:
    """Return how far a person is with the queries at the positions from `first` to `last`."""
    found = rows(
        connection,
        _PROGRESS_PART,
        person=person_id,
        first=FIRST,
        round=ROUND_NUMBERS[round_name],
        start=first,
        last=last,
    )
    return [QueryProgress(*row) for row in found]


def total_progress(connection: Connection, person_id: int) -> dict[Round, RoundProgress]:
    """Return how far a person is with each round that they have pairs in."""
    found = rows(connection, _TOTALS, person=person_id)
    return {ROUND_NAMES[number]: RoundProgress(*counts) for number, *counts in found}


def first_skipped(connection: Connection, person_id: int) -> Task | None:
    """Return the first pair in a person's order that they put off."""
    pair = scalar(connection, _FIRST_SKIPPED, person=person_id)
    return None if pair is None else read_task(connection, person_id, pair)


def order_of(connection: Connection, person_id: int, pair_id: int) -> Record | None:
    """Return the row of `orders` in which a person has a pair, with its query; else None."""
    if not (is_row_id(person_id) and is_row_id(pair_id)):
        return None
    return one(
        connection,
        f"{_ORDER} JOIN pairs p ON p.query = o.query AND p.round = o.round"
        " WHERE o.person = :person AND p.id = :pair"
        " AND EXISTS (SELECT 1 FROM json_each(o.pairs) j WHERE j.value = p.id)",
        person=person_id,
        pair=pair_id,
    )


def as_answer(row: Record) -> Answer:
    """Return what a row of `events` says."""
    return Answer(row.choice, row.grade, row.comment, row.seconds, row.at, row.event)


def _order_of_query(
    connection: Connection, person_id: int, query_id: str, round_name: Round
) -> Record | None:
    return one(
        connection,
        f"{_ORDER} WHERE o.person = :person AND q.query_id = :query_id AND o.round = :round",
        person=person_id,
        query_id=storable(query_id),
        round=ROUND_NUMBERS[round_name],
    )


def _n_queries(connection: Connection, person_id: int, round_number: int) -> int:
    found = scalar(
        connection,
        "SELECT max(position) FROM orders WHERE person = :person AND round = :round",
        person=person_id,
        round=round_number,
    )
    return int(found)


def _first_open_from(
    connection: Connection, person_id: int, round_number: int, position: int
) -> int | None:
    """Return the first open pair of the queries after a position."""
    order = one(
        connection,
        f"SELECT o.id FROM orders o WHERE o.person = :person AND {_OPEN}"
        " AND (o.round, o.position) > (:round, :position) ORDER BY o.round, o.position LIMIT 1",
        person=person_id,
        round=round_number,
        position=position,
    )
    return None if order is None else _first_open_in(connection, order.id, -1)


def _first_open_in(connection: Connection, order_id: int, key: int) -> int | None:
    found: int | None = scalar(connection, _FIRST_OPEN, order=order_id, key=key)
    return found


def _edge(
    connection: Connection, order: Record, sign: str, direction: str, index: int
) -> int | None:
    """Return the nearest pair of the query before or after one."""
    found = one(
        connection,
        "SELECT pairs FROM orders WHERE person = :person"
        f" AND (round, position) {sign} (:round, :position)"
        f" ORDER BY round {direction}, position {direction} LIMIT 1",
        person=order.person,
        round=order.round,
        position=order.position,
    )
    return None if found is None else int(json.loads(found.pairs)[index])


def _task(
    order: Record, n_queries: int, pairs: Sequence[int], pair_id: int, current: Record
) -> Task:
    return Task(
        pair_id=pair_id,
        query_id=order.query_id,
        query_text=order.text,
        query_position=order.position,
        n_queries=n_queries,
        doc_id=current.doc_id,
        position=pairs.index(pair_id) + 1,
        n_documents=len(pairs),
        answer=None if current.choice is None else as_answer(current),
        round=ROUND_NAMES[order.round],
    )
