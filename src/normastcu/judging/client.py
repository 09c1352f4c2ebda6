"""What a client of a chat model is, and how one is opened.

A client makes one call and says what came back or what kind of failure it was. It never waits
and never tries again: that is the transport's work. Messages of failures hold no text of a
document or a reply and no key, whatever the service wrote.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from normastcu.judging.errors import JudgingError
from normastcu.judging.requests import Message
from normastcu.judging.settings import ModelSettings

FailureKind = Literal[
    "timeout",
    "connection",
    "malformed",
    "rate_limit",
    "unavailable",
    "context_length",
    "unauthorized",
    "payment",
    "forbidden",
    "not_found",
    "rejected",
]
"""What went wrong with a call.

``timeout``, ``connection`` (refused or cut), ``malformed`` (an answer with status 200 that is not
a reply of the protocol), ``rate_limit`` (429) and ``unavailable`` (408, 409, 5xx) may pass;
``context_length`` needs a shorter document; ``unauthorized`` (401), ``payment`` (402, or a quota
that is used up), ``forbidden`` (403), ``not_found`` (404) and ``rejected`` (any other status)
need somebody to change a setting.
"""

_KEY_OF_KEYLESS_SERVERS = "none"


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
    """

    content: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    model: str | None = None


class CallFailure(Exception):  # noqa: N818 - a call's end, which the transport handles
    """A call that brought no reply.

    Attributes
    ----------
    kind
        What went wrong, see `FailureKind`.
    status
        The HTTP status, None where there was none.
    retry_after
        The header of that name as sent, None where there was none.
    """

    def __init__(
        self,
        kind: FailureKind,
        status: int | None = None,
        *,
        retry_after: str | None = None,
        cause: str = "",
    ) -> None:
        details = ", ".join(
            [*([f"status {status}"] if status else []), *([cause] if cause else [])]
        )
        super().__init__(f"{kind} ({details})" if details else kind)
        self.kind: FailureKind = kind
        self.status = status
        self.retry_after = retry_after


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

    key = api_key(model, credentials)
    return OpenAIClient(model, key, schema if model.structured_output else None)


def api_key(model: ModelSettings, credentials: Mapping[str, object]) -> str:
    """Return the key of a model; a placeholder for a server that needs none.

    Raises
    ------
    JudgingError
        The entry is missing, empty or not a key; the message names it, never its value.
    """
    entry = model.credentials
    if entry is None:
        return _KEY_OF_KEYLESS_SERVERS
    stated = credentials.get(entry, os.environ.get(entry))
    if isinstance(stated, Mapping):
        stated = stated.get("api_key")
    key = stated.strip() if isinstance(stated, str) else ""
    if not key:
        raise JudgingError(
            f"The model {model.name!r} needs the credentials entry {entry!r}, which is missing or "
            "empty. Add it to conf/local/credentials.yml (an entry with that name whose value, or "
            "whose `api_key`, is the key), or set the environment variable of that name."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise JudgingError(
            f"The credentials entry {entry!r} of the model {model.name!r} is not a key: it holds "
            "a blank, a line break or a character outside ASCII. Copy the key again."
        )
    return key
