"""Reading pairs of a query and a document that are to be judged."""

import pandas as pd

from normastcu.collection.delimited import check_id, find_layout, read_records
from normastcu.collection.errors import CollectionError
from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import TableFormat
from normastcu.collection.sources import RawFile

PAIR_PRESETS = (
    {"query_id": "QUERY_KEY", "doc_id": "DOC_KEY"},
    {"query_id": "QUERY_ID", "doc_id": "DOC_ID"},
    {"query_id": "query_id", "doc_id": "doc_id"},
)


def read_pairs(file: RawFile) -> pd.DataFrame:
    """Read the pairs of a CSV, whatever other columns it has.

    Parameters
    ----------
    file
        A CSV with the columns QUERY_KEY and DOC_KEY, QUERY_ID and DOC_ID, or query_id and doc_id;
        such as qrels, a pool or judgments. A pair that stands there several times counts once.

    Returns
    -------
    pandas.DataFrame
        query_id, doc_id, in the order of the file.

    Raises
    ------
    CollectionError
        If a column is missing, an id is none, or there is no pair.
    """
    layout = find_layout(file, TableFormat(), PAIR_PRESETS)
    pairs = {
        (
            check_id(record.cells[0], "query_id", f"{file.name}, line {record.line}"),
            check_id(record.cells[1], "doc_id", f"{file.name}, line {record.line}"),
        ): None
        for record in read_records(file, layout)
    }
    if not pairs:
        raise CollectionError(f"{file.name} has no pairs: at least one row is expected.")
    return typed_frame(pairs, {"query_id": "str", "doc_id": "str"})
