"""The clients, against a server on the loopback interface and a model made here."""

import json
import logging
import traceback

import pytest
from tests.judging.asking import PROMPT, SCALE, model, request
from tests.judging.loopback_llm import Answer, failure
from tests.judging.tiny_model import write_tiny_model

from normastcu.judging.client import RawReply, open_client
from normastcu.judging.errors import JudgingError
from normastcu.judging.huggingface_client import HuggingFaceClient
from normastcu.judging.openai_client import OpenAIClient
from normastcu.judging.prompts import reply_schema
from normastcu.services.failures import CallFailure

LLAMA_TOO_LARGE = (
    "input (992 tokens) is too large to process. increase the physical batch size (current batch "
    "size: 512)"
)
GEMINI_TOO_LONG = (
    "The input token count (2845475) exceeds the maximum number of tokens allowed (1048576)."
)
OPENAI_TOO_LONG = "Invalid 'input[0]': maximum input length is 8192 tokens."
OPENAI_TOO_MANY = "Requested 325998 tokens, max 300000 tokens per request"
OPENAI_TOO_MANY_REQUESTED = "Invalid 'input': maximum request size is 300000 tokens per request."
OPENAI_PER_MINUTE = (
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31000. The input "
    "or output tokens must be reduced in order to run successfully."
)

KEY = "sk-planted-key-4711"
SECRET = "planted text of a document"  # pragma: allowlist secret
MESSAGES = request(1, text=f"{SECRET} ").messages


def complete(server, max_tokens=64, schema=None, **settings):
    client = OpenAIClient(model(server.base_url, **settings), KEY, schema)
    try:
        return client.complete(MESSAGES, max_tokens=max_tokens)
    finally:
        client.close()


def test_a_reply_comes_back_as_it_was_sent(serve):
    server = serve(Answer('{"score": 2}'))
    assert complete(server) == RawReply('{"score": 2}', "stop", None, 10, 2, "tiny-1-2026")


def test_what_is_planned_is_what_is_sent(serve):
    server = serve(Answer())
    parameters = {"temperature": 0, "top_k": 5, "extra_body": {"chat_template_kwargs": {"x": 1}}}
    complete(server, max_tokens=77, parameters=parameters)
    call = server.calls[0]
    assert call.body == {
        "model": "tiny-1",
        "messages": list(MESSAGES),
        "stream": False,
        "temperature": 0,
        "top_k": 5,
        "chat_template_kwargs": {"x": 1},
        "max_tokens": 77,
    }
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_openai_itself_gets_the_newer_name_of_the_limit():
    client = OpenAIClient(model("https://api.openai.com/v1"), KEY)
    assert client._limit_name == "max_completion_tokens"


def test_the_schema_is_sent_where_it_is_switched_on(serve):
    server = serve(lambda _: Answer('{"justificativa": "…", "score": 1}', "length"))
    schema = reply_schema(PROMPT, SCALE)
    for switch in (True, False):
        settings = model(server.base_url, structured_output=switch)
        open_client(settings, {}, schema=schema).complete(MESSAGES, max_tokens=5)
    on, off = (call.body.get("response_format") for call in server.calls)
    assert on["json_schema"]["schema"]["properties"]["score"]["enum"] == [0, 1, 2]
    assert off is None


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("finish_reason", ["length", "content_filter", None])
def test_the_finish_reason_is_kept(serve, structured, finish_reason):
    server = serve(Answer('{"sco', finish_reason))
    schema = reply_schema(PROMPT, SCALE) if structured else None
    reply = complete(server, schema=schema)
    assert (reply.content, reply.finish_reason) == ('{"sco', finish_reason)


def test_a_null_content_and_a_refusal_are_kept(serve):
    reply = complete(serve(Answer(None, refusal="I can't help with that.")))
    assert not reply.content
    assert reply.refusal == "I can't help with that."


def test_unreported_tokens_are_unknown(serve):
    reply = complete(serve(Answer(usage=False)))
    assert (reply.tokens_in, reply.tokens_out) == (None, None)


NOT_REPLIES = {
    "html": b"<html><body>planted text of a document</body></html>",
    "no choices": b'{"id": "x", "planted text of a document": 1}',
    "null choices": b'{"choices": null}',
    "empty choices": b'{"choices": []}',
    "no message": b'{"choices": [{"index": 0}]}',
    "null message": b'{"choices": [{"message": null}]}',
    "a list": b"[]",
    "a string": b'"planted text of a document"',
    "half": b'{"choices": [{"message": {"content": "planted text of a docu',
    "error": b'{"error": {"message": "planted text of a document", "code": 500}}',
    "empty": b"",
}


