"""Encoders behind a service, against a server on the loopback interface."""

import json
import logging
import os
import random
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd
import pytest
from tests.judging.loopback_llm import Answer, failure
from tests.retrieval.encode_job import encode_on
from tests.retrieval.loopback_embeddings import (
    EmbeddingCall,
    LoopbackEmbeddings,
    Vectors,
    vector_of,
)

from normastcu.retrieval.api_encoder import open_api_encoder
from normastcu.retrieval.dense import DenseRun, run_dense
from normastcu.retrieval.encoding import unit_vectors
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import ApiEncoder, DenseSystem
from normastcu.retrieval.vectors import VectorStore
from normastcu.services.patience import Clock
from normastcu.services.tokens import token_counter

KEY = "sk-planted-key-4711"
SECRET = "planted text of a document"  # pragma: allowlist secret
DOCUMENTS = pd.DataFrame(
    {"doc_id": ["d1", "d2", "d3", "d4"], "text": [f"{SECRET} {n}" for n in "1234"]}
)
QUERIES = pd.DataFrame({"query_id": ["q1"], "text": ["planted query"]})
N_TEXTS = 5


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackEmbeddings]:
    with LoopbackEmbeddings(Vectors()) as server:
        yield server


@pytest.fixture
def server(running: LoopbackEmbeddings) -> LoopbackEmbeddings:
    running.answer(Vectors())
    return running


def settings(server: LoopbackEmbeddings, **changes: object) -> ApiEncoder:
    values = {
        "name": "api",
        "model": "m-1",
        "base_url": server.base_url,
        "max_tokens": 8192,
        "batch_size": 2,
        "concurrency": 1,
        "timeout_s": 20,
    }
    return ApiEncoder(**values | changes)


def ran(
    server: LoopbackEmbeddings,
    store: Path,
    documents: pd.DataFrame = DOCUMENTS,
    **changes: object,
) -> DenseRun:
    encoder = settings(server, **changes)
    system = DenseSystem(name="S", family="m", encoder=encoder, fields=("text",))
    return run_dense(system, documents, QUERIES, VectorStore(store), credentials={"m_key": KEY})


class FakeTime:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def clock(self) -> Clock:
        return Clock(lambda: sum(self.waits), lambda: 0.0, self.waits.append, lambda: 0.0)


def encode(server: LoopbackEmbeddings, texts: list[str], time: FakeTime, **changes: object):
    encoder = open_api_encoder(settings(server, **changes), {"m_key": KEY}, Event(), time.clock())
    try:
        return encoder.encode(texts)
    finally:
        encoder.close()


def first(n: int, answer: Answer) -> Callable[[EmbeddingCall], Answer]:
    """Answer the first calls one way, and the others with vectors."""
    return lambda call: answer if call.number < n else Vectors()


