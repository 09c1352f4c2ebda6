"""The store of rerankers' scores as a dataset."""

import pandas as pd
from kedro_datasets._typing import TablePreview

from normastcu.datasets.previews import shortened
from normastcu.datasets.stores import StoreDataset
from normastcu.retrieval.scores import ScoreStore


class ScoreStoreDataset(StoreDataset[ScoreStore]):
    """Rerankers' scores: one SQLite file, opened when it is loaded, written as scores come.

    Parameters
    ----------
    filepath
        The file.
    metadata
        For Kedro-Viz.
    """

    name = "The store of scores"

    def load(self) -> ScoreStore:
        """Open the store; whoever loads it closes it."""
        return ScoreStore(self._path)

    def preview(self) -> TablePreview:
        """Return how many scores there are."""
        if not self._path.is_file():
            return TablePreview({})
        with self.load() as store:
            return shortened(pd.DataFrame({"scores": [store.count()]}))
