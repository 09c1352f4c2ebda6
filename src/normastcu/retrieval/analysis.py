"""Lucene's analyzers by language: how texts and queries become terms."""

from typing import Any

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.java import JAVA_LOCK, java_class

_LUCENE = "org.apache.lucene.analysis."
ANALYZERS = {
    "ar": f"{_LUCENE}ar.ArabicAnalyzer",
    "bn": f"{_LUCENE}bn.BengaliAnalyzer",
    "da": f"{_LUCENE}da.DanishAnalyzer",
    "de": f"{_LUCENE}de.GermanAnalyzer",
    "en": "io.anserini.analysis.DefaultEnglishAnalyzer",
    "es": f"{_LUCENE}es.SpanishAnalyzer",
    "fi": f"{_LUCENE}fi.FinnishAnalyzer",
    "fr": f"{_LUCENE}fr.FrenchAnalyzer",
    "hi": f"{_LUCENE}hi.HindiAnalyzer",
    "hu": f"{_LUCENE}hu.HungarianAnalyzer",
    "id": f"{_LUCENE}id.IndonesianAnalyzer",
    "it": f"{_LUCENE}it.ItalianAnalyzer",
    "ja": f"{_LUCENE}ja.JapaneseAnalyzer",
    "ko": f"{_LUCENE}cjk.CJKAnalyzer",
    "nl": f"{_LUCENE}nl.DutchAnalyzer",
    "no": f"{_LUCENE}no.NorwegianAnalyzer",
    "pt": f"{_LUCENE}pt.PortugueseAnalyzer",
    "ru": f"{_LUCENE}ru.RussianAnalyzer",
    "sv": f"{_LUCENE}sv.SwedishAnalyzer",
    "te": f"{_LUCENE}te.TeluguAnalyzer",
    "th": f"{_LUCENE}th.ThaiAnalyzer",
    "tr": f"{_LUCENE}tr.TurkishAnalyzer",
    "zh": f"{_LUCENE}cjk.CJKAnalyzer",
}
"""Language code to the analyzer that Pyserini takes for it."""


def known_language(language: str) -> str:
    """Return the language code; raise a RetrievalError where there is no analyzer for it.

    Examples
    --------
    >>> known_language("pt")
    'pt'
    """
    if language not in ANALYZERS:
        raise RetrievalError(
            f"There is no analyzer for the language {language!r}. Languages: "
            f"{', '.join(ANALYZERS)}."
        )
    return language


def make_analyzer(language: str) -> Any:
    """Return Lucene's analyzer for a language; Java must run, and `JAVA_LOCK` be held."""
    name = ANALYZERS[known_language(language)]
    if language == "en":
        return java_class(name).newDefaultInstance()
    return java_class(name)()


def terms_of(analyzer: Any, text: str) -> list[str]:
    """Return the terms of a text in their order; Java must run."""
    with JAVA_LOCK:
        terms = java_class("io.anserini.analysis.AnalyzerUtils").analyze(analyzer, text)
        return [str(term) for term in terms.toArray()]
