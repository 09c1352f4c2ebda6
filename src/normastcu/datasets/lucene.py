"""The folder of a collection's Lucene indexes as a dataset."""

from pathlib import Path, PurePath
from typing import Any

from kedro.io import AbstractDataset
from kedro.io.core import DatasetError
from kedro_datasets._typing import TablePreview

from normastcu.collection.frames import typed_frame
from normastcu.datasets.previews import shortened
from normastcu.retrieval.lucene_index import IndexRequest, LuceneIndexes, index_documents

PREVIEW_TYPES = {
    "representation": "str",
    "language": "str",
    "n_documents": "Int64",
    "lucene": "str",
    "doc_ids": "str",
}


class LuceneIndexesDataset(AbstractDataset[IndexRequest, LuceneIndexes]):
    """Lucene's indexes of a collection, one for each representation.

    What is saved says which indexes shall be there; only those are made that are missing or were
    made from something else. What is loaded is small and opens nothing.

    Parameters
    ----------
    filepath
        The folder; each index gets a folder in it.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> LuceneIndexes:
        """Return the folder's indexes."""
        if not self._exists():
            raise DatasetError(f"There is no index in {self._folder}: index the documents first.")
        return LuceneIndexes(self._folder)

    def save(self, data: IndexRequest) -> None:
        """Make the indexes that are missing or do not match."""
        index_documents(self._folder, data)

    def preview(self) -> TablePreview:
        """Return what the manifests tell."""
        rows = [
            (name, one.language, one.corpus.n_documents, one.lucene, one.corpus.doc_ids)
            for name, one in LuceneIndexes(self._folder).manifests().items()
        ]
        return shortened(typed_frame(rows, PREVIEW_TYPES))

    def _exists(self) -> bool:
        return bool(LuceneIndexes(self._folder).manifests())

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._folder)}
