"""Reading the queries of a collection."""

import pandas as pd

from normastcu.collection.delimited import check_id, find_layout, read_records
from normastcu.collection.errors import CollectionError
from normastcu.collection.settings import TableFormat
from normastcu.collection.sources import RawFile

QUERY_PRESETS = (
    {"query_id": "KEY", "text": "TEXT"},
    {"query_id": "query_id", "text": "text"},
)


def read_queries(file: RawFile, settings: TableFormat) -> pd.DataFrame:
    """Read queries; their texts are kept exactly (accents, quotes, line ends).

    Parameters
    ----------
    file
        A CSV with the released columns (KEY, TEXT), the canonical or declared ones.
    settings
        Columns, encoding, separator.

    Returns
    -------
    pandas.DataFrame
        query_id (unique) and text, in the order of the file.

    Raises
    ------
    CollectionError
        If a query_id is empty, holds white space or occurs twice, or a text is blank.
    """
    layout = find_layout(file, settings, QUERY_PRESETS)
    lines: dict[str, int] = {}
    texts: dict[str, str] = {}
    for record in read_records(file, layout):
        cells = dict(zip(layout.columns, record.cells, strict=True))
        where = f"{file.name}, line {record.line}"
        query_id = check_id(cells["query_id"], "query_id", where)
        if query_id in lines:
            raise CollectionError(
                f"{where}: the query {query_id!r} stands already on line {lines[query_id]}. "
                "Give every query its own id."
            )
        if not cells["text"].strip():
            raise CollectionError(f"{where}: the query {query_id!r} has no text. Add it.")
        lines[query_id], texts[query_id] = record.line, cells["text"]
    return pd.DataFrame({"query_id": list(texts), "text": list(texts.values())}, dtype="str")
