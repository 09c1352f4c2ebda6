"""Qrels as TREC files."""

import shutil
import tempfile
from pathlib import Path, PurePath
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset
from kedro_datasets._typing import TablePreview

from normastcu.collection.errors import CollectionError
from normastcu.collection.qrels import SUFFIX, read_qrels, write_qrels
from normastcu.datasets.previews import shortened


class TrecQrelsDataset(AbstractDataset[pd.DataFrame, pd.DataFrame]):
    """A table of several qrels as a folder of TREC files, ``<qrels>.qrels`` each.

    Saving replaces the folder as a whole, so that no file of an earlier run stays behind.

    Parameters
    ----------
    filepath
        The folder; it belongs to this entry alone.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """Read all qrels of the folder into one table: qrels, query_id, doc_id, grade."""
        paths = sorted(self._folder.glob(f"*{SUFFIX}"))
        return pd.concat([read_qrels(path) for path in paths], ignore_index=True)

    def save(self, data: pd.DataFrame) -> None:
        """Write one file a qrels."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=self._folder.parent, prefix=f".{self._folder.name}."))
        temporary.chmod(0o755)
        try:
            for name, qrels in data.groupby("qrels", sort=False):
                file_name = f"{name!s}{SUFFIX}"
                if Path(file_name).name != file_name:
                    raise CollectionError(
                        f"The qrels {file_name!r} would lie outside its folder: rename it."
                    )
                write_qrels(qrels, temporary / file_name)
            shutil.rmtree(self._folder, ignore_errors=True)
            temporary.rename(self._folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return the first lines of the first qrels."""
        return shortened(self.load().head(nrows))

    def _exists(self) -> bool:
        return self._folder.is_dir()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._folder)}
