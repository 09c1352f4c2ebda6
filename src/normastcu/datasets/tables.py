"""Tables: chunked parquet for the corpus, and the three forms of a table of the report."""

import csv
import logging
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from kedro.io import AbstractDataset
from kedro.utils import load_obj
from kedro_datasets import pandas
from kedro_datasets._typing import TablePreview

from normastcu.collection.documents import DOCUMENT_COLUMNS, DocumentChunks
from normastcu.collection.files import replacing
from normastcu.datasets.previews import shortened
from normastcu.reporting.latex import to_latex

LONGEST_IN_LATEX = 2_000
"""Rows; a longer table is for no page, and takes LaTeX's writer half a minute."""

logger = logging.getLogger(__name__)


class Previewed:
    """A table whose preview Kedro-Viz can also put into its static site."""

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return the first rows, their long texts cut."""
        table: pd.DataFrame = self.load()  # type: ignore[attr-defined]
        return shortened(table.head(nrows))


class ParquetDataset(Previewed, pandas.ParquetDataset):
    """A table as parquet."""


class Optional:
    """A table that another pipeline may not have made: without it, an empty one.

    Parameters
    ----------
    filepath
        The file, as its kind of dataset takes it.
    schema
        Import path of the pandera model whose columns the empty table has.
    missing
        What is said in the log, once, when the file is not there; nothing where another table,
        which is made together with this one, says so already.
    metadata
        For Kedro-Viz.
    """

    def __init__(
        self,
        *,
        filepath: str,
        schema: str,
        missing: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)  # type: ignore[call-arg]
        self._schema = schema
        self._unsaid = missing

    def load(self) -> pd.DataFrame:
        """Return the table, empty where there is no file."""
        if self._exists():  # type: ignore[attr-defined]
            table: pd.DataFrame = super().load()  # type: ignore[misc]
            return table
        if self._unsaid:
            logger.warning("%s", self._unsaid)
            self._unsaid = None
        empty: pd.DataFrame = load_obj(self._schema).empty()
        return empty


class OptionalParquetDataset(Optional, ParquetDataset):
    """A parquet file that may not be there."""


class CSVDataset(Previewed, pandas.CSVDataset):
    """A table as CSV."""

    def save(self, data: pd.DataFrame) -> None:
        """Write the table so that every text comes back as it is."""
        self._save_args: dict[str, Any] = self._save_args | {"quoting": csv_quoting(data)}
        super().save(data)


def csv_quoting(table: pd.DataFrame) -> Literal[0, 2]:
    """Return how the cells of a CSV are to be quoted.

    The writer does not quote a carriage return by itself, at which a reader would end the row.
    """
    texts = [table[column] for column in table if pd.api.types.is_string_dtype(table[column])]
    returns = any(text.str.contains("\r", regex=False).fillna(False).any() for text in texts)
    return csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL


class DocumentChunksDataset(AbstractDataset[DocumentChunks, DocumentChunks]):
    """The corpus as parquet, written and read in chunks of a few hundred documents.

    The file appears under its name only when all chunks are written.

    Parameters
    ----------
    filepath
        The parquet file; the entry ``documents@pandas`` reads the same one as a whole.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def load(self) -> DocumentChunks:
        """Return the documents, read anew by each loop."""
        return DocumentChunks(self._batches)

    def save(self, data: DocumentChunks) -> None:
        """Write the chunks one after the other."""
        schema = pa.schema([(name, pa.large_string()) for name in DOCUMENT_COLUMNS])
        with replacing(self._path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
            for chunk in data:
                writer.write_table(pa.Table.from_pandas(chunk, schema, preserve_index=False))

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first documents, their long texts cut."""
        first = next(iter(self.load())).head(nrows)
        return shortened(first)

    def _batches(self) -> Iterator[pd.DataFrame]:
        with pq.ParquetFile(self._path) as file:
            for index in range(file.num_row_groups):
                yield file.read_row_group(index).to_pandas().astype("str")

    def _exists(self) -> bool:
        return self._path.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path)}


class ReportTableDataset(Previewed, AbstractDataset[pd.DataFrame, pd.DataFrame]):
    """A table of the report: parquet (the truth, with its types), CSV and LaTeX beside it.

    A table of more than `LONGEST_IN_LATEX` rows has no LaTeX.

    Parameters
    ----------
    filepath
        The path without a suffix.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """Read the parquet file."""
        return pd.read_parquet(self._path.with_suffix(".parquet"))

    def save(self, data: pd.DataFrame) -> None:
        """Write the table in its three forms."""
        with replacing(self._path.with_suffix(".parquet")) as temporary:
            data.to_parquet(temporary, index=False)
        with replacing(self._path.with_suffix(".csv")) as temporary:
            data.to_csv(temporary, index=False, lineterminator="\n", quoting=csv_quoting(data))
        if len(data) > LONGEST_IN_LATEX:
            self._path.with_suffix(".tex").unlink(missing_ok=True)
            return
        with replacing(self._path.with_suffix(".tex")) as temporary:
            temporary.write_text(to_latex(data), encoding="utf-8")

    def _exists(self) -> bool:
        return self._path.with_suffix(".parquet").is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path.with_suffix(".parquet"))}


class OptionalReportTableDataset(Optional, ReportTableDataset):
    """A table of the report that may not be there."""
