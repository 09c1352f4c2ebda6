"""What is asked of a judge, and what came back: the records that the room passes around."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

Outcome = Literal["ok", "unparseable", "out_of_range", "truncated", "refused", "too_long", "error"]
"""How a call ended; only ``ok`` is a grade."""

OUTCOMES: tuple[Outcome, ...] = (
    "ok",
    "unparseable",
    "out_of_range",
    "truncated",
    "refused",
    "too_long",
    "error",
)


class Message(TypedDict):
    """One message of a chat, as the OpenAI protocol writes it."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """One planned call.

    Attributes
    ----------
    key
        SHA-256 of what is asked, see `normastcu.judging.keys.request_key`.
    query_id, doc_id
        The pair.
    judge
        Name of the judge.
    sample
        Index of the repetition, from 0.
    messages
        What is sent, after the cut policy; empty where the document does not fit at all
        (`too_long`). Made anew each time it is read, so that a plan holds no copies of documents.
    characters_shown
        Characters of the document that the messages hold.
    content_origin
        Where the text of the document was found: ``text``, ``subject``, ``title`` or ``key``.
    tokens_estimate
        Tokens of the messages, by the model's tokenizer or estimated, never too low on purpose.
    too_long
        The document does not fit under the stated cut policy: not to be sent, to be recorded.
    """

    key: str
    query_id: str
    doc_id: str
    judge: str
    sample: int
    messages: Sequence[Message]
    characters_shown: int
    content_origin: str
    tokens_estimate: int
    too_long: bool = False


@dataclass(frozen=True)
class Attempt:
    """One record of the reply store, which only grows.

    Attributes
    ----------
    key, query_id, doc_id, judge, sample
        As in the `Request`.
    attempt
        Number of the attempt under that key, from 1.
    outcome
        How it ended, one of `OUTCOMES`.
    reply
        The raw text, None where there was none.
    finish_reason, refusal, model_returned
        As the service gave them.
    grade, rationale
        Read from the reply; a grade only with the outcome ``ok``.
    tokens_in, tokens_out
        As the service reported them; None where it did not.
    latency_s
        Seconds from request to reply.
    characters_shown
        Characters of the document that were sent in this attempt.
    error_kind, error_status
        What failed with the outcome ``error``, and the HTTP status where there was one, also that
        of a content filter.
    created
        UTC, ISO 8601.
    reminded
        This attempt repeated the reply format after a reply that could not be read.
    max_tokens
        The limit of reply tokens of this attempt; None where none was sent.
    """

    key: str
    query_id: str
    doc_id: str
    judge: str
    sample: int
    attempt: int
    outcome: Outcome
    reply: str | None
    finish_reason: str | None
    refusal: str | None
    grade: int | None
    rationale: str | None
    tokens_in: int | None
    tokens_out: int | None
    latency_s: float | None
    model_returned: str | None
    characters_shown: int | None
    error_kind: str | None
    error_status: int | None
    created: str
    reminded: bool = False
    max_tokens: int | None = None
