"""Answers: stored once, changed, taken back; the history keeps them all."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.annotation.campaigns import grade, id_of, prepare, tasks_of

from normastcu.annotation.errors import (
    AnnotationError,
    AnswerChangedError,
    CampaignClosedError,
    NotAssignedError,
)
from normastcu.annotation.exchange import _DERIVED
from normastcu.annotation.store import AnnotationStore

GOOD = {"choice": "grade", "grade": 1, "comment": "", "seconds": 2.5, "submission_id": "s1"}


def first_pair(campaign):
    return campaign.store.next_open(campaign.a).pair_id


def history(store):
    return store.answers()[["annotator", "choice", "grade", "counts"]].to_numpy().tolist()


def test_an_answer_is_stored_as_it_was_given(campaign):
    pair = first_pair(campaign)
    given_answer = campaign.store.answer(campaign.a, pair, **GOOD | {"comment": "só em parte"})
    assert given_answer == campaign.store.task(campaign.a, pair).answer
    assert (given_answer.grade, given_answer.comment, given_answer.seconds) == (
        1,
        "só em parte",
        2.5,
    )
    assert given_answer.answered_at.endswith("+00:00")


def test_the_last_answer_counts_and_the_history_keeps_all(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD)
    campaign.store.answer(campaign.a, pair, **GOOD | {"grade": 2, "submission_id": "s2"})
    campaign.store.answer(
        campaign.a, pair, **GOOD | {"choice": "unknown", "grade": None, "submission_id": "s3"}
    )
    assert campaign.store.task(campaign.a, pair).answer.choice == "unknown"
    assert [(row[1], row[3]) for row in history(campaign.store)] == [
        ("grade", False),
        ("grade", False),
        ("unknown", True),
    ]


def test_a_submission_sent_twice_is_stored_once(campaign):
    pair = first_pair(campaign)
    first = campaign.store.answer(campaign.a, pair, **GOOD)
    again = campaign.store.answer(campaign.a, pair, **GOOD | {"seconds": 9})
    assert again == first
    assert len(campaign.store.answers()) == 1


def test_a_submission_sent_again_after_closing_is_confirmed(campaign):
    pair = first_pair(campaign)
    first = campaign.store.answer(campaign.a, pair, **GOOD)
    campaign.store.close_campaign()
    assert campaign.store.answer(campaign.a, pair, **GOOD) == first


def test_a_late_repetition_does_not_undo_a_newer_answer(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD)
    campaign.store.answer(campaign.a, pair, **GOOD | {"grade": 2, "submission_id": "s2"})
    campaign.store.answer(campaign.a, pair, **GOOD)
    assert campaign.store.task(campaign.a, pair).answer.grade == 2


def test_one_id_for_two_different_answers_is_an_error(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD)
    with pytest.raises(AnnotationError, match="stored already with another answer"):
        campaign.store.answer(campaign.a, pair, **GOOD | {"grade": 2})


def test_an_answer_based_on_another_one_than_counts_is_refused(campaign):
    pair = first_pair(campaign)
    seen = campaign.store.answer(campaign.a, pair, **GOOD, based_on=0)
    newer = campaign.store.answer(
        campaign.a, pair, **GOOD | {"grade": 2, "submission_id": "s2"}, based_on=seen.event
    )
    for based_on in (0, seen.event, 99):
        with pytest.raises(AnswerChangedError) as refused:
            campaign.store.answer(
                campaign.a, pair, **GOOD | {"grade": 0, "submission_id": "s3"}, based_on=based_on
            )
        assert refused.value.current == newer
    assert [row[2] for row in history(campaign.store)] == [1, 2]


def test_an_answer_may_replace_a_submission_of_its_own_page_and_repeat_what_counts(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD, based_on=0)
    replacing = GOOD | {"grade": 2, "submission_id": "s2"}
    campaign.store.answer(campaign.a, pair, **replacing, based_on=0, replaces=["s0", "s1"])
    again = GOOD | {"grade": 2, "submission_id": "s3"}
    assert campaign.store.answer(campaign.a, pair, **again, based_on=0).event == 3
    assert [row[2] for row in history(campaign.store)] == [1, 2, 2]


def test_an_answer_based_on_one_that_was_taken_back_is_refused(campaign):
    pair = first_pair(campaign)
    seen = campaign.store.answer(campaign.a, pair, **GOOD)
    campaign.store.undo(campaign.a)
    with pytest.raises(AnswerChangedError) as refused:
        campaign.store.answer(
            campaign.a, pair, **GOOD | {"submission_id": "s2"}, based_on=seen.event
        )
    assert refused.value.current is None


def test_two_people_may_use_the_same_submission_id(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD)
    campaign.store.answer(campaign.b, pair, **GOOD | {"grade": 0})
    assert campaign.store.task(campaign.b, pair).answer.grade == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"grade": 3}, "3 is no grade of the scale. Choose one of 0, 1, 2"),
        ({"grade": None}, "None is no grade"),
        ({"grade": True}, "True is no grade"),
        ({"choice": "maybe"}, "'maybe' is no answer"),
        ({"choice": "unknown"}, "'unknown' has no grade"),
        ({"comment": "x" * 5001}, "comment has 5,001 characters; at most 5,000"),
        ({"seconds": float("nan")}, "nan is no time"),
        ({"seconds": -1.0}, "-1.0 is no time"),
        ({"submission_id": ""}, "needs an id of 1 to 100 characters"),
        ({"submission_id": "x" * 101}, "needs an id of 1 to 100 characters"),
    ],
)
def test_a_wrong_answer_is_refused_and_nothing_is_stored(campaign, wrong, message):
    with pytest.raises(AnnotationError, match=message):
        campaign.store.answer(campaign.a, first_pair(campaign), **GOOD | wrong)
    assert campaign.store.answers().empty


def test_a_comment_of_5000_characters_and_a_lone_surrogate_are_kept(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD | {"comment": "\ud800" + "é" * 4999})
    assert campaign.store.task(campaign.a, pair).answer.comment == "\ufffd" + "é" * 4999


def test_a_pair_of_somebody_else_can_not_be_answered(store):
    store.add_people(["A", "B"])
    prepare(store, overlap=1)
    foreign = store.next_open(id_of(store, "B")).pair_id
    with pytest.raises(NotAssignedError, match="not one of yours"):
        store.answer(id_of(store, "A"), foreign, **GOOD)


def test_a_closed_campaign_takes_nothing_until_it_is_opened_again(campaign):
    pair = first_pair(campaign)
    campaign.store.close_campaign()
    assert campaign.store.campaign().closed
    for change in (
        lambda: campaign.store.answer(campaign.a, pair, **GOOD),
        lambda: campaign.store.undo(campaign.a),
        lambda: campaign.store.suggest(
            campaign.a, "q1", "d5", grade=1, reason="", submission_id="s"
        ),
    ):
        with pytest.raises(CampaignClosedError):
            change()
    campaign.store.reopen()
    assert campaign.store.answer(campaign.a, pair, **GOOD).grade == 1


def test_a_revoked_person_can_not_answer(campaign):
    pair = first_pair(campaign)
    campaign.store.revoke("A")
    with pytest.raises(AnnotationError, match="not valid any more"):
        campaign.store.answer(campaign.a, pair, **GOOD)


def test_undo_brings_back_what_counted_before_step_by_step(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD)
    campaign.store.answer(campaign.a, pair, **GOOD | {"grade": 2, "submission_id": "s2"})
    assert campaign.store.undo(campaign.a).answer.grade == 1
    assert campaign.store.undo(campaign.a).answer is None
    assert campaign.store.undo(campaign.a) is None
    assert [query.n_answered for query in campaign.store.progress(campaign.a)] == [0, 0]
    assert history(campaign.store) == [["A", "grade", 1, False], ["A", "grade", 2, False]]


def test_an_answer_after_an_undo_can_be_undone_too(campaign):
    pair = first_pair(campaign)
    campaign.store.answer(campaign.a, pair, **GOOD)
    campaign.store.answer(campaign.a, pair, **GOOD | {"grade": 2, "submission_id": "s2"})
    campaign.store.undo(campaign.a)
    campaign.store.answer(campaign.a, pair, **GOOD | {"grade": 0, "submission_id": "s3"})
    assert campaign.store.undo(campaign.a).answer.grade == 1


def test_undo_takes_back_ones_own_change_only(campaign):
    grade(campaign.store, campaign.a, ("q1", "d1"), 2)
    grade(campaign.store, campaign.b, ("q1", "d1"), 0)
    campaign.store.undo(campaign.a)
    assert history(campaign.store) == [["A", "grade", 2, False], ["B", "grade", 0, True]]


def test_the_same_submission_from_many_threads_is_stored_once(campaign):
    pair, start = first_pair(campaign), threading.Barrier(8)

    def submit(_):
        start.wait()
        return campaign.store.answer(campaign.a, pair, **GOOD)

    with ThreadPoolExecutor(8) as threads:
        answers = set(threads.map(submit, range(8)))
    assert len(answers) == 1
    assert len(campaign.store.answers()) == 1
    assert sum(query.n_answered for query in campaign.store.progress(campaign.a)) == 1


def test_many_people_and_two_stores_at_once_lose_nothing(tmp_path):
    path = tmp_path / "annotation.sqlite"
    with AnnotationStore(path) as one, AnnotationStore(path) as other:
        names = [f"A{number}" for number in range(6)]
        one.add_people(names)
        prepare(one)

        def judge(number):
            store, person_id = (one, other)[number % 2], id_of(one, names[number])
            while task := store.next_open(person_id):
                store.answer(
                    person_id,
                    task.pair_id,
                    **GOOD | {"grade": number % 3, "submission_id": str(task.pair_id)},
                )

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(judge, range(6)))
        judgments = one.judgments()
    assert len(judgments) == 30
    assert judgments.groupby("annotator")["grade"].agg(set).to_dict() == {
        name: {number % 3} for number, name in enumerate(names)
    }


STEPS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from([0, 1, 2, "unknown", "skipped", "undo"])),
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_any_steps_leave_what_a_plain_list_of_them_says(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("steps") / "annotation.sqlite"
    with AnnotationStore(path) as store:
        store.add_person("A")
        prepare(store)
        person_id = id_of(store, "A")
        tasks = tasks_of(store, person_id)
        standing = []
        for number, (index, value) in enumerate(steps):
            task = tasks[index]
            if value == "undo":
                store.undo(person_id)
                standing = standing[:-1]
            else:
                grade(store, person_id, (task.query_id, task.doc_id), value, str(number))
                standing.append((task.pair_id, value))
        last = dict(standing)
        shown = {
            task.pair_id: task.answer.grade if task.answer.choice == "grade" else task.answer.choice
            for task in tasks_of(store, person_id)
            if task.answer is not None
        }
        assert shown == last
        progress = store.progress(person_id)
        assert sum(query.n_skipped for query in progress) == list(last.values()).count("skipped")
        assert sum(query.n_answered + query.n_skipped for query in progress) == len(last)
        with store.database.writing() as connection:
            connection.exec_driver_sql("DELETE FROM current")
            for statement in _DERIVED:
                connection.exec_driver_sql(statement)
        assert store.progress(person_id) == progress
