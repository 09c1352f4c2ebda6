"""What Kedro-Viz shows of a dataset."""

import csv
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from kedro_datasets._typing import TablePreview

from normastcu.collection.delimited import find_encoding, open_text
from normastcu.collection.sources import RawFile

CELL_CHARACTERS = 200
DIGITS = 4


def shortened(table: pd.DataFrame) -> TablePreview:
    """Return a table in Kedro-Viz's form; long texts are cut, missing values are empty."""
    rows = [
        ["" if pd.isna(cell) else _plain(cell) for cell in row]
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


def _plain(cell: Any) -> Any:
    """Return a cell as JSON can hold it: a long text cut, a number with a few digits."""
    if isinstance(cell, str):
        return cell[:CELL_CHARACTERS]
    plain = cell.item() if isinstance(cell, np.generic) else cell
    return float(f"{plain:.{DIGITS}g}") if isinstance(plain, float) else plain
