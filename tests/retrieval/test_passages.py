"""Passages cover a text; the best one's score is the document's."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normastcu.retrieval.passages import best_scores, first_passages, split_texts, word_windows
from normastcu.retrieval.settings import Passages

LENGTHS = st.integers(1, 12).flatmap(
    lambda words: st.builds(Passages, words=st.just(words), stride=st.integers(1, words))
)


@pytest.mark.parametrize(
    ("text", "words", "stride", "expected"),
    [
        ("a b c d", 4, 2, ["a b c d"]),
        ("a b c d e", 4, 2, ["a b c d", "c d e"]),
        ("a b c d e f", 4, 2, ["a b c d", "c d e f"]),
        ("a b c d e f g", 3, 3, ["a b c", "d e f", "g"]),
        ("  a\n\nb\tc ", 2, 1, ["a\n\nb", "b\tc"]),
        ("  a\n", 2, 1, ["  a\n"]),
        ("", 2, 1, [""]),
    ],
)
def test_windows_of_words(text: str, words: int, stride: int, expected: list[str]) -> None:
    assert list(word_windows(text, Passages(words=words, stride=stride))) == expected


@given(st.integers(0, 60), LENGTHS)
def test_every_word_is_in_a_passage_and_no_passage_in_another(n: int, passages: Passages) -> None:
    words = [f"w{i}" for i in range(n)]
    windows = [window.split() for window in word_windows(" ".join(words), passages)]
    assert all(len(window) <= passages.words for window in windows)
    assert sorted({word for window in windows for word in window}, key=words.index) == words
    ends = [words.index(window[-1]) for window in windows if window]
    assert ends == sorted(set(ends))


def test_passages_keep_their_document_and_their_order() -> None:
    texts = pd.DataFrame({"doc_id": ["02", "1"], "text": ["a b c", "d"], "fallback": None})
    split = split_texts(texts, Passages(words=2, stride=1))
    assert split.to_dict("list") == {"doc_id": ["02", "02", "1"], "text": ["a b", "b c", "d"]}
    assert split_texts(texts, None).to_dict("list") == {
        "doc_id": ["02", "1"],
        "text": ["a b c", "d"],
    }


def test_no_text_has_no_passage() -> None:
    empty = pd.DataFrame({"doc_id": [], "text": []}).astype("str")
    assert split_texts(empty, Passages()).dtypes.astype(str).tolist() == ["str", "str"]
    assert first_passages(empty["doc_id"]).tolist() == []


def test_the_best_passage_counts_for_every_query() -> None:
    scores = np.array([[0.1, 0.5, 0.2], [0.4, 0.3, -1.0]], np.float32)
    best = best_scores(scores, first_passages(pd.Series(["a", "a", "b"])))
    assert best.dtype == np.float32
    np.testing.assert_array_equal(best, np.array([[0.5, 0.2], [0.4, -1.0]], np.float32))
