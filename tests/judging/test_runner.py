"""A judge is asked: outcomes, attempts, stops, and what is left for the next run."""

import io
import logging
from dataclasses import replace
from threading import Event

import pytest
from rich.console import Console
from tests.judging.asking import PROMPT, REMINDER, SCALE, attempt, model, request, requests
from tests.judging.loopback_llm import Answer, failure, grade_of

from normastcu.judging.client import RawReply, open_client
from normastcu.judging.cost import usage
from normastcu.judging.progress import JudgeProgress, Tally
from normastcu.judging.runner import run_judge
from normastcu.judging.steps import Step, next_step
from normastcu.judging.store import ReplyStore
from normastcu.services.failures import CallFailure
from normastcu.services.patience import Clock

KEY = "sk-planted-key-4711"
SECRET = "planted text of a document"  # pragma: allowlist secret
NO_WAIT = Clock(wait=lambda _: None)


@pytest.fixture
def store(tmp_path):
    with ReplyStore(tmp_path / "replies.db") as store:
        yield store


def ask(store, server, planned, *, keys=None, shorten=None, again=frozenset(), **settings):
    settings = model(server.base_url, **settings)
    return run_judge(
        planned,
        lambda: open_client(settings, keys or {}),
        store,
        settings,
        judge="tiny_simple",
        prompt=PROMPT,
        scale=SCALE,
        shorten=shorten,
        again=again,
        clock=NO_WAIT,
    )


def outcomes(store):
    return [(one.attempt, one.outcome) for one in store.attempts()]


def graded(call):
    return Answer(f'{{"justificativa": "art. 3º", "score": {grade_of(call.user)}}}')


def test_every_request_is_graded_and_stored_and_a_second_run_makes_no_call(serve, store):
    server = serve(graded)
    run = ask(store, server, requests(50), concurrency=4, price_in=1, price_out=10)
    assert run.stopped is None
    assert dict(run.tally.outcomes) == {"ok": 50}
    assert (run.tally.calls, run.tally.tokens_in, run.tally.tokens_out) == (50, 250, 250)
    assert run.tally.cost == pytest.approx((250 * 1 + 250 * 10) / 1e6)
    found = store.last_by_key(one.key for one in requests(50))
    for planned in requests(50):
        stored = found[planned.key]
        assert stored.grade == grade_of(planned.messages[1]["content"])
        assert (stored.query_id, stored.doc_id) == (planned.query_id, planned.doc_id)
        assert stored.rationale == "art. 3º"
        assert stored.model_returned == "tiny-1-2026"
        assert stored.characters_shown == planned.characters_shown
        assert 0 < stored.latency_s < 20
    second = run_judge(
        requests(50),
        lambda: pytest.fail("a client was opened"),
        store,
        model(server.base_url),
        judge="tiny_simple",
        prompt=PROMPT,
        scale=SCALE,
    )
    assert second.tally == Tally(known=50)
    assert server.counts.calls == 50


def test_no_more_calls_at_a_time_than_allowed_and_the_plan_is_read_as_it_goes(serve, store):
    taken = []

    def planned():
        for one in requests(300):
            taken.append(one)
            yield one

    def script(call):
        assert len(taken) <= call.number + 4 + 100
        return replace(graded(call), latency=0.005)

    server = serve(script)
    run = ask(store, server, planned(), concurrency=4)
    assert dict(run.tally.outcomes) == {"ok": 300}
    assert server.counts.most_in_flight == 4


def test_an_unreadable_reply_is_asked_once_more_with_a_reminder(serve, store):
    server = serve(lambda call: graded(call) if call.number else Answer("Answer: two"))
    run = ask(store, server, [request(4)])
    assert dict(run.tally.outcomes) == {"ok": 1}
    assert outcomes(store) == [(1, "unparseable"), (2, "ok")]
    assert [one.reminded for one in store.attempts()] == [False, True]
    first, second = server.calls
    assert REMINDER not in first.text
    assert second.text == f"{first.text}\n\n{REMINDER}"


