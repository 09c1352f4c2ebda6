"""Where the judgments of people come from: a file of the source, the assessment screen, nowhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from kedro_datasets._typing import TablePreview

from normastcu.annotation.settings import Counting
from normastcu.collection.sources import RawFile
from normastcu.datasets.annotation import AnnotationFileDataset, AnnotationJudgmentsDataset
from normastcu.datasets.raw_files import RawFileDataset, ReadOnlyDataset

JudgmentsKind = Literal["files", "screen", "none"]


class RawJudgmentsDataset(ReadOnlyDataset[RawFile | None]):
    """The judgments as a raw file; None where nobody has judged yet.

    Parameters
    ----------
    kind
        ``files``: a file of the collection's source; ``screen``: the assessment screen's database,
        as it is at this moment; ``none``: there are none yet.
    source, names
        See `normastcu.datasets.raw_files.RawFileDataset`.
    database
        The screen's database.
    counts
        Which round of the screen counts; None takes the campaign's setting.
    metadata
        For Kedro-Viz.
    """

    def __init__(
        self,
        *,
        kind: JudgmentsKind,
        source: dict[str, Any],
        names: Sequence[str],
        database: str,
        counts: Counting | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._kind = kind
        self._database = Path(database)
        self._files = RawFileDataset(source=source, names=names)
        self._screen = AnnotationFileDataset(filepath=database, counts=counts)
        self._judgments = AnnotationJudgmentsDataset(filepath=database, counts=counts)
        self.metadata = metadata

    def load(self) -> RawFile | None:
        """Return the file; None where there is none yet."""
        if self._kind == "files":
            return self._files.load()
        if self._kind == "none" or not self._database.is_file() or self._judgments.load().empty:
            return None
        return self._screen.load()

    def preview(self, nrows: int = 5) -> TablePreview:
        """Return the first judgments."""
        shown = self._files if self._kind == "files" else self._screen
        return shown.preview(nrows)

    def _describe(self) -> dict[str, Any]:
        return {"kind": self._kind, "database": self._database} | self._files._describe()
