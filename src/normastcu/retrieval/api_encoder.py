"""An encoder behind a server that speaks the OpenAI embeddings protocol, through LangChain."""

import logging
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any

import numpy as np

from normastcu.retrieval.encoders import (
    Encoded,
    FloatArray,
    IntArray,
    TooLargeBatchError,
    UnfitTextError,
)
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import ApiEncoder
from normastcu.services.credentials import api_key
from normastcu.services.errors import ServiceError
from normastcu.services.failures import PASSING, CallFailure, advice
from normastcu.services.openai_protocol import failure_of, http_client, quieten_libraries
from normastcu.services.patience import Clock, Patience
from normastcu.services.tokens import cut, token_counter

LOGGER = logging.getLogger(__name__)

SHORTER_SHARE = 0.5
"""Of a text that the service found too long, the share that is sent next."""


def open_api_encoder(
    settings: ApiEncoder,
    credentials: Mapping[str, object],
    stop: Event,
    clock: Clock | None = None,
) -> "EmbeddingService":
    """Return the encoder of a service.

    Parameters
    ----------
    settings
        What to call, where, and how often.
    credentials
        Entry name to the key, or to a mapping with ``api_key``; where an entry is missing, the
        environment variable of that name is taken.
    stop
        Once set, no call begins, and whoever waits is let go.
    clock
        Time and chance.

    Raises
    ------
    RetrievalError
        The key or a package is missing, or the tokenizer can't be loaded.
    """
    try:
        return EmbeddingService(settings, api_key(settings, credentials), stop, clock)
    except ServiceError as error:
        raise RetrievalError(str(error)) from error


def head_cutter(settings: ApiEncoder) -> Callable[[str], str]:
    """Return what cuts a text above `max_tokens` to its head.

    Raises
    ------
    RetrievalError
        The tokenizer can't be loaded.
    """
    try:
        count = token_counter(settings.tokenizer)
    except ServiceError as error:
        raise RetrievalError(str(error)) from error

    def head(text: str) -> str:
        shown = cut(text, settings.max_tokens, "head", count)
        if shown is None:
            raise UnfitTextError(
                f"has not one character that fits into the `max_tokens` of the encoder "
                f"{settings.name!r}: raise it in systems.yml.",
            )
        return shown.text

    return head


class EmbeddingService:
    """A service that is asked through LangChain's `OpenAIEmbeddings`, with patience.

    Base URL and key are always both given, retries are the project's own, texts are sent as they
    are and nothing that the environment says is sent along. A text that the service finds too long,
    alone, is cut to half, once.

    Parameters
    ----------
    settings, stop, clock
        See `open_api_encoder`.
    key
        The key of the service.
    """

    def __init__(
        self, settings: ApiEncoder, key: str, stop: Event, clock: Clock | None = None
    ) -> None:
        quieten_libraries()
        self._settings = settings
        self._count = token_counter(settings.tokenizer)
        self._patience = Patience(settings, stop, clock)
        self._http = http_client(key, settings.timeout_s)
        self._embeddings = _embeddings(settings, key, self._http)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of some texts, see `normastcu.retrieval.encoders.TextEncoder`."""
        shorter = texts[0][: max(int(len(texts[0]) * SHORTER_SHARE), 1)]
        for sent in (texts, [shorter]):
            try:
                vectors, tokens = self._ask(sent)
            except CallFailure as failure:
                if failure.kind != "context_length":
                    raise self._given_up(failure) from None
            else:
                return Encoded(vectors, _lengths(sent), tokens)
            if len(texts) > 1:
                raise TooLargeBatchError
        raise UnfitTextError(
            f"is too long for the encoder {self._settings.name!r} even when cut to "
            f"{len(shorter):,} characters: lower its `max_tokens` in systems.yml."
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _ask(self, texts: Sequence[str]) -> tuple[FloatArray, int | None]:
        estimate = sum(self._count(text) for text in texts)
        (vectors, tokens), _ = self._patience.call(
            lambda: self._call(texts), lambda failure, _: self._note(failure), estimate
        )
        self._patience.settle(estimate, tokens)
        return vectors, tokens

    def _call(self, texts: Sequence[str]) -> tuple[FloatArray, int | None]:
        """Make one call.

        Raises
        ------
        CallFailure
            There are no vectors.
        """
        try:
            # The step below `embed_documents`, which drops the places and the tokens.
            reply = self._embeddings.client.create(
                input=list(texts), **self._embeddings._invocation_params
            )
            return _vectors(reply, len(texts)), _tokens(reply)
        except Exception as error:
            failure = failure_of(error)
        # Raised here and not above, so that no traceback shows what the service wrote.
        raise failure

    def _note(self, failure: CallFailure) -> None:
        LOGGER.info("The encoder %r: %s", self._settings.name, failure)

    def _given_up(self, failure: CallFailure) -> RetrievalError:
        settings = self._settings
        if failure.kind in PASSING:
            return RetrievalError(
                f"The service at {settings.base_url} gave no vectors in {settings.attempts} "
                f"attempts; the last failure was: {failure}. Check the service and `timeout_s` of "
                f"the encoder {settings.name!r} in systems.yml. What was encoded is stored; the "
                "same command goes on where this one stopped."
            )
        where = f"encoder {settings.name!r} of systems.yml"
        return RetrievalError(advice(failure, settings, sent="`dimensions`", where=where))


def _embeddings(settings: ApiEncoder, key: str, http: Any) -> Any:
    from langchain_openai import OpenAIEmbeddings
    from pydantic import SecretStr

    return OpenAIEmbeddings(
        model=settings.model,
        openai_api_base=settings.base_url,
        openai_api_key=SecretStr(key),
        dimensions=settings.dimensions,
        check_embedding_ctx_length=False,
        max_retries=0,
        request_timeout=settings.timeout_s,
        http_client=http,
        model_kwargs={"encoding_format": "float"},
    )


def _vectors(reply: Any, n_texts: int) -> FloatArray:
    """Return the vectors in the order of the texts, whatever order the reply has them in.

    A vector without an `index` has the place at which it is listed: Gemini leaves out a 0.

    Raises
    ------
    ValueError
        There is not one vector for each text, or they differ in length.
    """
    by_place = {
        place if one.index is None else one.index: one.embedding
        for place, one in enumerate(reply.data)
    }
    if len(reply.data) != n_texts or sorted(by_place) != list(range(n_texts)):
        raise ValueError(f"{len(reply.data)} vectors for {n_texts} texts")
    vectors = np.array([by_place[place] for place in range(n_texts)], np.float64)
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise ValueError("the vectors have no length")
    return vectors


def _tokens(reply: Any) -> int | None:
    tokens = getattr(reply.usage, "prompt_tokens", None)
    return tokens if isinstance(tokens, int) else None


def _lengths(texts: Sequence[str]) -> IntArray:
    return np.array([len(text) for text in texts], np.int64)
