"""BM25 against scores worked out by hand, ties, odd queries, and indexes that do not fit."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from normastcu.evaluation.measures import rank_runs
from normastcu.retrieval import analysis, lucene_index, lucene_search
from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.java import JAVA_LOCK, java_class
from normastcu.retrieval.lucene_index import IndexRequest, LuceneSettings, index_documents
from normastcu.retrieval.lucene_search import search_bm25
from normastcu.retrieval.manifest import corpus_print
from normastcu.retrieval.settings import Bm25System

SETTINGS = LuceneSettings(heap_mb=128)
TEXT = ("text",)


def system(name="S", fields=TEXT, k1=0.9, b=0.4):
    return Bm25System(name=name, family="bm25", fields=fields, k1=k1, b=b)


def asked(*texts):
    return pd.DataFrame({"query_id": [f"q{i}" for i in range(len(texts))], "text": list(texts)})


def corpus_of(texts):
    return pd.DataFrame({"doc_id": list(texts), "text": list(texts.values())}).astype("str")


def found(folder, documents, queries, systems=None, depth=10):
    systems = [system()] if systems is None else systems
    fields = dict.fromkeys(name for one in systems for name in one.fields)
    corpus = corpus_print([documents], fields)
    representations = tuple(one.fields for one in systems)
    indexes = index_documents(folder, IndexRequest([documents], corpus, representations, SETTINGS))
    return search_bm25(indexes, systems, queries, corpus, settings=SETTINGS, depth=depth)


def test_scores_are_those_of_the_formula(tmp_path):
    # Terms: feri licenc | feri feri | portar; two of three have "feri", lengths 2, 2, 1.
    documents = corpus_of({"a": "férias e licença", "b": "férias, férias", "c": "portaria"})
    runs = found(tmp_path, documents, asked("férias"), [system(k1=1.2, b=0.75)]).runs
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    norm = 1.2 * (1 - 0.75 + 0.75 * 2 / (5 / 3))
    assert runs["doc_id"].tolist() == ["b", "a"]
    assert runs["score"].tolist() == pytest.approx(
        [idf * 2 / (2 + norm), idf * 1 / (1 + norm)], rel=1e-6
    )
    assert runs["rank"].tolist() == [1, 2]


def test_a_document_without_a_term_is_never_found_and_not_counted(tmp_path):
    texts = {"a": "férias e licença", "b": "férias, férias", "c": "portaria"}
    without = found(tmp_path / "1", corpus_of(texts), asked("férias")).runs
    padded = texts | {"empty": None, "stopwords": "de a o"}
    runs = found(tmp_path / "2", corpus_of(padded), asked("férias")).runs
    pd.testing.assert_frame_equal(runs, without)


def test_every_system_of_a_representation_is_searched_with_its_own_parameters(tmp_path):
    documents = pd.DataFrame(
        {"doc_id": ["x", "y"], "subject": ["férias", "licença"], "text": ["portaria", "férias"]}
    )
    systems = [
        system("S_1", ("subject", "text"), 0.9),
        system("S_2", TEXT, 0.9),
        system("S_3", ("subject", "text"), 2.0),
    ]
    result = found(tmp_path, documents, asked("férias"), systems)
    by_system = dict(list(result.runs.groupby("system", sort=False)))
    assert list(by_system) == ["S_1", "S_2", "S_3"]
    assert by_system["S_1"]["doc_id"].tolist() == ["y", "x"]
    assert by_system["S_2"]["doc_id"].tolist() == ["y"]
    assert by_system["S_1"]["score"].max() > by_system["S_3"]["score"].max()
    assert result.report["n_tied"].tolist() == [2, 0, 2]


IDS = ["00123", "123", "1e5", "100000", "A b", "ção", 'q"x', "😀", "\U00010000", "\uffff", "a", "A"]


@pytest.mark.parametrize("depth", [1, 3, 5, 11, 12, 50])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ties_follow_the_ids_descending_in_any_order_of_documents(tmp_path, depth, seed):
    texts = dict.fromkeys(IDS, "férias") | {"best": "férias férias"}
    documents = corpus_of(texts).sample(frac=1, random_state=seed)
    result = found(tmp_path, documents, asked("férias"), depth=depth)
    expected = ["best", *sorted(IDS, reverse=True)][:depth]
    assert result.runs["doc_id"].tolist() == expected
    scores = result.runs["score"].to_numpy(dtype=np.float32)
    assert (np.diff(scores) < 0).all()
    assert result.report["n_tied"].item() == (len(expected) - 1 if len(expected) > 2 else 0)
    assert rank_runs(result.runs).n_tied.tolist() == [0]


def test_nothing_in_a_query_is_syntax(tmp_path):
    documents = corpus_of({"a": "férias", "b": "or and not", "c": "contents id x"})
    queries = asked(
        'férias"', "férias AND nada", "-férias", "id:férias*", "(férias\n\t^2", "f?rias ~ [a TO b]"
    )
    runs = found(tmp_path, documents, queries).runs
    # As syntax, q1 would find nothing, q2 all but "a", q3 and q5 would find "a".
    by_query = runs.groupby("query_id")["doc_id"].agg(sorted).to_dict()
    assert by_query == {"q0": ["a"], "q1": ["a", "b"], "q2": ["a"], "q4": ["a"]}


def test_a_repeated_word_counts_twice(tmp_path):
    documents = corpus_of({"a": "férias", "b": "licença licença licença"})
    runs = found(tmp_path, documents, asked("férias licença", "férias férias licença")).runs
    score = runs.set_index(["query_id", "doc_id"])["score"]
    assert score["q1", "a"] == pytest.approx(2 * score["q0", "a"], rel=1e-6)
    assert score["q1", "b"] == pytest.approx(score["q0", "b"], rel=1e-6)


def test_queries_without_terms_and_without_hits_are_named(tmp_path):
    documents = corpus_of({"a": "férias"})
    result = found(tmp_path, documents, asked("de a o", "", "?!", "xyz", "férias"))
    assert result.runs["query_id"].tolist() == ["q4"]
    report = result.report.iloc[0].to_dict()
    assert (report["n_queries"], report["n_without_terms"], report["n_without_hits"]) == (5, 3, 1)
    assert (report["without_terms"], report["without_hits"]) == ("q0 q1 q2", "q3")


def test_a_query_may_be_long(tmp_path):
    documents = corpus_of({"a": "férias"})
    words = " ".join(f"palavra{i}" for i in range(3000))
    assert found(tmp_path, documents, asked(f"férias {words}")).runs["doc_id"].tolist() == ["a"]


def test_no_query_no_system_no_document(tmp_path):
    documents = corpus_of({"a": "férias"})
    assert found(tmp_path / "1", documents, asked()).runs.empty
    assert found(tmp_path / "2", documents, asked("férias"), systems=()).runs.empty
    nothing = found(tmp_path / "3", documents[:0], asked("férias")).runs
    assert nothing.columns.tolist() == ["system", "query_id", "doc_id", "rank", "score"]
    assert nothing.empty


def test_two_threads_do_not_get_into_each_others_indexes(tmp_path):
    texts = [{f"{name}{i}": f"férias {name}" for i in range(200)} for name in ("a", "b")]

    def ids(number):
        runs = found(tmp_path / f"{number}", corpus_of(texts[number]), asked("férias"), depth=300)
        return set(runs.runs["doc_id"])

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(ids, range(2))) == [set(own) for own in texts]


def test_java_is_called_only_while_its_lock_is_held(tmp_path, monkeypatch):
    calls = []

    def watched(name):
        calls.append((name, JAVA_LOCK._is_owned()))
        return java_class(name)

    for module in (analysis, lucene_index, lucene_search):
        monkeypatch.setattr(module, "java_class", watched)
    found(tmp_path, corpus_of({"a": "férias"}), asked("férias"))
    assert calls
    assert [name for name, held in calls if not held] == []


@pytest.fixture
def made(tmp_path):
    documents = corpus_of({"a": "férias", "b": "licença"})
    corpus = corpus_print([documents], TEXT)
    return index_documents(tmp_path, IndexRequest([documents], corpus, (TEXT,), SETTINGS)), corpus


def test_an_index_in_another_language_is_refused(made):
    indexes, corpus = made
    settings = LuceneSettings(language="en", heap_mb=128)
    with pytest.raises(RetrievalError, match=r"text is not .* its language is pt, not en\. Index"):
        search_bm25(indexes, [system()], asked("férias"), corpus, settings=settings, depth=10)


def test_an_index_of_other_documents_is_refused(made):
    indexes, _ = made
    other = corpus_print([corpus_of({"a": "férias", "b": "licenças"})], TEXT)
    with pytest.raises(RetrievalError, match="made from other documents"):
        search_bm25(indexes, [system()], asked("férias"), other, settings=SETTINGS, depth=10)


def test_a_missing_index_is_named(made):
    indexes, corpus = made
    with pytest.raises(RetrievalError, match=r"no index of title in .*title\. Index"):
        search_bm25(
            indexes, [system(fields=("title",))], asked("x"), corpus, settings=SETTINGS, depth=10
        )