@pytest.mark.parametrize(
    ("content", "outcome"), [("two", "unparseable"), ('{"score": 7}', "out_of_range"), (None, None)]
)
def test_after_the_reminder_it_is_recorded_and_asked_again_only_when_told(
    serve, store, content, outcome
):
    outcome = outcome or "unparseable"
    server = serve(Answer(content))
    for _ in range(2):
        ask(store, server, [request(4)])
        assert outcomes(store) == [(1, outcome), (2, outcome)]
    server.follow(graded)
    run = ask(store, server, [request(4)], again=frozenset({outcome}))
    assert dict(run.tally.outcomes) == {"ok": 1}
    assert outcomes(store) == [(1, outcome), (2, outcome), (3, "ok")]


def test_a_run_killed_before_the_reminder_goes_on_with_it(serve, store):
    store.append([attempt(4, outcome="unparseable", reply="two", grade=None)])
    server = serve(graded)
    ask(store, server, [request(4)])
    assert REMINDER in server.calls[0].text
    assert outcomes(store) == [(1, "unparseable"), (2, "ok")]


def test_a_better_reader_needs_no_new_call(serve, store):
    store.append([attempt(4, outcome="unparseable", grade=None, reply='{"score": 1}')])
    server = serve(graded)
    assert ask(store, server, [request(4)]).tally == Tally(known=1)


def test_a_reply_cut_off_is_asked_again_with_a_larger_limit(serve, store):
    def thinking(call):
        return graded(call) if call.reply_limit >= 1024 else Answer("", "length")

    server = serve(thinking)
    run = ask(store, server, [request(4)], reply_token_cap=2000)
    assert dict(run.tally.outcomes) == {"ok": 1}
    assert [call.reply_limit for call in server.calls] == [64, 256, 1024]
    assert outcomes(store) == [(1, "truncated"), (2, "truncated"), (3, "ok")]
    assert [one.max_tokens for one in store.attempts()] == [64, 256, 1024]


def test_the_largest_limit_is_the_end_until_it_is_raised(serve, store):
    server = serve(Answer('{"score": 1', "length"))
    for _ in range(2):
        ask(store, server, [request(4)], reply_token_cap=100)
    assert [call.reply_limit for call in server.calls] == [64, 100]
    ask(store, server, [request(4)], reply_token_cap=500)
    assert [call.reply_limit for call in server.calls] == [64, 100, 400, 500]


@pytest.mark.parametrize(
    "answer",
    [
        Answer("no", refusal="I can't."),
        Answer("", "content_filter"),
        failure(400, "content_filter"),
    ],
)
def test_a_refusal_is_final(serve, store, answer):
    server = serve(answer)
    for _ in range(2):
        ask(store, server, [request(4)])
    assert outcomes(store) == [(1, "refused")]
    assert next(store.attempts()).grade is None


def test_a_filter_s_error_costs_nothing_and_leaves_the_cost_known(serve, store):
    server = serve(lambda call: graded(call) if call.number else failure(400, "content_filter"))
    run = ask(store, server, requests(2), concurrency=1, price_in=1, price_out=10)
    filtered, reply = store.attempts()
    assert (filtered.outcome, filtered.error_status) == ("refused", 400)
    # The other reply: five words in, five out.
    assert (reply.tokens_in, reply.tokens_out) == (5, 5)
    priced = usage([filtered, reply], model(price_in=1, price_out=10))
    assert priced.cost == run.tally.cost == pytest.approx(55e-6)


def test_a_document_that_does_not_fit_is_recorded_without_a_call(serve, store):
    server = serve(graded)
    for _ in range(2):
        ask(store, server, [request(4, too_long=True, messages=())])
    assert outcomes(store) == [(1, "too_long")]
    assert server.counts.calls == 0


def halved(one):
    shorter = {"role": "user", "content": "half of pair 4"}
    return replace(one, messages=(one.messages[0], shorter), characters_shown=4)


