"""A second look: disputed pairs shown again, blind, in a round of their own."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from normastcu.annotation.assignment import Pair
from normastcu.annotation.campaign import read_settings, require_open
from normastcu.annotation.database import ADJUDICATION, change_many, rows, scalar
from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.orders import Pairs, distribute, ordered_pairs, write_order
from normastcu.annotation.people import named_person, read_person

_KNOWN = """SELECT q.query_id, d.doc_id FROM pairs p
    JOIN queries q ON q.id = p.query JOIN documents d ON d.id = p.document
    UNION SELECT q.query_id, d.doc_id FROM suggestions s
    JOIN queries q ON q.id = s.query JOIN documents d ON d.id = s.document"""


def start_adjudication(connection: Connection, names: Sequence[str], pairs: Iterable[Pair]) -> int:
    """Show pairs again to chosen people; return how many tasks that added.

    A task that was added before is not added twice. What the people answered to these pairs in
    the first round stays stored and counts as the settings say, but they can't reach it any more.

    Raises
    ------
    AnnotationError
        A person or a pair is unknown, a person's link was revoked, nobody or nothing was chosen, or
        the campaign is closed.
    """
    read_settings(connection)
    require_open(connection)
    chosen = list(dict.fromkeys(pairs))
    people = [_chosen_person(connection, name) for name in dict.fromkeys(names)]
    if not chosen or not people:
        raise AnnotationError("Choose at least one pair and one person for the adjudication.")
    _check_known(connection, chosen)
    _store_pairs(connection, chosen)
    stored = Pairs(connection, ADJUDICATION)
    before = _n_tasks(connection)
    for person_id in people:
        given = ordered_pairs(connection, person_id, ADJUDICATION).values()
        write_order(connection, person_id, stored, dict.fromkeys([*given, *chosen]))
    distribute(connection)
    return _n_tasks(connection) - before


def _chosen_person(connection: Connection, name: str) -> int:
    person_id = int(named_person(connection, name).id)
    if read_person(connection, person_id) is None:
        raise AnnotationError(
            f"The personal link of {name!r} was revoked, so that they can't judge the pairs again. "
            "Choose somebody else, or make a new link with `kedro annotate assessors --renew "
            f"{name}`."
        )
    return person_id


def _check_known(connection: Connection, chosen: Sequence[Pair]) -> None:
    known = {tuple(row) for row in rows(connection, _KNOWN)}
    unknown = [pair for pair in chosen if pair not in known]
    if unknown:
        query_id, doc_id = unknown[0]
        raise AnnotationError(
            f"{len(unknown)} of the chosen pairs are not of this campaign, the first: document "
            f"{doc_id!r} for query {query_id!r}. Choose from the disputed pairs."
        )


def _store_pairs(connection: Connection, chosen: Sequence[Pair]) -> None:
    change_many(
        connection,
        "INSERT INTO pairs (query, document, round) SELECT q.id, d.id, :round"
        " FROM queries q, documents d WHERE q.query_id = :query_id AND d.doc_id = :doc_id"
        " ON CONFLICT (query, document, round) DO NOTHING",
        [
            {"query_id": query_id, "doc_id": doc_id, "round": ADJUDICATION}
            for query_id, doc_id in chosen
        ],
    )


def _n_tasks(connection: Connection) -> int:
    found = scalar(
        connection,
        "SELECT coalesce(sum(n_pairs), 0) FROM orders WHERE round = :round",
        round=ADJUDICATION,
    )
    return int(found)
