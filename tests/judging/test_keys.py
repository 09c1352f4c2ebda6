"""The key of a call: equal for the same plan, another one for whatever differs."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.judging.keys import request_key
from normastcu.judging.requests import Message

PLANNED: dict[str, Any] = {
    "provider": "openai",
    "base_url": "http://127.0.0.1:8080/v1",
    "model": "m",
    "messages": [Message(role="system", content="Avalie."), Message(role="user", content="Ação?")],
    "parameters": {"temperature": 0, "top_p": 1},
    "sample": 0,
}


def test_the_key_is_the_hash_of_canonical_json() -> None:
    written = (
        '{"base_url":"http://127.0.0.1:8080/v1",'
        '"messages":[["system","Avalie."],["user","A\\u00e7\\u00e3o?"]],'
        '"model":"m","parameters":{"temperature":0,"top_p":1},"provider":"openai","sample":0}'
    )

    assert request_key(**PLANNED) == hashlib.sha256(written.encode()).hexdigest()


@pytest.mark.parametrize(
    "same",
    [
        {"base_url": "http://127.0.0.1:8080/v1/"},
        {"parameters": {"top_p": 1, "temperature": 0}},
        {"parameters": {"temperature": 0.0, "top_p": 1.0}},
        {"messages": tuple(PLANNED["messages"])},
    ],
)
def test_another_way_to_write_it_is_the_same_call(same: dict[str, Any]) -> None:
    assert request_key(**PLANNED | same) == request_key(**PLANNED)


@pytest.mark.parametrize(
    "other",
    [
        {"provider": "huggingface"},
        {"base_url": "http://127.0.0.1:8081/v1"},
        {"base_url": None},
        {"model": "M"},
        {"messages": PLANNED["messages"][1:]},
        {"messages": PLANNED["messages"][::-1]},
        {"messages": [PLANNED["messages"][0], Message(role="user", content="Ação? ")]},
        {"messages": [PLANNED["messages"][0], Message(role="system", content="Ação?")]},
        {"parameters": {"temperature": 0}},
        {"parameters": {"temperature": 0.1, "top_p": 1}},
        {"parameters": {"temperature": 0, "top_p": 1, "extra": {"a": [1]}}},
        {"sample": 1},
    ],
)
def test_whatever_differs_is_another_call(other: dict[str, Any]) -> None:
    assert request_key(**PLANNED | other) != request_key(**PLANNED)


def test_two_messages_are_not_one_joined_message() -> None:
    apart = [Message(role="user", content="a"), Message(role="user", content="b")]
    joined = [Message(role="user", content='a"],["user","b')]

    assert request_key(**PLANNED | {"messages": apart}) != request_key(
        **PLANNED | {"messages": joined}
    )


@given(st.text(st.characters(exclude_categories=[])), st.text())
def test_every_text_has_a_key_of_its_own(one: str, other: str) -> None:
    def key(text: str) -> str:
        return request_key(**PLANNED | {"messages": [Message(role="user", content=text)]})

    assert (key(one) == key(other)) == (one == other)


@given(st.text(), st.text(), st.text())
def test_what_calls_have_in_common_makes_no_difference(
    before: str, shared: str, after: str
) -> None:
    """Half surrogates on both sides of a border and borders within escapes too."""
    messages = [PLANNED["messages"][0], Message(role="user", content=before + shared + after)]
    planned = PLANNED | {"messages": messages}
    assert request_key(**planned, shared=shared) == request_key(**planned)
    assert request_key(**planned, shared="not in them at all") == request_key(**planned)
