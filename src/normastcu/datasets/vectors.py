"""The dataset of the store of vectors."""

import json

from kedro_datasets._typing import TablePreview

from normastcu.collection.frames import typed_frame
from normastcu.datasets.previews import shortened
from normastcu.datasets.stores import StoreDataset
from normastcu.retrieval.vectors import VectorStore


class VectorStoreDataset(StoreDataset[VectorStore]):
    """The vectors of all encoders: a folder, to which new ones are added as they come.

    Parameters
    ----------
    filepath
        The folder. Some of its vectors may have been paid for: keep it where no clean-up goes.
    metadata
        For Kedro-Viz.
    """

    name = "The store of vectors"
    grows = "added to"

    def load(self) -> VectorStore:
        """Return the store; nothing is read before an encoder's vectors are asked for."""
        return VectorStore(self._path)

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return how many vectors there are of each encoder."""
        store, rows = self.load(), []
        for path in sorted(self._path.glob("*/encoder.json"))[:nrows]:
            identity = json.loads(path.read_text(encoding="utf-8"))
            rows.append((path.parent.name, str(identity.get("model", "")), len(store.of(identity))))
        return shortened(typed_frame(rows, {"folder": "str", "model": "str", "n_vectors": "Int64"}))
