"""Frames whose columns have their types even when there is no row."""

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
