"""Encoding texts: each once, longest first, in batches that are stored as they come."""

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from rich.console import Console

from normastcu.collection.progress import Report, count_progress
from normastcu.retrieval.encoders import (
    Encoded,
    EncoderPlan,
    FloatArray,
    LazyEncoder,
    TextEncoder,
    TooLargeBatchError,
    UnfitTextError,
)
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import ApiEncoder
from normastcu.retrieval.vectors import EncoderVectors, Float16Array, StoredVectors
from normastcu.services.crew import work_off
from normastcu.services.prices import price

LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Encoding:
    """Texts that are encoded, and what that took in this run.

    Attributes
    ----------
    vectors
        One for each text, in their order.
    n_texts, n_known, n_encoded, n_cut
        Distinct texts; those whose vector was there already; those encoded now; those of all of
        which the encoder saw the beginning only.
    tokens
        As reported for this run; None where the service did not.
    cost
        Of this run; None where the price or the tokens are unknown.
    seconds
        Of this run.
    """

    vectors: StoredVectors
    n_texts: int
    n_known: int
    n_encoded: int
    n_cut: int
    tokens: int | None
    cost: float | None
    seconds: float


def encode_texts(
    encoder: LazyEncoder,
    texts: Sequence[str],
    labels: Sequence[str],
    vectors: EncoderVectors,
    console: Console | None = None,
) -> Encoding:
    """Encode the texts whose vectors the store lacks.

    The batches are the same whatever the store holds already, and each is stored as a whole, unless
    a text of it can't be encoded. So a
    run that was ended and started again encodes what the undisturbed one would have, in the same
    batches, to the last bit.

    Parameters
    ----------
    encoder
        Made only when a vector is missing.
    texts
        With their prefix. Those of which the encoder is sent the same are encoded once.
    labels
        How messages call each text.
    vectors
        The encoder's part of the store.
    console
        Where the progress is drawn if it is a terminal; standard error unless given.

    Raises
    ------
    RetrievalError
        The encoder can't be made, its service refuses, or it gives something that is no vector of
        finite numbers; what was encoded until then is stored.
    KeyboardInterrupt
        Ctrl-C; what was encoded until then is stored.
    """
    started = time.monotonic()
    first_labels = dict(zip(reversed(texts), reversed(labels), strict=True))
    heads = {text: _head(encoder.plan, text, label) for text, label in first_labels.items()}
    key_of = {text: vectors.key(head) for text, head in heads.items()}
    label_of = {key_of[text]: label for text, label in first_labels.items()}
    text_of = {key_of[text]: head for text, head in heads.items()}
    n_texts, n_known = len(key_of), sum(key in vectors for key in key_of.values())
    name = encoder.plan.settings.name
    LOGGER.info("%s: %d texts, %d encoded before.", name, n_texts, n_known)
    work = _Work(encoder, vectors, text_of, label_of)
    if n_known < n_texts:
        try:
            with count_progress(name, "texts", console) as report:
                work.encode_missing(report)
        except KeyboardInterrupt:
            LOGGER.warning(
                "Interrupted. What was encoded is stored; the same command goes on where it "
                "stopped."
            )
            raise
    lengths = np.array([len(text) for text in key_of], np.int64)
    return Encoding(
        vectors=vectors.select([key_of[text] for text in texts]),
        n_texts=n_texts,
        n_known=n_known,
        n_encoded=n_texts - n_known,
        n_cut=int((vectors.select(list(key_of.values())).shown < lengths).sum()),
        tokens=work.tokens,
        cost=_cost(encoder.plan, work.tokens, n_encoded=n_texts - n_known),
        seconds=time.monotonic() - started,
    )


def _head(plan: EncoderPlan, text: str, label: str) -> str:
    try:
        return plan.head(text)
    except UnfitTextError as error:
        raise RetrievalError(f"The text of {label} {error}") from None


