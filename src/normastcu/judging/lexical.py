"""The lexical baseline: a grade from the words that query and document share.

The share of the query's terms that occur in the document decides by stated thresholds. Nothing is
trained and nothing but the pair is looked at: what an LLM judge has to beat.
"""

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise

import pandas as pd

from normastcu.collection.settings import GradeScale
from normastcu.judging.errors import JudgingError
from normastcu.judging.settings import LexicalSettings
from normastcu.judging.texts import PairTexts, check_pairs

_WORD = re.compile(r"[^\W_]+")
_PORTUGUESE = """
a ao aos aquela aquelas aquele aqueles aquilo as ate com como da das de dela delas dele
deles do dos e ela elas ele eles em entre era essa essas esse esses esta estas este estes
eu foi for foram ha isso isto ja la lhe lhes mais mas me mesmo meu minha na nas nem no
nos nossa nosso num numa o os ou para pela pelas pelo pelos por porque qual quais quando
quanto que quem se sem ser seu seus so sob sobre sua suas tambem te tem tinha toda todas
todo todos tu um uma umas uns voce
"""
_ENGLISH = """
a about all an and any are as at be been but by can could did do does for from had has
have he her his how i if in into is it its me more my no not of on or our she should so
some than that the their them then there these they this those to was we were what when
where which who whom whose why will with would you your
"""
_STOPWORDS = {
    "pt": frozenset(_PORTUGUESE.split()),
    "en": frozenset(_ENGLISH.split()),
    "none": frozenset[str](),
}


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
    words = _words(query)
    terms = _terms(words - _STOPWORDS[settings.stopwords] or words, settings.prefix)
    if not terms:
        return None
    return len(terms & _terms(_words(document), settings.prefix)) / len(terms)


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


def _words(text: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFKD", text.lower())
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    return frozenset(_WORD.findall(letters))


def _terms(words: frozenset[str], prefix: int) -> frozenset[str]:
    return frozenset(word[:prefix] for word in words)
