"""The client of a service that speaks the OpenAI chat protocol, through LangChain."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from normastcu.judging.client import RawReply
from normastcu.judging.prompts import response_format
from normastcu.judging.requests import Message
from normastcu.judging.settings import ModelSettings
from normastcu.services.failures import CallFailure
from normastcu.services.openai_protocol import (
    failure_of,
    failure_of_status,
    http_client,
    quieten_libraries,
    what_was_said,
)

if TYPE_CHECKING:
    from langchain_core.outputs import ChatResult
    from langchain_openai import ChatOpenAI

_OPENAI_HOST = "api.openai.com"
_FILTER_PHRASES = (
    "content_filter",
    "content_policy_violation",
    "content management policy",
    "content exists risk",
)


class OpenAIClient:
    """A service that speaks the OpenAI chat protocol, through LangChain's `ChatOpenAI`.

    Base URL and key are always both given, retries are off, and nothing that the environment says
    (organisation, other headers, tracing) is sent along. What is planned is what is sent: the
    model's parameters as they are, and the limit of reply tokens as ``max_completion_tokens`` to
    OpenAI, whose newer models refuse the older name, and as ``max_tokens`` to everybody else.

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
        quieten_libraries()
        self._http = http_client(key, model.timeout_s)
        self._chat = _chat_model(model, key, self._http)
        self._body = {**model.parameters, **(model.parameters.get("extra_body") or {})}
        self._body.pop("extra_body", None)
        if schema is not None:
            self._body["response_format"] = response_format(model.structured_output, schema)
        at_openai = urlsplit(model.base_url or "").hostname == _OPENAI_HOST
        self._limit_name = "max_completion_tokens" if at_openai else "max_tokens"

    def complete(self, messages: Sequence[Message], *, max_tokens: int) -> RawReply:
        """Make one call with a limit of reply tokens.

        Raises
        ------
        CallFailure
            There is no reply.
        """
        from langchain_core.messages import convert_to_messages

        try:
            # The step below `invoke`: LangChain's tracers, callbacks and caches never see a text.
            result = self._chat._generate(
                convert_to_messages([dict(message) for message in messages]),
                extra_body=self.parameters(max_tokens),
            )
            return _raw_reply(result)
        except Exception as error:
            outcome = ended(error)
        # Raised here and not above, so that no traceback shows what the service wrote.
        if isinstance(outcome, CallFailure):
            raise outcome
        return outcome

    def read(self, body: Mapping[str, Any]) -> RawReply | CallFailure:
        """Read a reply of the protocol that came another way, such as in a batch."""
        try:
            return _raw_reply(self._chat._create_chat_result(dict(body)))
        except Exception as error:
            return ended(error)

    def parameters(self, max_tokens: int) -> dict[str, Any]:
        """Return what is sent beside model and messages."""
        return {**self._body, self._limit_name: max_tokens}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def _chat_model(model: ModelSettings, key: str, http_client: Any) -> "ChatOpenAI":
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    return ChatOpenAI(
        model=model.model,
        base_url=model.base_url,
        api_key=SecretStr(key),
        max_retries=0,
        timeout=model.timeout_s,
        http_client=http_client,
        use_responses_api=False,
        output_version="v0",
    )


def _raw_reply(result: "ChatResult") -> RawReply:
    reply = result.generations[0]
    message = reply.message
    usage = getattr(message, "usage_metadata", None) or {}
    return RawReply(
        content=str(message.text),
        finish_reason=(reply.generation_info or {}).get("finish_reason"),
        refusal=message.additional_kwargs.get("refusal"),
        tokens_in=usage.get("input_tokens"),
        tokens_out=usage.get("output_tokens"),
        model=(result.llm_output or {}).get("model_name"),
    )


def ended(error: Exception) -> CallFailure | RawReply:
    """Say what an error of LangChain or the OpenAI client means, without its text."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return answered(error.status_code, error.body, error.response.headers.get("retry-after"))
    return failure_of(error)


def answered(status: int, body: object, retry_after: str | None = None) -> CallFailure | RawReply:
    """Say what a status other than 200 means; a content filter's is a reply that took no tokens.

    Parameters
    ----------
    status
        The HTTP status.
    body
        What the service said: the error of the protocol, or any text.
    retry_after
        The header of that name.
    """
    said = what_was_said(body)
    if any(phrase in said for phrase in _FILTER_PHRASES):
        return RawReply(
            None, finish_reason="content_filter", tokens_in=0, tokens_out=0, status=status
        )
    return failure_of_status(status, body, retry_after)
