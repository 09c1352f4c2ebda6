"""Asking with patience: what a call reserves and uses, and what its failure says."""

from threading import Event

import pytest
from tests.judging.asking import model

from normastcu.judging.client import RawReply
from normastcu.judging.transport import Transport, advice
from normastcu.services.failures import CallFailure
from normastcu.services.patience import Clock

REPLY = RawReply('{"score": 1}', "stop", None, 10, 5, "m")


class Client:
    """Replies the same to everything, and remembers its calls."""

    def __init__(self, reply, now):
        self.reply, self.now, self.calls = reply, now, []

    def complete(self, messages, *, max_tokens):
        self.calls.append((self.now(), messages, max_tokens))
        return self.reply

    def close(self):
        pass


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (REPLY, [0, 1.5, 3]),  # 10 + 5 tokens at 10 a second
        (RawReply("{}"), [0, 8.4, 16.8]),  # 20 + 64
    ],
)
def test_tokens_a_minute_count_what_was_used_once_it_is_known(reply, expected):
    seconds = [0.0]
    client = Client(reply, now=lambda: sum(seconds))
    clock = Clock(lambda: sum(seconds), wait=seconds.append)
    transport = Transport(client, model(tokens_per_minute=600), Event(), clock)
    for _ in range(3):
        asked = transport.ask(["m"], max_tokens=64, tokens_estimate=20, failed=lambda *_: None)
        assert asked == (reply, 0.0)
    assert [call[0] for call in client.calls] == pytest.approx(expected)
    assert client.calls[0][1:] == (["m"], 64)


@pytest.mark.parametrize(
    ("failure", "setting"),
    [
        (CallFailure("unauthorized", 401), "credentials entry 'maritaca'"),
        (CallFailure("payment", 402), "credentials entry 'maritaca'"),
        (CallFailure("payment", 429), "credit or quota"),
        (CallFailure("forbidden", 403), "'tiny-1'"),
        (CallFailure("not_found", 404), "`base_url`"),
        (CallFailure("rejected", 422), "`parameters`"),
    ],
)
def test_the_advice_names_service_status_and_setting(failure, setting):
    said = advice(failure, model(credentials="maritaca"))
    assert setting in said
    assert f"http://127.0.0.1:1/v1 (status {failure.status})" in said
    assert "model 'tiny' of judges.yml" in said


def test_the_advice_for_a_model_in_process_names_the_type_of_the_error():
    failure = CallFailure("rejected", cause="TypeError")
    said = advice(failure, model(kind="huggingface", base_url=None))
    assert said.startswith("The model in this process (TypeError) rejects the call: check `param")
