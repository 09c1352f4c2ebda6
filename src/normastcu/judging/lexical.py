"""The lexical baseline: a grade from the words that query and document share.

The share of the query's terms that occur in the document decides by stated thresholds. Nothing is
trained and nothing but the pair is looked at: what an LLM judge has to beat.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

import pandas as pd

from normastcu.collection.settings import GradeScale
from normastcu.collection.words import STOPWORDS, words
from normastcu.judging.errors import JudgingError
from normastcu.judging.settings import LexicalSettings
from normastcu.judging.texts import PairTexts, check_pairs


def overlap(query: str, document: str, settings: LexicalSettings) -> float | None:
    """Return the share of the query's terms that the document holds.

    Terms are distinct words in lower case without accents, cut to the first letters, without
    stopwords (which count where the query has no other word).

    Parameters
    ----------
    query, document
        Plain texts.
    settings
        The stopwords, and the number of letters by which words are compared.

    Returns
    -------
    float or None
        From 0 to 1; None for a query without a word.

    Examples
    --------
    >>> overlap("pagamento de diárias", "Dispõe sobre a DIÁRIA.", LexicalSettings())
    0.5
    """
    asked = frozenset(words(query))
    terms = _terms(asked - STOPWORDS[settings.stopwords] or asked, settings.prefix)
    if not terms:
        return None
    return len(terms & _terms(words(document), settings.prefix)) / len(terms)


def lexical_grades(
    pairs: pd.DataFrame,
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    settings: LexicalSettings,
    scale: GradeScale,
) -> pd.DataFrame:
    """Grade pairs by the overlap of their terms.

    Parameters
    ----------
    pairs : DataFrame
        `query_id`, `doc_id`.
    queries, documents : DataFrame
        The collection. Of a document, what an LLM judge is shown counts: its text, or its subject,
        title, key where that is blank.
    settings : LexicalSettings
        Thresholds and what is a term.
    scale : GradeScale
        The grades.

    Returns
    -------
    DataFrame
        `query_id`, `doc_id`, `overlap`, `grade` (the highest whose threshold the overlap reaches;
        both missing for a query without a word), in the order of the pairs.

    Raises
    ------
    JudgingError
        For thresholds that don't fit the scale, repeated pairs, unknown queries or documents.
    """
    limits = thresholds(settings, scale)
    texts = PairTexts(queries, documents)
    shares = [
        overlap(texts.query(query_id), texts.content(doc_id).text, settings)
        for query_id, doc_id in check_pairs(pairs)
    ]
    return pairs[["query_id", "doc_id"]].assign(
        overlap=pd.array(shares, dtype="Float64"),
        grade=pd.array([_grade(share, limits) for share in shares], dtype="Int64"),
    )


def thresholds(settings: LexicalSettings, scale: GradeScale) -> dict[int, float]:
    """Return the least overlap of every grade, lowest first.

    Raises
    ------
    JudgingError
        Where a grade but the lowest has none, or the thresholds don't rise above 0 up to 1.

    Examples
    --------
    >>> names = ["no", "some", "much", "all"]
    >>> scale = GradeScale(grades=[{"grade": i, "name": name} for i, name in enumerate(names)])
    >>> {grade: round(least, 3) for grade, least in thresholds(LexicalSettings(), scale).items()}
    {0: 0.0, 1: 0.333, 2: 0.667, 3: 1.0}
    """
    lowest, *higher = scale.values
    even = {grade: rank / len(higher) for rank, grade in enumerate(higher, start=1)}
    stated = settings.thresholds or even
    if sorted(stated) != higher:
        raise JudgingError(
            f"The lexical thresholds are for the grades {sorted(stated)}: state one for each of "
            f"{higher}, or none to space them evenly."
        )
    limits = {lowest: 0.0} | {grade: stated[grade] for grade in higher}
    values = list(limits.values())
    if any(low >= high for low, high in pairwise(values)) or values[-1] > 1:
        raise JudgingError(
            f"The lexical thresholds {limits} must rise with the grades, above 0 and up to 1."
        )
    return limits


def _grade(share: float | None, limits: Mapping[int, float]) -> int | None:
    if share is None:
        return None
    return max(grade for grade, least in limits.items() if share >= least)


def _terms(some: Iterable[str], prefix: int) -> frozenset[str]:
    return frozenset(word[:prefix] for word in some)
