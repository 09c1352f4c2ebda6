"""The annotation database in the catalog: the store itself, and the judgments in it."""

from pathlib import Path, PurePath
from typing import Any

import pandas as pd
from kedro_datasets._typing import TablePreview

from normastcu.annotation.errors import AnnotationError
from normastcu.annotation.settings import Counting
from normastcu.annotation.store import AnnotationStore
from normastcu.collection.files import PRIVATE, replacing
from normastcu.collection.sources import Provenance, RawFile, local_file
from normastcu.datasets.previews import first_rows
from normastcu.datasets.raw_files import ReadOnlyDataset
from normastcu.datasets.stores import StoreDataset
from normastcu.datasets.tables import Previewed


class AnnotationStoreDataset(StoreDataset[AnnotationStore]):
    """The annotation store, opened; whoever loads it closes it.

    Parameters
    ----------
    filepath
        The database; it is made if it does not exist.
    metadata
        For Kedro-Viz.
    """

    name = "The annotation store"

    @property
    def path(self) -> Path:
        """Return the database."""
        return self._path

    def load(self) -> AnnotationStore:
        """Open the store."""
        return AnnotationStore(self._path)

    def _exists(self) -> bool:
        return self._path.is_file()


class AnnotationJudgmentsDataset(Previewed, ReadOnlyDataset[pd.DataFrame]):
    """The judgments of people as they stand in the annotation database, also while they judge.

    Loading gives query_id, doc_id, annotator, grade (missing: *don't know*) and origin; skipped
    pairs are no judgments.

    Parameters
    ----------
    filepath
        The database.
    counts
        Which round counts, ``first`` or ``adjudicated``; as the campaign's settings say unless
        given.
    metadata
        For Kedro-Viz.
    """

    def __init__(
        self,
        *,
        filepath: str,
        counts: Counting | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._path = Path(filepath)
        self._counts = counts
        self.metadata = metadata

    def load(self) -> pd.DataFrame:
        """Return the judgments of this moment."""
        return _judgments(self._path, self._counts)

    def _exists(self) -> bool:
        return self._path.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path), "counts": self._counts}


class AnnotationFileDataset(ReadOnlyDataset[RawFile]):
    """The judgments in the annotation database as a raw file, which ingestion reads like any other.

    Loading writes the judgments of this moment beside the database, as a CSV in canonical
    columns that its owner alone can read, and hands out that file; its provenance names the
    database.

    Parameters
    ----------
    filepath
        The database.
    counts
        See `AnnotationJudgmentsDataset`.
    metadata
        For Kedro-Viz.
    """

    def __init__(
        self,
        *,
        filepath: str,
        counts: Counting | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._path = Path(filepath)
        self._counts = counts
        self.metadata = metadata

    def load(self) -> RawFile:
        """Return a file with the judgments of this moment."""
        judgments = _judgments(self._path, self._counts)
        with replacing(self._snapshot, PRIVATE) as temporary:
            judgments.to_csv(temporary, index=False, lineterminator="\n")
        written = local_file(self._snapshot)
        provenance = Provenance(
            kind="files",
            location=str(self._path),
            revision=f"{len(judgments)} judgments",
            sha256=written.provenance.sha256,
            size=written.provenance.size,
        )
        return RawFile(self._snapshot, str(self._path), provenance)

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first judgments of the last snapshot."""
        if not self._snapshot.is_file():
            return TablePreview({})
        return first_rows(local_file(self._snapshot), nrows)

    @property
    def _snapshot(self) -> Path:
        return self._path.with_name(f"{self._path.stem}_judgments.csv")

    def _exists(self) -> bool:
        return self._path.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path), "counts": self._counts}


def _judgments(path: Path, counts: Counting | None) -> pd.DataFrame:
    if not path.is_file():
        raise AnnotationError(
            f"There is no annotation database {path}. Make it with `kedro annotate prepare`, or "
            "take the judgments from another source in the environment's catalog."
        )
    with AnnotationStore(path) as store:
        return store.judgments(counts)