@pytest.mark.parametrize("body", NOT_REPLIES.values(), ids=NOT_REPLIES)
@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
def test_what_is_no_reply_is_malformed(serve, body, content_type):
    with pytest.raises(CallFailure) as caught:
        complete(serve(Answer(body=body, headers={"content-type": content_type})))
    assert (caught.value.kind, caught.value.status) == ("malformed", None)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (failure(401), "unauthorized"),
        (failure(402, message="Insufficient Balance"), "payment"),
        (failure(403), "forbidden"),
        (failure(404), "not_found"),
        (failure(408), "unavailable"),
        (failure(409), "unavailable"),
        (failure(422, "invalid"), "rejected"),
        (failure(400, "unknown_parameter"), "rejected"),
        (failure(418), "rejected"),
        (failure(429, "rate_limit_exceeded"), "rate_limit"),
        (failure(429, "insufficient_quota"), "payment"),
        (failure(500), "unavailable"),
        (failure(529), "unavailable"),
        (failure(413), "context_length"),
        (failure(400, "context_length_exceeded"), "context_length"),
        (failure(400, message="This model's maximum context length is 8192"), "context_length"),
        (failure(400, "exceed_context_size_error"), "context_length"),
        (Answer(status=400, body=b"prompt is too long"), "context_length"),
        (failure(500, "server_error", LLAMA_TOO_LARGE), "context_length"),
        (failure(400, message=GEMINI_TOO_LONG), "context_length"),
        (failure(400, message=OPENAI_TOO_LONG), "context_length"),
        (failure(400, "max_tokens_per_request", OPENAI_TOO_MANY), "context_length"),
        (failure(400, message=OPENAI_TOO_MANY_REQUESTED), "context_length"),
        (failure(429, "rate_limit_exceeded", OPENAI_PER_MINUTE), "rate_limit"),
        (failure(429, message="at most 10 requests and 9000 tokens per request"), "rate_limit"),
        (failure(500, "server_error", "the server had an error"), "unavailable"),
        (failure(400, message="array too long. Expected maximum length 2048"), "rejected"),
        (Answer(status=502, body=b"<html>bad gateway</html>"), "unavailable"),
        (Answer(status=302, headers={"location": "/elsewhere"}), "rejected"),
        (Answer(status=307, headers={"location": "http://127.0.0.1:1/"}), "rejected"),
    ],
)
def test_a_status_is_a_kind_of_failure(serve, answer, kind):
    with pytest.raises(CallFailure) as caught:
        complete(serve(answer))
    assert (caught.value.kind, caught.value.status) == (kind, answer.status)


def test_an_error_that_repeats_the_request_is_not_searched_for_words(serve):
    body = {"detail": [{"msg": "bad", "input": "about the context length of a prompt"}]}
    with pytest.raises(CallFailure) as caught:
        complete(serve(Answer(status=422, body=json.dumps(body).encode())))
    assert caught.value.kind == "rejected"


def test_retry_after_is_handed_on(serve):
    with pytest.raises(CallFailure) as caught:
        complete(serve(failure(429, retry_after="7")))
    assert caught.value.retry_after == "7"


@pytest.mark.parametrize("said", ["content_filter", "content_policy_violation"])
def test_a_filter_s_error_is_a_refusal(serve, said):
    assert complete(serve(failure(400, said))).finish_reason == "content_filter"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(cut_after=30), "connection"),
        (Answer(latency=5), "timeout"),
        (Answer(drip=0.02), "timeout"),
    ],
    ids=["cut in the middle", "no answer", "blanks without an end"],
)
def test_a_call_ends_in_time(serve, answer, kind):
    with pytest.raises(CallFailure) as caught:
        complete(serve(answer), timeout_s=0.3)
    assert caught.value.kind == kind


def test_a_server_that_is_not_there_is_a_connection_failure():
    with pytest.raises(CallFailure) as caught:
        OpenAIClient(model(), KEY).complete(MESSAGES, max_tokens=5)
    assert caught.value.kind == "connection"


def test_the_client_never_tries_again(serve):
    server = serve(failure(500))
    with pytest.raises(CallFailure):
        complete(server)
    assert server.counts.calls == 1


TRACING = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
    "LANGCHAIN_HANDLER",
)


@pytest.fixture
def other_server(serve, monkeypatch):
    """Let the environment point everything that it can at another server."""
    other = serve(Answer())
    for name in TRACING:
        monkeypatch.setenv(name, "true")
    for name in ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, other.base_url)
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "sk-from-the-environment")
    for name in ("OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-from-the-environment")
    monkeypatch.setenv("LC_OUTPUT_VERSION", "responses/v1")
    return other


@pytest.mark.parametrize("credentials", [None, "tiny_key"])
def test_nothing_of_the_environment_is_sent_and_nothing_goes_elsewhere(
    serve, other_server, credentials, caplog
):
    server = serve(Answer('{"score": 2}'))
    settings = model(server.base_url, credentials=credentials)
    client = open_client(settings, {"tiny_key": KEY})
    assert client.complete(MESSAGES, max_tokens=5).content == '{"score": 2}'
    sent = dict(server.calls[0].headers)
    assert "environment" not in json.dumps(sent)
    assert sent["authorization"] == f"Bearer {KEY if credentials else 'none'}"
    assert other_server.counts.calls == 0
    assert SECRET not in caplog.text


