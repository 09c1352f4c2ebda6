"""Frames whose columns have their types even when there is no row, and hashes of frames."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd


def typed_frame(rows: Iterable[Any], types: Mapping[str, str]) -> pd.DataFrame:
    """Return rows as a frame with the given columns, in their order, and types.

    Parameters
    ----------
    rows
        Tuples in the order of the columns, or mappings.
    types
        Column to pandas type.

    Examples
    --------
    >>> typed_frame([], {"query_id": "str", "n": "Int64"}).dtypes.astype(str).to_dict()
    {'query_id': 'str', 'n': 'Int64'}
    """
    return pd.DataFrame(list(rows), columns=list(types)).astype(dict(types))


def table_hash(table: pd.DataFrame) -> str:
    """Return the SHA-256 of a table's rows, whatever their order."""
    ordered = table.sort_values(list(table.columns), kind="stable")
    written = ordered.to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
