"""A judge's table out of stored attempts."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.asking import PROMPT, SCALE, attempt, request

from normastcu.judging.collect import count_outcomes, judge_table, lower_median, self_agreement
from normastcu.judging.plan import Estimate, Plan

NOTHING = Estimate(0, 0, 0, 0, 0.0, 0.0)


def table(*requests, attempts=()):
    """Collect what the attempts say about the requests."""
    plan = Plan(tuple(requests), (), (), NOTHING)
    last = {one.key: one for one in attempts}
    return judge_table(plan, "tiny_simple", PROMPT, SCALE.values, last)


def replied(to, content, **changes):
    """Return the attempt in which a request got this reply."""
    return attempt(key=to.key, reply=content, **changes)


def test_one_row_a_pair_with_what_the_reply_says_today():
    """The stored outcome is not believed: a better reader needs no new call."""
    one, two = request(1), request(2)
    stored = [
        replied(one, '{"justificativa": "sim", "score": 2}', outcome="unparseable", grade=None),
        replied(two, "nota 2", outcome="ok", grade=2),
    ]
    collected = table(one, two, attempts=stored)
    assert collected["doc_id"].tolist() == ["d1", "d2"]
    assert collected["outcome"].tolist() == ["ok", "unparseable"]
    assert collected["grade"].tolist() == [2, pd.NA]
    assert collected["rationale"].iloc[0] == "sim"
    assert collected["annotator"].unique().tolist() == ["tiny_simple"]


@pytest.mark.parametrize("outcome", ["error", "too_long"])
def test_what_brought_no_reply_keeps_its_outcome(outcome):
    one = request(1)
    collected = table(one, attempts=[attempt(key=one.key, outcome=outcome, reply=None, grade=None)])
    assert collected["outcome"].tolist() == [outcome]
    assert collected["grade"].isna().all()


def test_a_pair_that_was_never_asked_is_said_so():
    collected = table(request(1))
    assert collected["outcome"].tolist() == ["not asked"]
    assert collected["grade"].isna().all()


def test_two_documents_with_one_text_share_a_reply():
    one = request(1)
    twin = request(1, query_id=one.query_id, doc_id="other", key=one.key)
    collected = table(one, twin, attempts=[replied(one, '{"score": 1}')])
    assert collected["doc_id"].tolist() == ["d1", "other"]
    assert collected["grade"].tolist() == [1, 1]


def test_samples_give_the_lower_median_and_the_agreement_with_itself():
    samples = [request(1, sample=n, key=f"{n}") for n in range(4)]
    replies = ['{"score": 2}', '{"score": 0}', '{"score": 2}', "?"]
    attempts = [replied(to, text) for to, text in zip(samples, replies, strict=True)]
    row = table(*samples, attempts=attempts).iloc[0]
    assert (row["grade"], row["outcome"], row["n_samples"], row["n_graded"]) == (2, "ok", 4, 3)
    # Of the pairs (2, 0), (2, 2), (0, 2) one agrees.
    assert row["self_agreement"] == pytest.approx(1 / 3)


def test_outcomes_are_counted_and_ok_is_always_there():
    frame = pd.DataFrame({"outcome": ["refused", "error", "refused"]})
    counts = count_outcomes(frame, "x").set_index("outcome")["n"]
    assert counts.to_dict() == {"error": 1, "ok": 0, "refused": 2}


@given(st.lists(st.integers(0, 3), min_size=1))
def test_the_median_is_one_of_the_grades_with_at_most_half_below_and_above(grades):
    median = lower_median(grades)
    assert median in grades
    assert sum(grade < median for grade in grades) < len(grades) / 2
    assert sum(grade > median for grade in grades) <= len(grades) / 2


@given(st.lists(st.integers(0, 3), min_size=2), st.randoms())
def test_self_agreement_does_not_depend_on_the_order(grades, random):
    shuffled = random.sample(grades, len(grades))
    assert self_agreement(shuffled) == self_agreement(grades)
    assert (self_agreement(grades) == 1) == (len(set(grades)) == 1)