def test_no_tracer_is_made(serve, other_server, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a LangSmith client was made")

    monkeypatch.setattr("langsmith.client.Client.__init__", refuse)
    monkeypatch.setattr("langchain_core.tracers.LangChainTracer.__init__", refuse)
    assert complete(serve(Answer('{"score": 2}'))).content == '{"score": 2}'


def test_no_text_and_no_key_in_the_log_even_of_the_libraries(serve, caplog):
    caplog.set_level(logging.INFO)
    complete(serve(Answer(f'{{"justificativa": "{SECRET}", "score": 1}}')))
    assert SECRET not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("stated", [{}, {"maritaca": ""}, {"maritaca": {"key": KEY}}])
def test_a_missing_key_names_its_entry(stated, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(JudgingError, match=r"'tiny' needs the credentials entry 'maritaca'") as e:
        open_client(model(credentials="maritaca"), stated)
    assert KEY not in str(e.value)


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory):
    return write_tiny_model(tmp_path_factory.mktemp("tiny"))


def in_process(folder, **settings):
    values = {"kind": "huggingface", "model": str(folder), "base_url": None, **settings}
    return open_client(model(**values), {})


def test_a_model_in_process_replies_the_same_each_time(tiny_folder):
    client = in_process(tiny_folder)
    first, second = (client.complete(MESSAGES, max_tokens=12) for _ in range(2))
    assert isinstance(client, HuggingFaceClient)
    assert first == second
    assert first.finish_reason == "length"
    assert first.tokens_out == 12
    shown = " ".join(f"{one['role']}: {one['content']}" for one in MESSAGES)
    assert first.tokens_in == len(f"{shown} ")


def test_a_model_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(JudgingError, match=r"'tiny' can't be loaded from .*`model` in judges.yml"):
        in_process(tmp_path)


def test_a_model_in_process_takes_its_parameters(tiny_folder):
    import torch

    client = in_process(tiny_folder, parameters={"temperature": 5.0, "top_k": 50})
    torch.manual_seed(1)
    assert len({client.complete(MESSAGES, max_tokens=12).content for _ in range(4)}) > 1


def test_a_model_in_process_ends_by_its_end_token(tiny_folder):
    client = in_process(tiny_folder, parameters={"suppress_tokens": [0, *range(2, 98)]})
    reply = client.complete(MESSAGES, max_tokens=12)
    assert (reply.content, reply.finish_reason, reply.tokens_out) == ("", "stop", 1)


@pytest.mark.parametrize("settings", [{"context_window": 300}, {}])
def test_messages_beyond_the_window_of_a_model_in_process_are_too_long(tiny_folder, settings):
    with pytest.raises(CallFailure) as caught:
        in_process(tiny_folder, **settings).complete(request(1, "x" * 600).messages, max_tokens=5)
    assert caught.value.kind == "context_length"


def test_a_model_in_process_is_ended_by_its_timeout(tiny_folder):
    client = in_process(tiny_folder, timeout_s=1e-6)
    with pytest.raises(CallFailure) as caught:
        client.complete(MESSAGES, max_tokens=300)
    assert caught.value.kind == "timeout"


def test_what_a_model_in_process_can_not_take_is_told_by_its_type(tiny_folder):
    """Parameters that `generate` does not know, a template without a place for the system."""
    unknown = in_process(tiny_folder, parameters={"reasoning": "high"})
    unsystematic = in_process(tiny_folder)
    unsystematic._tokenizer.chat_template = (
        "{% if messages[0].role == 'system' %}"
        "{{ raise_exception('System role not supported: ' + messages[1].content) }}{% endif %}"
    )
    for client, cause in ((unknown, "ValueError"), (unsystematic, "TemplateError")):
        with pytest.raises(CallFailure) as caught:
            client.complete(MESSAGES, max_tokens=5)
        assert (caught.value.kind, caught.value.cause) == ("rejected", cause)
        assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_model_in_process_without_memory_may_have_some_later(tiny_folder, monkeypatch):
    import torch

    def full(**_):
        raise torch.OutOfMemoryError(SECRET)

    client = in_process(tiny_folder)
    monkeypatch.setattr(client._model, "generate", full)
    with pytest.raises(CallFailure) as caught:
        client.complete(MESSAGES, max_tokens=5)
    assert (caught.value.kind, caught.value.cause) == ("unavailable", "OutOfMemoryError")


def test_a_model_that_can_not_be_loaded_is_a_sentence(tiny_folder, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("size mismatch")

    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", broken)
    with pytest.raises(JudgingError, match=r"'tiny' can't be loaded from .*\(RuntimeError\)"):
        in_process(tiny_folder)
