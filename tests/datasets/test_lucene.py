"""The dataset of Lucene's indexes."""

import pandas as pd
import pytest
from kedro.io.core import DatasetError

from normastcu.datasets.lucene import LuceneIndexesDataset
from normastcu.retrieval.lucene_index import IndexRequest, LuceneSettings
from normastcu.retrieval.manifest import corpus_print


@pytest.fixture
def request_of_two():
    documents = pd.DataFrame(
        {"doc_id": ["00123", "1e5"], "subject": ["Férias", None], "text": ["do servidor", "nada"]}
    )
    return IndexRequest(
        [documents],
        corpus_print([documents], ["subject", "text"]),
        (("subject", "text"), ("text",)),
        LuceneSettings(heap_mb=128),
    )


def test_what_is_saved_is_there_and_previewed_by_its_manifests(tmp_path, request_of_two):
    dataset = LuceneIndexesDataset(filepath=str(tmp_path / "lucene"))
    assert not dataset.exists()
    assert dataset.preview()["data"] == []
    dataset.save(request_of_two)
    assert dataset.exists()
    assert list(dataset.load().manifests()) == ["subject+text", "text"]
    preview = dataset.preview()
    assert preview["columns"][:3] == ["representation", "language", "n_documents"]
    assert [row[:3] for row in preview["data"]] == [["subject+text", "pt", 2], ["text", "pt", 2]]


def test_nothing_to_load_is_said(tmp_path):
    with pytest.raises(DatasetError, match="index the documents first"):
        LuceneIndexesDataset(filepath=str(tmp_path / "lucene")).load()
