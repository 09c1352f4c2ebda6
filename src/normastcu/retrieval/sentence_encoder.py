"""An encoder that runs in this process through sentence-transformers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from normastcu.retrieval.encoders import Encoded, IntArray
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.models import LocatedModel
from normastcu.retrieval.settings import SentenceTransformersEncoder


class SentenceEncoder:
    """A model of sentence-transformers, on a GPU where there is one.

    No prompt of the model's own is added: the prefixes of the settings are all that stands before
    a text.

    Parameters
    ----------
    settings
        For the longest text, and for messages.
    located
        The model.

    Raises
    ------
    RetrievalError
        sentence-transformers is not installed, the model can't be loaded, or it takes less than
        `max_length`.
    """

    def __init__(self, settings: SentenceTransformersEncoder, located: LocatedModel) -> None:
        self._settings = settings
        self._model = _loaded(settings, located)
        own = self._model.max_seq_length
        if settings.max_length is not None:
            if own is not None and settings.max_length > own:
                raise RetrievalError(
                    f"The encoder {settings.name!r} has a max_length of {settings.max_length}, but "
                    f"its model {settings.model!r} takes {own} tokens: lower max_length in "
                    "systems.yml."
                )
            self._model.max_seq_length = settings.max_length

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of some texts, encoded as one batch."""
        import torch

        try:
            vectors = self._model.encode(
                list(texts), prompt="", batch_size=len(texts), show_progress_bar=False
            )
        except torch.OutOfMemoryError as error:
            raise RetrievalError(
                f"The encoder {self._settings.name!r} needs more memory than there is: lower its "
                "batch_size or max_length in systems.yml; what was encoded is stored."
            ) from error
        return Encoded(np.asarray(vectors, np.float32), self._shown(texts))

    def close(self) -> None:
        """Hold nothing."""

    def _shown(self, texts: Sequence[str]) -> IntArray:
        """Return how many characters of each text its first tokens, as many as fit, cover."""
        tokenizer, limit = self._model.tokenizer, self._model.max_seq_length
        whole = np.array([len(text) for text in texts], np.int64)
        if limit is None or not getattr(tokenizer, "is_fast", False):
            return whole
        room = limit - tokenizer.num_special_tokens_to_add()
        tokenized = tokenizer(
            list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        for row, offsets in enumerate(tokenized["offset_mapping"]):
            if len(offsets) > room:
                whole[row] = max(end for _, end in offsets[:room])
        return whole


def _loaded(settings: SentenceTransformersEncoder, located: LocatedModel) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise RetrievalError(
            f"The encoder {settings.name!r} needs sentence-transformers, which is not installed: "
            'pip install "normastcu[retrieval]".'
        ) from error
    try:
        return SentenceTransformer(located.source, revision=located.revision)
    except (OSError, ValueError) as error:
        raise RetrievalError(
            f"The encoder {settings.name!r} can't load {settings.model!r} "
            f"({type(error).__name__}). Check `model` and `revision` in systems.yml: an id of the "
            "Hugging Face hub (and the network), or a folder that holds a model and its tokenizer."
        ) from error
