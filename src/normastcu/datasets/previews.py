"""What Kedro-Viz shows of a dataset."""

import csv
from itertools import islice

import pandas as pd
from kedro_datasets._typing import TablePreview

from normastcu.collection.delimited import find_encoding, open_text
from normastcu.collection.sources import RawFile

CELL_CHARACTERS = 200


def shortened(table: pd.DataFrame) -> TablePreview:
    """Return a table in Kedro-Viz's form; long texts are cut, missing values are empty."""
    rows = [
        ["" if pd.isna(cell) else _cut(cell) for cell in row]
        for row in table.itertuples(index=False, name=None)
    ]
    return TablePreview(
        {"index": list(range(len(rows))), "columns": list(table.columns), "data": rows}
    )


def first_rows(file: RawFile, nrows: int) -> TablePreview:
    """Return the first rows of a delimited file in Kedro-Viz's form."""
    with open_text(file.path, find_encoding(file, "auto")) as stream:
        rows = list(islice(csv.reader(stream), nrows + 1))
    return shortened(pd.DataFrame(rows[1:], columns=rows[0]))


def _cut(cell: object) -> object:
    return cell[:CELL_CHARACTERS] if isinstance(cell, str) else cell
