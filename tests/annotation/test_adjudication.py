"""A second round: blind, apart from the first, and counted only where the settings say so."""

import pytest
from tests.annotation.campaigns import grade, id_of, prepare, tasks_of

from normastcu.annotation.errors import AnnotationError

DISPUTED = ("q1", "d1")


@pytest.fixture
def disputed(campaign):
    """Return the campaign after A and B differed on one pair, and agreed on another."""
    grade(campaign.store, campaign.a, DISPUTED, 2)
    grade(campaign.store, campaign.b, DISPUTED, 0)
    grade(campaign.store, campaign.a, ("q2", "d4"), 1)
    return campaign


def adjudication_tasks(store, person_id):
    return [task for task in tasks_of(store, person_id) if task.round == "adjudication"]


def counted(store, counts):
    return store.judgments(counts).drop(columns="origin").astype(object).to_numpy().tolist()


def test_a_disputed_pair_is_shown_again_without_any_answer(disputed):
    assert disputed.store.start_adjudication(["A"], [DISPUTED]) == 1
    (task,) = adjudication_tasks(disputed.store, disputed.a)
    assert (task.query_id, task.doc_id, task.answer) == (*DISPUTED, None)
    assert (task.position, task.n_documents, task.query_position, task.n_queries) == (1, 1, 1, 1)
    assert adjudication_tasks(disputed.store, disputed.b) == []


def test_the_own_first_answer_can_not_be_reached_any_more(disputed):
    tasks = {(task.query_id, task.doc_id): task for task in tasks_of(disputed.store, disputed.a)}
    before = tasks[DISPUTED]
    disputed.store.start_adjudication(["A"], [DISPUTED])
    first = [task for task in tasks_of(disputed.store, disputed.a) if task.round == "first"]
    assert DISPUTED not in {(task.query_id, task.doc_id) for task in first}
    assert disputed.store.task(disputed.a, before.pair_id) is None
    assert disputed.store.task(disputed.b, before.pair_id).answer.grade == 0
    late = {"choice": "grade", "grade": 1, "comment": "", "seconds": 1, "submission_id": "late"}
    with pytest.raises(AnnotationError, match="not one of yours"):
        disputed.store.answer(disputed.a, before.pair_id, **late)


def test_undo_does_not_reach_back_into_the_hidden_first_round(campaign):
    grade(campaign.store, campaign.a, DISPUTED, 2)
    campaign.store.start_adjudication(["A"], [DISPUTED])
    assert campaign.store.undo(campaign.a) is None
    assert counted(campaign.store, "first") == [["q1", "d1", "A", 2]]


def test_both_rounds_are_kept_and_the_setting_says_which_counts(disputed):
    disputed.store.start_adjudication(["A"], [DISPUTED])
    grade(disputed.store, disputed.a, DISPUTED, 1, "again", "adjudication")
    first = [["q1", "d1", "A", 2], ["q1", "d1", "B", 0], ["q2", "d4", "A", 1]]
    assert counted(disputed.store, "first") == first
    assert counted(disputed.store, "adjudicated") == [["q1", "d1", "A", 1], ["q2", "d4", "A", 1]]
    assert counted(disputed.store, None) == first
    answers = disputed.store.answers()
    assert sorted(answers.loc[answers["doc_id"] == "d1", "round"]) == [
        "adjudication",
        "first",
        "first",
    ]
    assert answers["counts"].all()


def test_the_campaigns_own_setting_holds_where_nothing_else_is_said(disputed):
    disputed.store.start_adjudication(["A"], [DISPUTED])
    grade(disputed.store, disputed.a, DISPUTED, 1, "again", "adjudication")
    prepare(disputed.store, counts="adjudicated")
    assert counted(disputed.store, None)[0] == ["q1", "d1", "A", 1]


@pytest.mark.parametrize("value", ["unknown", "skipped"])
def test_an_adjudication_without_a_grade_decides_nothing(disputed, value):
    disputed.store.start_adjudication(["A"], [DISPUTED])
    grade(disputed.store, disputed.a, DISPUTED, value, "again", "adjudication")
    assert counted(disputed.store, "adjudicated") == counted(disputed.store, "first")


def test_somebody_who_never_judged_may_adjudicate(disputed):
    disputed.store.add_person("boss", "administrator")
    boss = id_of(disputed.store, "boss")
    disputed.store.start_adjudication(["boss"], [DISPUTED])
    grade(disputed.store, boss, DISPUTED, 2, "z", "adjudication")
    assert counted(disputed.store, "adjudicated")[0] == ["q1", "d1", "boss", 2]


def test_starting_twice_adds_nothing_and_later_pairs_come_on_top(disputed):
    start = disputed.store.start_adjudication
    assert start(["A", "B"], [DISPUTED, DISPUTED]) == 2
    grade(disputed.store, disputed.a, DISPUTED, 1, "again", "adjudication")
    assert start(["A", "B"], [DISPUTED]) == 0
    assert start(["A"], [("q2", "d4")]) == 1
    answered = [task.answer is not None for task in adjudication_tasks(disputed.store, disputed.a)]
    assert sorted(answered) == [False, True]


def test_a_suggested_pair_stays_one_when_it_is_adjudicated(campaign):
    for person, value in ((campaign.a, 2), (campaign.b, 0)):
        campaign.store.suggest(person, "q1", "d5", grade=value, reason="", submission_id="s")
    campaign.store.start_adjudication(["A"], [("q1", "d5")])
    grade(campaign.store, campaign.a, ("q1", "d5"), 1, "again", "adjudication")
    table = campaign.store.judgments("adjudicated")
    assert table.astype(object).to_numpy().tolist() == [["q1", "d5", "A", 1, "suggested"]]


def test_preparing_again_leaves_the_adjudication(disputed):
    disputed.store.start_adjudication(["A"], [DISPUTED])
    before = tasks_of(disputed.store, disputed.a)
    prepare(disputed.store)
    assert tasks_of(disputed.store, disputed.a) == before


@pytest.mark.parametrize(
    ("names", "pairs", "message"),
    [
        (["Z"], [DISPUTED], "nobody named 'Z'"),
        (["A"], [("q1", "d9")], "not of this campaign"),
        (["A"], [], "at least one pair"),
        ([], [DISPUTED], "at least one pair"),
    ],
)
def test_a_wrong_choice_is_refused(disputed, names, pairs, message):
    with pytest.raises(AnnotationError, match=message):
        disputed.store.start_adjudication(names, pairs)
    assert adjudication_tasks(disputed.store, disputed.a) == []


def test_a_chosen_person_whose_link_was_revoked_is_named(disputed):
    disputed.store.revoke("B")
    with pytest.raises(AnnotationError, match=r"link of 'B' was revoked.*--renew B") as raised:
        disputed.store.start_adjudication(["A", "B"], [DISPUTED])
    assert "Ask the administrator" not in str(raised.value)
    assert adjudication_tasks(disputed.store, disputed.a) == []
