"""An encoder that needs no download: TF-IDF of the corpus, cut by a truncated SVD (LSA).

Deerwester et al. (1990), Indexing by latent semantic analysis, JASIS 41(6), 391-407.
"""

import hashlib
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from normastcu.retrieval.encoders import Encoded
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.scores import text_digest
from normastcu.retrieval.settings import SvdEncoder

_FORMAT = 1  # raised with every change of `SvdModel` that changes a vector


class SvdModel:
    """TF-IDF and SVD fitted on the texts of a corpus, in whatever order they come.

    Words are lower case and without accents; a term counts 1 + ln of how often it stands in the
    text. A text without a known term has the vector 0.

    Parameters
    ----------
    settings
        Length of a vector, seed.
    corpus
        The texts of all documents.

    Raises
    ------
    RetrievalError
        The texts have too few terms; scikit-learn is not installed.
    """

    def __init__(self, settings: SvdEncoder, corpus: Sequence[str]) -> None:
        try:
            from sklearn.decomposition import TruncatedSVD
            from sklearn.feature_extraction.text import TfidfVectorizer
        except ImportError as error:
            raise RetrievalError(
                f"The encoder {settings.name!r} needs scikit-learn, which is not installed: pip "
                "install scikit-learn."
            ) from error
        self._tfidf = TfidfVectorizer(
            strip_accents="unicode", sublinear_tf=True, token_pattern=r"(?u)\b\w+\b"
        )
        ordered = sorted(corpus)
        weights = self._tfidf.fit_transform(ordered) if _has_a_word(ordered) else None
        if weights is None or min(weights.shape) < 2:
            raise RetrievalError(
                f"The encoder {settings.name!r} can't be fitted on {len(ordered)} documents: it "
                "needs at least two, with two different words. Take another encoder."
            )
        length = min(settings.components, min(weights.shape) - 1)
        self._svd = TruncatedSVD(length, algorithm="randomized", random_state=settings.seed)
        self._svd.fit(weights)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of some texts."""
        vectors = self._svd.transform(self._tfidf.transform(texts))
        return Encoded(vectors, np.array([len(text) for text in texts], np.int64))

    def close(self) -> None:
        """Hold nothing."""


def model_identity(settings: SvdEncoder, corpus: Sequence[str]) -> dict[str, object]:
    """Return all that the vectors of a fitted model depend on but the texts.

    The version of scikit-learn is part of it: a model that another version fits may have another
    basis, in which the stored vectors of documents mean nothing.
    """
    return {
        "format": _FORMAT,
        "scikit_learn": version("scikit-learn"),
        "components": settings.components,
        "seed": settings.seed,
        "corpus": corpus_digest(corpus),
    }


def corpus_digest(corpus: Sequence[str]) -> str:
    """Return a digest of the texts of a corpus that does not depend on their order."""
    return hashlib.sha256(b"".join(sorted(text_digest(text) for text in corpus))).hexdigest()


def _has_a_word(texts: Sequence[str]) -> bool:
    return any(character.isalnum() for text in texts for character in text)
