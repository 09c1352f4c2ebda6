"""Indexes are made whole, made once, and made from what their manifest says."""

import fcntl
import os
import subprocess
import sys

import pandas as pd
import pytest
from pydantic import ValidationError
from tests.retrieval.lucene_job import REPRESENTATIONS, SETTINGS, chunks, request

from normastcu.retrieval.errors import RetrievalError
from normastcu.retrieval.lucene_index import IndexRequest, LuceneSettings, index_documents
from normastcu.retrieval.lucene_search import search_bm25
from normastcu.retrieval.manifest import corpus_print
from normastcu.retrieval.settings import Bm25System

QUERIES = pd.DataFrame({"query_id": ["q"], "text": ["férias do servidor público"]})
SYSTEMS = [
    Bm25System(name=f"S_{i}", family="bm25", fields=fields, k1=0.9, b=0.4)
    for i, fields in enumerate(REPRESENTATIONS)
]


def index(folder, documents, representations=(("text",),), **settings):
    documents = [documents] if isinstance(documents, pd.DataFrame) else documents
    used = dict.fromkeys(name for fields in representations for name in fields)
    corpus = corpus_print(documents, used)
    settings = LuceneSettings(heap_mb=128, **settings)
    return index_documents(folder, IndexRequest(documents, corpus, representations, settings))


def inodes(folder):
    return {path.name: path.stat().st_ino for path in folder.iterdir() if path.is_dir()}


@pytest.fixture
def documents():
    return pd.DataFrame(
        {"doc_id": ["1", "2"], "subject": ["férias", None], "text": ["servidor", "licença"]}
    )


def test_both_indexes_come_from_one_loop_over_the_documents(tmp_path):
    loops = []

    def once():
        loops.append(1)
        yield from chunks()

    index_documents(tmp_path, request(once()))
    assert loops == [1]
    assert sorted(inodes(tmp_path)) == ["subject+text", "text"]


def test_matching_indexes_are_kept_whatever_the_size_of_the_chunks(tmp_path, documents):
    index(tmp_path, documents, REPRESENTATIONS)
    before = inodes(tmp_path)
    index(tmp_path, [documents[:1], documents[1:]], REPRESENTATIONS)
    assert inodes(tmp_path) == before


def test_only_what_a_change_concerns_is_made_again(tmp_path, documents):
    index(tmp_path, documents, REPRESENTATIONS)
    before = inodes(tmp_path)
    index(tmp_path, documents.assign(subject=["férias", "novo"]), REPRESENTATIONS)
    after = inodes(tmp_path)
    assert after["text"] == before["text"]
    assert after["subject+text"] != before["subject+text"]
    assert sorted(after) == ["subject+text", "text"]


@pytest.mark.parametrize(
    "change",
    [
        {"doc_id": ["1", "02"]},
        {"text": ["servidor", "licenças"]},
        {"text": ["servidorlicença", ""]},
    ],
)
def test_another_corpus_is_indexed_again(tmp_path, documents, change):
    index(tmp_path, documents)
    before = inodes(tmp_path)
    index(tmp_path, documents.assign(**change))
    assert inodes(tmp_path) != before


def test_another_language_and_a_broken_manifest_are_indexed_again(tmp_path, documents):
    index(tmp_path, documents)
    before = inodes(tmp_path)
    made = index(tmp_path, documents, language="es")
    assert made.manifests()["text"].language == "es"
    (tmp_path / "text" / "manifest.json").write_text("{")
    assert inodes(tmp_path) != before
    assert index(tmp_path, documents).manifests()["text"].language == "pt"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"doc_id": ["1", "1"]}, "'1' comes twice"),
        ({"doc_id": ["1", ""]}, "after 1 others has no id"),
        ({"doc_id": [1, 2]}, "doc_id of the documents holds int64, not text"),
    ],
)
def test_ids_that_can_not_be_told_apart_are_named_and_leave_nothing(
    tmp_path, documents, change, said
):
    with pytest.raises(RetrievalError, match=said):
        index(tmp_path, documents.assign(**change))
    assert inodes(tmp_path) == {}


def test_a_field_that_is_not_there_is_named(tmp_path, documents):
    with pytest.raises(RetrievalError, match="no column tags; they have doc_id, subject, text"):
        index(tmp_path, documents, (("tags",),))


def test_documents_that_change_meanwhile_are_noticed(tmp_path, documents):
    corpus = corpus_print([documents], ["text"])
    with pytest.raises(RetrievalError, match="2 became 1"):
        index_documents(tmp_path, IndexRequest([documents[:1]], corpus, (("text",),), SETTINGS))
    assert inodes(tmp_path) == {}


def test_hashes_without_a_field_are_refused(tmp_path, documents):
    corpus = corpus_print([documents], ["text"])
    with pytest.raises(RetrievalError, match="lack subject"):
        index_documents(tmp_path, IndexRequest([documents], corpus, (("subject",),), SETTINGS))


def test_a_second_process_is_kept_out(tmp_path, documents):
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RetrievalError, match="Another process indexes"):
            index(tmp_path, documents)
    index(tmp_path, documents)


def test_an_unknown_language_is_refused_among_the_settings():
    with pytest.raises(ValidationError, match="no analyzer for the language 'xx'"):
        LuceneSettings(language="xx")


def test_a_killed_process_leaves_no_half_index_and_the_next_run_is_as_if_undisturbed(
    tmp_path, project_root
):
    killed = tmp_path / "killed"
    with subprocess.Popen(
        [sys.executable, "-m", "tests.retrieval.lucene_job", str(killed)],
        cwd=project_root,
        env=os.environ | {"PYTHONPATH": f"{project_root / 'src'}:{project_root}"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "halfway\n"
        process.kill()
    assert all(name.startswith(".unfinished.") for name in inodes(killed))
    found = []
    for folder in (killed, tmp_path / "undisturbed"):
        indexes = index_documents(folder, request(chunks()))
        assert sorted(inodes(folder)) == ["subject+text", "text"]
        corpus = request(()).corpus
        result = search_bm25(indexes, SYSTEMS, QUERIES, corpus, settings=SETTINGS, depth=200)
        found.append(result.runs)
    pd.testing.assert_frame_equal(*found)
    assert len(found[0]) == 400
