"""The batch interface of services that speak the OpenAI protocol."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from normastcu.judging.batch import BatchState
from normastcu.judging.client import RawReply
from normastcu.judging.errors import JudgingError, service_errors_as_judging
from normastcu.judging.openai_client import OpenAIClient, answered, ended
from normastcu.judging.requests import Message
from normastcu.judging.settings import ModelSettings
from normastcu.services.credentials import api_key
from normastcu.services.failures import CallFailure
from normastcu.services.openai_protocol import http_client

if TYPE_CHECKING:
    from openai.types import Batch

T = TypeVar("T")

_ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_TOKEN_NAME = "normastcu_token"
_LONGEST_TRANSFER_S = 600.0
_BATCHES_LOOKED_THROUGH = 1_000


class OpenAIBatches:
    """A service's batches; see `normastcu.judging.batch.BatchService` for the methods.

    Parameters
    ----------
    model
        What to call, where, and with which parameters.
    key
        The key of the service.
    schema
        The JSON schema of the reply; None asks for none.
    """

    def __init__(
        self, model: ModelSettings, key: str, schema: Mapping[str, object] | None = None
    ) -> None:
        from openai import OpenAI

        self._model = model.model
        self._chat = OpenAIClient(model, key, schema)
        self._http = http_client(key, max(model.timeout_s, _LONGEST_TRANSFER_S))
        self._service = OpenAI(
            api_key=key, base_url=model.base_url, max_retries=0, http_client=self._http
        )

    def line(self, key: str, messages: Sequence[Message], max_tokens: int) -> dict[str, Any]:
        """Return one request as a line of the file that is handed in."""
        body = {
            "model": self._model,
            "messages": [dict(message) for message in messages],
            **self._chat.parameters(max_tokens),
        }
        return {"custom_id": key, "method": "POST", "url": _ENDPOINT, "body": body}

    def upload(self, path: Path) -> str:
        """Send a file of requests, and return its id."""

        def send() -> str:
            with path.open("rb") as file:
                return self._service.files.create(file=(path.name, file), purpose="batch").id

        return _told(send)

    def create(self, file_id: str, token: str) -> str:
        """Hand in a file of requests, and return the batch's id."""
        return _told(
            lambda: (
                self._service.batches.create(
                    input_file_id=file_id,
                    endpoint=_ENDPOINT,
                    completion_window="24h",
                    metadata={_TOKEN_NAME: token},
                ).id
            )
        )

    def find(self, token: str) -> str | None:
        """Return the id of the batch that was handed in under a token."""

        def look() -> str | None:
            batches = islice(self._service.batches.list(limit=100), _BATCHES_LOOKED_THROUGH)
            ours = (one.id for one in batches if (one.metadata or {}).get(_TOKEN_NAME) == token)
            return next(ours, None)

        return _told(look)

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        return _told(lambda: _state(self._service.batches.retrieve(batch_id)))

    def fetch(self, file_id: str, path: Path) -> None:
        """Load a file of results."""

        def load() -> None:
            content = self._service.files.with_streaming_response.content(file_id)
            with content as parts, path.open("wb") as file:
                for part in parts.iter_bytes():
                    file.write(part)

        _told(load)

    def read(self, body: Mapping[str, Any]) -> RawReply | CallFailure:
        """Read one reply."""
        return self._chat.read(body)

    def failed(self, status: int, error: object) -> RawReply | CallFailure:
        """Say what the status of a request that was not answered means."""
        return answered(status, error)

    def close(self) -> None:
        """Close the connections."""
        self._chat.close()
        self._http.close()


def _told(call: Callable[[], T]) -> T:
    """Make a call; what goes wrong is told without what the service wrote."""
    try:
        return call()
    except Exception as error:
        failure = ended(error)
    raise failure if isinstance(failure, CallFailure) else CallFailure("rejected")


def _state(batch: "Batch") -> BatchState:
    counts = batch.request_counts
    errors = (batch.errors.data if batch.errors else None) or []
    ended_at = (batch.completed_at, batch.expired_at, batch.cancelled_at, batch.failed_at)
    return BatchState(
        status=batch.status,
        done=counts.completed + counts.failed if counts else 0,
        total=counts.total if counts else 0,
        files=tuple(one for one in (batch.output_file_id, batch.error_file_id) if one),
        problems=tuple(error.code or "unknown" for error in errors),
        ended_at=next((one for one in ended_at if one), None),
    )


def open_batches(
    model: ModelSettings,
    credentials: Mapping[str, object],
    *,
    schema: Mapping[str, object] | None = None,
) -> OpenAIBatches:
    """Return the batch interface of a model's service; see `normastcu.judging.client.open_client`.

    Raises
    ------
    JudgingError
        The model runs in this process; its credentials are missing.
    """
    if model.kind != "openai":
        raise JudgingError(
            f"The model {model.name!r} runs in this process and has no batch interface: ask it "
            "call by call."
        )
    with service_errors_as_judging():
        key = api_key(model, credentials)
        return OpenAIBatches(model, key, schema if model.structured_output else None)