def test_texts_are_sent_as_they_are_and_vectors_come_back(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    run = ran(server, tmp_path, credentials="m_key", dimensions=8).run
    others = {"model": "m-1", "dimensions": 8, "encoding_format": "float"}
    for call in server.calls:
        assert call.body == {"input": call.texts, **others}
    assert sorted(server.texts) == sorted([*DOCUMENTS["text"], "planted query"])
    assert {headers["authorization"] for headers in server.sent_headers} == {f"Bearer {KEY}"}
    query = np.array(vector_of("planted query"))
    documents = np.array([vector_of(text) for text in DOCUMENTS["text"]])
    cosines = documents @ query / np.linalg.norm(documents, axis=1) / np.linalg.norm(query)
    found = run.set_index("doc_id")["score"][DOCUMENTS["doc_id"]]
    np.testing.assert_allclose(found, cosines, atol=1e-3)


def test_a_second_run_makes_no_call_and_a_changed_document_one(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    one = ran(server, tmp_path)
    assert len(server.texts) == N_TEXTS
    other = ran(server, tmp_path)
    assert len(server.texts) == N_TEXTS
    pd.testing.assert_frame_equal(one.run, other.run)
    changed = DOCUMENTS.assign(text=["another", *DOCUMENTS["text"][1:]])
    ran(server, tmp_path, changed)
    assert server.texts[N_TEXTS:] == ["another"]


def test_equal_texts_are_sent_once(server: LoopbackEmbeddings, tmp_path: Path) -> None:
    ran(server, tmp_path, DOCUMENTS.assign(text="the same"))
    assert sorted(server.texts) == ["planted query", "the same"]


def test_prefixes_are_sent(server: LoopbackEmbeddings, tmp_path: Path) -> None:
    texts = ran(server, tmp_path, query_prefix="q: ", document_prefix="d: ").texts
    assert sorted(server.texts) == [
        *(f"d: {text}" for text in DOCUMENTS["text"]),
        "q: planted query",
    ]
    assert texts["characters_shown"].tolist() == texts["characters"].tolist()


def test_the_order_of_a_reply_does_not_matter(server: LoopbackEmbeddings) -> None:
    server.answer(Vectors(order=[2, 0, 1]))
    found = encode(server, ["a", "b", "c"], FakeTime())
    np.testing.assert_array_equal(found.vectors, [vector_of(text) for text in "abc"])


@pytest.mark.parametrize(
    "data",
    [
        [{"embedding": [1.0, 2.0]}],
        [{"embedding": [1.0, 2.0]}, {"index": 1, "embedding": [3.0, 4.0]}],
        [{"embedding": [1.0, 2.0]}, {"embedding": [3.0, 4.0]}],
    ],
)
def test_a_vector_without_a_place_has_that_at_which_it_is_listed(
    server: LoopbackEmbeddings, data: list[dict[str, object]]
) -> None:
    server.answer(Vectors(body=json.dumps({"object": "list", "data": data}).encode()))
    found = encode(server, ["a", "b"][: len(data)], FakeTime(), attempts=1)
    np.testing.assert_array_equal(found.vectors, [[1.0, 2.0], [3.0, 4.0]][: len(data)])


@pytest.mark.parametrize(
    "wrong",
    [
        Vectors(body=b'{"data": [{"embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]}'),
        Vectors(vectors=[[1.0, 2.0]]),
        Vectors(vectors=[[1.0, 2.0]] * 3),
        Vectors(order=[0, 0]),
        Vectors(vectors=[[1.0, 2.0], [1.0]]),
        Vectors(vectors=[[], []]),
        Vectors(body=b'{"data": []}'),
        Vectors(body=b'{"data": null}'),
        Vectors(body=b"[]"),
        Vectors(body=b"<html>planted text of a document</html>"),
        Vectors(body=b'{"data": [{"index": 0, "embedding": null}, {"index": 1}]}'),
    ],
)
def test_what_is_not_a_vector_for_each_text_is_asked_again(
    server: LoopbackEmbeddings, wrong: Answer
) -> None:
    server.answer(first(2, wrong))
    found = encode(server, ["a", "b"], FakeTime())
    np.testing.assert_array_equal(found.vectors, [vector_of("a"), vector_of("b")])
    assert server.counts.calls == 3

    server.answer(wrong)
    with pytest.raises(RetrievalError, match=r"no vectors in 3 attempts.*malformed") as caught:
        encode(server, [SECRET, "b"], FakeTime(), attempts=3, credentials="m_key")
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    ("answer", "waits"),
    [
        (failure(429, retry_after="7"), [7.0, 7.0]),
        (failure(429, retry_after="Thu, 01 Jan 1970 00:00:30 GMT"), [30.0, 30.0]),
        (failure(503, retry_after="86400"), [120.0, 120.0]),
        (failure(429), [2.0, 6.0]),
        (failure(500), [2.0, 6.0]),
        (Vectors(cut_after=30), [2.0, 6.0]),
    ],
    ids=["seconds", "date", "capped", "429", "500", "cut"],
)
def test_what_may_pass_is_waited_for(
    server: LoopbackEmbeddings, answer: Answer, waits: list[float]
) -> None:
    time = FakeTime()
    server.answer(first(2, answer))
    found = encode(server, ["a"], time)
    np.testing.assert_array_equal(found.vectors, [vector_of("a")])
    assert time.waits == pytest.approx(waits)


def test_a_service_in_trouble_is_outlasted(server: LoopbackEmbeddings) -> None:
    time = FakeTime()

    def answer(call: EmbeddingCall) -> Answer:
        if sum(time.waits) < 60:
            return failure(500)
        if call.number % 3 == 0:
            return failure(429)
        return Vectors(cut_after=30 if call.number % 5 == 0 else None)

    server.answer(answer)
    texts = [f"text {n}" for n in range(8)]
    encoder = open_api_encoder(settings(server, attempts=6), {}, Event(), time.clock())
    found = np.concatenate([encoder.encode([text]).vectors for text in texts])
    encoder.close()
    np.testing.assert_array_equal(found, [vector_of(text) for text in texts])
    assert server.counts.calls > len(texts)


def test_signs_of_every_kind_reach_the_service_as_they_are(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    odd = "a, \"b\"; 'c'\n<p>[/INST] d\t\u00a0\U0001f4dc</p>\\"
    ran(server, tmp_path, DOCUMENTS.iloc[:1].assign(text=odd))
    assert sorted(server.texts) == sorted([odd, "planted query"])


def test_a_call_that_never_answers_times_out(server: LoopbackEmbeddings) -> None:
    server.answer(Vectors(latency=5))
    with pytest.raises(RetrievalError, match=r"2 attempts.*timeout.*`timeout_s` of the encoder"):
        encode(server, ["a"], FakeTime(), attempts=2, timeout_s=0.2)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (failure(401), "credentials entry 'm_key'"),
        (failure(402), "credentials entry 'm_key'"),
        (failure(403), "`model` 'm-1'"),
        (failure(404), "`base_url`"),
        (failure(429, "insufficient_quota"), "credit or quota"),
        (failure(422), "`dimensions`"),
        (failure(401, message=SECRET), "credentials entry 'm_key'"),
    ],
)
def test_what_needs_a_setting_stops_at_once_with_a_sentence(
    server: LoopbackEmbeddings, tmp_path: Path, answer: Answer, named: str
) -> None:
    server.answer(answer)
    with pytest.raises(RetrievalError) as caught:
        ran(server, tmp_path, credentials="m_key")
    assert server.counts.calls == 1
    shown = "".join(traceback.format_exception(caught.value))
    assert named in str(caught.value)
    assert "encoder 'api' of systems.yml" in str(caught.value)
    assert SECRET not in shown
    assert KEY not in shown


