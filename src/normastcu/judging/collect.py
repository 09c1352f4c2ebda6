"""From stored replies to a judge's table: one grade a pair, and what it took."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, groupby

import pandas as pd

from normastcu.collection.frames import typed_frame
from normastcu.judging.plan import Plan
from normastcu.judging.prompts import Prompt
from normastcu.judging.replies import Reply, read_attempt
from normastcu.judging.requests import Attempt, Request

TABLE_TYPES = {
    "query_id": "str",
    "doc_id": "str",
    "annotator": "str",
    "grade": "Int64",
    "outcome": "str",
    "rationale": "str",
    "n_samples": "Int64",
    "n_graded": "Int64",
    "self_agreement": "Float64",
    "characters_shown": "Int64",
    "content_origin": "str",
    "model_returned": "str",
}
NOT_ASKED = "not asked"


def judge_table(
    plan: Plan,
    judge: str,
    prompt: Prompt,
    scale: Sequence[int],
    last: Mapping[str, Attempt],
) -> pd.DataFrame:
    """Read the grade of every planned pair out of the last attempts.

    Parameters
    ----------
    plan
        What the judge is asked: one request a pair and sample.
    judge
        Its name.
    prompt
        Its prompt, for the fields of the reply.
    scale
        All grades.
    last
        Key to the last attempt under it.

    Returns
    -------
    DataFrame
        One row a pair: query_id, doc_id, annotator, grade (median of the samples with a grade,
        ties to the lower; missing where there is none), outcome (``ok`` where there is a grade,
        else that of the first sample, or ``not asked``), rationale (of the first sample with that
        grade), n_samples, n_graded, self_agreement (share of the pairs of graded samples with the
        same grade; missing for fewer than two), characters_shown, content_origin,
        model_returned.
    """
    by_pair = groupby(plan.planned, key=lambda request: (request.query_id, request.doc_id))
    rows = [
        (*pair, judge, *_pair_result(list(requests), prompt, scale, last))
        for pair, requests in by_pair
    ]
    return typed_frame(rows, TABLE_TYPES)


def attempts_table(attempts: Iterable[Attempt]) -> pd.DataFrame:
    """Return replies made elsewhere as a table like that of `judge_table`, one attempt a pair."""
    rows = [
        {
            "query_id": one.query_id,
            "doc_id": one.doc_id,
            "annotator": one.judge,
            "grade": one.grade,
            "outcome": one.outcome,
            "rationale": one.rationale,
            "n_samples": 1,
            "n_graded": int(one.grade is not None),
            "model_returned": one.model_returned,
        }
        for one in attempts
    ]
    return typed_frame(rows, TABLE_TYPES)


def lower_median(grades: Sequence[int]) -> int:
    """Return the median grade; of two middle ones the lower.

    Examples
    --------
    >>> lower_median([2, 0, 1]), lower_median([2, 1]), lower_median([0, 0, 2, 2])
    (1, 1, 0)
    """
    return sorted(grades)[(len(grades) - 1) // 2]


def self_agreement(grades: Sequence[int]) -> float | None:
    """Return the share of the pairs of samples that got the same grade; None below two samples.

    Examples
    --------
    >>> self_agreement([2, 2, 1])
    0.3333333333333333
    """
    pairs = list(combinations(grades, 2))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def count_outcomes(table: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Count a judge's pairs by outcome: judge, outcome, n; ``ok`` is always there."""
    counts = Counter(table["outcome"])
    counts.setdefault("ok", 0)
    rows = [(judge, outcome, n) for outcome, n in sorted(counts.items())]
    return typed_frame(rows, {"judge": "str", "outcome": "str", "n": "Int64"})


def _pair_result(
    requests: Sequence[Request],
    prompt: Prompt,
    scale: Sequence[int],
    last: Mapping[str, Attempt],
) -> tuple[object, ...]:
    replies = [_reply(last.get(request.key), prompt, scale) for request in requests]
    grades = [reply.grade for reply in replies if reply is not None and reply.grade is not None]
    grade = lower_median(grades) if grades else None
    decisive = next(
        (n for n, reply in enumerate(replies) if reply is not None and reply.grade == grade), 0
    )
    reply, attempt = replies[decisive], last.get(requests[decisive].key)
    return (
        grade,
        reply.outcome if reply is not None else NOT_ASKED,
        reply.rationale if reply is not None else None,
        len(requests),
        len(grades),
        self_agreement(grades),
        attempt.characters_shown if attempt else None,
        requests[decisive].content_origin,
        attempt.model_returned if attempt else None,
    )


def _reply(attempt: Attempt | None, prompt: Prompt, scale: Sequence[int]) -> Reply | None:
    if attempt is None:
        return None
    return read_attempt(
        attempt, scale=scale, field=prompt.grade_field, rationale_field=prompt.rationale_field
    )