def test_too_long_for_the_service_is_shortened_once(serve, store):
    too_long = failure(400, "context_length_exceeded")
    server = serve(lambda call: graded(call) if call.user.startswith("half") else too_long)
    run = ask(store, server, [request(4)], shorten=halved)
    assert dict(run.tally.outcomes) == {"ok": 1}
    shown = [(one.outcome, one.characters_shown, one.error_kind) for one in store.attempts()]
    assert shown == [("error", 6, "context_length"), ("ok", 4, None)]
    assert len({one.key for one in store.attempts()}) == 1


@pytest.mark.parametrize(
    ("shorten", "expected"),
    [
        (halved, [(1, "error"), (2, "too_long")]),
        (lambda _: None, [(1, "too_long")]),
        (None, [(1, "too_long")]),
    ],
)
def test_too_long_even_when_shortened_is_final(serve, store, shorten, expected):
    server = serve(failure(400, "context_length_exceeded"))
    for _ in range(2):
        run = ask(store, server, [request(4)], shorten=shorten)
    assert run.stopped is None
    assert outcomes(store) == expected


def test_a_page_instead_of_a_reply_is_an_error_that_names_the_pair(serve, store):
    page = Answer(body=b"<html>planted</html>", headers={"content-type": "text/html"})
    server = serve(page)
    run = ask(store, server, [request(4)], attempts=3)
    assert dict(run.tally.outcomes) == {"error": 1}
    last = list(store.attempts())[-1]
    assert (last.query_id, last.doc_id, last.attempt) == ("q4", "d4", 3)
    assert (last.outcome, last.error_kind, last.reply) == ("error", "malformed", None)


