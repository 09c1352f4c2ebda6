"""The dataset of the store of vectors."""

import json
from pathlib import Path, PurePath
from typing import Any, Never

from kedro.io import AbstractDataset
from kedro.io.core import DatasetError
from kedro_datasets._typing import TablePreview

from normastcu.collection.frames import typed_frame
from normastcu.datasets.previews import shortened
from normastcu.retrieval.vectors import VectorStore


class VectorStoreDataset(AbstractDataset[Never, VectorStore]):
    """The vectors of all encoders: a folder, to which new ones are added as they come.

    Parameters
    ----------
    filepath
        The folder. Some of its vectors may have been paid for: keep it where no clean-up goes.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> VectorStore:
        """Return the store; nothing is read before an encoder's vectors are asked for."""
        return VectorStore(self._folder)

    def save(self, data: Never) -> None:
        """Refuse: vectors are added as they come, never saved as a whole."""
        raise DatasetError(f"The store of vectors is added to, not saved; given: {data!r}.")

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return how many vectors there are of each encoder."""
        store, rows = self.load(), []
        for path in sorted(self._folder.glob("*/encoder.json"))[:nrows]:
            identity = json.loads(path.read_text(encoding="utf-8"))
            rows.append((path.parent.name, str(identity.get("model", "")), len(store.of(identity))))
        return shortened(typed_frame(rows, {"folder": "str", "model": "str", "n_vectors": "Int64"}))

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._folder)}
