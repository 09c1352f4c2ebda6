"""Cross-encoders: query and text in one input, one score out."""

from collections.abc import Sequence

import numpy as np

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.models import LocatedModel
from normastcu.retrieval.scoring import FloatArray, Pair
from normastcu.retrieval.settings import CrossEncoderReranker


class CrossEncoderScorer:
    """Scores pairs with a cross-encoder of sentence-transformers.

    The score is the model's output before any activation: a sigmoid keeps the order, but lets
    sure texts tie at 1.

    Parameters
    ----------
    settings
        Length and batch size.
    located
        The weights.

    Raises
    ------
    RetrievalError
        The model can't be loaded, a library is not installed, the model has several outputs.
    """

    def __init__(self, settings: CrossEncoderReranker, located: LocatedModel) -> None:
        try:
            import torch
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise RetrievalError(
                f"The reranker {settings.name!r} needs sentence-transformers, which is not "
                'installed: pip install "normastcu[retrieval]".'
            ) from error
        try:
            self._model = CrossEncoder(
                located.source,
                revision=located.revision,
                max_length=settings.max_length,
                activation_fn=torch.nn.Identity(),
            )
        except (OSError, ValueError) as error:
            raise RetrievalError(
                f"The reranker {settings.name!r} can't be loaded from {located.source!r} "
                f"({type(error).__name__}). It must be a model for the classification of "
                "text, with its tokenizer."
            ) from error
        if self._model.num_labels != 1:
            raise RetrievalError(
                f"The reranker {settings.name!r} has {self._model.num_labels} outputs for a pair: "
                "a cross-encoder for ranking has one. Choose another `model`."
            )
        self._batch_size = settings.batch_size

    def scores(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the score of each pair, shape (pairs,)."""
        scores = self._model.predict(
            [tuple(pair) for pair in pairs], batch_size=self._batch_size, show_progress_bar=False
        )
        return np.asarray(scores, dtype=np.float64)
