"""The fitted encoder: against the definition, written out with NumPy."""

import math
from collections import Counter

import numpy as np
import pytest

from normastcu.retrieval import svd
from normastcu.retrieval.encoders import plan_encoder
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.settings import SvdEncoder
from normastcu.retrieval.svd import SvdModel, corpus_digest

CORPUS = [
    "diárias e passagens",
    "Passagens no exterior, passagens",
    "férias do servidor",
    "LICENÇA do servidor do tribunal",
    "licenca e ferias",
]
SETTINGS = SvdEncoder(name="svd", components=4)


def weights(texts: list[str], corpus: list[str]) -> np.ndarray:
    """Return TF-IDF with 1 + ln tf, idf = ln((1 + n) / (1 + df)) + 1, rows of length 1."""
    plain = str.maketrans("áãéíçÇê", "aaeicce")
    bags = [
        Counter(text.lower().translate(plain).replace(",", "").split())
        for text in (*corpus, *texts)
    ]
    terms = sorted({term for bag in bags[: len(corpus)] for term in bag})
    df = {term: sum(term in bag for bag in bags[: len(corpus)]) for term in terms}
    rows = [
        [
            (1 + math.log(bag[term])) * (math.log((1 + len(corpus)) / (1 + df[term])) + 1)
            if bag[term]
            else 0.0
            for term in terms
        ]
        for bag in bags[len(corpus) :]
    ]
    return np.array([np.array(row) / (np.linalg.norm(row) or 1.0) for row in rows])


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a @ b.T) / np.linalg.norm(a, axis=1)[:, None] / np.linalg.norm(b, axis=1)


def test_vectors_are_those_of_the_truncated_svd() -> None:
    query = ["férias no exterior"]
    _, _, directions = np.linalg.svd(weights(CORPUS, CORPUS))
    expected = [weights(texts, CORPUS) @ directions[:4].T for texts in (query, CORPUS)]
    model = SvdModel(SETTINGS, CORPUS)
    found = [model.encode(texts).vectors for texts in (query, CORPUS)]
    np.testing.assert_allclose(cosines(*found), cosines(*expected), atol=1e-9)


def test_the_order_of_the_corpus_changes_no_bit() -> None:
    one, other = SvdModel(SETTINGS, CORPUS), SvdModel(SETTINGS, CORPUS[::-1])
    np.testing.assert_array_equal(one.encode(CORPUS).vectors, other.encode(CORPUS).vectors)
    assert corpus_digest(CORPUS) == corpus_digest(CORPUS[::-1])
    assert corpus_digest(CORPUS) != corpus_digest(CORPUS[1:])
    assert corpus_digest(CORPUS) != corpus_digest([*CORPUS, CORPUS[0]])


def test_the_vector_of_a_text_does_not_depend_on_its_batch() -> None:
    model = SvdModel(SETTINGS, CORPUS)
    whole = model.encode(CORPUS).vectors
    alone = [model.encode([text]).vectors[0] for text in CORPUS]
    np.testing.assert_array_equal(whole, alone)


def test_a_text_without_a_known_word_has_the_vector_zero() -> None:
    assert not SvdModel(SETTINGS, CORPUS).encode(["zebra", ""]).vectors.any()


def test_a_small_corpus_gives_shorter_vectors() -> None:
    settings = SvdEncoder(name="svd", components=128)
    assert SvdModel(settings, CORPUS).encode(CORPUS).vectors.shape == (5, 4)


@pytest.mark.parametrize("corpus", [[], ["um"], ["um", "um"], ["...", "!"]])
def test_a_corpus_that_is_too_small_is_a_sentence(corpus: list[str]) -> None:
    with pytest.raises(RetrievalError, match=rf"'svd' can't be fitted on {len(corpus)} documents"):
        SvdModel(SETTINGS, corpus)


def test_vectors_of_another_version_or_format_are_those_of_another_encoder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sklearn

    def identity() -> dict[str, object]:
        return dict(plan_encoder(SETTINGS, CORPUS, {}).identity)

    now = identity()
    assert now["scikit_learn"] == sklearn.__version__
    monkeypatch.setattr(svd, "version", lambda name: f"{name} 99")
    assert identity() == now | {"scikit_learn": "scikit-learn 99"}
    monkeypatch.setattr(svd, "_FORMAT", 99)
    assert identity() == now | {"scikit_learn": "scikit-learn 99", "format": 99}
