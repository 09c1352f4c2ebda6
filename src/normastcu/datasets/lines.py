"""Text files that are written line by line."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any

from kedro.io import AbstractDataset

from normastcu.collection.files import replacing


class TextLinesDataset(AbstractDataset[Iterable[str], Iterator[str]]):
    """A text file, written part by part as the parts come; it is there as a whole or not at all.

    Parameters
    ----------
    filepath
        The file.
    encoding
        Of the file, such as ``utf-8-sig`` for a CSV that Excel opens.
    metadata
        For Kedro-Viz.
    """

    def __init__(
        self,
        *,
        filepath: str,
        encoding: str = "utf-8",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._path = Path(filepath)
        self._encoding = encoding
        self.metadata = metadata

    def load(self) -> Iterator[str]:
        """Return the lines, their ends as they are."""
        with self._path.open(encoding=self._encoding, newline="") as stream:
            yield from stream

    def save(self, data: Iterable[str]) -> None:
        """Write the parts one after the other, line ends as they are."""
        with (
            replacing(self._path) as temporary,
            temporary.open("w", encoding=self._encoding, newline="") as stream,
        ):
            stream.writelines(data)

    def _exists(self) -> bool:
        return self._path.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path)}
