"""Analyzers by language."""

import pytest

from normastcu.retrieval.analysis import ANALYZERS, known_language, make_analyzer, terms_of
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.java import java_class, start_java


@pytest.fixture(autouse=True, scope="module")
def _java():
    start_java()


def test_portuguese_words_lose_stopwords_endings_and_accents():
    terms = terms_of(make_analyzer("pt"), 'As férias dos servidores: "Licença"\n1e5')
    assert terms == ["feri", "servidor", "licenc", "1e5"]


# Java's own Thai segmentation is not in every runtime.
@pytest.mark.parametrize("language", [name for name in ANALYZERS if name != "th"])
def test_every_language_has_its_analyzer(language):
    assert terms_of(make_analyzer(language), "2024") == ["2024"]


def test_the_analyzers_are_those_of_anserini():
    theirs = java_class("io.anserini.analysis.AnalyzerMap").analyzerMap
    ours = {language: name for language, name in ANALYZERS.items() if language != "en"}
    assert {language: theirs.get(language) for language in ours} == ours


@pytest.mark.parametrize("language", ["xx", "PT", "portuguese", ""])
def test_an_unknown_language_is_an_error_not_english(language):
    with pytest.raises(RetrievalError, match=r"no analyzer for the language .*pt"):
        known_language(language)
