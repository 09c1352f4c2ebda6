"""From the settings of a reranker to what scores pairs."""

import json
from collections.abc import Callable

from rich.console import Console

from normastcu.retrieval.cross_encoder import CrossEncoderScorer
from normastcu.retrieval.lexical import LexicalScorer
from normastcu.retrieval.models import LocatedModel, locate_model
from normastcu.retrieval.scores import ScoreStore
from normastcu.retrieval.scoring import Scorer, StoredScorer
from normastcu.retrieval.seq2seq import Seq2SeqScorer
from normastcu.retrieval.settings import (
    CrossEncoderReranker,
    LexicalReranker,
    Reranker,
    Seq2SeqReranker,
)

_NO_PART_OF_A_SCORE = {"name", "model", "revision", "batch_size"}


def open_reranker(settings: Reranker, store: ScoreStore, console: Console | None = None) -> Scorer:
    """Return what scores pairs as the settings say.

    The weights are found now, so that a wrong name fails at once, and loaded when the first
    score is missing.

    Parameters
    ----------
    settings
        The reranker.
    store
        Where the scores of models are kept; the lexical reranker's cost less than to look them
        up.
    console
        Where the progress is drawn if it is a terminal; standard error unless given.

    Raises
    ------
    RetrievalError
        The model is not found; later, it can't be loaded.
    """
    if isinstance(settings, LexicalReranker):
        return LexicalScorer(settings)
    located = locate_model(settings.model, settings.revision)
    return StoredScorer(
        name=settings.name,
        identity=identity(settings, located),
        load=_loader(settings, located),
        store=store,
        batch_size=settings.batch_size,
        console=console,
    )


def identity(settings: CrossEncoderReranker | Seq2SeqReranker, located: LocatedModel) -> str:
    """Return what a model's scores depend on, the texts apart, as JSON.

    These are the weights and every setting but the name and the batch size.

    Examples
    --------
    >>> settings = CrossEncoderReranker(name="a", model="owner/model", batch_size=4)
    >>> identity(settings, LocatedModel("owner/model", "c0ffee", "owner/model@c0ffee"))
    '{"kind": "cross_encoder", "max_length": null, "weights": "owner/model@c0ffee"}'
    """
    depends = settings.model_dump(exclude=_NO_PART_OF_A_SCORE) | {"weights": located.identity}
    return json.dumps(depends, sort_keys=True)


def _loader(
    settings: CrossEncoderReranker | Seq2SeqReranker, located: LocatedModel
) -> Callable[[], Scorer]:
    if isinstance(settings, Seq2SeqReranker):
        return lambda: Seq2SeqScorer(settings, located)
    return lambda: CrossEncoderScorer(settings, located)
