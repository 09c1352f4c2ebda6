"""Figures of the report."""

import base64
from pathlib import Path, PurePath
from typing import Any, NoReturn

import matplotlib as mpl
from kedro.io import AbstractDataset
from kedro.io.core import DatasetError
from kedro_datasets._typing import ImagePreview
from matplotlib.figure import Figure

from normastcu.collection.files import replacing

PNG_DPI = 200


class FigureDataset(AbstractDataset[Figure, NoReturn]):
    """A matplotlib figure as SVG (for print) and PNG (for slides and Kedro-Viz).

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

    def load(self) -> NoReturn:
        """Refuse: a figure is drawn anew from its table."""
        raise DatasetError("A figure can't be loaded: draw it anew from its table.")

    def save(self, data: Figure) -> None:
        """Write both files; the same figure gives the same bytes."""
        # Without a fixed salt the ids inside an SVG differ from run to run.
        fixed_ids = mpl.rc_context({"svg.hashsalt": self._path.name})
        with replacing(self._path.with_suffix(".svg")) as temporary, fixed_ids:
            data.savefig(temporary, format="svg", bbox_inches="tight", metadata={"Date": None})
        with replacing(self._path.with_suffix(".png")) as temporary:
            data.savefig(temporary, format="png", bbox_inches="tight", dpi=PNG_DPI)

    def preview(self) -> ImagePreview:
        """Return the PNG, encoded as Kedro-Viz expects it."""
        content = self._path.with_suffix(".png").read_bytes()
        return ImagePreview(base64.b64encode(content).decode("ascii"))

    def _exists(self) -> bool:
        return self._path.with_suffix(".svg").is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path.with_suffix(".png"))}
