"""A reranker without a model: how many of a query's terms a text holds, and how close together."""

from collections import Counter, deque
from collections.abc import Sequence

import numpy as np

from normastcu.collection.words import STOPWORDS, words
from normastcu.retrieval.scoring import FloatArray, Pair
from normastcu.retrieval.settings import LexicalReranker

_FUNCTION_WORDS = STOPWORDS["pt"] | STOPWORDS["en"]


class LexicalScorer:
    """Scores pairs by coverage, then by proximity; a stand-in for a trained reranker.

    Terms are the distinct words of the query in lower case without accents, cut to the first
    letters, without the function words of Portuguese and English (which count where the query has
    no other word). With n terms, of which the text holds m, and w the number of words in the
    shortest stretch of the text that holds all m, the score is (m + m / (2 w)) / n: one more term
    always counts for more than any closeness. It is 0 where the text holds none, or the query
    has no word.

    Parameters
    ----------
    settings
        The letters by which words are compared.

    Examples
    --------
    >>> scorer = LexicalScorer(LexicalReranker(name="lexical"))
    >>> query = "pagamento de diárias"
    >>> scorer.scores([Pair(query, "Paga-se a diária."), Pair(query, "O pagamento da diária.")])
    array([0.75      , 1.16666667])
    """

    def __init__(self, settings: LexicalReranker) -> None:
        self._prefix = settings.prefix

    def scores(self, pairs: Sequence[Pair]) -> FloatArray:
        """Return the score of each pair, shape (pairs,), from 0 to 1.5."""
        texts = {pair.text: self._cut(words(pair.text)) for pair in pairs}
        return np.array([self._score(pair.query, texts[pair.text]) for pair in pairs])

    def _score(self, query: str, text: Sequence[str]) -> float:
        asked = frozenset(words(query))
        terms = frozenset(self._cut(asked - _FUNCTION_WORDS or asked))
        held = terms.intersection(text)
        if not held:
            return 0.0
        closeness = len(held) / shortest_stretch(text, held)
        return (len(held) + closeness / 2) / len(terms)

    def _cut(self, some: Sequence[str] | frozenset[str]) -> list[str]:
        return [word[: self._prefix] for word in some]


def shortest_stretch(text: Sequence[str], terms: frozenset[str]) -> int:
    """Return the number of words of the shortest stretch of a text that holds all terms.

    Parameters
    ----------
    text
        Words, among them each of the terms.
    terms
        At least one.

    Examples
    --------
    >>> shortest_stretch("a x b y a b".split(), frozenset("ab"))
    2
    """
    shortest = len(text)
    window: deque[tuple[int, str]] = deque()
    counts: Counter[str] = Counter()
    for place, word in enumerate(text):
        if word not in terms:
            continue
        window.append((place, word))
        counts[word] += 1
        while counts[window[0][1]] > 1:
            counts[window.popleft()[1]] -= 1
        if len(counts) == len(terms):
            shortest = min(shortest, place - window[0][0] + 1)
    return shortest
