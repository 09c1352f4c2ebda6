"""What an encoder is, and which one the settings mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

from normastcu.retrieval.settings import (
    ApiEncoder,
    Encoder,
    SentenceTransformersEncoder,
    SvdEncoder,
)

FloatArray = npt.NDArray[np.floating]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """The vectors of some texts.

    Attributes
    ----------
    vectors : ndarray of float, shape (texts, length)
        Of any length but not yet of one.
    shown : ndarray of int, shape (texts,)
        How many characters of each text the encoder saw; the others were cut off.
    tokens
        As the service reported them, None where it did not.
    """

    vectors: FloatArray
    shown: IntArray
    tokens: int | None = None


class UnfitTextError(ValueError):
    """A text that can't be encoded; it says what is wrong and what to do, as a sentence's end."""


class TooLargeBatchError(ValueError):
    """Several texts that can't be encoded together, or one of them not at all."""


class TextEncoder(Protocol):
    """An encoder that is ready; `encode` may be called by as many threads as its settings say."""

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of some texts.

        Raises
        ------
        TooLargeBatchError
            Fewer of them may be encoded.
        UnfitTextError
            It is one text, which can't be encoded.
        RetrievalError
            None can, until a setting is changed or a service is back.
        normastcu.services.patience.Stopped
            The run is being stopped.
        """
        ...

    def close(self) -> None:
        """End what the encoder holds."""
        ...


@dataclass(frozen=True)
class EncoderPlan:
    """How texts are to be encoded.

    Attributes
    ----------
    settings
        The encoder's entry in the library.
    identity
        All that its vectors depend on but the texts.
    open
        Makes the encoder; the event stops whatever waits.
    threads
        Batches at a time; None encodes in the thread that waits, so that Ctrl-C ends a long batch
        of a model in this process.
    batch_size
        Texts in a batch.
    query_prefix, document_prefix
        Put before each text.
    head
        Returns what is sent of a text, and belongs to its vector: the whole, or its head. Raises
        `UnfitTextError` where that is nothing.
    """

    settings: Encoder
    identity: Mapping[str, object]
    open: Callable[[Event], TextEncoder]
    threads: int | None = None
    batch_size: int = 256
    query_prefix: str = ""
    document_prefix: str = ""
    head: Callable[[str], str] = str


class LazyEncoder:
    """An encoder that is made when the first text needs it, and ended with the context.

    Parameters
    ----------
    plan
        Which encoder.
    """

    def __init__(self, plan: EncoderPlan) -> None:
        self.plan = plan
        self.stop = Event()
        self._made: TextEncoder | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop.set()
        if self._made is not None:
            self._made.close()

    def ready(self) -> TextEncoder:
        """Return the encoder.

        Raises
        ------
        RetrievalError
            It can't be made.
        """
        if self._made is None:
            self._made = self.plan.open(self.stop)
        return self._made


def plan_encoder(
    settings: Encoder, corpus: Sequence[str], credentials: Mapping[str, object]
) -> EncoderPlan:
    """Return the encoder that the settings mean.

    Parameters
    ----------
    settings
        An entry of the library.
    corpus
        The texts of all documents, on which an encoder is fitted that has to be.
    credentials
        Entry name to the key of a service, or to a mapping with ``api_key``.

    Raises
    ------
    RetrievalError
        The model is not there, or the tokenizer of a service can't be loaded.
    """
    if isinstance(settings, SentenceTransformersEncoder):
        return _plan_sentence_transformers(settings)
    if isinstance(settings, ApiEncoder):
        return _plan_api(settings, credentials)
    return _plan_svd(settings, corpus)


def _plan_sentence_transformers(settings: SentenceTransformersEncoder) -> EncoderPlan:
    from normastcu.retrieval.models import locate_model
    from normastcu.retrieval.sentence_encoder import SentenceEncoder

    located = locate_model(settings.model, settings.revision)
    return EncoderPlan(
        settings,
        {"kind": settings.kind, "model": located.identity, "max_length": settings.max_length},
        lambda _: SentenceEncoder(settings, located),
        batch_size=settings.batch_size,
        query_prefix=settings.query_prefix,
        document_prefix=settings.document_prefix,
    )


def _plan_api(settings: ApiEncoder, credentials: Mapping[str, object]) -> EncoderPlan:
    from normastcu.retrieval.api_encoder import head_cutter, open_api_encoder

    named = ("kind", "base_url", "model", "dimensions")
    return EncoderPlan(
        settings,
        {name: getattr(settings, name) for name in named},
        lambda stop: open_api_encoder(settings, credentials, stop),
        threads=settings.concurrency,
        batch_size=settings.batch_size,
        query_prefix=settings.query_prefix,
        document_prefix=settings.document_prefix,
        head=head_cutter(settings),
    )


def _plan_svd(settings: SvdEncoder, corpus: Sequence[str]) -> EncoderPlan:
    from normastcu.retrieval.svd import SvdModel, model_identity

    identity = {"kind": settings.kind, **model_identity(settings, corpus)}
    return EncoderPlan(settings, identity, lambda _: SvdModel(settings, corpus))
