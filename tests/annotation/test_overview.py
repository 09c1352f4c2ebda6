"""What the administrator sees, held against other tools."""

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from tests.annotation.campaigns import PAIRS, grade

GRADES = {"A": [2, 1, 0, 0, 2], "B": [2, 0, 1, 0, 0]}


@pytest.fixture
def judged(campaign):
    for name, person in (("A", campaign.a), ("B", campaign.b)):
        for pair, value in zip(PAIRS, GRADES[name], strict=True):
            grade(campaign.store, person, pair, value)
    return campaign


def test_agreement_is_that_of_other_tools(judged):
    overview = judged.store.overview()
    assert (overview.n_queries, overview.n_pairs) == (2, 5)
    (kappa,) = overview.kappas
    expected = cohen_kappa_score(GRADES["A"], GRADES["B"], weights="quadratic")
    assert (kappa.annotator_a, kappa.annotator_b, kappa.n, kappa.undefined) == ("A", "B", 5, "")
    assert kappa.kappa_quadratic == pytest.approx(expected)
    alpha = krippendorff.alpha(np.array(list(GRADES.values())), level_of_measurement="ordinal")
    assert overview.alpha == pytest.approx(alpha)


def test_the_most_disputed_pair_comes_first(judged):
    disputed = judged.store.overview().disputed
    assert [(pair.query_id, pair.doc_id, pair.range) for pair in disputed] == [
        ("q2", "d4", 2),
        ("q1", "d2", 1),
        ("q1", "d3", 1),
    ]
    assert (disputed[0].grades, disputed[0].given, disputed[0].title) == ("0 2", "A 2, B 0", None)
    assert not disputed[0].in_adjudication
    judged.store.start_adjudication(["A"], [("q2", "d4")])
    assert judged.store.overview().disputed[0].in_adjudication


def test_progress_tells_unknown_skipped_and_suggested_apart(campaign):
    grade(campaign.store, campaign.a, ("q1", "d1"), 1)
    grade(campaign.store, campaign.a, ("q1", "d2"), "unknown")
    grade(campaign.store, campaign.a, ("q1", "d3"), "skipped")
    campaign.store.suggest(campaign.a, "q1", "d5", grade=1, reason="", submission_id="s")
    overview = campaign.store.overview()
    a, b = overview.assessors
    assert (a.name, a.n_pairs, a.n_answered, a.n_unknown, a.n_skipped, a.n_suggested) == (
        "A",
        5,
        2,
        1,
        1,
        1,
    )
    assert a.median_seconds == 1.5
    assert (b.n_answered, b.median_seconds, b.last_answer_at) == (0, None, None)
    q1, q2 = overview.queries
    assert (q1.n_wanted, q1.n_answered, q1.n_skipped, q1.n_suggested) == (6, 2, 1, 1)
    assert (q2.n_wanted, q2.n_answered) == (4, 0)


def test_answers_that_the_adjudication_hid_still_count_as_work(judged):
    before = judged.store.overview().assessors[0]
    judged.store.start_adjudication(["A"], [("q2", "d4")])
    after = judged.store.overview().assessors[0]
    assert (before.n_pairs, before.n_answered) == (5, 5)
    assert (after.n_pairs, after.n_answered) == (6, 5)


def by_query(store):
    return {
        row.query_id: (row.n_wanted, row.n_answered, row.n_skipped)
        for row in store.overview().queries
    }


def test_the_adjudication_takes_nothing_from_the_progress_by_query(campaign):
    store = campaign.store
    grade(store, campaign.a, ("q1", "d1"), 2)
    grade(store, campaign.b, ("q1", "d1"), 0)
    grade(store, campaign.a, ("q1", "d2"), "skipped")
    assert by_query(store) == {"q1": (6, 2, 1), "q2": (4, 0, 0)}

    store.start_adjudication(["A"], [("q1", "d1"), ("q1", "d2"), ("q1", "d3")])
    # Of the three shown again, the graded and the skipped one count as first-round work as well.
    assert by_query(store) == {"q1": (8, 2, 1), "q2": (4, 0, 0)}
    grade(store, campaign.a, ("q1", "d1"), 1, "again", "adjudication")
    store.start_adjudication(["B"], [("q1", "d1"), ("q2", "d4")])
    assert by_query(store) == {"q1": (9, 3, 1), "q2": (4, 0, 0)}

    overview = store.overview()
    for name in ("n_answered", "n_skipped"):
        of_queries = sum(getattr(row, name) for row in overview.queries)
        assert of_queries == sum(getattr(row, name) for row in overview.assessors)
    assert sum(row.n_wanted for row in overview.queries) == sum(
        row.n_pairs for row in overview.assessors
    )


def test_what_is_undefined_says_why(campaign):
    overview = campaign.store.overview()
    assert (overview.alpha, overview.alpha_undefined) == (
        None,
        "no pair was graded by two annotators",
    )
    assert (overview.kappas, overview.disputed) == ((), ())
    for person in (campaign.a, campaign.b):
        grade(campaign.store, person, ("q1", "d1"), 0)
    (kappa,) = campaign.store.overview().kappas
    assert (kappa.n, kappa.kappa_quadratic) == (1, None)
    assert kappa.undefined == "both annotators gave only the grade 0"
