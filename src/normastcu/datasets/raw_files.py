"""Raw files of a collection, wherever its source has them."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, Never, TypeVar

from kedro.io import AbstractDataset
from kedro.io.core import DatasetError
from kedro_datasets._typing import TablePreview

from normastcu.collection.errors import CollectionError
from normastcu.collection.judgments import SUFFIX_FORMATS
from normastcu.collection.sources import RawFile, SourceSettings, fetch, local_file
from normastcu.datasets.previews import first_rows

logger = logging.getLogger(__name__)

T = TypeVar("T")


class ReadOnlyDataset(AbstractDataset[Never, T], Generic[T]):
    """Base of datasets that hand out raw files and never write one."""

    def save(self, data: Never) -> None:
        """Refuse: raw files are read only."""
        raise DatasetError(f"Raw files are never written; given: {data!r}.")


class RawFileDataset(ReadOnlyDataset[RawFile]):
    """One raw file of the collection's source: a directory, the hub, or the court's open data.

    Loading hands out the file, downloaded where need be; reading it is the task of the
    collection room. Saving is refused: raw files are never written.

    Parameters
    ----------
    source
        The environment's `source` (see `normastcu.collection.sources.SourceSettings`).
    names
        The names that the file may have, the preferred one first.
    metadata
        For Kedro-Viz.
    """

    def __init__(
        self,
        *,
        source: dict[str, Any],
        names: Sequence[str],
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._source = SourceSettings.model_validate(source)
        self._names = tuple(names)
        self.metadata = metadata

    def load(self) -> RawFile:
        """Return the file, fetched where need be."""
        return fetch(self._source, self._names)

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows, where the file is at hand; nothing is downloaded for it."""
        folder = self._source.files.path
        paths = [Path(folder) / name for name in self._names] if folder else []
        present = [path for path in paths if path.is_file()]
        return first_rows(local_file(present[0]), nrows) if present else TablePreview({})

    def _describe(self) -> dict[str, Any]:
        return {"kind": self._source.kind, "names": self._names}


class RawFilesDataset(ReadOnlyDataset[list[RawFile]]):
    """Raw files of a collection that are no part of its source, such as labels of judges.

    Parameters
    ----------
    location
        A directory, one file, or a pattern such as ``labels/*.qrels``; nothing means that there
        are none.
    setting
        The setting in globals.yml that names the location, for messages.
    suffixes
        Of the files that are taken of a directory, in small letters.
    metadata
        For Kedro-Viz.
    """

    def __init__(
        self,
        *,
        location: str | None,
        setting: str,
        suffixes: Sequence[str] = tuple(SUFFIX_FORMATS),
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._location = location
        self._setting = setting
        self._suffixes = tuple(suffixes)
        self.metadata = metadata

    def load(self) -> list[RawFile]:
        """Return the files, sorted by name."""
        if not self._location:
            return []
        paths = self._paths()
        if not paths:
            raise CollectionError(
                f"There are no files at {self._location}: expected a directory with files ending "
                f"in {', '.join(self._suffixes)}, one file, or a pattern. Correct "
                f"`{self._setting}` in conf/<environment>/globals.yml."
            )
        return [local_file(path) for path in paths]

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first rows of the first file."""
        paths = self._paths() if self._location else []
        return first_rows(local_file(paths[0]), nrows) if paths else TablePreview({})

    def _paths(self) -> list[Path]:
        location = Path(str(self._location)).expanduser()
        if location.is_file():
            return [location]
        if location.is_dir():
            files = sorted(path for path in location.iterdir() if path.is_file())
            known = [path for path in files if path.suffix.lower() in self._suffixes]
            for path in set(files).difference(known):
                logger.warning("%s is not read: its suffix tells no format.", path)
            return known
        return sorted(path for path in location.parent.glob(location.name) if path.is_file())

    def _describe(self) -> dict[str, Any]:
        return {"filepath": self._location}