class _Work:
    """The missing vectors of one run, and what they have taken so far."""

    def __init__(
        self,
        encoder: LazyEncoder,
        vectors: EncoderVectors,
        text_of: dict[bytes, str],
        label_of: dict[bytes, str],
    ) -> None:
        self.tokens: int | None = 0
        self._n_done = sum(key in vectors for key in text_of)
        self._encoder, self._plan, self._vectors = encoder, encoder.plan, vectors
        self._text_of, self._label_of = text_of, label_of
        self._lock = Lock()

    def encode_missing(self, report: Report) -> None:
        """Encode and store, batch by batch."""
        encoder, threads = self._encoder.ready(), self._plan.threads
        batches = list(self._missing())

        def encode(batch: Sequence[bytes]) -> None:
            self._encode(encoder, batch)

        def show() -> None:
            report(self._n_done, len(self._text_of))

        if threads is not None:
            work_off(batches, encode, threads=threads, stop=self._encoder.stop, tick=show)
            return
        for batch in batches:
            encode(batch)
            show()

    def _missing(self) -> Iterator[list[bytes]]:
        """Yield what is missing of each batch of the whole; the longest texts come first.

        A batch then holds texts of about one length, and the most memory is needed right at the
        start, not after an hour.
        """
        text_of, size = self._text_of, self._plan.batch_size
        ordered = sorted(text_of, key=lambda key: (-len(text_of[key]), key))
        for start in range(0, len(ordered), size):
            missing = [key for key in ordered[start : start + size] if key not in self._vectors]
            if missing:
                yield missing

    def _encode(self, encoder: TextEncoder, batch: Sequence[bytes]) -> None:
        """Encode and store a batch, in halves where it is too large.

        What was encoded is stored, and only then is said what was not: it may have been paid for.
        """
        try:
            encoded = encoder.encode([self._text_of[key] for key in batch])
        except TooLargeBatchError:
            middle = len(batch) // 2
            self._encode(encoder, batch[:middle])
            self._encode(encoder, batch[middle:])
            return
        except UnfitTextError as error:
            raise RetrievalError(f"The text of {self._label_of[batch[0]]} {error}") from None
        finite = np.asarray(np.isfinite(encoded.vectors).all(axis=1))
        good = [key for key, is_finite in zip(batch, finite, strict=True) if is_finite]
        if good:
            kept = Encoded(encoded.vectors[finite], encoded.shown[finite], encoded.tokens)
            self._store(good, kept)
        if len(good) < len(batch):
            raise RetrievalError(
                f"The encoder {self._plan.settings.name!r} gives the text of "
                f"{self._label_of[batch[int(finite.argmin())]]} a vector with something that is no "
                "finite number. Check the model (its weights, its precision) or the service."
            )

    def _store(self, batch: Sequence[bytes], encoded: Encoded) -> None:
        with self._lock:
            self._vectors.append(batch, unit_vectors(encoded.vectors), encoded.shown)
            self._n_done += len(batch)
            if self.tokens is not None:
                self.tokens = None if encoded.tokens is None else self.tokens + encoded.tokens


def unit_vectors(vectors: FloatArray) -> Float16Array:
    """Return vectors of length 1 in the same directions, in half precision; 0 stays 0.

    Examples
    --------
    >>> unit_vectors(np.array([[3e20, 4e20], [0, 0]])).round(2).tolist()
    [[0.60009765625, 0.7998046875], [0.0, 0.0]]
    """
    wide = vectors.astype(np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True, initial=0)
    scaled = np.divide(wide, largest, out=np.zeros_like(wide), where=largest > 0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit: Float16Array = np.divide(scaled, norms, out=np.zeros_like(wide), where=norms > 0).astype(
        np.float16
    )
    return unit


def _cost(plan: EncoderPlan, tokens: int | None, n_encoded: int) -> float | None:
    if not n_encoded or not isinstance(plan.settings, ApiEncoder):
        return 0.0
    return price(tokens, plan.settings.price_in)
