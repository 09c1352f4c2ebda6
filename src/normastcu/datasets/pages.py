"""Pages to open in a browser."""

from pathlib import Path, PurePath
from typing import Any

import pandas as pd
from kedro.io import AbstractDataset
from kedro_datasets._typing import TablePreview
from lxml import html

from normastcu.collection.files import replacing
from normastcu.datasets.previews import shortened


class HtmlPageDataset(AbstractDataset[str, str]):
    """An HTML page in a file of its own, UTF-8; it is there as a whole or not at all.

    Kedro-Viz is shown the first rows of the page's first table. Its own preview of HTML is not
    for texts of others: scripts are taken out, and what is left is read as Markdown, in which a
    reply could write a link.

    Parameters
    ----------
    filepath
        The page.
    metadata
        For Kedro-Viz.
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def load(self) -> str:
        """Return the page."""
        return self._path.read_bytes().decode("utf-8")

    def save(self, data: str) -> None:
        """Write the page."""
        with replacing(self._path) as temporary:
            temporary.write_bytes(data.encode("utf-8"))

    def preview(self, nrows: int = 20) -> TablePreview:
        """Return the first rows of the first table, empty where there is none."""
        parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
        tables = html.document_fromstring(self._path.read_bytes(), parser=parser).xpath("//table")
        if not tables:
            return TablePreview({})
        rows = [_texts(row) for row in tables[0].xpath("./tbody/tr")[:nrows]]
        return shortened(pd.DataFrame(rows, columns=_texts(tables[0].xpath("./thead/tr")[0])))

    def _exists(self) -> bool:
        return self._path.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": PurePath(self._path)}


def _texts(row: html.HtmlElement) -> list[str]:
    """Return the texts of a row's cells, each run of blanks as one."""
    return [" ".join(cell.text_content().split()) for cell in row]
