"""What is asked of a judge: keys, cuts, fallbacks, and what the store makes unnecessary."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from normastcu.collection.settings import GradeScale
from normastcu.judging.content import fence
from normastcu.judging.errors import JudgingError
from normastcu.judging.keys import request_key
from normastcu.judging.plan import Plan, plan_judge, shorten_request
from normastcu.judging.prompts import Prompt, read_prompt, remind, render, reply_schema
from normastcu.judging.requests import Attempt, Request
from normastcu.judging.settings import Judge, load_judges
from normastcu.services.tokens import estimate_tokens

SCALE = GradeScale.model_validate(
    {"grades": [{"grade": grade, "name": f"g{grade}"} for grade in range(3)]}
)
QUERIES = pd.DataFrame({"query_id": ["1", "2"], "text": ["diárias", "férias"]}, dtype="str")
DOCUMENTS = pd.DataFrame(
    {
        "doc_id": ["a", "b", "c", "d"],
        "text": ["Trata de diárias.", "Trata de férias.", "", None],
        "subject": ["s", "s", "Sobre férias", " "],
        "title": ["t", "t", "t", None],
    },
    dtype="str",
)
PAIRS = pd.DataFrame(
    {"query_id": ["2", "1", "1", "2", "1"], "doc_id": ["b", "d", "a", "a", "c"]}, dtype="str"
)


@pytest.fixture(scope="module")
def prompt(project_root: Path) -> Prompt:
    """Return the simple prompt of the project."""
    text = (project_root / "conf/base/prompts/simple.pt.md").read_text(encoding="utf-8")
    return read_prompt(text, "simple.pt.md")


def judge(samples: int = 1, **model: Any) -> Judge:
    local = {
        "kind": "openai",
        "model": "m",
        "base_url": "http://127.0.0.1:8080/v1",
        "context_window": 8192,
        "parameters": {"temperature": 0},
        "max_reply_tokens": 100,
        "reply_token_cap": 400,
    }
    library = {
        "models": {"local": local | model},
        "prompts": {"simple": {"file": "simple.pt.md"}},
        "judges": {"j": {"model": "local", "prompt": "simple", "samples": samples}},
    }
    return load_judges(library, ["j"])[0]


class Store:
    """The last attempts by key, and the keys that were looked up."""

    def __init__(self, attempts: Mapping[str, Attempt] | None = None) -> None:
        self.attempts = attempts or {}
        self.keys: list[str] = []

    def __call__(self, keys: Sequence[str]) -> Mapping[str, Attempt]:
        self.keys = list(keys)
        return {key: self.attempts[key] for key in keys if key in self.attempts}


def plan(prompt: Prompt, asked: Judge | None = None, **how: Any) -> Plan:
    given = {
        "pairs": PAIRS,
        "queries": QUERIES,
        "documents": DOCUMENTS,
        "judge": asked or judge(),
        "prompt": prompt,
        "scale": SCALE,
        "last_attempts": Store(),
    }
    return plan_judge(**given | how)


def attempt(request: Request, **values: Any) -> Attempt:
    given = dict.fromkeys(Attempt.__dataclass_fields__) | {
        "key": request.key,
        "query_id": request.query_id,
        "doc_id": request.doc_id,
        "judge": request.judge,
        "sample": request.sample,
        "attempt": 1,
        "outcome": "ok",
        "reply": '{"score": 1}',
        "finish_reason": "stop",
        "created": "2026-01-01T00:00:00+00:00",
        "reminded": False,
        "max_tokens": 100,
    }
    return Attempt(**given | values)


def test_every_pair_is_planned_in_its_place(prompt: Prompt) -> None:
    store = Store()
    made = plan(prompt, last_attempts=store)

    pairs = [(request.query_id, request.doc_id) for request in made.planned]
    assert pairs == list(zip(PAIRS["query_id"], PAIRS["doc_id"], strict=True))
    assert made.requests == made.planned
    assert made.done == ()
    assert sorted(store.keys) == sorted(request.key for request in made.planned)
    assert [request.content_origin for request in made.planned] == [
        *("text", "key", "text", "text", "subject"),
    ]
    assert {request.judge for request in made.planned} == {"j"}


def test_a_request_is_what_prompt_and_key_make_of_the_pair(prompt: Prompt) -> None:
    first = plan(prompt).planned[0]

    messages = render(prompt, SCALE, "férias", fence("Trata de férias."))
    assert list(first.messages) == messages
    assert (len(first.messages), first.messages[1]) == (2, messages[1])
    assert first.key == request_key(
        "openai", "http://127.0.0.1:8080/v1", "m", messages, {"temperature": 0}, 0
    )
    assert first.characters_shown == len("Trata de férias.")
    # Counted part by part, each rounded up.
    whole = sum(estimate_tokens(message["content"]) + 8 for message in messages)
    assert whole <= first.tokens_estimate <= whole + 2


def test_samples_are_requests_of_their_own(prompt: Prompt) -> None:
    made = plan(prompt, judge(samples=3))

    assert [request.sample for request in made.planned[:4]] == [0, 1, 2, 0]
    assert len({request.key for request in made.planned}) == 15
    assert list(made.planned[0].messages) == list(made.planned[2].messages)
    # The first sample of three is the call of a judge that asks once.
    assert made.planned[0].key == plan(prompt).planned[0].key


def keys(made: Plan) -> dict[tuple[str, str], str]:
    return {(request.query_id, request.doc_id): request.key for request in made.planned}


def changed(before: Plan, after: Plan) -> set[tuple[str, str]]:
    return {pair for pair, key in keys(before).items() if keys(after)[pair] != key}


ALL = set(zip(PAIRS["query_id"], PAIRS["doc_id"], strict=True))


def test_a_changed_document_or_query_makes_exactly_its_calls_new(prompt: Prompt) -> None:
    before = plan(prompt)
    documents = DOCUMENTS.assign(text=DOCUMENTS["text"].replace("Trata de diárias.", "Diárias."))
    queries = QUERIES.assign(text=["diárias", "ferias"])

    assert changed(before, plan(prompt, documents=documents)) == {("1", "a"), ("2", "a")}
    assert changed(before, plan(prompt, queries=queries)) == {("2", "a"), ("2", "b")}
    # What a judge is not shown does not matter.
    assert changed(before, plan(prompt, documents=DOCUMENTS.assign(title="x"))) == {("1", "d")}


@pytest.mark.parametrize(
    "model",
    [
        {"base_url": "http://127.0.0.1:8081/v1"},
        {"model": "other"},
        {"parameters": {"temperature": 0.5}},
        {"structured_output": True},
    ],
)
def test_another_model_or_parameter_makes_every_call_new(
    prompt: Prompt, model: dict[str, Any]
) -> None:
    assert changed(plan(prompt), plan(prompt, judge(**model))) == ALL


@pytest.mark.parametrize(
    "model",
    [
        {"max_reply_tokens": 300},
        {"reply_token_cap": 800},
        {"context_window": 100_000},
        {"concurrency": 9, "timeout_s": 3, "attempts": 2},
        {"price_in": 1, "price_out": 2, "requests_per_minute": 3},
        {"credentials": "OTHER"},
        {"cut_policy": "fail"},
    ],
)
def test_limits_and_prices_make_no_call_new(prompt: Prompt, model: dict[str, Any]) -> None:
    assert changed(plan(prompt), plan(prompt, judge(**model))) == set()


def test_a_character_of_the_prompt_makes_every_call_new(prompt: Prompt) -> None:
    assert changed(plan(prompt), plan(replace(prompt, system=prompt.system + "."))) == ALL
    # Only what is sent counts.
    assert changed(plan(prompt), plan(replace(prompt, reminder="!", sha256="0"))) == set()


@pytest.mark.parametrize("switch", [True, "json_object"])
def test_structured_output_is_part_of_the_key(prompt: Prompt, switch: bool | str) -> None:
    """What is sent is; for `json_object` the schema alone, by which the sample was recorded."""
    first = plan(prompt, judge(structured_output=switch)).planned[0]

    schema = reply_schema(prompt, SCALE)
    sent = {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": schema},
    }
    parameters = {"temperature": 0, "response_format": sent if switch is True else schema}
    messages = list(first.messages)
    assert first.key == request_key(
        "openai", "http://127.0.0.1:8080/v1", "m", messages, parameters, 0
    )


def test_what_waits_in_a_batch_is_left_to_collect_and_not_to_pay(prompt: Prompt) -> None:
    requests = plan(prompt).requests
    waiting = frozenset(one.key for one in requests[1:])
    made = plan(prompt, waiting=waiting)
    assert [one.key for one in made.requests] == [one.key for one in requests]
    assert (made.estimate.calls, made.estimate.tokens_in) == (1, requests[0].tokens_estimate)


def test_a_change_of_how_the_format_is_enforced_makes_every_call_new(prompt: Prompt) -> None:
    enforced = plan(prompt, judge(structured_output="json_object"))
    assert changed(enforced, plan(prompt, judge(structured_output=True))) == ALL
    assert changed(enforced, plan(prompt)) == ALL


@pytest.mark.parametrize(
    ("last", "left"),
    [
        ({"outcome": "ok"}, False),
        ({"outcome": "unparseable", "reply": "2"}, True),
        ({"outcome": "unparseable", "reply": "2", "reminded": True}, False),
        ({"outcome": "out_of_range", "reply": '{"score": 9}'}, True),
        ({"outcome": "out_of_range", "reply": '{"score": 9}', "reminded": True}, False),
        ({"outcome": "truncated", "finish_reason": "length"}, True),
        ({"outcome": "truncated", "finish_reason": "length", "max_tokens": 399}, True),
        ({"outcome": "truncated", "finish_reason": "length", "max_tokens": 400}, False),
        ({"outcome": "refused", "refusal": "No."}, False),
        ({"outcome": "too_long", "reply": None}, False),
        ({"outcome": "error", "reply": None, "error_kind": "timeout"}, True),
        ({"outcome": "error", "reply": None, "reminded": True, "max_tokens": 400}, True),
        # What a better reader finds needs no new call.
        ({"outcome": "unparseable", "reply": 'x {"score": 1}'}, False),
        # What it does not find any more does.
        ({"outcome": "ok", "grade": 2, "reply": "2"}, True),
    ],
)
def test_the_last_attempt_decides(prompt: Prompt, last: dict[str, Any], left: bool) -> None:
    first, *others = plan(prompt).planned
    stored = {first.key: attempt(first, **last)}

    made = plan(prompt, last_attempts=Store(stored))

    keys_left = [request.key for request in made.requests]
    assert keys_left == [request.key for request in ([first] if left else []) + others]
    assert [request.key for request in made.done] == ([] if left else [first.key])
    assert len(made.planned) == 5
    assert made.estimate.calls == len(made.requests)


@pytest.mark.parametrize(
    ("outcome", "last"),
    [
        ("refused", {"refusal": "No."}),
        ("unparseable", {"reply": "2", "reminded": True}),
        ("truncated", {"finish_reason": "length", "max_tokens": 400}),
    ],
)
def test_a_final_outcome_is_asked_again_only_when_wished(
    prompt: Prompt, outcome: str, last: dict[str, Any]
) -> None:
    first = plan(prompt).planned[0]
    store = Store({first.key: attempt(first, outcome=outcome, **last)})

    assert len(plan(prompt, last_attempts=store).requests) == 4
    assert len(plan(prompt, last_attempts=store, again=frozenset({outcome})).requests) == 5
    assert len(plan(prompt, last_attempts=store, again=frozenset({"too_long"})).requests) == 4


def test_a_second_plan_has_nothing_to_do(prompt: Prompt) -> None:
    stored = {request.key: attempt(request) for request in plan(prompt).planned}

    made = plan(prompt, judge(price_in=1, requests_per_minute=60), last_attempts=Store(stored))

    assert (made.requests, len(made.done)) == ((), 5)
    assert made.estimate.calls == made.estimate.tokens_in == made.estimate.tokens_out == 0
    assert (made.estimate.cost, made.estimate.seconds) == (0, 0)


def test_documents_of_one_text_are_asked_once(prompt: Prompt) -> None:
    documents = DOCUMENTS.assign(text="O mesmo.")

    made = plan(prompt, documents=documents)

    # Query 1 with a, c, d; query 2 with a, b.
    assert len(made.planned) == 5
    assert [(request.query_id, request.doc_id) for request in made.requests] == [
        ("2", "b"),
        ("1", "d"),
    ]
    assert made.estimate.calls == 2
    stored = {request.key: attempt(request) for request in made.requests}
    assert len(plan(prompt, documents=documents, last_attempts=Store(stored)).done) == 5


def tokens(request: Request) -> int:
    return sum(estimate_tokens(message["content"]) + 8 for message in request.messages)


LONG = DOCUMENTS.assign(text=["palavra " * 300_000, "Trata de férias.", "", None])


@pytest.mark.parametrize("policy", ["head", "head_tail"])
def test_a_long_document_is_cut_so_that_the_reply_and_a_reminder_fit(
    prompt: Prompt, policy: str
) -> None:
    asked = judge(cut_policy=policy)
    assert asked.model is not None

    made = plan(prompt, asked, documents=LONG)

    _, _, cut, also_cut, _ = made.planned
    room = asked.model.context_window - asked.model.reply_token_cap
    assert 0 < cut.characters_shown < len(LONG["text"][0])
    assert ("[…]" in cut.messages[-1]["content"]) == (policy == "head_tail")
    for request in (cut, also_cut):
        reminded = replace(request, messages=remind(request.messages, prompt, SCALE))
        assert room - 10 < tokens(reminded) <= room + 2
        assert request.tokens_estimate <= room
    assert made.planned[0].key == plan(prompt, asked).planned[0].key


def test_a_document_that_is_too_long_is_recorded_not_asked(prompt: Prompt) -> None:
    asked = judge(cut_policy="fail")

    made = plan(prompt, asked, documents=LONG)

    too_long = [request for request in made.planned if request.too_long]
    assert [(request.query_id, request.doc_id) for request in too_long] == [("1", "a"), ("2", "a")]
    assert all(not request.messages and not request.characters_shown for request in too_long)
    assert (len(made.requests), made.estimate.calls) == (5, 3)
    stored = {one.key: attempt(one, outcome="too_long", reply=None) for one in too_long}
    assert len(plan(prompt, asked, documents=LONG, last_attempts=Store(stored)).requests) == 3
    # A larger window is another plan: what was too long may fit now.
    larger = judge(cut_policy="fail", context_window=2_000_000)
    assert len(plan(prompt, larger, documents=LONG, last_attempts=Store(stored)).requests) == 5


def test_a_window_without_room_for_any_document(prompt: Prompt) -> None:
    made = plan(prompt, judge(context_window=500))

    assert all(request.too_long for request in made.planned)
    assert made.estimate.calls == 0


def test_the_estimate(prompt: Prompt) -> None:
    made = plan(
        prompt,
        judge(price_in=2, price_out=10, requests_per_minute=30, tokens_per_minute=1_000_000),
    )

    tokens_in = sum(request.tokens_estimate for request in made.requests)
    assert (made.estimate.pairs, made.estimate.calls) == (5, 5)
    assert made.estimate.tokens_in == tokens_in
    assert made.estimate.tokens_out == 500
    assert made.estimate.cost == pytest.approx(tokens_in * 2e-6 + 500 * 10e-6)
    # 5 calls at 30 a minute; the tokens would take less.
    assert made.estimate.seconds == 10
    by_tokens = plan(prompt, judge(requests_per_minute=3000, tokens_per_minute=100)).estimate
    assert by_tokens.seconds == pytest.approx((tokens_in + 500) * 0.6)


def test_an_unknown_price_or_rate_stays_unknown(prompt: Prompt) -> None:
    estimate = plan(prompt, judge(price_in=1)).estimate

    assert (estimate.cost, estimate.seconds) == (None, None)


def test_what_can_not_be_planned(prompt: Prompt) -> None:
    unknown = pd.DataFrame({"query_id": ["9"], "doc_id": ["a"]}, dtype="str")

    with pytest.raises(JudgingError, match="query '9', which the collection lacks"):
        plan(prompt, pairs=unknown)
    with pytest.raises(JudgingError, match="document 'z', which the corpus lacks"):
        plan(prompt, pairs=unknown.assign(query_id="1", doc_id="z"))
    with pytest.raises(JudgingError, match="query '2' and document 'b' is listed more than once"):
        plan(prompt, pairs=pd.concat([PAIRS, PAIRS.head(1)]))
    lexical = load_judges({"judges": {"lexical": {"kind": "lexical"}}}, ["lexical"])[0]
    with pytest.raises(JudgingError, match="'lexical' is of kind lexical and isn't asked"):
        plan(prompt, lexical)


def test_ids_are_text_and_stay_as_they_are(prompt: Prompt) -> None:
    pairs = pd.DataFrame({"query_id": ["00123", "1e5"], "doc_id": ["1", "01"]}, dtype="str")
    queries = pd.DataFrame({"query_id": ["1e5", "00123"], "text": ["x", "y"]}, dtype="str")
    documents = pd.DataFrame({"doc_id": ["01", "1"], "text": ["um", "outro"]}, dtype="str")

    made = plan(prompt, pairs=pairs, queries=queries, documents=documents)

    assert [(request.query_id, request.doc_id) for request in made.planned] == [
        ("00123", "1"),
        ("1e5", "01"),
    ]
    assert "outro" in made.planned[0].messages[1]["content"]
    assert "Consulta: y" in made.planned[0].messages[1]["content"]


def test_half_of_the_document_is_shown_where_the_service_finds_it_too_long(
    prompt: Prompt,
) -> None:
    request = plan(prompt).planned[0]

    shorter = shorten_request(request, "head")

    assert shorter is not None
    assert (shorter.key, shorter.characters_shown) == (request.key, 8)
    whole = fence("Trata de férias.")
    assert shorter.messages[-1]["content"].endswith(f"{whole.opening}\nTrata de\n{whole.closing}")
    assert shorten_request(request, "fail") is None


def test_real_pairs_with_grades_to_3_are_planned(shared_data: Path, prompt: Prompt) -> None:
    folder = shared_data / "juristcu"
    queries = pd.read_csv(folder / "query.csv", dtype="str")
    documents = pd.read_csv(folder / "doc.csv", dtype="str")
    pairs = pd.read_csv(folder / "qrel.csv", dtype="str")
    grades = [{"grade": grade, "name": f"g{grade}"} for grade in range(4)]

    made = plan(
        prompt,
        pairs=pairs.rename(columns={"QUERY_ID": "query_id", "DOC_ID": "doc_id"}),
        queries=queries.rename(columns={"ID": "query_id", "TEXT": "text"}),
        documents=documents.rename(columns={"ID": "doc_id", "ENUNCIADO": "text"}),
        scale=GradeScale.model_validate({"grades": grades}),
    )

    assert len(made.planned) == 2250
    assert not any(request.too_long for request in made.planned)
    assert {request.content_origin for request in made.planned} == {"text"}


def test_a_plan_holds_no_documents(prompt: Prompt) -> None:
    import tracemalloc

    n = 2_000
    queries = pd.DataFrame({"query_id": ["1"], "text": ["q"]}, dtype="str")
    doc_ids = [str(number) for number in range(n)]
    texts = [f"{number} " + "palavra " * 2_000 for number in range(n)]
    documents = pd.DataFrame({"doc_id": doc_ids, "text": texts}, dtype="str")
    pairs = pd.DataFrame({"query_id": "1", "doc_id": doc_ids}, dtype="str")
    del texts

    tracemalloc.start()
    start = time.process_time()
    made = plan(prompt, pairs=pairs, queries=queries, documents=documents)
    seconds = time.process_time() - start
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(made.requests) == n
    # 32 MB of text; a request needs about 1 kB.
    assert kept < 8_000_000
    assert seconds < 20
