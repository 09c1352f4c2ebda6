"""Batches: the outcomes of asking call by call, and nothing paid twice whatever is lost."""

from dataclasses import replace

import pytest
from tests.judging.asking import PROMPT, REMINDER, SCALE, attempt, model, request, requests
from tests.judging.loopback_batches import BatchDesk
from tests.judging.loopback_llm import Answer, LoopbackLlm, failure, grade_of

from normastcu.judging.batch import run_batches
from normastcu.judging.batch_ledger import BatchLedger, Item
from normastcu.judging.client import open_client
from normastcu.judging.errors import JudgingError
from normastcu.judging.openai_batch import open_batches
from normastcu.judging.runner import run_judge
from normastcu.judging.store import ReplyStore
from normastcu.services.patience import Clock

NO_WAIT = Clock(wait=lambda _: None)
SECRET = "planted text of a document"  # pragma: allowlist secret


@pytest.fixture
def store(tmp_path):
    with ReplyStore(tmp_path / "replies.db") as store:
        yield store


@pytest.fixture(scope="module")
def only_server():
    server = LoopbackLlm(lambda _: Answer())
    server.desk = BatchDesk(server)
    server.desk.add_to(server.app)
    with server:
        yield server


@pytest.fixture
def ledger(tmp_path, only_server):
    return BatchLedger(tmp_path / "batches.jsonl", only_server.base_url)


@pytest.fixture
def serve(only_server):
    """Return a function that starts the desk anew, with a script."""

    def start(script, **desk):
        only_server.follow(script)
        fresh = vars(BatchDesk(only_server, **desk))
        vars(only_server.desk).update(fresh)
        return only_server

    return start


def graded(call):
    return Answer(f'{{"justificativa": "art. 3º \u2028", "score": {grade_of(call.user)}}}')


def ask(server, store, ledger, planned, *, wait=True, most=50_000, clock=NO_WAIT, **more):
    asked = {name: more.pop(name) for name in ("shorten", "again") if name in more}
    settings = model(server.base_url, attempts=2, **more)
    return run_batches(
        planned,
        lambda: open_batches(settings, {}),
        ledger,
        store,
        settings,
        judge="tiny_simple",
        prompt=PROMPT,
        scale=SCALE,
        wait=wait,
        most_requests=most,
        clock=clock,
        **asked,
    )


def without_times(store):
    unlike = {"created": "", "latency_s": None}
    return {replace(one, **unlike) for one in store.attempts()}


def test_a_batch_gives_the_records_of_asking_call_by_call(serve, store, ledger, tmp_path):
    server = serve(graded)
    run = ask(server, store, ledger, requests(30), price_in=1, price_out=1)
    assert (run.stopped, dict(run.tally.outcomes)) == (None, {"ok": 30})
    assert run.tally.calls == 30
    assert run.tally.cost > 0
    settings = model(server.base_url)
    with ReplyStore(tmp_path / "calls.db") as calls:
        run_judge(
            requests(30),
            lambda: open_client(settings, {}),
            calls,
            settings,
            judge="tiny_simple",
            prompt=PROMPT,
            scale=SCALE,
        )
        assert without_times(store) == without_times(calls)
    batched, called = server.calls[:30], server.calls[30:]
    assert {call.text for call in batched} == {call.text for call in called}
    assert all({**call.body, "stream": False} in [c.body for c in called] for call in batched)


def test_a_second_run_opens_nothing(serve, store, ledger):
    server = serve(graded)
    ask(server, store, ledger, requests(3))
    again = run_batches(
        requests(3),
        lambda: pytest.fail("the service was opened"),
        ledger,
        store,
        model(server.base_url),
        judge="tiny_simple",
        prompt=PROMPT,
        scale=SCALE,
    )
    assert (again.tally.known, again.stopped, server.counts.calls) == (3, None, 3)


def test_many_requests_are_several_batches(serve, store, ledger):
    server = serve(graded)
    ask(server, store, ledger, requests(25), most=10)
    assert [one["request_counts"]["total"] for one in server.desk.batches.values()] == [10, 10, 5]
    assert store.count() == 25


def test_reminders_and_larger_limits_are_further_batches(serve, store, ledger):
    def script(call):
        if call.user.endswith("1"):
            return graded(call) if REMINDER in call.text else Answer("two")
        if call.user.endswith("2"):
            return graded(call) if call.reply_limit > 64 else Answer("", "length")
        return graded(call)

    run = ask(serve(script), store, ledger, requests(4))
    assert dict(run.tally.outcomes) == {"ok": 4}
    steps = {(one.doc_id, one.attempt, one.outcome, one.reminded) for one in store.attempts()}
    assert steps == {
        ("d0", 1, "ok", False),
        ("d1", 1, "unparseable", False),
        ("d1", 2, "ok", True),
        ("d2", 1, "truncated", False),
        ("d2", 2, "ok", False),
        ("d3", 1, "ok", False),
    }


