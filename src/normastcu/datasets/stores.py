"""Datasets of stores: opened when they are loaded, and written as things come."""

from pathlib import Path, PurePath
from typing import Any, ClassVar, Generic, Never, TypeVar

from kedro.io import AbstractDataset
from kedro.io.core import DatasetError

S = TypeVar("S")


class StoreDataset(AbstractDataset[Never, S], Generic[S]):
    """Base of stores to which things are added as they come.

    Parameters
    ----------
    filepath
        The file or folder.
    metadata
        For Kedro-Viz.
    """

    name: ClassVar[str]
    grows: ClassVar[str] = "appended to"

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def save(self, data: Never) -> None:
        """Refuse: a store is never saved as a whole."""
        raise DatasetError(f"{self.name} is {self.grows}, not saved; given: {data!r}.")

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path)}
