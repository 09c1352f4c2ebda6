"""A person's pairs: their order, the way through them, and nobody else's."""

import pytest
from tests.annotation.campaigns import PAIRS, grade, id_of, prepare, tasks_of

from normastcu.annotation.records import RoundProgress


def answer_all(store, person_id, tasks, value=1):
    for task in tasks:
        grade(store, person_id, (task.query_id, task.doc_id), value)


def test_positions_count_in_the_persons_own_order(campaign):
    tasks = tasks_of(campaign.store, campaign.a)
    assert {(task.query_id, task.doc_id) for task in tasks} == set(PAIRS)
    assert [task.query_position for task in tasks] in ([1, 1, 1, 2, 2], [1, 1, 2, 2, 2])
    assert {task.n_queries for task in tasks} == {2}
    for task in tasks:
        assert task.n_documents == {"q1": 3, "q2": 2}[task.query_id]
        assert campaign.store.task(campaign.a, task.pair_id) == task


def test_two_people_have_orders_of_their_own(store):
    store.add_people([f"A{number}" for number in range(8)])
    prepare(store)
    people = [id_of(store, f"A{number}") for number in range(8)]
    orders = {tuple(task.pair_id for task in tasks_of(store, person)) for person in people}
    assert len(orders) > 1
    seeds = {person.seed for person in store.people()}
    assert len(seeds) == 8


def test_next_open_goes_through_all_pairs_in_order_and_ends(campaign):
    order = [task.pair_id for task in tasks_of(campaign.store, campaign.a)]
    seen = []
    task = campaign.store.next_open(campaign.a)
    while task is not None:
        seen.append(task.pair_id)
        grade(campaign.store, campaign.a, (task.query_id, task.doc_id), 1)
        task = campaign.store.next_open(campaign.a, after=task.pair_id)
    assert seen == order


def test_next_open_passes_over_answers_and_skips_and_wraps_around(campaign):
    first, second, third, fourth, fifth = tasks_of(campaign.store, campaign.a)
    answer_all(campaign.store, campaign.a, [second], "unknown")
    answer_all(campaign.store, campaign.a, [fourth], "skipped")
    after = {
        task.pair_id: campaign.store.next_open(campaign.a, task.pair_id).pair_id
        for task in (first, second, third, fourth, fifth)
    }
    assert after == {
        first.pair_id: third.pair_id,
        second.pair_id: third.pair_id,
        third.pair_id: fifth.pair_id,
        fourth.pair_id: fifth.pair_id,
        fifth.pair_id: first.pair_id,
    }
    answer_all(campaign.store, campaign.a, [first, third, fifth])
    assert campaign.store.next_open(campaign.a) is None


def test_neighbours_lead_through_the_whole_order(campaign):
    order = [task.pair_id for task in tasks_of(campaign.store, campaign.a)]
    expected = list(zip([None, *order], [*order[1:], None], strict=False))
    assert [campaign.store.neighbours(campaign.a, pair) for pair in order] == expected


def test_progress_counts_answers_and_skips_apart(campaign):
    grade(campaign.store, campaign.a, ("q1", "d1"), 2)
    grade(campaign.store, campaign.a, ("q1", "d2"), "unknown")
    grade(campaign.store, campaign.a, ("q1", "d3"), "skipped")
    by_query = {query.query_id: query for query in campaign.store.progress(campaign.a)}
    assert (by_query["q1"].n_documents, by_query["q1"].n_answered, by_query["q1"].n_skipped) == (
        3,
        2,
        1,
    )
    assert (by_query["q2"].n_answered, by_query["q2"].n_skipped) == (0, 0)
    tasks = campaign.store.query_tasks(campaign.a, "q1")
    assert by_query["q1"].first_pair_id == tasks[0].pair_id


def test_nobody_reaches_the_pairs_or_answers_of_others(store):
    store.add_people(["A", "B"])
    prepare(store, overlap=1)
    a, b = id_of(store, "A"), id_of(store, "B")
    own, foreign = tasks_of(store, a), tasks_of(store, b)
    answer_all(store, a, own)
    assert {task.pair_id for task in own}.isdisjoint(task.pair_id for task in foreign)
    for task in own:
        assert store.task(b, task.pair_id) is None
        assert store.neighbours(b, task.pair_id) == (None, None)
    assert all(task.answer is None for task in tasks_of(store, b))


def test_an_answer_shows_to_its_giver_alone(campaign):
    grade(campaign.store, campaign.a, ("q1", "d1"), 2)
    shown = {task.doc_id: task.answer for task in campaign.store.query_tasks(campaign.a, "q1")}
    assert shown["d1"].grade == 2
    assert all(task.answer is None for task in tasks_of(campaign.store, campaign.b))


@pytest.mark.parametrize("query_id", ["q9", "", "\ud800"])
def test_an_unknown_query_has_no_tasks(campaign, query_id):
    assert campaign.store.query_tasks(campaign.a, query_id) == []


def test_progress_in_parts_and_as_a_whole(campaign):
    store = campaign.store
    whole = store.progress(campaign.a)
    assert store.progress_part(campaign.a, "first", 2, 2) == whole[1:2]
    assert store.progress_part(campaign.a, "first", 3, 9) == []
    assert store.progress_part(campaign.a, "adjudication", 1, 9) == []
    grade(store, campaign.a, ("q1", "d1"), 1)
    grade(store, campaign.a, ("q2", "d4"), "skipped")
    assert store.total_progress(campaign.a) == {"first": RoundProgress(2, 5, 1, 1)}


def test_the_first_skipped_pair_is_found(campaign):
    assert campaign.store.first_skipped(campaign.a) is None
    order = tasks_of(campaign.store, campaign.a)
    for task in (order[4], order[2]):
        grade(campaign.store, campaign.a, (task.query_id, task.doc_id), "skipped")
    assert campaign.store.first_skipped(campaign.a).pair_id == order[2].pair_id


@pytest.mark.parametrize("overlap", [None, 2])
def test_a_newcomer_has_what_a_new_distribution_gives(store, overlap):
    store.add_people(["A", "B"])
    prepare(store, overlap=overlap)
    answer_all(store, id_of(store, "A"), tasks_of(store, id_of(store, "A"))[:2])
    store.add_person("C")
    before = [tasks_of(store, id_of(store, name)) for name in "ABC"]
    assert len(before[2]) >= (5 if overlap is None else 3)
    prepare(store, overlap=overlap)
    assert [tasks_of(store, id_of(store, name)) for name in "ABC"] == before
