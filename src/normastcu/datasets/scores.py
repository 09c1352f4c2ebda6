"""The store of rerankers' scores as a dataset."""

from pathlib import Path, PurePath
from typing import Any, Never

import pandas as pd
from kedro.io import AbstractDataset
from kedro.io.core import DatasetError
from kedro_datasets._typing import TablePreview

from normastcu.datasets.previews import shortened
from normastcu.retrieval.scores import ScoreStore


class ScoreStoreDataset(AbstractDataset[Never, ScoreStore]):
    """Rerankers' scores: one SQLite file, opened when it is loaded, written as scores come.

    Parameters
    ----------
    filepath
        The file.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def load(self) -> ScoreStore:
        """Open the store; whoever loads it closes it."""
        return ScoreStore(self._path)

    def save(self, data: Never) -> None:
        """Refuse: scores are appended as they come, never saved as a whole."""
        raise DatasetError(f"The store of scores is appended to, not saved; given: {data!r}.")

    def preview(self) -> TablePreview:
        """Return how many scores there are."""
        if not self._path.is_file():
            return TablePreview({})
        with self.load() as store:
            return shortened(pd.DataFrame({"scores": [store.count()]}))

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path)}
