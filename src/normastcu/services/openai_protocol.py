"""What every client of a server that speaks an OpenAI protocol needs: HTTP, and its errors."""

import logging
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, cast

from normastcu.services.errors import ServiceError
from normastcu.services.failures import CallFailure, FailureKind

_LONGEST_PLAIN_ERROR = 500
_CONTEXT_PHRASES = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "contextwindow",
    "exceed_context_size",
    "prompt is too long",
    "input is too long",
    "input tokens exceed",
    "exceeds the maximum number of tokens",
    "maximum input length",
    "too large to process",
    "tokens per request",
)
_QUOTA_PHRASES = ("insufficient_quota", "billing_hard_limit_reached")
_KIND_OF_STATUS: dict[int, FailureKind] = {
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.PAYMENT_REQUIRED: "payment",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not_found",
    HTTPStatus.REQUEST_TIMEOUT: "unavailable",
    HTTPStatus.CONFLICT: "unavailable",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "context_length",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit",
}
_SENT_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection"),
        *("content-length", "content-type", "host", "transfer-encoding", "user-agent"),
        "x-stainless-raw-response",  # the OpenAI client reads it back from its request
    }
)


def http_client(key: str, timeout_s: float) -> Any:
    """Return an HTTP client that sends the needed headers only and ends every call in time.

    A server that sends a blank now and then while its model thinks never runs into the timeout
    of the connection, which is one of silence.
    """
    try:
        import httpx2
        import openai
    except ImportError as error:
        raise ServiceError(
            "Asking a service needs the extra `judging`, which is not installed: "
            'pip install "normastcu[judging]".'
        ) from error

    class LimitedStream(httpx2.SyncByteStream):
        def __init__(self, stream: httpx2.SyncByteStream, deadline: float) -> None:
            self._stream, self._deadline = stream, deadline

        def __iter__(self) -> Iterator[bytes]:
            for part in self._stream:
                if time.monotonic() > self._deadline:
                    raise httpx2.ReadTimeout(f"no end after {timeout_s:g} s")
                yield part

        def close(self) -> None:
            self._stream.close()

    def prepare(request: httpx2.Request) -> None:
        for name in set(request.headers) - _SENT_HEADERS:
            del request.headers[name]
        request.headers["authorization"] = f"Bearer {key}"
        request.extensions = {**request.extensions, "deadline": time.monotonic() + timeout_s}

    def limit(response: httpx2.Response) -> None:
        deadline = response.request.extensions["deadline"]
        response.stream = LimitedStream(cast("httpx2.SyncByteStream", response.stream), deadline)

    return openai.DefaultHttpxClient(
        timeout=timeout_s,
        follow_redirects=False,
        event_hooks={"request": [prepare], "response": [limit]},
    )


def quieten_libraries() -> None:
    """Keep what is sent out of the log: at DEBUG the libraries write whole messages there."""
    for name in ("openai", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)


def failure_of(error: Exception) -> CallFailure:
    """Say what an error of LangChain or the OpenAI client means, without its text."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return CallFailure("timeout")
    if isinstance(error, openai.APIConnectionError):
        return CallFailure("connection")
    if not isinstance(error, openai.APIStatusError):
        return CallFailure("malformed", cause=type(error).__name__)
    return failure_of_status(
        error.status_code, error.body, error.response.headers.get("retry-after")
    )


def failure_of_status(status: int, body: object, retry_after: str | None = None) -> CallFailure:
    """Say what a status other than 200 means.

    Parameters
    ----------
    status
        The HTTP status.
    body
        What the service said: the error of the protocol, or any text.
    retry_after
        The header of that name.
    """
    return CallFailure(_kind(status, what_was_said(body)), status, retry_after=retry_after)


def what_was_said(body: object) -> str:
    """Return code, type and message of an error; the rest may repeat the whole request."""
    if isinstance(body, Mapping):
        return " ".join(str(body.get(name) or "") for name in ("code", "type", "message")).lower()
    return str(body or "")[:_LONGEST_PLAIN_ERROR].lower()


def _kind(status: int, said: str) -> FailureKind:
    if any(phrase in said for phrase in _QUOTA_PHRASES):
        return "payment"
    if status != HTTPStatus.TOO_MANY_REQUESTS and any(
        phrase in said for phrase in _CONTEXT_PHRASES
    ):
        return "context_length"
    if status in _KIND_OF_STATUS:
        return _KIND_OF_STATUS[status]
    return "unavailable" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "rejected"
