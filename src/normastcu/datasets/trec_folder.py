"""A table as a folder of TREC files, one for each name in one of its columns."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset
from kedro_datasets._typing import TablePreview

from normastcu.collection.errors import CollectionError
from normastcu.datasets.previews import shortened


class TrecFolderDataset(AbstractDataset[pd.DataFrame, pd.DataFrame]):
    """Base of tables that lie as a folder of TREC files, ``<name><suffix>`` each.

    Saving replaces the folder as a whole, so that no file of an earlier run stays behind.

    Parameters
    ----------
    filepath
        The folder; it belongs to this entry alone.
    metadata
        For Kedro-Viz.
    """

    column: str
    """The column whose names tell the files apart."""
    suffix: str
    read: Callable[[Path], pd.DataFrame]
    write: Callable[[pd.DataFrame, Path], None]

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """Read all files of the folder into one table."""
        return pd.concat([type(self).read(path) for path in self._paths()], ignore_index=True)

    def save(self, data: pd.DataFrame) -> None:
        """Write one file for each name."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=self._folder.parent, prefix=f".{self._folder.name}."))
        temporary.chmod(0o755)
        try:
            for name, rows in data.groupby(self.column, sort=False):
                type(self).write(rows, temporary / self._file_name(str(name)))
            shutil.rmtree(self._folder, ignore_errors=True)
            temporary.rename(self._folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return the first lines of the first file."""
        return shortened(type(self).read(self._paths()[0]).head(nrows))

    def _paths(self) -> list[Path]:
        paths = sorted(self._folder.glob(f"*{self.suffix}"))
        if not paths:
            raise CollectionError(
                f"{self._folder} has no file *{self.suffix}: run the pipeline that writes them."
            )
        return paths

    def _file_name(self, name: str) -> str:
        file_name = f"{name}{self.suffix}"
        if Path(file_name).name != file_name:
            raise CollectionError(
                f"The {self.column} {file_name!r} would lie outside its folder: rename it."
            )
        return file_name

    def _exists(self) -> bool:
        return self._folder.is_dir()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._folder)}