def test_what_is_asked_again_when_told_is_asked_once_more_and_then_reminded(serve, store, ledger):
    """A reply that comes in the run is no reason to begin anew: it makes two batches, not more."""
    server = serve(lambda call: Answer("two") if call.number < 4 else graded(call))
    for run in range(2):
        ask(server, store, ledger, [request(4)], again=frozenset({"unparseable"}))
        assert server.counts.calls == 2 * (run + 1)
    steps = [(one.attempt, one.outcome, one.reminded) for one in store.attempts()]
    assert steps == [
        (1, "unparseable", False),
        (2, "unparseable", True),
        (3, "unparseable", False),
        (4, "unparseable", True),
    ]


def test_refusals_and_failures_of_single_requests(serve, store, ledger):
    answers = {
        "0": Answer("", "content_filter"),
        "1": failure(400, "content_filter"),
        "2": failure(500),
        "3": failure(400, "unknown_parameter"),
    }
    server = serve(lambda call: answers[call.user[-1]])
    run = ask(server, store, ledger, requests(4))
    assert dict(run.tally.outcomes) == {"refused": 2, "error": 2}
    failed = {(one.error_kind, one.error_status) for one in store.attempts() if one.error_kind}
    assert failed == {("unavailable", 500), ("rejected", 400)}
    server.follow(graded)
    assert dict(ask(server, store, ledger, requests(4)).tally.outcomes) == {"ok": 2}


def halved(one):
    shorter = {"role": "user", "content": f"half of {one.messages[1]['content']}"}
    return replace(one, messages=(one.messages[0], shorter), characters_shown=3)


@pytest.mark.parametrize(
    ("helps", "expected"),
    [(True, ["error", "ok"]), (False, ["error", "error", "too_long"])],
)
def test_too_long_for_the_service_is_shortened_once(serve, store, ledger, helps, expected):
    too_long = failure(400, "context_length_exceeded")
    server = serve(lambda call: graded(call) if helps and "half" in call.user else too_long)
    ask(server, store, ledger, [request(4)], shorten=halved)
    assert [one.outcome for one in store.attempts()] == expected
    ask(server, store, ledger, [request(4)], shorten=halved)
    assert len(expected) == store.count()


def test_what_does_not_fit_is_recorded_and_not_handed_in(serve, store, ledger):
    server = serve(graded)
    ask(server, store, ledger, [request(4, too_long=True, messages=())])
    assert [one.outcome for one in store.attempts()] == ["too_long"]
    assert server.desk.batches == {}


def test_without_waiting_the_next_call_collects(serve, store, ledger):
    server = serve(graded, questions=2)
    first = ask(server, store, ledger, requests(6), wait=False)
    assert "1 batches have not ended yet" in first.stopped
    assert store.count() == 0
    second = ask(server, store, ledger, requests(8), wait=False)
    assert len(server.desk.batches) == 2
    assert (store.count(), "have not ended" in second.stopped) == (6, True)
    third = ask(server, store, ledger, requests(8), wait=False)
    assert (store.count(), third.stopped, server.counts.calls) == (8, None, 8)


def test_an_interrupted_wait_goes_on(serve, store, ledger, caplog):
    def interrupt(_):
        raise KeyboardInterrupt

    server = serve(graded)
    with pytest.raises(KeyboardInterrupt):
        ask(server, store, ledger, requests(6), clock=Clock(wait=interrupt))
    assert "the same command collects them" in caplog.text
    run = ask(server, store, ledger, requests(6))
    assert (run.stopped, store.count(), len(server.desk.batches)) == (None, 6, 1)


@pytest.mark.parametrize("lost", ["upload", "create", "state", "content"])
def test_a_lost_answer_pays_nothing_twice(serve, store, ledger, lost):
    server = serve(graded, lost_answers=[lost])
    run = ask(server, store, ledger, requests(6))
    assert (run.stopped, store.count()) == (None, 6)
    assert (len(server.desk.batches), server.counts.calls) == (1, 6)


@pytest.mark.parametrize("event", ["begun", "handed in"])
def test_a_run_killed_while_handing_in_finds_its_batch(serve, store, ledger, tmp_path, event):
    server = serve(graded, questions=1)
    ask(server, store, ledger, requests(6), wait=True)
    kept = [line for line in (tmp_path / "batches.jsonl").read_text().splitlines() if line]
    upto = 1 if event == "begun" else 2
    (tmp_path / "batches.jsonl").write_text("\n".join(kept[:upto]) + '\n{"event": "clo')
    with ReplyStore(tmp_path / "second.db") as second:
        run = ask(server, second, ledger, requests(6))
        assert (run.stopped, second.count()) == (None, 6)
    assert (len(server.desk.batches), server.counts.calls) == (1, 6)


def test_a_run_killed_before_handing_in_hands_in_again(serve, store, ledger):
    server = serve(graded)
    ledger.begin([Item("k", "q", "d", "tiny_simple", 0, 1, 5, 64, False)])
    run = ask(server, store, ledger, requests(2))
    assert (run.stopped, store.count(), len(server.desk.batches)) == (None, 2, 1)
    assert ledger.open_batches() == []


