"""What a client of a chat model is, and how one is opened.

A client makes one call and says what came back or what kind of failure it was. It never waits
and never tries again: that is the transport's work. Messages of failures hold no text of a
document or a reply and no key, whatever the service wrote.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from normastcu.judging.errors import service_errors_as_judging
from normastcu.judging.requests import Message
from normastcu.judging.settings import ModelSettings
from normastcu.services.credentials import api_key


@dataclass(frozen=True)
class RawReply:
    """What came back, before anything is read from it.

    Attributes
    ----------
    content
        The text, None or "" where there was none.
    finish_reason, refusal, model
        As the service gave them.
    tokens_in, tokens_out
        As the service reported them; None where it did not.
    status
        The HTTP status of an answer that stands for a reply; None for a reply.
    """

    content: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None
    status: int | None = None


class ChatClient(Protocol):
    """One model; `complete` may be called by several threads at once."""

    def complete(self, messages: Sequence[Message], *, max_tokens: int) -> RawReply:
        """Make one call with a limit of reply tokens.

        Raises
        ------
        CallFailure
            There is no reply.
        """
        ...

    def close(self) -> None:
        """End what the client holds; a call under way ends as soon as it can."""
        ...


def open_client(
    model: ModelSettings,
    credentials: Mapping[str, object],
    *,
    schema: Mapping[str, object] | None = None,
) -> ChatClient:
    """Return the client of a model.

    Parameters
    ----------
    model
        What to call, where, and with which parameters.
    credentials
        Entry name to the key, or to a mapping with ``api_key``; where an entry is missing, the
        environment variable of that name is taken.
    schema
        The JSON schema of the reply, used where the model's `structured_output` is on.

    Raises
    ------
    JudgingError
        The model's credentials are missing; its package is not installed.
    """
    if model.kind == "huggingface":
        from normastcu.judging.huggingface_client import HuggingFaceClient

        return HuggingFaceClient(model)
    from normastcu.judging.openai_client import OpenAIClient

    with service_errors_as_judging():
        key = api_key(model, credentials)
        return OpenAIClient(model, key, schema if model.structured_output else None)
