"""What the administrator sees: progress, agreement so far, the most disputed pairs."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
from sqlalchemy import Connection

from normastcu.annotation.campaign import read_settings
from normastcu.annotation.database import ADJUDICATION, FIRST, now, plain_rows, rows
from normastcu.annotation.judgments import as_text, compact_judgments
from normastcu.annotation.preparation import size
from normastcu.annotation.records import (
    AssessorProgress,
    DisputedPair,
    Overview,
    PairwiseKappa,
    QueryOverview,
)
from normastcu.evaluation.agreement import (
    annotator_grades,
    coincidences_by_query,
    confusion_by_query,
    describe_alpha,
    describe_kappa,
    kappa,
    krippendorff_alpha,
    most_disputed,
    wide_grades,
)

MOST_DISPUTED = 100

_ASSESSORS = """SELECT n.id, n.name, n.revoked_at IS NOT NULL,
    coalesce(sum(o.n_pairs), 0), coalesce(sum(o.n_answered), 0), coalesce(sum(o.n_skipped), 0)
    FROM people n LEFT JOIN orders o ON o.person = n.id
    GROUP BY n.id HAVING n.role = 'assessor' OR count(o.id) ORDER BY n.name"""
_ANSWERS = """SELECT c.person, e.choice, e.source, e.seconds, count(*), max(e.at)
    FROM current c JOIN events e ON e.id = c.event GROUP BY 1, 2, 3, 4"""
# Answers of the first round that the adjudication hid are in no order any more.
_QUERIES = """WITH hidden AS (
        SELECT p.query, count(*) AS n, sum(e.choice = 'skipped') AS n_skipped
        FROM orders o, json_each(o.pairs) j JOIN pairs again ON again.id = j.value
        JOIN pairs p ON p.query = again.query AND p.document = again.document AND p.round = :first
        JOIN current c ON c.person = o.person AND c.pair = p.id JOIN events e ON e.id = c.event
        WHERE o.round = :again GROUP BY 1)
    SELECT q.query_id, q.text, sum(o.n_pairs) + ifnull(h.n, 0),
    sum(o.n_answered) + ifnull(h.n - h.n_skipped, 0), sum(o.n_skipped) + ifnull(h.n_skipped, 0),
    (SELECT count(*) FROM (SELECT DISTINCT s.person, s.document FROM suggestions s
        WHERE s.query = q.id))
    FROM queries q JOIN orders o ON o.query = q.id LEFT JOIN hidden h ON h.query = q.id
    GROUP BY q.id ORDER BY q.id"""
_SUGGESTED = """SELECT person, count(*) AS n FROM
    (SELECT DISTINCT person, query, document FROM suggestions) GROUP BY person"""
_AGAIN = """SELECT q.query_id, d.doc_id FROM pairs p JOIN queries q ON q.id = p.query
    JOIN documents d ON d.id = p.document WHERE p.round = :round"""


def read_overview(connection: Connection) -> Overview:
    """Return the state of the campaign; agreement is that of the first round."""
    computed_at = now()
    scale = read_settings(connection).scale.values
    n_queries, n_pairs = size(connection)
    judgments = compact_judgments(connection, "first").dropna(subset=["grade"])
    wide = wide_grades(judgments)
    alpha, undefined = _alpha(wide, scale)
    return Overview(
        computed_at=computed_at,
        n_pairs=n_pairs,
        n_queries=n_queries,
        assessors=_assessors(connection),
        queries=_queries(connection),
        kappas=tuple(_kappa(wide, scale, a, b) for a, b in combinations(wide.columns, 2)),
        alpha=alpha,
        alpha_undefined=undefined,
        disputed=_disputed(connection, _widest(judgments, wide)),
    )


def _assessors(connection: Connection) -> tuple[AssessorProgress, ...]:
    names = ["person", "choice", "source", "seconds", "n", "last"]
    answers = pd.DataFrame(plain_rows(connection, _ANSWERS), columns=names)
    by_person = dict(list(answers.groupby("person")))
    suggested = {row.person: row.n for row in rows(connection, _SUGGESTED)}
    found = []
    for id_, name, revoked, n_pairs, n_answered, n_skipped in rows(connection, _ASSESSORS):
        own = by_person.get(id_, answers.head(0))
        judged = own[own["choice"] != "skipped"]
        n_hidden = int(own["n"].sum()) - n_answered - n_skipped
        found.append(
            AssessorProgress(
                name=name,
                revoked=bool(revoked),
                n_pairs=n_pairs + n_hidden,
                n_answered=int(judged["n"].sum()),
                n_unknown=int(own.loc[own["choice"] == "unknown", "n"].sum()),
                n_skipped=int(own.loc[own["choice"] == "skipped", "n"].sum()),
                n_suggested=suggested.get(id_, 0),
                median_seconds=_median_seconds(judged[judged["source"] == "screen"]),
                last_answer_at=None if own.empty else str(own["last"].max()),
            )
        )
    return tuple(found)


def _queries(connection: Connection) -> tuple[QueryOverview, ...]:
    found = rows(connection, _QUERIES, first=FIRST, again=ADJUDICATION)
    return tuple(QueryOverview(*row) for row in found)


def _median_seconds(answers: pd.DataFrame) -> float | None:
    if answers.empty:
        return None
    return float(np.median(np.repeat(answers["seconds"], answers["n"])))


def _kappa(wide: pd.DataFrame, scale: tuple[int, ...], a: str, b: str) -> PairwiseKappa:
    confusion = confusion_by_query(
        annotator_grades(wide, a), annotator_grades(wide, b), _one_query(wide), scale, n_queries=1
    )[0]
    undefined, _ = describe_kappa(confusion, scale, (a, b))
    value = None if undefined else float(kappa(confusion, scale))
    return PairwiseKappa(a, b, int(confusion.sum()), value, undefined or "")


def _alpha(wide: pd.DataFrame, scale: tuple[int, ...]) -> tuple[float | None, str]:
    grades = wide.to_numpy(dtype=np.float64, na_value=np.nan)
    if not grades.size:
        return None, "no pair was graded by two annotators"
    sums = coincidences_by_query(grades, _one_query(wide), scale, n_queries=1)[0]
    undefined = describe_alpha(sums)
    return (None, undefined) if undefined else (float(krippendorff_alpha(sums, scale)), "")


def _one_query(wide: pd.DataFrame) -> list[int]:
    """Return the same query for every pair: only the sums over all queries are wanted."""
    return [0] * len(wide)


def _widest(judgments: pd.DataFrame, wide: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments of the pairs among which the most disputed ones are.

    Ordering a hundred thousand pairs would take seconds; those whose grades lie further apart, or
    as far but vary more, come before all others anyway.
    """
    ranges = (wide.max(axis=1) - wide.min(axis=1)).astype("float64")
    order = ranges + wide.astype("float64").var(axis=1, ddof=0).round(9) / (1 + ranges.max()) ** 2
    disputed = order[ranges > 0]
    if len(disputed) > MOST_DISPUTED:
        disputed = disputed[disputed >= disputed.nlargest(MOST_DISPUTED).iloc[-1]]
    pairs = pd.MultiIndex.from_frame(judgments[["query_id", "doc_id"]])
    return as_text(judgments[pairs.isin(disputed.index)])


def _disputed(connection: Connection, judgments: pd.DataFrame) -> tuple[DisputedPair, ...]:
    again = {tuple(row) for row in rows(connection, _AGAIN, round=ADJUDICATION)}
    worst = most_disputed(judgments, MOST_DISPUTED)
    titles = _titles(connection, list(worst["doc_id"]))
    return tuple(
        DisputedPair(
            query_id=pair["query_id"],
            doc_id=pair["doc_id"],
            title=titles[pair["doc_id"]],
            grades=pair["grades"],
            range=int(pair["range"]),
            given=pair["given"],
            in_adjudication=(pair["query_id"], pair["doc_id"]) in again,
        )
        for pair in worst.to_dict("records")
    )


def _titles(connection: Connection, doc_ids: list[str]) -> dict[str, str | None]:
    found = rows(
        connection,
        "SELECT doc_id, title FROM documents WHERE doc_id IN (SELECT value FROM json_each(:ids))",
        ids=json.dumps(doc_ids),
    )
    return {row.doc_id: row.title for row in found}
