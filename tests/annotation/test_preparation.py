"""Making a campaign, and bringing it up to date while people judge."""

import pytest
from tests.annotation.campaigns import (
    PAIRS,
    campaign_settings,
    documents,
    grade,
    id_of,
    pool,
    prepare,
    queries,
    tasks_of,
)

from normastcu.annotation.errors import AnnotationError


def pairs_of(store, person_id):
    return {(task.query_id, task.doc_id) for task in tasks_of(store, person_id)}


def test_a_campaign_holds_what_was_given(campaign):
    found = campaign.store.campaign()
    assert (found.collection, found.closed) == ("tiny", False)
    assert found.scale.values == (0, 1, 2)
    assert found.definitions[1] == {"en": "means partly", "pt": "partly"}
    assert found.unknown_definition["pt"] == "não sei"


def test_preparing_again_changes_nothing(campaign):
    before = tasks_of(campaign.store, campaign.a)
    prepared = prepare(campaign.store)
    assert (prepared.n_new_pairs, prepared.n_withdrawn, prepared.n_changed_documents) == (0, 0, 0)
    assert tasks_of(campaign.store, campaign.a) == before


def test_documents_may_come_in_chunks(store):
    chunks = (documents().iloc[start : start + 2] for start in range(0, 5, 2))
    assert store.prepare(pool(), queries(), chunks, campaign_settings()).n_documents == 5


def test_new_pairs_keep_the_order_of_the_others(campaign):
    before = [task.pair_id for task in tasks_of(campaign.store, campaign.a)]
    prepared = prepare(campaign.store, [*PAIRS, ("q1", "d5"), ("q2", "d2")])
    after = [task.pair_id for task in tasks_of(campaign.store, campaign.a)]
    assert (prepared.n_new_pairs, len(after)) == (2, 7)
    assert [pair for pair in after if pair in before] == before


def test_a_pair_that_left_the_pool_goes_unless_somebody_answered_it(campaign):
    grade(campaign.store, campaign.b, ("q1", "d2"), 1)
    prepared = prepare(campaign.store, [("q1", "d1")])
    assert (prepared.n_withdrawn, prepared.n_kept, prepared.n_pairs) == (3, 1, 2)
    assert pairs_of(campaign.store, campaign.a) == {("q1", "d1"), ("q1", "d2")}


def test_the_number_of_a_withdrawn_pair_is_never_used_again(campaign):
    known = {task.pair_id for task in tasks_of(campaign.store, campaign.a)}
    prepare(campaign.store, [("q1", "d1")])
    prepare(campaign.store)
    returned = {
        task.pair_id for task in tasks_of(campaign.store, campaign.a) if task.doc_id != "d1"
    }
    assert not returned & known


def test_an_assessor_who_comes_later_takes_open_pairs_only(store):
    store.add_person("A")
    prepare(store, overlap=1)
    a = id_of(store, "A")
    judged = [("q1", "d1"), ("q1", "d2"), ("q2", "d4")]
    for pair in judged:
        grade(store, a, pair, 1)
    store.add_person("B")
    assert pairs_of(store, a) == set(judged)
    assert pairs_of(store, id_of(store, "B")) == {("q1", "d3"), ("q2", "d1")}


def test_open_pairs_of_a_revoked_assessor_go_to_the_others(store):
    store.add_people(["A", "B"])
    prepare(store, overlap=1)
    a, b = id_of(store, "A"), id_of(store, "B")
    task = store.next_open(a)
    grade(store, a, (task.query_id, task.doc_id), 2)
    store.revoke("A")
    assert pairs_of(store, b) == set(PAIRS) - {(task.query_id, task.doc_id)}


def test_too_few_assessors_are_counted(store):
    store.add_person("A")
    assert prepare(store, overlap=3).short_of == 2
    store.add_people(["B", "C"])
    assert prepare(store, overlap=3).short_of == 0


def test_an_unknown_query_or_document_of_the_pool_is_an_error(store):
    with pytest.raises(
        AnnotationError, match="1 queries that the collection lacks, the first 'q9'"
    ):
        prepare(store, [("q9", "d1")])
    with pytest.raises(AnnotationError, match="first: document 'd9' for query 'q1'"):
        prepare(store, [("q1", "d9")])
    with pytest.raises(AnnotationError, match="no pairs"):
        prepare(store, [])


def test_a_campaign_keeps_its_collection_and_once_judged_its_scale_seed_and_queries(campaign):
    other = campaign_settings().model_copy(update={"collection": "other"})
    with pytest.raises(AnnotationError, match="collection 'tiny', not on 'other'"):
        campaign.store.prepare(pool(), queries(), documents(), other)
    prepare(campaign.store, seed=8)
    grade(campaign.store, campaign.a, ("q1", "d1"), 1)
    with pytest.raises(AnnotationError, match="order of seed 8"):
        prepare(campaign.store, seed=7)
    with pytest.raises(AnnotationError, match=r"grades \[0, 1, 2\]"):
        prepare(campaign.store, seed=8, grades=2)
    with pytest.raises(AnnotationError, match="'q1' has another text"):
        prepare(campaign.store, seed=8, texts={"q1": "outra", "q2": "diárias"})
    prepare(campaign.store, seed=8, texts={"q1": "licença capacitação", "q2": "nova"})
    assert campaign.store.query_tasks(campaign.a, "q2")[0].query_text == "nova"


def test_a_changed_document_is_shown_and_found_as_it_is_now(campaign):
    table = documents()
    table.loc[table["doc_id"] == "d1", "title"] = "Acórdão"
    prepared = campaign.store.prepare(pool(), queries(), table, campaign_settings())
    assert prepared.n_changed_documents == 1
    assert campaign.store.document("d1").title == "Acórdão"
    assert [hit.doc_id for hit in campaign.store.search("acordao")] == ["d1"]
    assert [hit.doc_id for hit in campaign.store.search("portaria")] == ["d3"]


def test_every_grade_of_the_scale_is_defined_in_the_same_languages():
    annotation = campaign_settings().annotation.model_dump()
    with pytest.raises(ValueError, match="need a definition each"):
        campaign_settings().model_validate(
            campaign_settings().model_dump()
            | {"annotation": annotation | {"definitions": {0: {"en": "", "pt": ""}}}}
        )
    with pytest.raises(ValueError, match="define all in the same languages"):
        campaign_settings().annotation.model_validate(
            annotation | {"unknown_definition": {"en": "x"}}
        )
