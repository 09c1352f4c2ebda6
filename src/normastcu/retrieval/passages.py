"""Long documents taken apart into passages; the best passage's score is the document's (maxp)."""

import re
from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from normastcu.retrieval.settings import Passages

F = TypeVar("F", bound=np.floating)

_WORD = re.compile(r"\S+")


def split_texts(texts: pd.DataFrame, passages: Passages | None) -> pd.DataFrame:
    """Take texts apart into overlapping passages.

    Parameters
    ----------
    texts : DataFrame
        `doc_id` and `text`.
    passages
        Length of a passage and distance of two; None leaves every text whole.

    Returns
    -------
    DataFrame
        `doc_id` and `text` of each passage, those of a document together and in their order; each
        document has at least one.

    Examples
    --------
    >>> texts = pd.DataFrame({"doc_id": ["1"], "text": ["a b  c d e"]})
    >>> split_texts(texts, Passages(words=3, stride=2))["text"].tolist()
    ['a b  c', 'c d e']
    """
    if passages is None:
        return texts[["doc_id", "text"]].reset_index(drop=True)
    rows = [
        (doc_id, passage)
        for doc_id, text in zip(texts["doc_id"], texts["text"], strict=True)
        for passage in word_windows(text, passages)
    ]
    return pd.DataFrame(rows, columns=["doc_id", "text"]).astype("str")


def word_windows(text: str, passages: Passages) -> Iterator[str]:
    """Yield the passages of a text as they stand in it; the last one ends with its last word."""
    words = [word.span() for word in _WORD.finditer(text)]
    if len(words) <= passages.words:
        yield text
        return
    for first in range(0, len(words) - passages.words + passages.stride, passages.stride):
        last = min(first + passages.words, len(words)) - 1
        yield text[words[first][0] : words[last][1]]


def best_scores(scores: npt.NDArray[F], starts: npt.ArrayLike) -> npt.NDArray[F]:
    """Return the score of each document: that of its best passage.

    Parameters
    ----------
    scores : ndarray of float, shape (..., passages)
        Scores of passages, those of a document together.
    starts : array_like of int, shape (documents,)
        Position of the first passage of each document, see `first_passages`.

    Returns
    -------
    ndarray of float, shape (..., documents)

    Examples
    --------
    >>> best_scores(np.array([0.1, 0.7, 0.3]), [0, 2]).tolist()
    [0.7, 0.3]
    """
    best: npt.NDArray[F] = np.maximum.reduceat(scores, np.asarray(starts, np.intp), axis=-1)
    return best


def first_passages(doc_ids: pd.Series) -> npt.NDArray[np.intp]:
    """Return the position of the first passage of each document.

    Parameters
    ----------
    doc_ids : Series of str
        The document of each passage; those of a document lie together.

    Examples
    --------
    >>> first_passages(pd.Series(["b", "b", "a"])).tolist()
    [0, 2]
    """
    ids = doc_ids.to_numpy(dtype=object)
    return np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]][: len(ids)])