def test_a_run_killed_while_storing_replies_stores_none_twice(serve, store, ledger, tmp_path):
    server = serve(graded, questions=1)
    ask(server, store, ledger, requests(6))
    path = tmp_path / "batches.jsonl"
    kept = [line for line in path.read_text().splitlines() if line]
    path.write_text("\n".join(kept[:2]))
    with ReplyStore(tmp_path / "half.db") as half:
        half.append(list(store.attempts())[:4])
        ask(server, half, ledger, requests(6))
        assert without_times(half) == without_times(store)


def test_replies_of_a_changed_plan_are_stored_all_the_same(serve, store, ledger):
    server = serve(graded)
    ask(server, store, ledger, requests(3), wait=False)
    run = ask(server, store, ledger, [request(9)])
    assert run.stopped is None
    assert {one.doc_id for one in store.attempts()} == {"d0", "d1", "d2", "d9"}


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_a_batch_that_ends_early_keeps_what_it_has(serve, store, ledger, status):
    server = serve(graded, ends_as=status)
    run = ask(server, store, ledger, requests(6))
    assert f"3 {status}" in run.stopped
    assert store.count() == 3
    server.desk.ends_as = "completed"
    assert ask(server, store, ledger, requests(6)).stopped is None
    assert store.count() == 6


@pytest.mark.parametrize("lost", ["batches", "files"])
def test_a_batch_that_the_service_no_longer_knows_is_asked_again_by_the_next_run(
    serve, store, ledger, caplog, lost
):
    server = serve(graded)
    ask(server, store, ledger, requests(6), wait=False)
    server.desk.state("batch_0")  # the second question, by which it has ended
    getattr(server.desk, lost).clear()
    run = ask(server, store, ledger, requests(6))
    assert "6 no longer known" in run.stopped
    assert "no longer knows the batch batch_0 or its results" in caplog.text
    assert (store.count(), ledger.open_batches()) == (0, [])
    server.desk.batches.clear()
    server.desk.asked.clear()
    assert ask(server, store, ledger, requests(6)).stopped is None
    assert (store.count(), len(server.desk.batches)) == (6, 1)


def test_batches_of_another_address_wait_until_it_is_asked_again(serve, store, ledger, tmp_path):
    elsewhere = BatchLedger(tmp_path / "batches.jsonl", "http://127.0.0.1:9/v1/")
    item = Item("k", "q", "d", "tiny_simple", 0, 1, 5, 64, False)
    elsewhere.handed_in(elsewhere.begin([item]), "batch_9")
    run = ask(serve(graded), store, ledger, requests(2))
    assert (run.stopped, store.count(), ledger.open_batches()) == (None, 2, [])
    assert [batch.batch_id for batch in elsewhere.open_batches()] == ["batch_9"]


def test_a_batch_that_is_refused_stops_with_the_reason(serve, store, ledger):
    server = serve(graded, ends_as="failed")
    run = ask(server, store, ledger, requests(6))
    assert "refused the batch batch_0 as a whole (token_limit_exceeded)" in run.stopped
    assert (store.count(), ledger.open_batches()) == (0, [])


def test_a_service_without_batches_is_a_sentence(store, ledger, serve):
    server = serve(graded)
    settings = model(f"{server.base_url}/none", credentials=None)
    run = run_batches(
        requests(3),
        lambda: open_batches(settings, {}),
        ledger,
        store,
        settings,
        judge="tiny_simple",
        prompt=PROMPT,
        scale=SCALE,
        clock=NO_WAIT,
    )
    assert "could not take a file: not_found (status 404)" in run.stopped
    assert "`base_url`" in run.stopped


def test_no_text_is_kept_in_the_ledger_or_told(serve, store, ledger, tmp_path, caplog):
    caplog.set_level("DEBUG")
    server = serve(lambda call: failure(500, message=SECRET) if call.number else graded(call))
    ask(server, store, ledger, requests(4, text=f"{SECRET} "))
    assert SECRET not in caplog.text + (tmp_path / "batches.jsonl").read_text()


def test_a_model_in_process_has_no_batches():
    with pytest.raises(JudgingError, match="no batch interface"):
        open_batches(model(kind="huggingface"), {})


def test_an_error_of_the_service_s_client_stops_its_judge_alone(store, ledger):
    def broken():
        raise LookupError(SECRET)

    run = run_batches(
        requests(3),
        broken,
        ledger,
        store,
        model(),
        judge="tiny_simple",
        prompt=PROMPT,
        scale=SCALE,
    )
    assert "an unexpected LookupError" in run.stopped
    assert SECRET not in run.stopped


def test_batches_and_calls_go_on_from_each_other(serve, store, ledger):
    store.append([attempt(4, outcome="unparseable", grade=None, reply="two")])
    server = serve(graded)
    ask(server, store, ledger, [request(4)])
    assert [(one.attempt, one.reminded) for one in store.attempts()] == [(1, False), (2, True)]