def test_troubled_service_everything_is_graded_and_every_attempt_recorded(serve, store):
    troubles = [
        failure(429, retry_after="2"),
        failure(500),
        Answer(cut_after=40),
        failure(503),
        failure(429),
    ]

    def script(call):
        troubled = call.number % 3 == 2
        return troubles[call.number // 3 % len(troubles)] if troubled else graded(call)

    server = serve(script)
    run = ask(store, server, requests(60), concurrency=4, attempts=8)
    assert dict(run.tally.outcomes) == {"ok": 60}
    attempts = list(store.attempts())
    assert len(attempts) == server.counts.calls == run.tally.calls > 85
    failed = [one for one in attempts if one.outcome == "error"]
    assert {(one.error_kind, one.error_status) for one in failed} == {
        ("rate_limit", 429),
        ("unavailable", 500),
        ("unavailable", 503),
        ("connection", None),
    }
    by_key = {}
    for one in attempts:
        by_key.setdefault(one.key, []).append(one)
    for some in by_key.values():
        assert [one.attempt for one in some] == list(range(1, len(some) + 1))
        assert [one.outcome for one in some] == ["error"] * (len(some) - 1) + ["ok"]


def test_a_call_that_never_answers_is_an_error_and_asked_again_by_the_next_run(serve, store):
    server = serve(Answer(latency=30))
    run = ask(store, server, [request(4)], attempts=2, timeout_s=0.2)
    assert dict(run.tally.outcomes) == {"error": 1}
    assert [one.error_kind for one in store.attempts()] == ["timeout", "timeout"]
    server.follow(graded)
    ask(store, server, [request(4)])
    assert outcomes(store) == [(1, "error"), (2, "error"), (3, "ok")]


def test_a_wrong_key_stops_the_judge_at_once_and_names_the_entry(serve, store, caplog):
    server = serve(failure(401, message=f"wrong key {KEY}"))
    run = ask(
        store,
        server,
        requests(500),
        keys={"maritaca": KEY},
        credentials="maritaca",
        concurrency=2,
    )
    assert "credentials entry 'maritaca'" in run.stopped
    assert server.counts.calls <= 2
    assert KEY not in run.stopped + caplog.text
    assert "The judge 'tiny_simple' was stopped" in caplog.text


def test_a_missing_key_stops_the_judge_and_raises_nothing(serve, store, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = serve(graded)
    run = ask(store, server, requests(5), credentials="maritaca")
    assert "needs the credentials entry 'maritaca'" in run.stopped
    assert server.counts.calls == 0


def test_a_judge_that_was_stopped_goes_on_when_the_setting_is_mended(serve, store):
    server = serve(lambda call: graded(call) if call.number < 20 else failure(402))
    run = ask(store, server, requests(60), concurrency=2)
    assert "no credit or quota" in run.stopped
    assert run.tally.outcomes["ok"] == 20
    server.follow(graded)
    run = ask(store, server, requests(60), concurrency=2)
    assert (run.stopped, run.tally.known, run.tally.outcomes["ok"]) == (None, 20, 40)


def test_a_service_that_is_down_stops_the_judge_after_some_requests(serve, store):
    server = serve(failure(500))
    run = ask(store, server, requests(500), concurrency=2, attempts=2)
    assert "20 requests in a row brought no reply in 2 attempts" in run.stopped
    assert "unavailable (status 500)" in run.stopped
    assert run.tally.outcomes["error"] <= 21


def test_a_few_bad_requests_do_not_stop_the_judge(serve, store):
    server = serve(lambda call: failure(500) if call.user.endswith("7") else graded(call))
    run = ask(store, server, requests(300), attempts=1)
    assert run.stopped is None
    assert dict(run.tally.outcomes) == {"ok": 270, "error": 30}


def test_a_store_that_is_full_stops_the_judge(serve, store):
    store._connection.execute("PRAGMA max_page_count = 40")
    server = serve(Answer(f'{{"justificativa": "{"x" * 9000}", "score": 1}}'))
    run = ask(store, server, requests(500), concurrency=2)
    assert "can't be written" in run.stopped
    assert store.count() < server.counts.calls <= store.count() + 2


def test_an_error_of_a_client_stops_its_judge_and_is_told_by_its_type(store, caplog):
    class Broken:
        def complete(self, messages, **_):
            raise LookupError(messages[1]["content"])

        def close(self):
            pass

    def broken():
        raise LookupError(SECRET)

    settings = model(concurrency=2)
    for open_one in (Broken, broken):
        run = run_judge(
            requests(9, text=f"{SECRET} "),
            open_one,
            store,
            settings,
            judge="tiny_simple",
            prompt=PROMPT,
            scale=SCALE,
        )
        assert "an unexpected LookupError" in run.stopped
        assert SECRET not in run.stopped + caplog.text


def test_an_error_of_the_plan_is_the_caller_s(serve, store):
    def broken():
        yield from requests(3)
        raise RuntimeError("the plan broke")

    with pytest.raises(RuntimeError, match="the plan broke"):
        ask(store, serve(graded), broken())


def test_ctrl_c_stores_what_was_answered_and_says_how_to_go_on(store, caplog):
    answered, interrupted = Event(), Event()

    class Interrupted(JudgeProgress):
        def tick(self):
            answered.set()
            raise KeyboardInterrupt

    class Slow:
        def complete(self, *_, **__):
            answered.wait(10)
            return RawReply('{"score": 2}', "stop")

        def close(self):
            interrupted.set()

    settings = model(concurrency=3)
    with pytest.raises(KeyboardInterrupt):
        run_judge(
            requests(100),
            Slow,
            store,
            settings,
            judge="tiny_simple",
            prompt=PROMPT,
            scale=SCALE,
            progress=Interrupted("tiny_simple", settings),
        )
    assert "the same command goes on where it stopped" in caplog.text
    assert 3 <= store.count() <= 6
    assert not interrupted.is_set()


def test_nothing_secret_in_logs_or_messages(serve, store, caplog):
    caplog.set_level(logging.DEBUG)
    answers = [
        Answer(f'{{"justificativa": "{SECRET}", "score": 1}}'),
        Answer(f"{SECRET}, two"),
        failure(500, message=SECRET),
        Answer(body=f"<html>{SECRET}".encode(), headers={"content-type": "text/html"}),
        failure(400, message=f"{SECRET} {KEY}"),
    ]
    server = serve(lambda call: answers[min(call.number, 4)])
    run = ask(
        store,
        server,
        requests(10, text=f"{SECRET} "),
        keys={"maritaca": KEY},
        credentials="maritaca",
        concurrency=1,
    )
    assert run.stopped is not None
    shown = caplog.text + run.stopped + "".join(str(vars(one)) for one in caplog.records)
    assert SECRET not in shown
    assert KEY not in shown
    stored = store.path.read_bytes() + store.path.with_name("replies.db-wal").read_bytes()
    assert KEY.encode() not in stored


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (None, Step(64)),
        (attempt(), None),
        (attempt(outcome="refused"), None),
        (attempt(outcome="too_long", max_tokens=None), None),
        (attempt(outcome="unparseable"), Step(64, reminded=True)),
        (attempt(outcome="out_of_range", max_tokens=256), Step(256, reminded=True)),
        (attempt(outcome="unparseable", reminded=True), None),
        (attempt(outcome="truncated"), Step(256)),
        (attempt(outcome="truncated", reminded=True), Step(256, reminded=True)),
        (attempt(outcome="truncated", max_tokens=256), None),
        (attempt(outcome="truncated", max_tokens=None), Step(256)),
        (attempt(outcome="error", max_tokens=256, reminded=True), Step(256, reminded=True)),
        (attempt(outcome="error", max_tokens=8), Step(64)),
    ],
)
def test_the_next_step_follows_from_the_last_attempt(last, expected):
    assert next_step(last, model()) == expected


