"""Scoring pairs of a query and a text: longest first, in batches, each score computed once."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from rich.console import Console

from normastcu.collection.progress import count_progress
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.scores import ScoreStore, score_key, text_digest

LOGGER = logging.getLogger(__name__)

FloatArray = npt.NDArray[np.float64]


class Pair(NamedTuple):
    """What a reranker scores: a query, and the text of a document or of a passage."""

    query: str
    text: str


class Scorer(Protocol):
    """What scores pairs."""

    def scores(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the score of each pair, shape (pairs,): the higher, the more relevant."""


class StoredScorer:
    """A scorer whose scores are kept: what is in the store is not computed again.

    The batches are the same whatever the store holds already, and each is stored as a whole. So
    a run that was ended and started again computes what the undisturbed one would have, in the
    same batches, to the last bit.

    Parameters
    ----------
    name
        How messages call the reranker.
    identity
        All that its scores depend on but the texts: the exact weights, template, lengths.
    load
        Makes the scorer of one batch; called once, and only when a score is missing.
    store
        Where scores are kept.
    batch_size
        Pairs in a batch.
    console
        Where the progress is drawn if it is a terminal; standard error unless given.
    """

    def __init__(
        self,
        name: str,
        identity: str,
        load: Callable[[], Scorer],
        store: ScoreStore,
        batch_size: int,
        console: Console | None = None,
    ) -> None:
        self._name = name
        self._identity = text_digest(identity)
        self._load = load
        self._store = store
        self._batch_size = batch_size
        self._console = console
        self._scorer: Scorer | None = None

    def scores(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the score of each pair, shape (pairs,).

        Raises
        ------
        RetrievalError
            The model gives something that is no number, or can't be loaded; the store can't be
            written.
        """
        keys = self._keys(pairs)
        pair_of = dict(zip(keys, pairs, strict=True))
        known = self._store.known(pair_of)
        LOGGER.info("%s: %d pairs, %d of them scored before.", self._name, len(pair_of), len(known))
        if len(known) < len(pair_of):
            self._score_missing(pair_of, known)
        return np.array([known[key] for key in keys], dtype=np.float64)

    def _score_missing(self, pair_of: dict[bytes, Pair], known: dict[bytes, float]) -> None:
        total, done = len(pair_of), 0
        with count_progress(self._name, "pairs", self._console) as report:
            for batch in self._batches(pair_of):
                missing = [key for key in batch if key not in known]
                if missing:
                    new = self._score_batch([pair_of[key] for key in missing])
                    scored = dict(zip(missing, new, strict=True))
                    self._store.append(scored)
                    known.update(scored)
                done += len(batch)
                report(done, total)

    def _batches(self, pair_of: dict[bytes, Pair]) -> Iterator[list[bytes]]:
        """Yield the keys longest pair first, so that a batch holds pairs of about one length.

        The most memory is needed right at the start, not after an hour.
        """
        ordered = sorted(pair_of, key=lambda key: (-sum(map(len, pair_of[key])), key))
        for start in range(0, len(ordered), self._batch_size):
            yield ordered[start : start + self._batch_size]

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        if self._scorer is None:
            self._scorer = self._load()
        scores = self._scorer.scores(pairs)
        if not np.isfinite(scores).all():
            wrong = pairs[int((~np.isfinite(scores)).argmax())]
            raise RetrievalError(
                f"The reranker {self._name} gives a score that is no number to a text of "
                f"{len(wrong.text):,} characters for a query of {len(wrong.query):,}. Are the "
                "weights whole, and fit for the processor's precision?"
            )
        return [float(score) for score in scores]

    def _keys(self, pairs: Sequence[Pair]) -> list[bytes]:
        digests = {text: text_digest(text) for pair in pairs for text in pair}
        return [
            score_key(self._identity, digests[pair.query], digests[pair.text]) for pair in pairs
        ]
