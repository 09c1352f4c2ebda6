"""Which pairs each person has, and in which order: the table `orders`."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import Connection

from normastcu.annotation.assignment import Pair, assign, person_seed, shuffled
from normastcu.annotation.campaign import find_settings
from normastcu.annotation.database import (
    ADJUDICATION,
    FIRST,
    Record,
    change,
    change_many,
    plain_rows,
    rows,
)
from normastcu.annotation.settings import CampaignSettings

_INSERT = """INSERT INTO orders
    (person, round, position, query, n_pairs, n_answered, n_skipped, first_pair, pairs)
    VALUES (:person, :round, :position, :query, :n_pairs, :n_answered, :n_skipped, :first, :pairs)
"""


def distribute(connection: Connection, newcomers: Collection[str] | None = None) -> dict[str, int]:
    """Give the pairs of the first round to the assessors again; return how many each has.

    Parameters
    ----------
    newcomers
        Who has just come, where nothing else changed: if everybody judges every pair, only they
        are looked at.

    Notes
    -----
    A person keeps every pair that they answered or skipped. A pair that a person sees in the
    adjudication leaves their first round, so that they judge it blind and once. Who has the same
    pairs as before keeps the same order, which is not written again.
    """
    settings = find_settings(connection)
    if settings is None:
        return {}
    _give_seeds(connection, settings)
    pairs = Pairs(connection, FIRST)
    people = rows(connection, "SELECT id, name, role, revoked_at FROM people ORDER BY name")
    if newcomers is not None and settings.annotation.overlap is None:
        people = [person for person in people if person.name in newcomers]
    given = _given(connection, settings, pairs, people)
    for person in people:
        again = set(ordered_pairs(connection, person.id, ADJUDICATION).values())
        own = {pairs.ids[pair]: pair for pair in given.get(person.name, ()) if pair not in again}
        if own.keys() != _ordered_numbers(connection, person.id):
            write_order(connection, person.id, pairs, own.values())
    return {name: len(given[name]) for name in sorted(_active(people))}


class Pairs:
    """The stored pairs of a round, by query_id and doc_id."""

    def __init__(self, connection: Connection, round_number: int) -> None:
        self.round = round_number
        self.ids: dict[Pair, int] = {}
        self.queries: dict[str, int] = {}
        for pair, query, query_id, doc_id in plain_rows(connection, _PAIRS, round=round_number):
            self.ids[query_id, doc_id] = pair
            self.queries[query_id] = query


def ordered_pairs(connection: Connection, person_id: int, round_number: int) -> dict[int, Pair]:
    """Return the pairs that a person has in a round, by their numbers."""
    found = rows(connection, _ORDERED, person=person_id, round=round_number)
    return {row.id: (row.query_id, row.doc_id) for row in found}


def write_order(
    connection: Connection, person_id: int, pairs: Pairs, given: Iterable[Pair]
) -> None:
    """Store one person's pairs of a round in their own order, in place of what was there."""
    by_query = defaultdict(list)
    for query_id, doc_id in given:
        by_query[query_id].append(doc_id)
    seed = rows(connection, "SELECT seed FROM people WHERE id = :id", id=person_id)[0].seed
    choices = _choices(connection, person_id)
    orders = []
    for position, query_id in enumerate(shuffled(by_query, seed, str(pairs.round)), start=1):
        doc_ids = shuffled(by_query[query_id], seed, str(pairs.round), query_id)
        ids = [pairs.ids[query_id, doc_id] for doc_id in doc_ids]
        answers = [choices[pair] for pair in ids if pair in choices]
        orders.append(
            {
                "person": person_id,
                "round": pairs.round,
                "position": position,
                "query": pairs.queries[query_id],
                "n_pairs": len(ids),
                "n_answered": sum(choice != "skipped" for choice in answers),
                "n_skipped": answers.count("skipped"),
                "first": ids[0],
                "pairs": json.dumps(ids, separators=(",", ":")),
            }
        )
    change(
        connection,
        "DELETE FROM orders WHERE person = :person AND round = :round",
        person=person_id,
        round=pairs.round,
    )
    change_many(connection, _INSERT, orders)


def _given(
    connection: Connection, settings: CampaignSettings, pairs: Pairs, people: Sequence[Record]
) -> dict[str, list[Pair]]:
    active = _active(people)
    overlap = settings.annotation.overlap
    # Where every assessor gets every pair anyway, only what the others answered matters.
    keepers = people if overlap else [p for p in people if p.name not in active]
    answered = _answered_by(connection, {person.id: person.name for person in keepers})
    return assign(pairs.ids, active, overlap, settings.annotation.seed, answered)


def _active(people: Sequence[Record]) -> list[str]:
    return [p.name for p in people if p.role == "assessor" and p.revoked_at is None]


def _ordered_numbers(connection: Connection, person_id: int) -> set[int]:
    """Return the numbers in a person's first round, also of pairs that were withdrawn since."""
    found = plain_rows(
        connection,
        "SELECT j.value FROM orders o, json_each(o.pairs) j"
        " WHERE o.person = :person AND o.round = :round",
        person=person_id,
        round=FIRST,
    )
    return {value for (value,) in found}


def _give_seeds(connection: Connection, settings: CampaignSettings) -> None:
    """Store the seed of everybody's order; an order of another seed goes."""
    seeds = [
        {"id": person.id, "seed": person_seed(settings.annotation.seed, person.name)}
        for person in rows(connection, "SELECT id, name FROM people")
    ]
    for statement in (
        "DELETE FROM orders WHERE person IN (SELECT id FROM people"
        " WHERE id = :id AND seed IS NOT :seed)",
        "UPDATE people SET seed = :seed WHERE id = :id AND seed IS NOT :seed",
    ):
        change_many(connection, statement, seeds)


def _answered_by(connection: Connection, names: Mapping[int, str]) -> dict[Pair, set[str]]:
    answered = defaultdict(set)
    found = plain_rows(connection, _ANSWERED, round=FIRST, people=json.dumps(list(names)))
    for query_id, doc_id, person in found:
        answered[query_id, doc_id].add(names[person])
    return answered


def _choices(connection: Connection, person_id: int) -> dict[int, str]:
    found = rows(
        connection,
        "SELECT c.pair, e.choice FROM current c JOIN events e ON e.id = c.event"
        " WHERE c.person = :person",
        person=person_id,
    )
    return {row.pair: row.choice for row in found}


_PAIRS = """SELECT p.id, q.id, q.query_id, d.doc_id FROM pairs p
    JOIN queries q ON q.id = p.query JOIN documents d ON d.id = p.document
    WHERE p.round = :round"""
_ANSWERED = """SELECT q.query_id, d.doc_id, c.person FROM current c JOIN pairs p ON p.id = c.pair
    JOIN queries q ON q.id = p.query JOIN documents d ON d.id = p.document
    WHERE p.round = :round AND c.person IN (SELECT value FROM json_each(:people))"""
_ORDERED = """SELECT p.id, q.query_id, d.doc_id FROM orders o, json_each(o.pairs) j
    JOIN pairs p ON p.id = j.value
    JOIN queries q ON q.id = p.query JOIN documents d ON d.id = p.document
    WHERE o.person = :person AND o.round = :round"""