def test_a_grade_is_never_asked_again():
    assert next_step(attempt(), model(), frozenset({"ok", "refused"})) is None
    assert next_step(attempt(outcome="refused"), model(), frozenset({"refused"})) == Step(64)


class Seconds:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def report(progress):
    for number in range(3):
        progress.attempted(attempt(number, tokens_in=1000, tokens_out=500))
        progress.ended("ok")
    progress.attempted(attempt(4, outcome="error", error_kind="timeout", tokens_in=None))
    progress.ended("error")
    progress.passed_over(6)


def test_a_line_every_few_seconds_where_there_is_no_terminal(caplog):
    caplog.set_level(logging.INFO)
    clock = Seconds()
    console = Console(file=io.StringIO())
    with JudgeProgress("a [/b] judge", model(price_in=2, price_out=4), 20, console, clock) as shown:
        report(shown)
        clock.now = 4.0
        shown.tick()
        assert caplog.messages == []
        clock.now = 8.0
        shown.tick()
        shown.tick()
        assert caplog.messages == [
            "a [/b] judge: 10 of 20 done (6 before); 3 ok, 1 error; 0.5 calls/s; "
            "3,000 tokens in, 1,512 out; cost 0.0120; 0:00:20 left"
        ]
    assert len(caplog.messages) == 2
    assert console.file.getvalue() == ""


def test_a_line_that_renews_itself_on_a_terminal(caplog):
    caplog.set_level(logging.INFO)
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
    with JudgeProgress("a [/b] judge", model(), None, console, Seconds()) as shown:
        report(shown)
        shown.tick()
    drawn = console.file.getvalue()
    assert "a [/b] judge: 10 done (6 before); 3 ok, 1 error" in drawn
    assert "cost unknown" in drawn


def test_failures_cost_nothing_and_unreported_tokens_make_the_cost_unknown():
    priced = model(price_in=1, price_out=1)
    tally = Tally()
    tally.add(attempt(outcome="error", error_kind="timeout", tokens_in=None), priced)
    assert (tally.calls, tally.cost) == (1, 0.0)
    tally.add(attempt(tokens_in=None), priced)
    tally.add(attempt(), priced)
    assert (tally.calls, tally.cost) == (3, None)


def test_a_failure_is_told_with_its_status_and_without_texts():
    assert str(CallFailure("malformed", cause="KeyError")) == "malformed (KeyError)"
    assert str(CallFailure("unavailable", 503)) == "unavailable (status 503)"
    assert str(CallFailure("timeout")) == "timeout"