def test_a_missing_key_names_its_entry_before_any_call(
    server: LoopbackEmbeddings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(RetrievalError, match=r"'api' needs the credentials entry 'other'"):
        ran(server, tmp_path, credentials="other")
    assert server.counts.calls == 0


def test_a_text_above_the_limit_is_cut_to_its_head(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    long = "a" * 1_500_000
    documents = pd.DataFrame({"doc_id": ["long", "short"], "text": [long, "b"]})
    texts = ran(server, tmp_path, documents, max_tokens=100).texts.set_index("doc_id")
    # The estimate is a token for 2.4 bytes.
    assert sorted(server.texts, key=len)[-1] == "a" * 240
    assert texts["characters"].to_dict() == {"long": 1_500_000, "short": 1}
    assert texts["characters_shown"].to_dict() == {"long": 240, "short": 1}
    assert texts["n_cut"].to_dict() == {"long": 1, "short": 0}
    # What was cut is known the next time, too.
    again = ran(server, tmp_path, documents, max_tokens=100)
    assert again.texts["n_cut"].tolist() == [1, 0]
    assert again.usage["n_cut"].tolist() == [1, 0]


def test_a_lower_limit_asks_again_for_the_texts_that_it_cuts_only(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    documents = pd.DataFrame({"doc_id": ["long", "short"], "text": ["a" * 1000, "b"]})
    ran(server, tmp_path, documents, max_tokens=100)
    n_sent = len(server.texts)
    found = ran(server, tmp_path, documents, max_tokens=50)
    assert server.texts[n_sent:] == ["a" * 120]
    assert found.texts.set_index("doc_id")["characters_shown"].to_dict() == {
        "long": 120,
        "short": 1,
    }
    assert found.usage[["n_texts", "n_known", "n_encoded", "n_cut"]].to_numpy().tolist() == [
        [2, 1, 1, 1],
        [1, 1, 0, 0],
    ]


def test_texts_of_one_head_share_its_vector(server: LoopbackEmbeddings, tmp_path: Path) -> None:
    texts = ["a" * 24, "a" * 25, "a" * 25 + "b"]
    documents = pd.DataFrame({"doc_id": ["d1", "d2", "d3"], "text": texts})
    for n_known in (0, 3):
        found = ran(server, tmp_path, documents, max_tokens=10)
        assert found.usage.loc[0, ["n_texts", "n_known", "n_cut"]].tolist() == [3, n_known, 2]
        assert found.texts["n_cut"].tolist() == [0, 1, 1]
        assert found.texts["characters_shown"].tolist() == [24, 24, 24]
    assert server.texts == ["a" * 24, "planted query"]


def test_the_models_own_tokenizer_counts_and_another_file_is_another_one(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    file = tmp_path / "tokenizer.json"
    documents = pd.DataFrame({"doc_id": ["long", "short"], "text": ["one two three four", "one"]})
    for split, head, new in (
        (pre_tokenizers.Whitespace(), "one two", 3),
        (pre_tokenizers.Split(Regex("."), "isolated"), "on", 2),
    ):
        words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
        words.pre_tokenizer = split
        words.save(str(file))
        token_counter.cache_clear()
        n_sent = len(server.texts)
        found = ran(
            server, tmp_path, documents, max_tokens=2, tokenizer=f"huggingface:{file}"
        ).texts.set_index("doc_id")
        sent = [text.strip() for text in server.texts[n_sent:]]
        assert head in sent
        assert len(sent) == new
        assert found.loc["long", "characters_shown"] == len(server.texts[n_sent])


def too_long_above(characters: int) -> Callable[[EmbeddingCall], Answer]:
    """Refuse calls with a longer text, or with more characters in all."""

    def answer(call: EmbeddingCall) -> Answer:
        if sum(map(len, call.texts)) > characters:
            return failure(400, "context_length_exceeded", f"too long: {call.texts}")
        return Vectors()

    return answer


def test_what_the_service_finds_too_long_is_cut_once_more(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    server.answer(too_long_above(60))
    documents = pd.DataFrame({"doc_id": ["d1", "d2"], "text": ["a" * 100, "b" * 40]})
    for _ in range(2):
        found = ran(server, tmp_path, documents)
        assert found.texts["characters_shown"].tolist() == [50, 40]
        assert found.usage["n_cut"].tolist() == [1, 0]
    assert [[len(text) for text in call.texts] for call in server.calls] == [
        *([100, 40], [100], [50], [40]),
        [len("planted query")],
    ]


@pytest.mark.parametrize(
    ("refusal", "most"),
    [
        (failure(400, "max_tokens_per_request", "Requested 9 tokens, max 8 tokens per request"), 8),
        (failure(500, "server_error", "input (992 tokens) is too large to process."), 5),
        (failure(400, message="Invalid 'input[0]': maximum input length is 8 tokens."), 5),
    ],
)
def test_a_batch_that_is_too_large_becomes_smaller_calls_and_no_text_is_cut(
    server: LoopbackEmbeddings, tmp_path: Path, refusal: Answer, most: int
) -> None:
    server.answer(lambda call: refusal if sum(map(len, call.texts[1:])) > most else Vectors())
    texts = ["aaaaaa", "bbbbb", "cccc", "ddd"]
    documents = pd.DataFrame({"doc_id": ["d1", "d2", "d3", "d4"], "text": texts})
    found = ran(server, tmp_path, documents, batch_size=4)
    assert [call.texts for call in server.calls[:-1]] == [texts, texts[:2], texts[2:]]
    assert found.usage["n_cut"].tolist() == [0, 0]
    assert sorted(found.run["doc_id"]) == ["d1", "d2", "d3", "d4"]


def test_what_is_still_too_long_names_the_document(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    server.answer(too_long_above(30))
    documents = pd.DataFrame({"doc_id": ["d1", "d2"], "text": ["short", f"{SECRET} " * 5]})
    with pytest.raises(
        RetrievalError, match=r"text of document 'd2' is too long for the encoder 'api'.*max_tokens"
    ) as caught:
        ran(server, tmp_path, documents)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_what_was_answered_before_a_text_failed_is_not_asked_again(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    texts = ["a" * 30, "b" * 20, "c" * 10, "d" * 9]

    def answer(call: EmbeddingCall) -> Answer:
        too_long = len(call.texts) > 1 or call.texts[0].startswith("c")
        return failure(400, "context_length_exceeded") if too_long else Vectors()

    server.answer(answer)
    documents = pd.DataFrame({"doc_id": ["d1", "d2", "d3", "d4"], "text": texts})
    with pytest.raises(RetrievalError, match="text of document 'd3' is too long"):
        ran(server, tmp_path, documents, batch_size=4)
    server.answer(Vectors())
    ran(server, tmp_path, documents, batch_size=4)
    assert server.texts == [*texts[2:], "planted query"]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_vector_that_is_no_number_names_the_document(
    server: LoopbackEmbeddings, tmp_path: Path, wrong: float
) -> None:
    def answer(call: EmbeddingCall) -> Answer:
        vectors = [vector_of(text) for text in call.texts]
        return Vectors(
            vectors=[
                [wrong, *vector[1:]] if text.endswith("3") else vector
                for text, vector in zip(call.texts, vectors, strict=True)
            ]
        )

    server.answer(answer)
    with pytest.raises(RetrievalError, match=r"'api' gives the text of document 'd3' a vector"):
        ran(server, tmp_path, batch_size=4)
    server.answer(Vectors())
    ran(server, tmp_path, batch_size=4)
    assert server.texts == [f"{SECRET} 3", "planted query"]


def test_another_length_than_before_is_refused(server: LoopbackEmbeddings, tmp_path: Path) -> None:
    ran(server, tmp_path)
    server.answer(lambda call: Vectors(vectors=[[1.0, 2.0]] * len(call.texts)))
    with pytest.raises(RetrievalError, match=r"vectors of length 2, but those in .* have 8"):
        ran(server, tmp_path, DOCUMENTS.assign(text=["another", *DOCUMENTS["text"][1:]]))


@pytest.mark.parametrize(
    ("changes", "usage", "costs"),
    [
        ({"price_in": 2.0}, True, [48e-6, 4e-6]),
        ({"price_in": 2.0}, False, [None, None]),
        ({}, True, [None, None]),
        ({"price_in": 0.0}, False, [0, 0]),
    ],
)
def test_the_cost_is_known_or_unknown(
    server: LoopbackEmbeddings,
    tmp_path: Path,
    changes: dict[str, float],
    usage: bool,
    costs: list[float | None],
) -> None:
    server.answer(Vectors(usage=usage))
    found = ran(server, tmp_path, **changes).usage
    # Four documents of six words, one query of two.
    expected = pd.DataFrame({"tokens": [24, 2] if usage else [None] * 2, "cost": costs})
    pd.testing.assert_frame_equal(
        found[["tokens", "cost"]], expected.astype({"tokens": "Int64", "cost": "Float64"})
    )
    again = ran(server, tmp_path, **changes).usage
    assert again["cost"].tolist() == [0, 0]


def test_as_many_calls_at_a_time_as_the_settings_say(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    documents = pd.DataFrame({"doc_id": [f"d{n}" for n in range(60)]})
    server.answer(Vectors(latency=0.1))
    found = ran(
        server, tmp_path, documents.assign(text=documents["doc_id"]), concurrency=5, batch_size=3
    )
    assert server.counts.most_in_flight == 5
    assert len(server.texts) == 61
    assert sorted(found.run["doc_id"]) == sorted(documents["doc_id"])


def test_nothing_of_the_environment_is_sent_and_nothing_goes_elsewhere(
    server: LoopbackEmbeddings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="normastcu")
    with LoopbackEmbeddings(Vectors()) as other:
        for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "LANGSMITH_ENDPOINT"):
            monkeypatch.setenv(name, other.base_url)
        for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
            monkeypatch.setenv(name, "true")
        for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "LANGSMITH_API_KEY"):
            monkeypatch.setenv(name, "from-the-environment")
        encode(server, [SECRET], FakeTime())
        encode(server, [SECRET], FakeTime(), credentials="m_key")
        assert other.counts.calls == 0
    sent = [headers["authorization"] for headers in server.sent_headers]
    assert sent == ["Bearer none", f"Bearer {KEY}"]
    assert "environment" not in json.dumps([dict(headers) for headers in server.sent_headers])
    assert SECRET not in caplog.text
    assert KEY not in caplog.text


def test_no_key_and_no_text_is_stored(server: LoopbackEmbeddings, tmp_path: Path) -> None:
    ran(server, tmp_path, credentials="m_key")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()
            assert SECRET.encode() not in path.read_bytes()


N_DOCUMENTS = int(os.environ.get("NORMASTCU_KILL_DOCUMENTS", "60"))
KILLS = int(os.environ.get("NORMASTCU_KILLS", "2"))


@contextmanager
def job(project_root: Path, base_url: str, store: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.retrieval.encode_job",
            base_url,
            str(store),
            str(N_DOCUMENTS),
        ],
        cwd=project_root,
        env=os.environ | {"PYTHONPATH": f"{project_root / 'src'}:{project_root}"},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def at_call(number: int, then: Event) -> Callable[[EmbeddingCall], Answer]:
    """Tell when so many calls have come, and answer those after them late."""

    def answer(call: EmbeddingCall) -> Answer:
        if call.number < number:
            return Vectors()
        then.set()
        return Vectors(latency=30)

    return answer


def test_a_job_killed_at_random_moments_equals_an_undisturbed_one(
    project_root: Path, server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    undisturbed = encode_on(server.base_url, tmp_path / "undisturbed", N_DOCUMENTS)
    chance, sent = random.Random(20260), 0
    for _ in range(KILLS):
        reached = Event()
        server.answer(at_call(chance.randint(2, 6), reached))
        with job(project_root, server.base_url, tmp_path / "killed") as process:
            assert reached.wait(timeout=120), process.stderr
            process.send_signal(signal.SIGKILL)
            process.wait()
        sent += len(server.texts)
    server.answer(Vectors())
    killed = encode_on(server.base_url, tmp_path / "killed", N_DOCUMENTS)
    sent += len(server.texts)
    pd.testing.assert_frame_equal(killed.run, undisturbed.run)
    # Lost are at most the batches under way, of 3 threads with 4 texts each, at each kill.
    assert killed.usage["n_known"].sum() > 0
    assert sent <= N_DOCUMENTS + 2 + KILLS * 3 * 4


def test_ctrl_c_ends_a_job_whose_service_never_answers(
    project_root: Path, server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    reached = Event()
    server.answer(at_call(6, reached))
    with job(project_root, server.base_url, tmp_path) as process:
        assert reached.wait(timeout=120), process.stderr
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=25) != 0
        assert "goes on where it stopped" in (process.stderr.read() if process.stderr else "")
    server.answer(Vectors())
    usage = encode_on(server.base_url, tmp_path, N_DOCUMENTS).usage
    assert usage["n_known"].sum() >= 4


def test_what_is_stored_has_length_one_and_half_precision(
    server: LoopbackEmbeddings, tmp_path: Path
) -> None:
    ran(server, tmp_path)
    identity = json.loads(next(tmp_path.rglob("encoder.json")).read_text(encoding="utf-8"))
    vectors = VectorStore(tmp_path).of(identity)
    stored = vectors.select([vectors.key(text) for text in DOCUMENTS["text"]])[slice(None)]
    expected = np.array([vector_of(text) for text in DOCUMENTS["text"]])
    np.testing.assert_array_equal(stored, unit_vectors(expected))
    assert identity == {
        "kind": "api",
        "base_url": server.base_url,
        "model": "m-1",
        "dimensions": None,
    }
