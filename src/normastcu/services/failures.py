"""How a call fails, and what is to be done about it.

Messages of failures hold no text of a document or a reply and no key, whatever the service wrote.
"""

from typing import Literal, Protocol

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

PASSING: frozenset[FailureKind] = frozenset(
    {"timeout", "connection", "malformed", "rate_limit", "unavailable"}
)
"""Failures that may be over at the next attempt."""

_ADVICE: dict[FailureKind, str] = {
    "unauthorized": "refuses the key: check {credentials}",
    "payment": "says that no credit or quota is left: check the account behind {credentials}",
    "forbidden": "does not allow the call: check {credentials}, and whether its account may use "
    "the `model` {id!r}",
    "not_found": "does not know the address or the model: check the `base_url` (most end in /v1) "
    "and the `model` {id!r}",
    "rejected": "rejects the call: check {sent}, one of which it may not know or not allow for "
    "the `model` {id!r}",
}


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
    cause
        The type of the error behind it, "" where there was none.
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
        self.cause = cause


class Addressed(Protocol):
    """Settings that say where a service is and how its model is called there."""

    @property
    def model(self) -> str:
        """Return the id by which the provider knows the model."""
        ...

    @property
    def base_url(self) -> str | None:
        """Return the server's address."""
        ...

    @property
    def credentials(self) -> str | None:
        """Return the entry that holds the key, None where there is none."""
        ...


def advice(failure: CallFailure, settings: Addressed, *, sent: str, where: str) -> str:
    """Return what a failure that does not pass says about the settings, as a sentence.

    Parameters
    ----------
    failure
        Of a kind that is not in `PASSING` and not ``context_length``.
    settings
        Where the service is.
    sent
        The settings that are sent with a call, for one that is rejected.
    where
        What has these settings, and in which file.
    """
    entry = f"the credentials entry {settings.credentials!r}"
    credentials = entry if settings.credentials else "`credentials`, which names no entry"
    said = _ADVICE[failure.kind].format(credentials=credentials, id=settings.model, sent=sent)
    detail = f"status {failure.status}" if failure.status else failure.cause
    asked = f"The {place(settings)} ({detail})" if detail else f"The {place(settings)}"
    return f"{asked} {said} ({where})."


def place(settings: Addressed) -> str:
    """Return where a model is asked, for a sentence."""
    return f"service at {settings.base_url}" if settings.base_url else "model in this process"
