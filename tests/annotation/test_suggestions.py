"""Further documents: suggested, graded and seen by one person."""

import pytest
from tests.annotation.campaigns import PAIRS, grade, id_of, prepare

from normastcu.annotation.errors import AnnotationError, NotAssignedError


def suggest(campaign, **changes):
    given = {"query_id": "q1", "doc_id": "d5", "grade": 2, "reason": "cita", "submission_id": "s"}
    given |= changes
    return campaign.store.suggest(campaign.a, given.pop("query_id"), given.pop("doc_id"), **given)


def rows(table):
    return table.astype(object).to_numpy().tolist()


def test_a_suggestion_is_its_givers_alone(campaign):
    given = suggest(campaign)
    assert (given.title, given.grade, given.reason) == ("Instrução sobre diárias", 2, "cita")
    assert campaign.store.suggestions(campaign.a, "q1") == [given]
    assert campaign.store.suggestions(campaign.a, "q2") == []
    assert campaign.store.suggestions(campaign.b, "q1") == []
    progress = {query.query_id: query for query in campaign.store.progress(campaign.a)}
    assert (progress["q1"].n_suggested, progress["q1"].n_documents) == (1, 3)


def test_its_judgment_is_of_its_own_origin(campaign):
    suggest(campaign)
    grade(campaign.store, campaign.b, ("q1", "d1"), 0)
    assert rows(campaign.store.judgments()) == [
        ["q1", "d1", "B", 0, "pool"],
        ["q1", "d5", "A", 2, "suggested"],
    ]


def test_a_second_suggestion_of_a_document_replaces_the_first(campaign):
    suggest(campaign)
    second = suggest(campaign, grade=1, submission_id="t")
    assert campaign.store.suggestions(campaign.a, "q1") == [second]
    assert list(campaign.store.answers()["counts"]) == [False, True]


def test_a_suggestion_sent_twice_is_stored_once(campaign):
    assert suggest(campaign) == suggest(campaign)
    assert len(campaign.store.answers()) == 1
    with pytest.raises(AnnotationError, match="stored already with another suggestion"):
        suggest(campaign, grade=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"doc_id": "d1"}, "can't be suggested for this query"),
        ({"doc_id": "d9"}, "can't be suggested for this query"),
        ({"grade": 7}, "7 is no grade"),
        ({"reason": "x" * 5001}, "reason has 5,001 characters"),
        ({"submission_id": ""}, "needs an id"),
    ],
)
def test_a_wrong_suggestion_is_refused(campaign, wrong, message):
    with pytest.raises(AnnotationError, match=message):
        suggest(campaign, **wrong)
    assert campaign.store.answers().empty


def test_nothing_is_suggested_for_a_query_of_others(campaign):
    with pytest.raises(NotAssignedError):
        suggest(campaign, query_id="q9")


def test_a_suggested_pair_that_comes_into_the_pool_is_judged_by_all(campaign):
    suggest(campaign)
    prepare(campaign.store, [*PAIRS, ("q1", "d5")])
    assert rows(campaign.store.judgments()) == [["q1", "d5", "A", 2, "suggested"]]
    grade(campaign.store, campaign.b, ("q1", "d5"), 1)
    grade(campaign.store, campaign.a, ("q1", "d5"), 0)
    assert rows(campaign.store.judgments()) == [
        ["q1", "d5", "A", 0, "pool"],
        ["q1", "d5", "B", 1, "pool"],
    ]


def test_an_assessor_without_pairs_of_a_query_suggests_nothing_for_it(store):
    store.add_people(["A", "B"])
    prepare(store, [("q1", "d1")], overlap=1)
    idle = next(name for name in "AB" if store.next_open(id_of(store, name)) is None)
    with pytest.raises(NotAssignedError):
        store.suggest(id_of(store, idle), "q1", "d5", grade=1, reason="", submission_id="s")
